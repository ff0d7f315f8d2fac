//! Bessel functions of the first kind, many at a time: what kernels of the limit are made of.
//!
//! `J_0` and `J_1` are read from their Taylor polynomials of degree 11 around the middles of pieces of
//! half a unit up to [`FAR`], and beyond from Hankel's expansion, whose first omitted term is below
//! 1e-17 there. Both leave an absolute error of a few roundings, and beyond that of the argument's own, `z` times the machine
//! epsilon. All orders at one argument come from the recurrence, run in the direction in which it
//! is stable.

use crate::simd::{dispatch, fma};
use std::f64::consts::PI;
use std::sync::LazyLock;

const TERMS: usize = 12;
const FAR: f64 = 32.0;
const PIECES: usize = 64;
const TILE: usize = 8;

type Table = [[f64; TERMS]; PIECES];

/// One of the two functions that every kernel is made of, both entire in `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `J_0(2 sqrt x)`.
    Zero,
    /// `J_1(2 sqrt x) / sqrt x`, whose integral over `t` of `x = t u` is what `J_0` sums up to.
    One,
}

// J_0(z) and 2 J_1(z) / z by powers of four times the way from the middle of each piece.
static TABLES: LazyLock<[Table; 2]> = LazyLock::new(|| {
    let middle = |piece: usize| (piece as f64 + 0.5) / 2.0;
    let slope = |z: f64| -2.0 * libm::jn(2, z) / z;
    [
        std::array::from_fn(|k| taylor(1, middle(k), libm::j0(middle(k)), -libm::j1(middle(k)))),
        std::array::from_fn(|k| {
            taylor(3, middle(k), 2.0 * libm::j1(middle(k)) / middle(k), slope(middle(k)))
        }),
    ]
});

// The coefficients of the solution of `z y'' + SPREAD y' + z y = 0` with this value and slope.
fn taylor(spread: usize, z: f64, value: f64, slope: f64) -> [f64; TERMS] {
    let mut c = [0.0; TERMS];
    (c[0], c[1]) = (value, slope);
    for k in 0..TERMS - 2 {
        let before = if k > 0 { c[k - 1] } else { 0.0 };
        let falls = ((k + 1) * (k + spread)) as f64 * c[k + 1] + z * c[k] + before;
        c[k + 2] = -falls / (z * ((k + 1) * (k + 2)) as f64);
    }
    std::array::from_fn(|k| c[k] * 0.25f64.powi(k as i32))
}

/// Fills `values` with the function at `x(i) >= 0`.
pub(super) fn fill(kind: Kind, x: impl Fn(usize) -> f64, values: &mut [f64]) {
    let table = &TABLES[kind as usize];
    values.iter_mut().enumerate().for_each(|(i, value)| *value = 2.0 * x(i).sqrt());
    let values = std::cell::RefCell::new(values);
    dispatch(
        #[inline(always)]
        || evaluate::<true>(kind, table, &mut values.borrow_mut()),
        #[inline(always)]
        || evaluate::<false>(kind, table, &mut values.borrow_mut()),
    );
}

/// The function at one `x >= 0`.
pub(super) fn value(kind: Kind, x: f64) -> f64 {
    let mut found = [0.0];
    fill(kind, |_| x, &mut found);
    found[0]
}

// Puts the function in the place of each argument z. Plain loops over a tile are what the compiler
// turns into vectors; a closure may keep the features of the function that it is called from away.
#[inline(always)]
fn evaluate<const FMA: bool>(kind: Kind, table: &Table, values: &mut [f64]) {
    for values in values.chunks_mut(TILE) {
        let mut z = [1.0; TILE];
        z[..values.len()].copy_from_slice(values);
        let near = z[..values.len()].iter().filter(|z| **z < FAR).count();
        let mut found = [0.0; TILE];
        if near > 0 {
            for j in 0..TILE {
                let piece = ((2.0 * z[j]) as usize).min(PIECES - 1);
                let x = 4.0 * z[j] - (2 * piece + 1) as f64;
                found[j] = polynomial::<TERMS, FMA>(&table[piece], x);
            }
        }
        if near < values.len() {
            let mut far = [0.0; TILE];
            for j in 0..TILE {
                far[j] = hankel::<FMA>(kind, z[j].max(FAR));
            }
            for j in 0..TILE {
                found[j] = if z[j] < FAR { found[j] } else { far[j] };
            }
        }
        values.copy_from_slice(&found[..values.len()]);
    }
}

