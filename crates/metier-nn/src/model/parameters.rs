//! Parameters by name, on the host and in a model.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use std::borrow::Cow;

/// A named parameter in the host's memory, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct HostParameter {
    /// The name in Hugging Face checkpoints.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its values.
    pub data: Vec<f32>,
}

/// A parameter that is about to be loaded or drawn.
pub(super) fn placeholder<const D: usize>(shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    Param::from_tensor(Tensor::zeros(shape, device))
}

/// The names and shapes of all parameters, in the order of the structs' fields.
pub(super) fn names<M: Module>(module: &M) -> Vec<(String, Vec<usize>)> {
    let mut visitor = Names::default();
    module.visit(&mut visitor);
    visitor.found
}

/// Copies all parameters to the host.
pub(super) fn to_host<M: Module>(module: &M) -> Vec<HostParameter> {
    let mut visitor = ToHost::default();
    module.visit(&mut visitor);
    visitor.found
}

/// Moves the gradients of all parameters to the host, in order; zeros where there is none.
pub(super) fn gradients<M: Module>(module: &M, gradients: &mut Gradients) -> Vec<Vec<f32>> {
    let mut visitor = ToGradients { gradients, found: Vec::new() };
    module.visit(&mut visitor);
    visitor.found
}

/// The module with its parameters replaced, in order.
pub(super) fn replace<M: Module>(module: M, values: Vec<Vec<f32>>) -> M {
    module.map(&mut Replace { values: values.into_iter() })
}

#[derive(Default)]
struct Path(Vec<String>);

impl Path {
    fn name(&self) -> String {
        self.0.join(".")
    }
}

#[derive(Default)]
struct Names {
    path: Path,
    found: Vec<(String, Vec<usize>)>,
}

impl ModuleVisitor for Names {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.0.push(name.into());
    }
    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.0.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.found.push((self.path.name(), param.val().dims().to_vec()));
    }
}

#[derive(Default)]
struct ToHost {
    path: Path,
    found: Vec<HostParameter>,
}

impl ModuleVisitor for ToHost {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.0.push(name.into());
    }
    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.0.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        self.found.push(HostParameter {
            name: self.path.name(),
            shape: tensor.dims().to_vec(),
            data: host(tensor),
        });
    }
}

struct ToGradients<'a> {
    gradients: &'a mut Gradients,
    found: Vec<Vec<f32>>,
}

impl ModuleVisitor for ToGradients<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let gradient = tensor.grad_remove(self.gradients);
        let count = tensor.dims().iter().product();
        self.found.push(gradient.map_or_else(|| vec![0.0; count], host));
    }
}

struct Replace {
    values: std::vec::IntoIter<Vec<f32>>,
}

impl ModuleMapper for Replace {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let old = param.val();
        match self.values.next() {
            Some(values) => {
                let data = TensorData::new(values, old.dims());
                Param::from_tensor(Tensor::from_data(data, &old.device()))
            }
            None => param,
        }
    }
}

/// The values of a tensor in row-major order.
pub(crate) fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    match tensor.into_data().try_into_vec_as::<f32>() {
        Ok(values) => values,
        Err(_) => unreachable!("a float tensor converts to f32"),
    }
}

/// Names that start with the prefix that some files leave out.
pub(super) fn with_prefix<'a>(name: &'a str, prefix: &str) -> Cow<'a, str> {
    if name.starts_with(prefix) { name.into() } else { format!("{prefix}{name}").into() }
}
