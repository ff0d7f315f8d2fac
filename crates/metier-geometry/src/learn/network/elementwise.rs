//! Functions of single values. Each changes the values in place and, in training, returns its slope
//! at every one: backwards they are all a product.

use super::layer::{Kept, Mode};
use super::matrix::Matrix;
use metier_core::vector::{each, each_with_slope, sin_cos};
use rand::RngExt;

pub(super) fn relu(x: &mut Matrix, mode: &Mode) -> Kept {
    let slopes = if mode.trains() {
        Kept::Slopes(x.values.iter().map(|v| f32::from(u8::from(*v > 0.0))).collect())
    } else {
        Kept::Nothing
    };
    each(&mut x.values, |v| v.max(0.0));
    slopes
}

/// `sin(omega x)`.
pub(super) fn sine(x: &mut Matrix, omega: f32, mode: &Mode) -> Kept {
    if !mode.trains() {
        each(&mut x.values, |v| sin_cos(omega * v).0);
        return Kept::Nothing;
    }
    let mut slopes = vec![0.0; x.values.len()];
    each_with_slope(&mut x.values, &mut slopes, |v| {
        let (sin, cos) = sin_cos(omega * v);
        (sin, omega * cos)
    });
    Kept::Slopes(slopes)
}

/// Sets this share of the values to 0 and scales the rest so that their mean stays.
pub(super) fn dropout(x: &mut Matrix, rate: f32, mode: &mut Mode) -> Kept {
    let Mode::Train(rng) = mode else { return Kept::Nothing };
    if rate <= 0.0 {
        return Kept::Nothing;
    }
    let kept = 1.0 / (1.0 - rate);
    // 32 random bits against a mark: a float per value would cost more than the product before it.
    let mark = (f64::from(rate) * 2f64.powi(32)) as u32;
    let slope = |v: &mut f32| {
        let slope = if rng.random::<u32>() < mark { 0.0 } else { kept };
        *v *= slope;
        slope
    };
    Kept::Slopes(x.values.iter_mut().map(slope).collect())
}
