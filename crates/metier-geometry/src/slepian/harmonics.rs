//! Sums of spherical harmonics at many points, by recurrence, in blocks that suit the processor.
//!
//! The harmonics are real and orthonormal, without the Condon–Shortley phase:
//! `Y_lm = X_lm(mu) * {1, sqrt2 cos m phi, sqrt2 sin |m| phi}` for m = 0, m > 0, m < 0.
//!
//! `X_lm` is a polynomial in `mu` times `s^m`, where `s = sqrt(1 - mu^2)`. The polynomial is run up
//! in `l` from its constant at `l = m`; `s^m cos m phi` and `s^m sin m phi` are the two parts of
//! `(x + iy)^m` for a unit vector `(x, y, mu)`. So no angle and no logarithm is ever taken, the
//! poles are ordinary points, and, with one factor of 1e280 moved from the polynomial to the power,
//! neither over- nor underflows for any degree up to [`MAX_DEGREE`].

use crate::simd::{dispatch, fma};
use crate::sphere::ToPole;
use metier_core::{Error, Result};
use ndarray::Array2;
use rayon::prelude::*;
use std::f64::consts::{PI, SQRT_2};

/// The largest degree that the recurrence is checked for.
pub const MAX_DEGREE: usize = 2000;

/// Points handled at once: two AVX2 registers of each quantity, or one of AVX-512.
pub(super) const TILE: usize = 8;

// Degrees summed per pass over the sums, so that these are loaded and stored once for four terms.
const PASS: usize = 4;

// Points per task of the thread pool.
pub(super) const BLOCK: usize = 512;

// Keeps the polynomial small where it is large, next to the poles.
pub(super) const SCALE: f64 = 1e280;

pub(super) type Lane = [f64; TILE];

/// The recurrence of one order m: the constant that it starts from and, for each degree above m,
/// the factors of `X_l = a mu X_{l-1} - c X_{l-2}`. For m > 0 the sqrt2 of `Y_lm` is included.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) m: usize,
    start: f64,
    steps: Vec<[f64; 2]>,
}

impl Order {
    pub(super) fn new(m: usize, max_degree: usize) -> Self {
        // prod (2k-1)/(2k) never gets small: it falls as 1/sqrt(pi m).
        let product: f64 = (1..=m).map(|k| (2 * k - 1) as f64 / (2 * k) as f64).product();
        let norm = ((2 * m + 1) as f64 / (4.0 * PI) * product).sqrt();
        let start = norm * if m > 0 { SQRT_2 } else { 1.0 } / SCALE;
        let order = m as f64;
        let steps = (m + 1..=max_degree)
            .map(|l| {
                let l = l as f64;
                let a = ((4.0 * l * l - 1.0) / (l * l - order * order)).sqrt();
                let before = l - 1.0;
                let b = ((before * before - order * order) / (4.0 * before * before - 1.0)).sqrt();
                [a, if l > order + 1.0 { a * b } else { 0.0 }]
            })
            .collect();
        Self { m, start, steps }
    }

    /// How many degrees there are, from m on.
    pub(super) fn degrees(&self) -> usize {
        self.steps.len() + 1
    }
}

/// Functions of one order given by coefficients over the degrees l = m..=L.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pub(super) order: Order,
    count: usize,
    // [pass over degrees][function][degree in pass], filled up with zeros.
    packed: Vec<[f64; PASS]>,
}

impl Sums {
    /// Packs the functions, each with [`Order::degrees`] coefficients.
    pub(super) fn new(order: Order, functions: &[Vec<f64>]) -> Self {
        let passes = order.degrees().div_ceil(PASS);
        let packed = (0..passes)
            .flat_map(|pass| {
                functions.iter().map(move |g| {
                    std::array::from_fn(|i| g.get(pass * PASS + i).copied().unwrap_or(0.0))
                })
            })
            .collect();
        Self { order, count: functions.len(), packed }
    }

