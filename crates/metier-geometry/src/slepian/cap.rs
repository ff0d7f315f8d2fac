//! Slepian functions of a spherical cap, by Grünbaum's commuting tridiagonal matrix.

use super::harmonics::{Lane, Order, Sums, TILE, Tile, dispatch, fill_tiles, times};
use crate::quadrature::gauss_legendre;
use crate::sphere::ToPole;
use crate::tridiagonal::Tridiagonal;
use metier_core::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::f64::consts::PI;

/// A spherical cap: all places within `radius_deg` of the centre.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cap {
    /// Longitude of the centre, degrees east.
    pub lon: f64,
    /// Latitude of the centre, degrees north.
    pub lat: f64,
    /// Radius as an angle, in degrees.
    pub radius_deg: f64,
}

impl Cap {
    /// The share of the sphere that the cap covers.
    pub fn share(&self) -> f64 {
        (0.5 * self.radius_deg.to_radians()).sin().powi(2)
    }
}

/// How a function of a cap depends on the angle about the cap's centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Parity {
    /// As `cos m phi`; the only one for m = 0.
    Cos,
    /// As `sin m phi`.
    Sin,
}

/// One function of a cap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapMode {
    /// The share of the function's energy inside the cap.
    pub lambda: f64,
    /// The order m about the cap's centre.
    pub order: usize,
    /// The number within the order, from 0, by falling lambda.
    pub index: usize,
    /// Cosine or sine.
    pub parity: Parity,
}

/// A radial function of one order: coefficients of degrees m..=L.
#[derive(Clone, Debug)]
pub(super) struct Radial {
    pub(super) lambda: f64,
    pub(super) coefficients: Vec<f64>,
}

/// The functions of one cap at one bandwidth, most concentrated first.
#[derive(Clone, Debug)]
pub(super) struct CapBasis {
    pub(super) cap: Cap,
    pub(super) modes: Vec<CapMode>,
    // For each order that has any: the radial functions, and the columns that they fill.
    pub(super) radials: Vec<Vec<Radial>>,
    sums: Vec<(Sums, Vec<Columns>)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    cos: usize,
    sin: Option<usize>,
}

impl CapBasis {
    /// All functions with lambda above `thresh`, at most `max_modes` of them.
    pub(super) fn new(cap: Cap, l: usize, thresh: f64, max_modes: usize) -> Result<Self> {
        let shannon = cap.share() * ((l + 1) * (l + 1)) as f64;
        let nodes = Nodes::new(&cap, l);
        let mut radials = Vec::new();
        let (mut count, mut largest) = (0, 0.0f64);
        for m in 0..=l {
            let (kept, first) = radial_functions(&nodes, cap.radius_deg, l, m, thresh);
            largest = largest.max(first);
            count += kept.len() * if m > 0 { 2 } else { 1 };
            if count > max_modes {
                return Err(super::basis::too_many(shannon, count, max_modes));
            }
            radials.push(kept);
            if first < thresh.min(1e-6) {
                break;
            }
        }
        if count == 0 {
            return Err(none_left(thresh, largest));
        }
        Ok(Self::assemble(cap, l, radials))
    }

    /// The basis with these radial functions, one list per order from 0 on.
    pub(super) fn assemble(cap: Cap, l: usize, mut radials: Vec<Vec<Radial>>) -> Self {
        while radials.last().is_some_and(Vec::is_empty) {
            radials.pop();
        }
        let mut modes: Vec<CapMode> = Vec::new();
        for (order, functions) in radials.iter().enumerate() {
            for (index, function) in functions.iter().enumerate() {
                let mode = |parity| CapMode { lambda: function.lambda, order, index, parity };
                modes.push(mode(Parity::Cos));
                if order > 0 {
                    modes.push(mode(Parity::Sin));
                }
            }
        }
        modes.sort_by(|a, b| {
            b.lambda.total_cmp(&a.lambda).then((a.order, a.parity).cmp(&(b.order, b.parity)))
        });
        let mut columns: Vec<Vec<Columns>> =
            radials.iter().map(|functions| vec![Columns::default(); functions.len()]).collect();
        for (column, mode) in modes.iter().enumerate() {
            let entry = &mut columns[mode.order][mode.index];
            match mode.parity {
                Parity::Cos => entry.cos = column,
                Parity::Sin => entry.sin = Some(column),
            }
        }
        let sums = radials
            .iter()
            .zip(columns)
            .enumerate()
            .filter(|(_, (functions, _))| !functions.is_empty())
            .map(|(m, (functions, columns))| {
                let coefficients: Vec<Vec<f64>> =
                    functions.iter().map(|function| function.coefficients.clone()).collect();
                (Sums::new(Order::new(m, l), &coefficients), columns)
            })
            .collect();
        Self { cap, modes, radials, sums }
    }