// The polynomial with these coefficients, from the constant up.
#[inline(always)]
fn polynomial<const N: usize, const FMA: bool>(c: &[f64; N], x: f64) -> f64 {
    let mut sum = c[N - 1];
    for k in (0..N - 1).rev() {
        sum = fma::<FMA>(sum, x, c[k]);
    }
    sum
}

// a_k(nu) of Hankel's expansion, with the signs of its two sums: those of the cosine and the sine.
const fn coefficients(nu: f64) -> [[f64; 8]; 2] {
    let mut sums = [[0.0; 8]; 2];
    let mut a = 1.0;
    let mut k = 0;
    while k < 16 {
        let sign = if k / 2 % 2 == 0 { 1.0 } else { -1.0 };
        sums[k % 2][k / 2] = sign * a;
        let odd = (2 * k + 1) as f64;
        a *= (4.0 * nu * nu - odd * odd) / ((k + 1) as f64 * 8.0);
        k += 1;
    }
    sums
}

const EXPANSIONS: [[[f64; 8]; 2]; 2] = [coefficients(0.0), coefficients(1.0)];

#[inline(always)]
fn hankel<const FMA: bool>(kind: Kind, z: f64) -> f64 {
    let [even, odd] = &EXPANSIONS[kind as usize];
    let inverse = z.recip();
    let square = inverse * inverse;
    let p = polynomial::<8, FMA>(even, square);
    let q = polynomial::<8, FMA>(odd, square) * inverse;
    let (sin, cos) = sin_cos::<FMA>(z);
    let scale = (PI * z).sqrt().recip();
    match kind {
        Kind::Zero => scale * fma::<FMA>(p + q, cos, (p - q) * sin),
        Kind::One => 2.0 * inverse * scale * fma::<FMA>(p + q, sin, (q - p) * cos),
    }
}

// Pi / 2 in three parts, of which the first two have few enough bits that their products with a
// quarter turn's number below 2^26 are exact.
const HALF_PI: [f64; 3] =
    [1.570_796_325_802_803, 9.920_935_739_593_517e-10, 5.721_188_726_109_832e-18];

// Sine and cosine for |z| <= 1e8, by the Taylor polynomials within an eighth of a turn.
#[inline(always)]
fn sin_cos<const FMA: bool>(z: f64) -> (f64, f64) {
    // Adding and taking away 1.5 * 2^52 rounds to the nearest whole number.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let shifted = fma::<FMA>(z, 2.0 / PI, ROUND);
    let turns = shifted - ROUND;
    let r = fma::<FMA>(
        -turns,
        HALF_PI[2],
        fma::<FMA>(-turns, HALF_PI[1], fma::<FMA>(-turns, HALF_PI[0], z)),
    );
    let square = r * r;
    let sin = r * polynomial::<8, FMA>(&SINE, square);
    let cos = fma::<FMA>(square, polynomial::<8, FMA>(&COSINE, square), 1.0);
    let quarter = shifted.to_bits() & 3;
    let (s, c) = if quarter & 1 == 0 { (sin, cos) } else { (cos, -sin) };
    if quarter & 2 == 0 { (s, c) } else { (-s, -c) }
}

// The sine over r, and the cosine less 1 over r², by powers of r².
const SINE: [f64; 8] = factorials(1);
const COSINE: [f64; 8] = factorials(2);

// The alternating inverse factorials of `first`, `first + 2`, ...
const fn factorials(first: usize) -> [f64; 8] {
    let mut inverse = [0.0; 8];
    let mut value = if first == 1 { 1.0 } else { -0.5 };
    let mut i = 0;
    while i < 8 {
        inverse[i] = value;
        let next = (first + 2 * i + 1) as f64;
        value /= -(next * (next + 1.0));
        i += 1;
    }
    inverse
}

