//! The layers that networks are made of, forwards and backwards.

use super::gate::Gate;
use super::linear::Linear;
use super::matrix::Matrix;
use super::norm::Norm;
use super::waves::Waves;
use super::{elementwise, norm};
use metier_core::rng::Rng;

/// One step of a network. It knows its shape; its parameters are a slice that is handed to it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Layer {
    /// A linear map with an offset.
    Linear(Linear),
    /// `max(x, 0)`.
    Relu,
    /// `sin(omega x)`.
    Sine(f32),
    /// Every row brought to mean 0 and deviation 1, then a gain and a shift per column.
    Norm(Norm),
    /// `sigmoid(W x) * V x`.
    Gate(Gate),
    /// In training, this share of the values is set to 0 and the rest made larger.
    Dropout(f32),
    /// Random waves, which are not learned.
    Waves(Waves),
    /// `x + layers(x)`.
    Residual(Vec<Layer>),
    /// The columns of `layers(x)`, then this many of the last columns of `x`.
    Beside(Vec<Layer>, usize),
}

/// Whether a pass is to be learned from.
pub(super) enum Mode<'a> {
    /// Nothing is kept and nothing dropped.
    Predict,
    /// Every layer keeps what its backward pass needs; what is dropped is drawn from here.
    Train(&'a mut Rng),
}

impl Mode<'_> {
    pub(super) fn trains(&self) -> bool {
        matches!(self, Self::Train(_))
    }
}

/// What a layer kept of its forward pass.
pub(super) enum Kept {
    Nothing,
    /// What came in.
    Input(Matrix),
    /// The slope of an elementwise function at each value.
    Slopes(Vec<f32>),
    Norm(norm::Kept),
    /// What came in, how far each gate is open, and what waits behind it.
    Gate {
        x: Matrix,
        open: Matrix,
        value: Matrix,
    },
    Inside(Vec<Kept>),
}

/// Where gradients go: the sum over rows for each parameter.
pub(super) struct Gradient<'a> {
    /// One per parameter of the layer at hand.
    pub(super) sums: &'a mut [f32],
    /// The factor of the weights that the penalty adds.
    pub(super) decay: f32,
}

impl Layer {
    /// The number of parameters.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Linear(linear) => linear.size(),
            Self::Norm(norm) => norm.size(),
            Self::Gate(gate) => gate.size(),
            Self::Residual(layers) | Self::Beside(layers, _) => layers.iter().map(Self::size).sum(),
            Self::Relu | Self::Sine(_) | Self::Dropout(_) | Self::Waves(_) => 0,
        }
    }

    /// The parameters before training.
    pub(super) fn start(&self, rng: &mut Rng) -> Vec<f32> {
        match self {
            Self::Linear(linear) => linear.start(rng),
            Self::Norm(norm) => norm.start(),
            Self::Gate(gate) => gate.start(rng),
            Self::Residual(layers) | Self::Beside(layers, _) => {
                layers.iter().flat_map(|layer| layer.start(rng)).collect()
            }
            Self::Relu | Self::Sine(_) | Self::Dropout(_) | Self::Waves(_) => Vec::new(),
        }
    }

    fn forward(&self, own: &[f32], mut x: Matrix, mode: &mut Mode) -> (Matrix, Kept) {
        match self {
            Self::Linear(linear) => {
                let y = linear.forward(own, &x);
                (y, if mode.trains() { Kept::Input(x) } else { Kept::Nothing })
            }
            Self::Norm(norm) => norm.forward(own, x, mode),
            Self::Gate(gate) => gate.forward(own, x, mode),
            Self::Relu => {
                let slopes = elementwise::relu(&mut x, mode);
                (x, slopes)
            }
            Self::Sine(omega) => {
                let slopes = elementwise::sine(&mut x, *omega, mode);
                (x, slopes)
            }
            Self::Dropout(rate) => {
                let slopes = elementwise::dropout(&mut x, *rate, mode);
                (x, slopes)
            }
            Self::Residual(layers) => {
                let (mut y, kept) = forward(layers, own, x.clone(), mode);
                y.add(&x);
                (y, Kept::Inside(kept))
            }
            Self::Waves(waves) => waves.forward(&x, mode),
            Self::Beside(layers, width) => {
                let (y, kept) = forward(layers, own, x.clone(), mode);
                (y.beside(&x.last_columns(*width)), Kept::Inside(kept))
            }
        }
    }

    // From the slopes of the outputs to those of the inputs, unless nobody wants them.
    fn backward(
        &self,
        own: &[f32],
        kept: Kept,
        mut delta: Matrix,
        gradient: Gradient,
        wanted: bool,
    ) -> Option<Matrix> {
        match (self, kept) {
            (Self::Linear(linear), Kept::Input(x)) => {
                linear.backward(own, &x, &delta, gradient, wanted)
            }
            (Self::Norm(norm), Kept::Norm(kept)) => {
                Some(norm.backward(own, &kept, delta, gradient))
            }
            (Self::Gate(gate), Kept::Gate { x, open, value }) => {
                gate.backward(own, [&x, &open, &value], delta, gradient, wanted)
            }
            (Self::Residual(layers), Kept::Inside(kept)) => {
                let inner = backward(layers, own, kept, delta.clone(), gradient, wanted)?;
                delta.add(&inner);
                Some(delta)
            }
            (Self::Waves(waves), Kept::Slopes(slopes)) => waves.backward(delta, &slopes, wanted),
            (Self::Beside(layers, width), Kept::Inside(kept)) => {
                let passed = delta.last_columns(*width);
                let inner = delta.first_columns(delta.columns - width);
                let mut before = backward(layers, own, kept, inner, gradient, wanted)?;
                before.add_to_last_columns(&passed);
                Some(before)
            }
            (_, Kept::Slopes(slopes)) => {
                delta.values.iter_mut().zip(&slopes).for_each(|(d, slope)| *d *= slope);
                Some(delta)
            }
            _ => Some(delta),
        }
    }
}

/// The values after all layers, and what each kept.
pub(super) fn forward(
    layers: &[Layer],
    parameters: &[f32],
    mut x: Matrix,
    mode: &mut Mode,
) -> (Matrix, Vec<Kept>) {
    let mut all = Vec::with_capacity(layers.len());
    let mut rest = parameters;
    for layer in layers {
        let (own, others) = rest.split_at(layer.size());
        let (y, kept) = layer.forward(own, x, mode);
        all.push(kept);
        (x, rest) = (y, others);
    }
    (x, all)
}

/// Adds the gradients of all layers, given the slope of the loss at each output; `None` where
/// nobody wants the slopes at the inputs.
pub(super) fn backward(
    layers: &[Layer],
    parameters: &[f32],
    kept: Vec<Kept>,
    mut delta: Matrix,
    gradient: Gradient,
    wanted: bool,
) -> Option<Matrix> {
    let Gradient { sums, decay } = gradient;
    let mut end = parameters.len();
    for (i, (layer, kept)) in layers.iter().zip(kept).enumerate().rev() {
        let own = end - layer.size()..end;
        end = own.start;
        let gradient = Gradient { sums: &mut sums[own.clone()], decay };
        delta = layer.backward(&parameters[own], kept, delta, gradient, wanted || i > 0)?;
    }
    Some(delta)
}
