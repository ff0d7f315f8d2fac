//! The exponential in a form that the compiler turns into vector instructions.

use pulp::Arch;

/// Runs `work` compiled for the widest vectors that the processor has.
pub(super) fn wide<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// `eˣ` to two units in the last place, 0 below about -87. Not for NaN.
///
/// `x = k ln 2 + r` with `|r| ≤ ln 2 / 2`; a polynomial for `eʳ`, the exponent set by bits.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    const HIGH: f32 = 0.693_359_4;
    const LOW: f32 = -2.121_944_4e-4;
    // Adding 3·2²² leaves no bits for a fraction, and puts the integer into the lowest ones. Rounding
    // and conversion by their own names stop the compiler from making vectors of a loop.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.3, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = x - k * HIGH - k * LOW;
    let p = 1.987_569_2e-4;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    (p * r * r + r + 1.0) * power
}

/// `tanh x` to a few units in the last place away from 0, and to 1e-7 absolutely.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let e = exp(2.0 * x.clamp(-15.0, 15.0));
    (e - 1.0) / (e + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_right_to_two_units_in_the_last_place() {
        for i in -8700..8800 {
            let x = i as f32 / 100.0;
            let (ours, right) = (exp(x), f64::from(x).exp());
            assert!((f64::from(ours) / right - 1.0).abs() < 2.5e-7, "{x}: {ours} for {right}");
        }
        assert!(exp(f32::NEG_INFINITY) < 1.3e-38);
    }

    #[test]
    fn the_hyperbolic_tangent_is_right_to_seven_digits() {
        for i in -2000..2000 {
            let x = i as f32 / 100.0;
            assert!((f64::from(tanh(x)) - f64::from(x).tanh()).abs() < 3e-7, "{x}");
        }
    }
}
