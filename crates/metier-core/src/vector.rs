//! Functions of many values at once, in a form that the compiler turns into vector instructions: the
//! standard library's, one call per value, take longer than the products between them.

use pulp::Arch;

/// Runs `work` compiled for the widest vectors that the processor has. What `work` calls must be
/// inlined into it.
pub fn wide<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// Calls `change` on every value, in the widest vectors that the machine has.
#[inline(always)]
pub fn each<T: Copy>(values: &mut [T], change: impl Fn(T) -> T) {
    wide(
        #[inline(always)]
        || values.iter_mut().for_each(|v| *v = change(*v)),
    );
}

/// Calls `change` on every value; the second number that it returns is its slope there.
#[inline(always)]
pub fn each_with_slope(values: &mut [f32], slopes: &mut [f32], change: impl Fn(f32) -> (f32, f32)) {
    wide(
        #[inline(always)]
        || {
            for (v, slope) in values.iter_mut().zip(slopes) {
                (*v, *slope) = change(*v);
            }
        },
    );
}

// Adding 3·2²² leaves no bits for a fraction, and puts the integer into the lowest ones. Rounding and
// conversion by their own names stop the compiler from making vectors of a loop.
const ROUND: f32 = 12_582_912.0;

/// `eˣ` to two units in the last place, 0 below about -87. Not for NaN.
///
/// `x = k ln 2 + r` with `|r| ≤ ln 2 / 2`; a polynomial for `eʳ`, the exponent set by bits.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    const HIGH: f32 = 0.693_359_4;
    const LOW: f32 = -2.121_944_4e-4;
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
pub fn tanh(x: f32) -> f32 {
    let e = exp(2.0 * x.clamp(-15.0, 15.0));
    (e - 1.0) / (e + 1.0)
}

/// `1 / (1 + e⁻ˣ)`, to 1e-6.
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Sine and cosine, to 1e-6 for angles of up to a few thousand. Cephes' polynomials over an eighth
/// of a turn to either side, without a branch.
#[inline(always)]
pub fn sin_cos(x: f32) -> (f32, f32) {
    let marked = x * std::f32::consts::FRAC_2_PI + ROUND;
    let (quarter, k) = (marked.to_bits(), marked - ROUND);
    // A quarter turn in three parts, so that the first two products are exact.
    let r = x - k * 1.570_312_5 - k * 4.837_513e-4 - k * 7.549_79e-8;
    let s = r * r;
    let sin = r + r * s * (-1.666_665_5e-1 + s * (8.332_161e-3 - s * 1.951_529_6e-4));
    let cos = 1.0 - 0.5 * s + s * s * (4.166_664_6e-2 + s * (-1.388_731_6e-3 + s * 2.443_315_7e-5));
    let (a, b) = if quarter & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let turned = |value: f32, quarter: u32| f32::from_bits(value.to_bits() ^ ((quarter & 2) << 30));
    (turned(a, quarter), turned(b, quarter.wrapping_add(1)))
}

/// `exp(x)` to a few units of the last digit, from 1e-307 to 1e307 and at these beyond.
#[inline(always)]
pub fn exp_f64(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let x = x.clamp(-707.0, 707.0);
    let marked = x * std::f64::consts::LOG2_E + ROUND;
    let (bits, k) = (marked.to_bits(), marked - ROUND);
    // The logarithm of 2 in two parts, the first short enough that its products are exact.
    let r = x - k * 0.693_147_180_369_123_816_49 - k * 1.908_214_929_270_587_700_02e-10;
    // Taylor's series to the thirteenth power: r is at most half of that logarithm.
    let mut p = 1.0 / 6_227_020_800.0;
    for factorial in [
        479_001_600.0,
        39_916_800.0,
        3_628_800.0,
        362_880.0,
        40_320.0,
        5_040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0,
    ] {
        p = p * r + 1.0 / factorial;
    }
    p * f64::from_bits(bits.wrapping_add(1023) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_the_library() {
        for i in -40_000..=40_000 {
            let x = i as f32 * 0.05;
            let (sin, cos) = sin_cos(x);
            let (right_sin, right_cos) = f64::from(x).sin_cos();
            assert!((f64::from(sin) - right_sin).abs() < 1e-6, "sin {x}: {sin} {right_sin}");
            assert!((f64::from(cos) - right_cos).abs() < 1e-6, "cos {x}: {cos} {right_cos}");
            let right = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(sigmoid(x)) - right).abs() < 1e-6, "sigmoid {x}: {right}");
        }
        assert_eq!((sin_cos(0.0), sigmoid(0.0)), ((0.0, 1.0), 0.5));
        assert!(sin_cos(f32::NAN).0.is_nan() && sigmoid(f32::NAN).is_nan());
        assert!(sin_cos(f32::INFINITY).0.is_nan());
    }

    #[test]
    fn exponentials_agree_with_the_library() {
        for i in -70_000..=70_000 {
            let x = f64::from(i) * 0.0101;
            assert!((exp_f64(x) / x.exp() - 1.0).abs() < 1e-15, "{x}: {} {}", exp_f64(x), x.exp());
        }
        assert!((exp_f64(0.0), exp_f64(f64::NAN).is_nan()) == (1.0, true));
        assert!(exp_f64(f64::NEG_INFINITY) < 1e-306 && exp_f64(f64::INFINITY) > 1e306);
    }

    #[test]
    fn values_and_slopes_are_changed_in_place() {
        let (mut values, mut slopes) = (vec![2.0; 37], vec![0.0; 37]);
        each_with_slope(&mut values, &mut slopes, |v| (v * v, 2.0 * v));
        assert_eq!((values[36], slopes[36]), (4.0, 4.0));
        each(&mut values, |v| v + 1.0);
        assert_eq!(values, [5.0; 37]);
    }

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