/// Fills `values` with `J_0(z), J_1(z), ...` at one `z >= 0`.
pub(super) fn orders(z: f64, values: &mut [f64]) {
    let count = values.len();
    if z < 1e-8 {
        // The first term of each series is all that there is to see.
        let mut term = 1.0;
        for (k, value) in values.iter_mut().enumerate() {
            *value = term;
            term *= 0.5 * z / (k + 1) as f64;
        }
    } else if z > count as f64 {
        let x = 0.25 * z * z;
        let (mut now, mut next) = (value(Kind::Zero, x), 0.5 * z * value(Kind::One, x));
        for (k, value) in values.iter_mut().enumerate() {
            *value = now;
            (now, next) = (next, 2.0 * (k + 1) as f64 / z * next - now);
        }
    } else {
        downward(z, values);
    }
}

// Miller's algorithm: any start far above is drowned by the solution that falls, whose size is then
// known from J_0 + 2 (J_2 + J_4 + ...) = 1.
fn downward(z: f64, values: &mut [f64]) {
    const HUGE: f64 = 1e250;
    let count = values.len();
    let start = 2 * ((count + (160.0 * count as f64).sqrt() as usize) / 2 + 1);
    let (mut above, mut now, mut sum) = (0.0, 1e-250, 0.0);
    for k in (1..=start).rev() {
        (above, now) = (now, 2.0 * k as f64 / z * now - above);
        if now.abs() > HUGE {
            (above, now, sum) = (above / HUGE, now / HUGE, sum / HUGE);
            values.iter_mut().skip(k).for_each(|value| *value /= HUGE);
        }
        if let Some(value) = values.get_mut(k - 1) {
            *value = now;
        }
        if k % 2 == 1 && k > 1 {
            sum += 2.0 * now;
        }
    }
    sum += now;
    values.iter_mut().for_each(|value| *value /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_functions_agree_with_the_library_at_every_size() {
        for i in 0..40_000 {
            let z = 1e-3 * f64::from(i) * f64::from(i).sqrt().mul_add(0.01, 1.0);
            let x = 0.25 * z * z;
            let bound = 4e-16 * (1.0 + z);
            let (zero, one) = (value(Kind::Zero, x), value(Kind::One, x));
            assert!((zero - libm::j0(z)).abs() < bound, "{z}: {zero} {}", libm::j0(z));
            let right = if z == 0.0 { 1.0 } else { 2.0 * libm::j1(z) / z };
            assert!((one - right).abs() < bound, "{z}: {one} {right}");
        }
        // 2 sqrt 10; what DLMF and the specification have.
        assert!((value(Kind::Zero, 10.0) - 0.228_843_818_615).abs() < 1e-12);
        for z in [1e4, 1e6, 1e8] {
            let found = value(Kind::Zero, 0.25 * z * z);
            assert!((found - libm::j0(z)).abs() < 4e-16 * z.sqrt() + 1e-18 * z, "{z}: {found}");
        }
    }

    #[test]
    fn orders_agree_with_the_library_on_either_side_of_the_turning_point() {
        for z in [0.0, 1e-12, 1e-6, 0.3, 2.0, 9.5, 30.0, 63.0, 64.5, 200.0] {
            let mut values = [0.0; 64];
            orders(z, &mut values);
            for (k, value) in values.into_iter().enumerate() {
                let right = libm::jn(k as i32, z);
                assert!((value - right).abs() < 1e-14, "J_{k}({z}): {value} {right}");
            }
        }
        let mut values = [0.0; 1];
        orders(0.5, &mut values);
        assert!((values[0] - libm::j0(0.5)).abs() < 1e-15);
    }

    #[test]
    fn a_tile_across_the_edge_and_a_short_one_are_whole() {
        let x = |i: usize| 0.25 * (28.5 + i as f64).powi(2);
        let mut values = [0.0; 11];
        fill(Kind::Zero, x, &mut values);
        for (i, value) in values.into_iter().enumerate() {
            assert!((value - libm::j0(28.5 + i as f64)).abs() < 1e-14, "{i}");
        }
    }
}
