//! Slepian functions of a spherical cap, by Grünbaum's commuting tridiagonal matrix.

use super::harmonics::{BLOCK, Lane, Order, SCALE, Sums, TILE, Tile, times};
use super::radial::RadialTable;
use crate::quadrature::gauss_legendre;
use crate::simd::{dispatch, fma};
use crate::sphere::ToPole;
use crate::tridiagonal::Tridiagonal;
use metier_core::{Error, Progress, Result, Silent};
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::f64::consts::PI;
use std::sync::OnceLock;

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

// The degree from which on a cap takes a second or so.
const SHOWN: usize = 600;

/// The functions of one cap at one bandwidth, most concentrated first.
#[derive(Clone, Debug)]
pub(super) struct CapBasis {
    pub(super) cap: Cap,
    pub(super) modes: Vec<CapMode>,
    // For each order that has any: the radial functions, and the columns that they fill.
    pub(super) radials: Vec<Vec<Radial>>,
    sums: Vec<Sums>,
    columns: Vec<Column>,
    l: usize,
    // Made when it is first needed; `None` where it would be too large.
    table: OnceLock<Option<RadialTable>>,
}

// What a column is the product of: a radial function, counted over all orders, and the real
// (`2 m`) or imaginary (`2 m + 1`) part of a power.
#[derive(Clone, Copy, Debug)]
struct Column {
    radial: usize,
    power: usize,
}

impl CapBasis {
    /// All functions with lambda above `thresh`, at most `max_modes` of them together with the
    /// `before` of other caps.
    pub(super) fn new(
        cap: Cap,
        l: usize,
        thresh: f64,
        (before, max_modes): (usize, usize),
        progress: &dyn Progress,
    ) -> Result<Self> {
        // What is over before it could be read is not shown.
        let shown: &dyn Progress = if l > SHOWN { progress } else { &Silent };
        let shannon = cap.share() * ((l + 1) * (l + 1)) as f64;
        let nodes = Nodes::new(&cap, l);
        let mut radials = Vec::new();
        let (mut count, mut largest) = (0, 0.0f64);
        // How many orders there will be is not known before the last.
        shown.begin("functions of the cap, order by order", None);
        for m in 0..=l {
            progress.check()?;
            let (kept, first) = radial_functions(&nodes, cap.radius_deg, l, m, thresh);
            largest = largest.max(first);
            count += kept.len() * if m > 0 { 2 } else { 1 };
            if before + count > max_modes {
                shown.finish();
                let shannon = before as f64 + shannon;
                return Err(super::basis::too_many(shannon, before + count, max_modes));
            }
            radials.push(kept);
            shown.advance(1);
            if first < thresh.min(1e-6) {
                break;
            }
        }
        shown.finish();
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
        let firsts: Vec<usize> = radials
            .iter()
            .scan(0, |sum, functions| {
                let first = *sum;
                *sum += functions.len();
                Some(first)
            })
            .collect();
        let columns = modes
            .iter()
            .map(|mode| Column {
                radial: firsts[mode.order] + mode.index,
                power: 2 * mode.order + usize::from(mode.parity == Parity::Sin),
            })
            .collect();
        let sums = radials
            .iter()
            .enumerate()
            .filter(|(_, functions)| !functions.is_empty())
            .map(|(m, functions)| {
                let coefficients: Vec<Vec<f64>> =
                    functions.iter().map(|function| function.coefficients.clone()).collect();
                Sums::new(Order::new(m, l), &coefficients)
            })
            .collect();
        Self { cap, modes, radials, sums, columns, l, table: OnceLock::new() }
    }

    /// Every function at every place, one row per place.
    pub(super) fn evaluate<T: Copy + Send + Sync + Default>(
        &self,
        lon: &[f64],
        lat: &[f64],
        convert: impl Fn(f64) -> T + Sync,
    ) -> Array2<T> {
        let columns = self.columns.len();
        let mut values = vec![T::default(); lon.len() * columns];
        values
            .par_chunks_mut(BLOCK * columns)
            .zip(lon.par_chunks(BLOCK).zip(lat.par_chunks(BLOCK)))
            .for_each(|(rows, (lon, lat))| self.fill(lon, lat, rows, &convert));
        // The vector was made with this length.
        Array2::from_shape_vec((lon.len(), columns), values).unwrap_or_default()
    }