    pub(super) fn evaluate<T: Copy + Send + Sync + Default>(
        &self,
        lon: &[f64],
        lat: &[f64],
        convert: impl Fn(f64) -> T + Sync,
    ) -> Array2<T> {
        let frame = ToPole::new(self.cap.lon, self.cap.lat);
        let widest = self.sums.iter().map(|(sums, _)| sums.count()).max().unwrap_or(0);
        fill_tiles(lon, lat, self.modes.len(), convert, |lon, lat, lanes| {
            let tile = Tile::new(&frame, lon, lat);
            // Only one of the two closures runs, which the borrow checker cannot know.
            let scratch = RefCell::new((lanes, vec![[0.0; TILE]; widest]));
            dispatch(
                #[inline(always)]
                || {
                    let (lanes, sums) = &mut *scratch.borrow_mut();
                    self.fill::<true>(tile, lanes, sums);
                },
                #[inline(always)]
                || {
                    let (lanes, sums) = &mut *scratch.borrow_mut();
                    self.fill::<false>(tile, lanes, sums);
                },
            );
        })
    }

    #[inline(always)]
    fn fill<const FMA: bool>(&self, mut tile: Tile, lanes: &mut [Lane], scratch: &mut [Lane]) {
        for (sums, columns) in &self.sums {
            tile.raise::<FMA>(sums.order.m);
            sums.add_up::<FMA>(&tile.mu, scratch);
            for (sum, columns) in scratch.iter().zip(columns) {
                lanes[columns.cos] = times(sum, &tile.cos);
                if let Some(sin) = columns.sin {
                    lanes[sin] = times(sum, &tile.sin);
                }
            }
        }
    }
}

/// The eigenvalues of all orders, including those that no basis keeps: one entry `(lambda, m)` per
/// function, cosine and sine counted apart, falling. Those below 1e-16 are left out.
pub fn cap_spectrum(cap: &Cap, l: usize) -> Vec<(f64, usize)> {
    let nodes = Nodes::new(cap, l);
    let mut spectrum = Vec::new();
    for m in 0..=l {
        let (functions, first) = radial_functions(&nodes, cap.radius_deg, l, m, 1e-16);
        for function in functions {
            spectrum.extend(std::iter::repeat_n((function.lambda, m), if m > 0 { 2 } else { 1 }));
        }
        if first < 1e-16 {
            break;
        }
    }
    spectrum.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    spectrum
}

pub(super) fn none_left(thresh: f64, largest: f64) -> Error {
    Error::usage(format!(
        "no function is concentrated above thresh = {thresh}: the largest lambda is {largest:.6}"
    ))
    .in_field("thresh")
    .help("lower thresh, raise L, or enlarge the region")
}

// Gauss nodes between the cap's rim and its centre.
struct Nodes {
    tiles: Vec<Tile>,
    weights: Vec<f64>,
}

impl Nodes {
    fn new(cap: &Cap, l: usize) -> Self {
        // In 1 - mu, which keeps its digits for small caps.
        let (depth, weights) = gauss_legendre(l + 1, 0.0, 2.0 * cap.share());
        let x: Vec<f64> = depth.iter().map(|d| (d * (2.0 - d)).sqrt()).collect();
        let mu: Vec<f64> = depth.iter().map(|d| 1.0 - d).collect();
        let tiles =
            x.chunks(TILE).zip(mu.chunks(TILE)).map(|(x, mu)| Tile::on_meridian(x, mu)).collect();
        Self { tiles, weights }
    }