    /// How many functions there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Adds up every function at the points `mu`, still without the power of the order.
    #[inline(always)]
    pub(super) fn add_up<const FMA: bool>(&self, mu: &Lane, sums: &mut [Lane]) {
        let sums = &mut sums[..self.count];
        sums.fill([0.0; TILE]);
        let mut before = [0.0; TILE];
        let mut now = [self.order.start; TILE];
        let mut steps = self.order.steps.iter();
        for factors in self.packed.chunks_exact(self.count) {
            let mut terms = [[0.0; TILE]; PASS];
            for term in &mut terms {
                *term = now;
                if let Some(&[a, c]) = steps.next() {
                    let mut next = [0.0; TILE];
                    for j in 0..TILE {
                        next[j] = fma::<FMA>(a * mu[j], now[j], -c * before[j]);
                    }
                    before = now;
                    now = next;
                }
            }
            for (sum, g) in sums.iter_mut().zip(factors) {
                for j in 0..TILE {
                    let low = fma::<FMA>(g[1], terms[1][j], g[0] * terms[0][j]);
                    let high = fma::<FMA>(g[3], terms[3][j], g[2] * terms[2][j]);
                    sum[j] += low + high;
                }
            }
        }
    }
}

/// Unit vectors of a tile with the power `(x + iy)^m` of the current order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    x: Lane,
    y: Lane,
    pub(super) mu: Lane,
    pub(super) cos: Lane,
    pub(super) sin: Lane,
    order: usize,
}

impl Tile {
    /// The tile of up to [`TILE`] places; what is beyond them repeats the last.
    pub(super) fn new(frame: &ToPole, lon: &[f64], lat: &[f64]) -> Self {
        Self::of(|j| {
            let i = j.min(lon.len() - 1);
            frame.apply(lon[i], lat[i])
        })
    }

    /// The tile of these unit vectors.
    pub(super) fn of(place: impl Fn(usize) -> [f64; 3]) -> Self {
        let mut tile = Self::of_zeros();
        for j in 0..TILE {
            let [x, y, z] = place(j);
            (tile.x[j], tile.y[j], tile.mu[j]) = (x, y, z.clamp(-1.0, 1.0));
        }
        tile
    }

    /// The tile of up to [`TILE`] points of the meridian `y = 0`, given by x and z.
    pub(super) fn on_meridian(x: &[f64], mu: &[f64]) -> Self {
        let mut tile = Self::of_zeros();
        for j in 0..TILE {
            let i = j.min(x.len() - 1);
            (tile.x[j], tile.mu[j]) = (x[i], mu[i]);
        }
        tile
    }

    fn of_zeros() -> Self {
        let zero = [0.0; TILE];
        Self { x: zero, y: zero, mu: zero, cos: [SCALE; TILE], sin: zero, order: 0 }
    }

    /// Multiplies the power up to the order `m`, which never falls.
    #[inline(always)]
    pub(super) fn raise<const FMA: bool>(&mut self, m: usize) {
        while self.order < m {
            for j in 0..TILE {
                let (cos, sin) = (self.cos[j], self.sin[j]);
                self.cos[j] = fma::<FMA>(cos, self.x[j], -(sin * self.y[j]));
                self.sin[j] = fma::<FMA>(cos, self.y[j], sin * self.x[j]);
            }
            self.order += 1;
        }
    }
}

/// A sum times its power; nothing is left where the power is, however large the sum.
#[inline(always)]
pub(super) fn times(sum: &Lane, power: &Lane) -> Lane {
    std::array::from_fn(|j| if power[j] == 0.0 { 0.0 } else { sum[j] * power[j] })
}

/// Fills a `points x columns` array tile by tile, in parallel; `fill` writes the columns of a tile.
pub(super) fn fill_tiles<T: Copy + Send + Sync + Default>(
    lon: &[f64],
    lat: &[f64],
    columns: usize,
    convert: impl Fn(f64) -> T + Sync,
    fill: impl Fn(&[f64], &[f64], &mut [Lane]) + Sync,
) -> Array2<T> {
    let mut values = vec![T::default(); lon.len() * columns];
    if columns > 0 {
        values.par_chunks_mut(BLOCK * columns).enumerate().for_each(|(block, rows)| {
            let mut lanes = vec![[0.0; TILE]; columns];
            for (tile, rows) in rows.chunks_mut(TILE * columns).enumerate() {
                let first = block * BLOCK + tile * TILE;
                let last = first + rows.len() / columns;
                fill(&lon[first..last], &lat[first..last], &mut lanes);
                for (j, row) in rows.chunks_exact_mut(columns).enumerate() {
                    for (value, lane) in row.iter_mut().zip(&lanes) {
                        *value = convert(lane[j]);
                    }
                }
            }
        });
    }
    // The vector was made with this length.
    Array2::from_shape_vec((lon.len(), columns), values).unwrap_or_default()
}