    /// The same for a block of places, on this thread.
    pub(super) fn fill<T: Copy>(
        &self,
        lon: &[f64],
        lat: &[f64],
        rows: &mut [T],
        convert: &impl Fn(f64) -> T,
    ) {
        let frame = ToPole::new(self.cap.lon, self.cap.lat);
        let places: Vec<[f64; 3]> =
            lon.iter().zip(lat).map(|(lon, lat)| frame.apply(*lon, *lat)).collect();
        // Only one of the two closures runs, which the borrow checker cannot know.
        let rows = RefCell::new(rows);
        dispatch(
            #[inline(always)]
            || self.fill_rows::<true, T>(&places, &mut rows.borrow_mut(), convert),
            #[inline(always)]
            || self.fill_rows::<false, T>(&places, &mut rows.borrow_mut(), convert),
        );
    }

    #[inline(always)]
    fn fill_rows<const FMA: bool, T: Copy>(
        &self,
        places: &[[f64; 3]],
        rows: &mut [T],
        convert: &impl Fn(f64) -> T,
    ) {
        let columns = self.columns.len();
        let table = self.table.get_or_init(|| {
            RadialTable::new(self.sums.iter(), self.l, self.cap.radius_deg.to_radians())
        });
        let mut powers = vec![[0.0; 2]; self.radials.len()];
        let mut beyond = Vec::new();
        match table {
            Some(table) => {
                let mut radials = table.room();
                for (i, row) in rows.chunks_exact_mut(columns).enumerate() {
                    let [x, y, z] = places[i];
                    // The chord from the centre, to the last digit also next to it.
                    let chord = (2.0 * (x * x + y * y) / (1.0 + z)).sqrt();
                    if !table.holds(chord) {
                        beyond.push(i);
                        continue;
                    }
                    table.look_up::<FMA>(chord, &mut radials);
                    raise::<FMA>(x, y, &mut powers);
                    let (radials, powers) = (radials.as_flattened(), powers.as_flattened());
                    for (value, column) in row.iter_mut().zip(&self.columns) {
                        *value = convert(radials[column.radial] * powers[column.power]);
                    }
                }
            }
            None => beyond.extend(0..places.len()),
        }
        let mut lanes = vec![[0.0; TILE]; if beyond.is_empty() { 0 } else { columns }];
        let mut radials = vec![[0.0; TILE]; self.radials.iter().map(Vec::len).sum()];
        for some in beyond.chunks(TILE) {
            let tile = Tile::of(|j| places[some[j.min(some.len() - 1)]]);
            self.add_up::<FMA>(tile, &mut radials, &mut lanes);
            for (j, i) in some.iter().enumerate() {
                let row = &mut rows[i * columns..(i + 1) * columns];
                row.iter_mut().zip(&lanes).for_each(|(value, lane)| *value = convert(lane[j]));
            }
        }
    }

    // Adds up every function over its degrees, where no table reaches.
    #[inline(always)]
    fn add_up<const FMA: bool>(&self, mut tile: Tile, radials: &mut [Lane], lanes: &mut [Lane]) {
        let mut powers = vec![[[0.0; TILE]; 2]; self.radials.len()];
        let mut first = 0;
        for sums in &self.sums {
            tile.raise::<FMA>(sums.order.m);
            powers[sums.order.m] = [tile.cos, tile.sin];
            sums.add_up::<FMA>(&tile.mu, &mut radials[first..first + sums.count()]);
            first += sums.count();
        }
        for (lane, column) in lanes.iter_mut().zip(&self.columns) {
            *lane = times(&radials[column.radial], &powers.as_flattened()[column.power]);
        }
    }
}

// The real and imaginary parts of `(x + iy)^m`, from m = 0 on.
#[inline(always)]
fn raise<const FMA: bool>(x: f64, y: f64, powers: &mut [[f64; 2]]) {
    let [mut cos, mut sin] = [SCALE, 0.0];
    for power in powers {
        *power = [cos, sin];
        (cos, sin) = (fma::<FMA>(cos, x, -(sin * y)), fma::<FMA>(cos, y, sin * x));
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
