//! The sums over angles that decide the frequencies of the HiPPO matrix, each in a number of steps
//! that does not grow with N.
//!
//! `F(w) = sum_{n<N} atan((n + 1/2) / w)` and its slope are sums of a smooth function at midpoints.
//! The first [`HEAD`] terms are added as they are and the rest by the midpoint rule with
//! Euler–Maclaurin corrections, whose first omitted term is below 1e-17 as the function's pole is
//! then at least [`HEAD`] away. (The equivalent form by log-gamma functions subtracts numbers of the
//! size of `w ln w` from one another, which leaves no digits at large w.)

/// Terms that are added one by one.
const HEAD: usize = 16;

/// `B_2k(1/2) / 2k` for k = 1 to 6.
const MIDPOINT: [f64; 6] = [
    -1.0 / 24.0,
    7.0 / 960.0,
    -31.0 / 8064.0,
    127.0 / 30720.0,
    -511.0 / 67584.0,
    1_414_477.0 / 67_092_480.0,
];

/// `sum_{n<N} atan((n + 1/2) / w)`, for w > 0.
pub(super) fn above(n: usize, w: f64) -> f64 {
    let head: f64 = halves(n.min(HEAD)).map(|a| (a / w).atan()).sum();
    if n <= HEAD {
        return head;
    }
    let whole = |x: f64| x * (x / w).atan() - 0.5 * w * (x / w * (x / w)).ln_1p();
    let (from, to) = (HEAD as f64, n as f64);
    head + (whole(to) - whole(from)) + (corrections(from, w).0 - corrections(to, w).0)
}

/// `sum_{n<N} atan(w / (n + 1/2))`, which is what the other sum lacks of `N pi / 2`.
pub(super) fn below(n: usize, w: f64) -> f64 {
    let head: f64 = halves(n.min(HEAD)).map(|a| (w / a).atan()).sum();
    if n <= HEAD {
        return head;
    }
    let (from, to) = (HEAD as f64, n as f64);
    let whole = |x: f64| x * (w / x).atan();
    let logarithm = 0.5 * w * ((to * to - from * from) / (from * from + w * w)).ln_1p();
    let ends = corrections(from, w).0 - corrections(to, w).0;
    head + (whole(to) - whole(from) + logarithm) - ends
}

/// `sum_{n<N} (n + 1/2) / ((n + 1/2)^2 + w^2)`: the slope of [`below`].
pub(super) fn slope(n: usize, w: f64) -> f64 {
    let head: f64 = halves(n.min(HEAD)).map(|a| a / (a * a + w * w)).sum();
    if n <= HEAD {
        return head;
    }
    let (from, to) = (HEAD as f64, n as f64);
    let logarithm = 0.5 * ((to * to - from * from) / (from * from + w * w)).ln_1p();
    head + logarithm + (corrections(from, w).1 - corrections(to, w).1)
}

fn halves(n: usize) -> impl Iterator<Item = f64> {
    (0..n).map(|n| n as f64 + 0.5)
}

// What the end x adds, for the sum of angles and for its slope: with r = 1 / (x + iw), the sums of
// B_2k(1/2) / 2k times Im r^(2k-1) / (2k-1) and Re r^2k.
fn corrections(x: f64, w: f64) -> (f64, f64) {
    let square = x * x + w * w;
    let (re, im) = (x / square, -w / square);
    let (square_re, square_im) = (re * re - im * im, 2.0 * re * im);
    let (mut odd_re, mut odd_im) = (re, im);
    let (mut angle, mut slope) = (0.0, 0.0);
    for (k, factor) in MIDPOINT.iter().enumerate() {
        angle += factor * odd_im / (2 * k + 1) as f64;
        slope += factor * (odd_re * re - odd_im * im);
        (odd_re, odd_im) =
            (odd_re * square_re - odd_im * square_im, odd_re * square_im + odd_im * square_re);
    }
    (angle, slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn the_sums_agree_with_their_terms() {
        for n in [1, 16, 17, 64, 1000] {
            for w in [1e-3, 0.2, 1.0, 3.7, 50.0, 1e3, 1e6] {
                let halves = || (0..n).map(|n| n as f64 + 0.5);
                let near = |found: f64, right: f64| {
                    assert!((found / right - 1.0).abs() < 1e-14, "{n} {w}: {found} {right}");
                };
                near(above(n, w), halves().map(|a| (a / w).atan()).sum());
                near(below(n, w), halves().map(|a| (w / a).atan()).sum());
                near(slope(n, w), halves().map(|a| a / (a * a + w * w)).sum());
                near(above(n, w) + below(n, w), n as f64 * PI / 2.0);
            }
        }
    }

    // The argument of the gamma function at x + iw, by Stirling's series after 20 steps up.
    fn gamma_angle(x: f64, w: f64) -> f64 {
        let before: f64 = (0..20).map(|k| w.atan2(x + f64::from(k))).sum();
        let x = x + 20.0;
        let (length, angle) = (x.hypot(w), w.atan2(x));
        let series = -(angle.sin() / length) / 12.0 + (3.0 * angle).sin() / length.powi(3) / 360.0
            - (5.0 * angle).sin() / length.powi(5) / 1260.0
            + (7.0 * angle).sin() / length.powi(7) / 1680.0;
        w * length.ln() + (x - 0.5) * angle - w + series - before
    }

    #[test]
    fn the_form_by_gamma_functions_agrees() {
        let (n, w) = (16, 3.7);
        let gamma = n as f64 * PI / 2.0 - (gamma_angle(n as f64 + 0.5, w) - gamma_angle(0.5, w));
        assert!((above(n, w) - 15.993_272_287_650_53).abs() < 1e-13);
        assert!((gamma - 15.993_272_287_650_53).abs() < 1e-12, "{gamma}");
    }
}
