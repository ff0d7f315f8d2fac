//! Operations on host slices with gradients written by hand, as nodes of Burn's graph.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Flex};
use burn::tensor::{Tensor, TensorData};
use std::fmt::Debug;

/// An operation of `N` inputs.
pub(super) trait HostOperation<const N: usize>: Clone + Send + Debug + 'static {
    /// What the gradient needs beside the inputs.
    type Saved: Clone + Send + Debug + 'static;

    /// The output, its shape, and what the gradient needs. Without `traced` nothing has to be saved.
    fn forward(&self, inputs: [&Host; N], traced: bool) -> (Vec<f32>, Vec<usize>, Self::Saved);

    /// The gradients of the inputs from that of the output.
    fn backward(&self, saved: Self::Saved, inputs: [&Host; N], gradient: Vec<f32>)
    -> [Vec<f32>; N];
}

/// A contiguous f32 tensor in the host's memory. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Host(FlexTensor);

impl Host {
    fn new(tensor: &FlexTensor) -> Self {
        Self(tensor.to_contiguous())
    }

    pub(super) fn shape(&self) -> &[usize] {
        self.0.layout().shape().as_ref()
    }

    pub(super) fn values(&self) -> &[f32] {
        let start = self.0.layout().start_offset();
        let count: usize = self.shape().iter().product();
        &self.0.storage::<f32>()[start..start + count]
    }
}

/// An input of any rank on the processor.
#[derive(Clone)]
pub(super) enum Input {
    Plain(FlexTensor),
    Traced(FloatTensor<Autodiff<Flex>>),
}

impl Input {
    /// None when the tensor lives elsewhere or is not of f32.
    pub(super) fn new<const D: usize>(tensor: &Tensor<D>) -> Option<Self> {
        if tensor.dtype() != burn::tensor::DType::F32 {
            return None;
        }
        if tensor.is_autodiff() {
            tensor.clone().try_into_primitive::<Autodiff<Flex>>().ok().map(Self::Traced)
        } else {
            tensor.clone().try_into_primitive::<Flex>().ok().map(Self::Plain)
        }
    }

    fn host(&self) -> Host {
        match self {
            Self::Plain(tensor) => Host::new(tensor),
            Self::Traced(tensor) => Host::new(tensor.primitive()),
        }
    }
}

#[derive(Debug)]
struct Node<O>(O);

impl<O: HostOperation<N>, const N: usize> Backward<Flex, N> for Node<O> {
    type State = (O::Saved, [Host; N]);

    fn backward(
        self,
        ops: Ops<Self::State, N>,
        grads: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let gradient = grads.consume::<Flex>(&ops.node).into_data();
        let (saved, inputs) = ops.state;
        let shapes = inputs.each_ref().map(|input| input.shape().to_vec());
        let found = self.0.backward(saved, inputs.each_ref(), into_values(gradient));
        for ((parent, values), shape) in ops.parents.into_iter().zip(found).zip(shapes) {
            if let Some(parent) = parent {
                let tensor = FlexTensor::from_data(TensorData::new(values, shape));
                grads.register::<Flex>(parent.id, tensor);
            }
        }
    }
}

fn into_values(data: TensorData) -> Vec<f32> {
    match data.try_into_vec::<f32>() {
        Ok(values) => values,
        // Inputs of any other kind were turned away by `Input::new`.
        Err(_) => unreachable!("the gradient of an f32 tensor is f32"),
    }
}

/// Applies an operation; None when an input lives elsewhere than on the processor, or some inputs are
/// traced and others are not.
pub(super) fn apply<O: HostOperation<N>, const N: usize, const D: usize>(
    operation: O,
    inputs: [Option<Input>; N],
) -> Option<Tensor<D>> {
    let mut all = Vec::with_capacity(N);
    for input in inputs {
        all.push(input?);
    }
    let all: [Input; N] = all.try_into().ok()?;
    let hosts = all.each_ref().map(Input::host);
    let traced: Vec<_> = all
        .iter()
        .filter_map(|input| match input {
            Input::Traced(tensor) => Some(tensor),
            Input::Plain(_) => None,
        })
        .collect();
    let output = |values, shape: Vec<usize>| FlexTensor::from_data(TensorData::new(values, shape));
    if traced.is_empty() {
        let (values, shape, _) = operation.forward(hosts.each_ref(), false);
        return Some(Tensor::from_primitive::<Flex>(output(values, shape)));
    }
    let nodes: Vec<_> = traced.iter().map(|tensor| tensor.node()).collect();
    let nodes = nodes.try_into().ok()?;
    let node = Node(operation.clone());
    let out = match node.prepare::<NoCheckpointing>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let (values, shape, saved) = operation.forward(hosts.each_ref(), true);
            prep.finish((saved, hosts), output(values, shape))
        }
        OpsKind::UnTracked(prep) => {
            let (values, shape, _) = operation.forward(hosts.each_ref(), false);
            prep.finish(output(values, shape))
        }
    };
    Some(Tensor::from_primitive::<Autodiff<Flex>>(out))
}