    // The energy inside the cap of each function.
    fn lambdas(&self, order: &Order, functions: &[Vec<f64>]) -> Vec<f64> {
        let sums = Sums::new(order.clone(), functions);
        let around = if order.m > 0 { PI } else { 2.0 * PI };
        let mut lambdas = vec![0.0; functions.len()];
        let mut scratch = vec![[0.0; TILE]; functions.len()];
        for (tile, weights) in self.tiles.iter().zip(self.weights.chunks(TILE)) {
            let state = RefCell::new((*tile, &mut scratch));
            dispatch(
                #[inline(always)]
                || {
                    let (tile, scratch) = &mut *state.borrow_mut();
                    tile.raise::<true>(order.m);
                    sums.add_up::<true>(&tile.mu, scratch);
                },
                #[inline(always)]
                || {
                    let (tile, scratch) = &mut *state.borrow_mut();
                    tile.raise::<false>(order.m);
                    sums.add_up::<false>(&tile.mu, scratch);
                },
            );
            let (tile, scratch) = state.into_inner();
            for (lambda, sum) in lambdas.iter_mut().zip(scratch.iter()) {
                let values = times(sum, &tile.cos);
                *lambda += weights.iter().zip(values).map(|(w, g)| around * w * g * g).sum::<f64>();
            }
        }
        lambdas
    }
}

// The radial functions of order m with lambda above `thresh`, and the largest lambda of the order.
// Grünbaum's eigenvalues order the functions by concentration, so the search ends at the first that
// falls short.
fn radial_functions(
    nodes: &Nodes,
    radius_deg: f64,
    l: usize,
    m: usize,
    thresh: f64,
) -> (Vec<Radial>, f64) {
    const BATCH: usize = 8;
    let matrix = grunbaum(radius_deg.to_radians(), l, m);
    let order = Order::new(m, l);
    let mut kept: Vec<Radial> = Vec::new();
    let mut first = f64::NAN;
    let mut done = 0;
    while done < matrix.size() {
        let batch = done..(done + BATCH).min(matrix.size());
        let functions: Vec<Vec<f64>> =
            batch.clone().map(|k| with_fixed_sign(matrix.eigenpair(k).1)).collect();
        let lambdas = nodes.lambdas(&order, &functions);
        if done == 0 {
            first = lambdas[0];
        }
        for (lambda, coefficients) in lambdas.into_iter().zip(functions) {
            if lambda <= thresh {
                return (kept, first);
            }
            kept.push(Radial { lambda, coefficients });
        }
        done = batch.end;
    }
    (kept, first)
}

// Grünbaum's matrix over the degrees m..=L (Simons, Dahlen & Wieczorek 2006, section 5.2).
fn grunbaum(radius: f64, l: usize, m: usize) -> Tridiagonal {
    let cos = radius.cos();
    let (band, order) = (l as f64, m as f64);
    let diagonal = (m..=l).map(|l| -((l * (l + 1)) as f64) * cos).collect();
    let off = (m..l)
        .map(|l| {
            let l = l as f64;
            let shape = ((l + 1.0).powi(2) - order * order) / ((2.0 * l + 1.0) * (2.0 * l + 3.0));
            (l * (l + 2.0) - band * (band + 2.0)) * shape.sqrt()
        })
        .collect();
    Tridiagonal::new(diagonal, off)
}

// An eigenvector has no sign of its own: the first coefficient that is not tiny is made positive.
fn with_fixed_sign(mut g: Vec<f64>) -> Vec<f64> {
    if g.iter().find(|value| value.abs() > 1e-8).is_some_and(|value| *value < 0.0) {
        g.iter_mut().for_each(|value| *value = -*value);
    }
    g
}