/// The encoder SH(L): every harmonic of the degrees 0..L, `L^2` features in the order
/// `l^2 + l + m`, for places in degrees.
///
/// ```
/// use metier_geometry::slepian::sh_features;
/// let features = sh_features(3, &[30.0], &[45.0])?;
/// assert_eq!(features.dim(), (1, 9));
/// assert!((features[[0, 0]] - 0.28209479).abs() < 1e-7);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// L of 0 or above [`MAX_DEGREE`], or a point that is none.
pub fn sh_features(l: usize, lon: &[f64], lat: &[f64]) -> Result<Array2<f32>> {
    crate::sphere::check_points(lon, lat)?;
    Ok(Harmonics::new(l)?.evaluate(lon, lat, |value| value as f32))
}

/// The names of the features of SH(L), in their order: `sh_l2_m-1`.
pub fn sh_names(l: usize) -> Vec<String> {
    let orders = |l: usize| (-(l as i64)..=l as i64).map(move |m| format!("sh_l{l}_m{m}"));
    (0..l).flat_map(orders).collect()
}

/// All harmonics of the degrees below `degrees`.
#[derive(Clone, Debug)]
pub(super) struct Harmonics {
    degrees: usize,
    orders: Vec<Order>,
}

impl Harmonics {
    pub(super) fn new(degrees: usize) -> Result<Self> {
        if degrees == 0 || degrees > MAX_DEGREE {
            return Err(Error::usage(format!(
                "{degrees} degrees of spherical harmonics are asked for, where 1 to {MAX_DEGREE} \
                 can be had"
            ))
            .in_field("global"));
        }
        Ok(Self { degrees, orders: (0..degrees).map(|m| Order::new(m, degrees - 1)).collect() })
    }

    pub(super) fn columns(&self) -> usize {
        self.degrees * self.degrees
    }

    pub(super) fn evaluate<T: Copy + Send + Sync + Default>(
        &self,
        lon: &[f64],
        lat: &[f64],
        convert: impl Fn(f64) -> T + Sync,
    ) -> Array2<T> {
        let frame = ToPole::identity();
        fill_tiles(lon, lat, self.columns(), convert, |lon, lat, lanes| {
            let tile = Tile::new(&frame, lon, lat);
            let lanes = std::cell::RefCell::new(lanes);
            dispatch(
                #[inline(always)]
                || self.fill::<true>(tile, &mut lanes.borrow_mut()),
                #[inline(always)]
                || self.fill::<false>(tile, &mut lanes.borrow_mut()),
            );
        })
    }

    #[inline(always)]
    fn fill<const FMA: bool>(&self, mut tile: Tile, lanes: &mut [Lane]) {
        for order in &self.orders {
            tile.raise::<FMA>(order.m);
            let mut before = [0.0; TILE];
            let mut now = [order.start; TILE];
            for l in order.m..self.degrees {
                let centre = l * l + l;
                lanes[centre + order.m] = times(&now, &tile.cos);
                if order.m > 0 {
                    lanes[centre - order.m] = times(&now, &tile.sin);
                }
                if let Some(&[a, c]) = order.steps.get(l - order.m) {
                    let mut next = [0.0; TILE];
                    for j in 0..TILE {
                        next[j] = fma::<FMA>(a * tile.mu[j], now[j], -c * before[j]);
                    }
                    before = now;
                    now = next;
                }
            }
        }
    }
}

/// `X_lm(mu)`, the normalised associated Legendre function without phase: `Y_lm` without the factor
/// of the longitude. Zero for m > l.
pub fn legendre(l: usize, m: usize, mu: f64) -> f64 {
    if m > l {
        return 0.0;
    }
    let order = Order::new(m, l);
    let mut tile = Tile::on_meridian(&[((1.0 - mu) * (1.0 + mu)).sqrt()], &[mu]);
    tile.raise::<false>(m);
    let (mut before, mut now) = (0.0, order.start);
    for [a, c] in &order.steps {
        (before, now) = (now, a * mu * now - c * before);
    }
    let sqrt2 = if m > 0 { SQRT_2 } else { 1.0 };
    times(&[now; TILE], &tile.cos)[0] / sqrt2
}
