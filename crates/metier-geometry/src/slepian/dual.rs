//! Slepian functions of any region, by the dual (Fredholm) problem over quadrature nodes.
//!
//! With nodes `r_i` and weights `w_i` inside the region and the reproducing kernel of the degrees
//! up to L, `D(x, y) = sum_l (2l + 1) / (4 pi) P_l(x . y)`, the eigenvalues of
//! `sqrt(w_i) D(r_i, r_j) sqrt(w_j)` are the lambdas, and
//! `g(x) = lambda^{-1/2} sum_i sqrt(w_i) D(x, r_i) v_i` is the function of unit norm.
//!
//! That matrix has as many eigenvalues that are not tiny as the region has functions, far fewer than
//! nodes. A pivoted Cholesky factorization finds a factor of that rank, so neither the matrix nor
//! its eigenproblem is ever of the size of the nodes.
//!
//! For the same reason the kernel between two places near the region is a short sum over the
//! functions `s_k` of a cap around it, `D(x, y) = sum_k s_k(x) s_k(y)`: those that are too weak to
//! matter inside the cap are left out. So a place near the region needs the cap's functions, which
//! are cheap, and not a kernel value for every node.

use super::cap::{Cap, CapBasis};
use super::chebyshev::{points, to_powers};
use super::harmonics::{Harmonics, TILE};
use super::nodes::Nodes;
use crate::simd::{dispatch, fma};
use crate::sphere::{ToPole, dot, lon_lat, smallest_cap, unit};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};
use metier_core::{Error, Progress, Result, Silent};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use std::cell::RefCell;
use std::f64::consts::PI;
use std::sync::OnceLock;

// Points evaluated together, so that their kernel values meet the coefficients as one product.
const BLOCK: usize = 256;

/// The functions of a region at one bandwidth, most concentrated first.
#[derive(Clone, Debug)]
pub(super) struct DualBasis {
    pub(super) lambda: Vec<f64>,
    pub(super) nodes: Vec<[f64; 3]>,
    // One row per node, one column per function.
    pub(super) coefficients: Mat<f64>,
    pub(super) shannon: f64,
    kernel: Kernel,
    // Made when it is first needed; `None` where the nodes themselves are fewer.
    around: OnceLock<Option<Around>>,
}

impl DualBasis {
    /// All functions with lambda above `thresh`, at most `max_modes` of them.
    pub(super) fn new(
        nodes: &Nodes,
        l: usize,
        thresh: f64,
        max_modes: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let area: f64 = nodes.weights.iter().sum();
        let shannon = ((l + 1) * (l + 1)) as f64 * area / (4.0 * PI);
        let kernel = Kernel::new(l);
        let places: Vec<[f64; 3]> =
            nodes.lon.iter().zip(&nodes.lat).map(|(lon, lat)| unit(*lon, *lat)).collect();
        let roots: Vec<f64> = nodes.weights.iter().map(|w| w.sqrt()).collect();
        // As many functions again are too weak to keep but too strong to ignore.
        let bound = max_modes.saturating_mul(4).saturating_add(400);
        let factor = pivoted_cholesky(&kernel, &places, &roots, bound, progress)?
            .ok_or_else(|| super::basis::too_many(shannon, shannon.ceil() as usize, max_modes))?;
        let (lambda, vectors) = eigen(&factor)?;
        let sum: f64 = lambda.iter().sum();
        if (sum - shannon).abs() > 1e-8 * shannon {
            return Err(Error::numeric(format!(
                "the eigenvalues add up to {sum}, where the Shannon number is {shannon}"
            )));
        }
        let largest = lambda.first().copied().unwrap_or(0.0);
        if largest > 1.0 + 1e-6 {
            return Err(Error::numeric(format!(
                "a function would keep {largest:.8} of its energy inside the region: \
                 {} quadrature nodes are too few for L = {l}",
                nodes.len()
            ))
            .in_field("region")
            .help("lower L, or give more nodes"));
        }
        let kept = lambda.iter().take_while(|value| **value > thresh).count();
        if kept == 0 {
            return Err(super::cap::none_left(thresh, largest));
        }
        if kept > max_modes {
            return Err(super::basis::too_many(shannon, kept, max_modes));
        }
        // sqrt(w) v / sqrt(lambda), with v = C u / sqrt(lambda).
        let mut coefficients = Mat::zeros(places.len(), kept);
        let vectors = vectors.get(.., ..kept);
        matmul(&mut coefficients, Accum::Replace, &factor, vectors, 1.0, Par::rayon(0));
        for k in 0..kept {
            let column = coefficients.col_mut(k);
            let mut column: Vec<&mut f64> = column.iter_mut().collect();
            let peak = column
                .iter()
                .fold(0.0f64, |peak, value| if value.abs() > peak.abs() { **value } else { peak });
            for (value, root) in column.iter_mut().zip(&roots) {
                **value *= root * peak.signum() / lambda[k];
            }
        }
        let lambda = lambda[..kept].to_vec();
        Ok(Self { lambda, nodes: places, coefficients, shannon, kernel, around: OnceLock::new() })
    }

    /// The basis with these parts, as they were saved.
    pub(super) fn assemble(
        lambda: Vec<f64>,
        nodes: Vec<[f64; 3]>,
        coefficients: ArrayView2<'_, f64>,
        shannon: f64,
        l: usize,
    ) -> Self {
        let (rows, columns) = coefficients.dim();
        let coefficients = Mat::from_fn(rows, columns, |i, k| coefficients[[i, k]]);
        let kernel = Kernel::new(l);
        Self { lambda, nodes, coefficients, shannon, kernel, around: OnceLock::new() }
    }

    pub(super) fn evaluate<T: Copy + Send + Sync + Default>(
        &self,
        lon: &[f64],
        lat: &[f64],
        convert: impl Fn(f64) -> T + Sync,
    ) -> Array2<T> {
        let columns = self.lambda.len();
        let around = self.around.get_or_init(|| Around::new(self));
        let mut values = vec![T::default(); lon.len() * columns];
        values
            .par_chunks_mut(BLOCK * columns)
            .zip(lon.par_chunks(BLOCK).zip(lat.par_chunks(BLOCK)))
            .for_each(|(rows, (lon, lat))| {
                let holds = |i: &usize| around.as_ref().is_some_and(|a| a.holds(lon[*i], lat[*i]));
                let (near, far): (Vec<usize>, Vec<usize>) = (0..lon.len()).partition(holds);
                let mut write = |chosen: &[usize], sums: Mat<f64>| {
                    for (i, sums) in chosen.iter().zip(sums.col_iter()) {
                        let row = &mut rows[i * columns..(i + 1) * columns];
                        row.iter_mut().zip(sums.iter()).for_each(|(v, sum)| *v = convert(*sum));
                    }
                };
                let pick = |values: &[f64], chosen: &[usize]| -> Vec<f64> {
                    chosen.iter().map(|i| values[*i]).collect()
                };
                if let (Some(around), false) = (around, near.is_empty()) {
                    write(&near, around.sums(&pick(lon, &near), &pick(lat, &near)));
                }
                if !far.is_empty() {
                    write(&far, self.sums(&pick(lon, &far), &pick(lat, &far)));
                }
            });
        // The vector was made with this length.
        Array2::from_shape_vec((lon.len(), columns), values).unwrap_or_default()
    }

    // A function is a sum of kernels at the nodes, and a kernel's coefficients are the harmonics there.
    pub(super) fn expand(&self, progress: &dyn Progress) -> Result<Array2<f64>> {
        let harmonics = Harmonics::new(self.kernel.l + 1)?;
        let (rows, functions) = (harmonics.columns(), self.lambda.len());
        let mut expanded = vec![0.0; rows * functions];
        progress.begin("coefficients", Some(self.nodes.len() as u64));
        for (block, nodes) in self.nodes.chunks(BLOCK).enumerate() {
            progress.check()?;
            let (lon, lat): (Vec<f64>, Vec<f64>) = nodes.iter().map(|v| lon_lat(*v)).unzip();
            let values = harmonics.evaluate(&lon, &lat, |value| value).into_raw_vec_and_offset().0;
            let values = MatRef::from_column_major_slice(&values, rows, nodes.len());
            let coefficients = self.coefficients.subrows(block * BLOCK, nodes.len());
            let sums = MatMut::from_row_major_slice_mut(&mut expanded, rows, functions);
            matmul(sums, Accum::Add, values, coefficients, 1.0, Par::rayon(0));
            progress.advance(nodes.len() as u64);
        }
        progress.finish();
        // The vector was made with this length.
        Ok(Array2::from_shape_vec((rows, functions), expanded).unwrap_or_default())
    }

    // By the nodes: one column per place, one row per function.
    fn sums(&self, lon: &[f64], lat: &[f64]) -> Mat<f64> {
        let (nodes, count) = (self.nodes.len(), lon.len());
        let mut kernels = vec![0.0; nodes * count];
        for (i, column) in kernels.chunks_exact_mut(nodes).enumerate() {
            self.kernel.fill(unit(lon[i], lat[i]), &self.nodes, column);
        }
        let kernels = MatRef::from_column_major_slice(&kernels, nodes, count);
        let mut sums = Mat::zeros(self.lambda.len(), count);
        let weights = self.coefficients.transpose();
        matmul(&mut sums, Accum::Replace, weights, kernels, 1.0, Par::Seq);
        sums
    }
}

/// The functions of a region as sums over those of a cap around it.
#[derive(Clone, Debug)]
struct Around {
    cap: CapBasis,
    frame: ToPole,
    lowest: f64,
    // One row per function of the cap, one column per function of the region.
    weights: Mat<f64>,
}

impl Around {
    // Both places of a kernel value lie in the cap, so a function of it adds its lambda at most, as
    // a share of the kernel's peak.
    const WEAKEST: f64 = 1e-20;

    // A cap much wider than this has no table that reaches its rim.
    const WIDEST: f64 = 60.0;

    // `None` where a cap does not fit or has more functions than there are nodes.
    fn new(basis: &DualBasis) -> Option<Self> {
        let (lon, lat): (Vec<f64>, Vec<f64>) = basis.nodes.iter().map(|v| lon_lat(*v)).unzip();
        let (clon, clat, radius) = smallest_cap(&lon, &lat)?;
        // Gauss nodes stop a little short of the edges.
        let cap = Cap { lon: clon, lat: clat, radius_deg: 1.1 * radius };
        if cap.radius_deg > Self::WIDEST {
            return None;
        }
        let l = basis.kernel.l;
        let functions = CapBasis::new(cap, l, Self::WEAKEST, (0, lon.len()), &Silent).ok()?;
        // All on this thread. Sums must not depend on how many there are; and whoever waits for the
        // pool may be handed another task that needs this very value, and would wait for itself.
        let mut at_nodes = vec![0.0; lon.len() * functions.modes.len()];
        functions.fill(&lon, &lat, &mut at_nodes, &|value| value);
        let at_nodes = MatRef::from_column_major_slice(&at_nodes, functions.modes.len(), lon.len());
        let mut weights = Mat::zeros(functions.modes.len(), basis.lambda.len());
        matmul(&mut weights, Accum::Replace, at_nodes, &basis.coefficients, 1.0, Par::Seq);
        let lowest = cap.radius_deg.to_radians().cos();
        Some(Self { cap: functions, frame: ToPole::new(clon, clat), lowest, weights })
    }

    fn holds(&self, lon: f64, lat: f64) -> bool {
        self.frame.apply(lon, lat)[2] >= self.lowest
    }

    // One column per place, one row per function.
    fn sums(&self, lon: &[f64], lat: &[f64]) -> Mat<f64> {
        let functions = self.weights.nrows();
        let mut values = vec![0.0; lon.len() * functions];
        self.cap.fill(lon, lat, &mut values, &|value| value);
        let values = MatRef::from_column_major_slice(&values, functions, lon.len());
        let mut sums = Mat::zeros(self.weights.ncols(), lon.len());
        let weights = self.weights.transpose();
        matmul(&mut sums, Accum::Replace, weights, values, 1.0, Par::Seq);
        sums
    }
}

// Nodes from which on a factorization takes a second or so.
const SHOWN: usize = 4000;

// The factor C with C C' = sqrt(w_i) D sqrt(w_j) up to rounding, or None when it needs more than
// `bound` columns.
fn pivoted_cholesky(
    kernel: &Kernel,
    places: &[[f64; 3]],
    roots: &[f64],
    bound: usize,
    progress: &dyn Progress,
) -> Result<Option<Mat<f64>>> {
    let n = places.len();
    // What is over before it could be read is not shown.
    let shown: &dyn Progress = if n > SHOWN { progress } else { &Silent };
    shown.begin("functions of the region", None);
    let peak = kernel.at(1.0);
    let mut residual: Vec<f64> = roots.iter().map(|root| root * root * peak).collect();
    let enough = 1e-14 * residual.iter().fold(0.0f64, |a, b| a.max(*b));
    let mut columns: Vec<Vec<f64>> = Vec::new();
    while columns.len() < n {
        let (pivot, largest) = residual
            .iter()
            .enumerate()
            .fold((0, 0.0), |best, (i, value)| if *value > best.1 { (i, *value) } else { best });
        if largest <= enough {
            break;
        }
        if columns.len() == bound {
            shown.finish();
            return Ok(None);
        }
        progress.check()?;
        let mut column = vec![0.0; n];
        kernel.fill(places[pivot], places, &mut column);
        column.iter_mut().zip(roots).for_each(|(value, root)| *value *= root * roots[pivot]);
        let heads: Vec<f64> = columns.iter().map(|before| before[pivot]).collect();
        let scale = 1.0 / largest.sqrt();
        column.par_chunks_mut(1024).zip(residual.par_chunks_mut(1024)).enumerate().for_each(
            |(chunk, (column, residual))| {
                let from = chunk * 1024;
                for (before, head) in columns.iter().zip(&heads) {
                    let before = &before[from..from + column.len()];
                    column.iter_mut().zip(before).for_each(|(value, b)| *value -= head * b);
                }
                for (value, residual) in column.iter_mut().zip(residual) {
                    *value *= scale;
                    *residual -= *value * *value;
                }
            },
        );
        residual[pivot] = 0.0;
        columns.push(column);
        shown.advance(1);
    }
    shown.finish();
    Ok(Some(Mat::from_fn(n, columns.len(), |i, k| columns[k][i])))
}

// Eigenvalues of C C', falling, and the eigenvectors of C' C that belong to them.
fn eigen(factor: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let rank = factor.ncols();
    let mut gram = Mat::zeros(rank, rank);
    matmul(&mut gram, Accum::Replace, factor.transpose(), factor, 1.0, Par::rayon(0));
    let solved = gram.self_adjoint_eigen(Side::Lower).map_err(|error| {
        Error::numeric(format!("the eigenproblem of size {rank} did not converge: {error:?}"))
    })?;
    let values = solved.S().column_vector();
    let vectors = solved.U();
    let lambda = (0..rank).rev().map(|k| values[k]).collect();
    Ok((lambda, Mat::from_fn(rank, rank, |i, k| vectors[(i, rank - 1 - k)])))
}

/// The reproducing kernel as a function of `t = x . y`, tabulated.
///
/// The table holds polynomials of degree 7 over short pieces of the chord `sqrt(2 - 2t)` (of
/// `sqrt(2 + 2t)` beyond a right angle). Its entries come from the sum over degrees itself, which
/// needs no special case near t = 1, where the closed form divides zero by zero.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    l: usize,
    near: Vec<[f64; TERMS]>,
    far: Vec<[f64; TERMS]>,
    pieces_per_unit: f64,
}

const TERMS: usize = 8;

impl Kernel {
    pub(super) fn new(l: usize) -> Self {
        // Half a radian of the fastest wave per piece: the remainder is below 1e-12 of the peak.
        let pieces_per_unit = 2.0 * (l as f64 + 1.0);
        let pieces = (2.0f64.sqrt() * pieces_per_unit).ceil() as usize + 1;
        let matrix = to_powers::<TERMS>();
        let table = |sign: f64| {
            (0..pieces)
                .into_par_iter()
                .map(|piece| {
                    let samples = points::<TERMS>().map(|s| {
                        let chord = (piece as f64 + 0.5 * (s + 1.0)) / pieces_per_unit;
                        kernel_sum(l, sign * (1.0 - 0.5 * chord * chord))
                    });
                    matrix.map(|row| row.iter().zip(&samples).map(|(a, b)| a * b).sum())
                })
                .collect()
        };
        Self { l, near: table(1.0), far: table(-1.0), pieces_per_unit }
    }

    #[inline(always)]
    pub(super) fn at(&self, t: f64) -> f64 {
        self.look_up::<false>(t)
    }

    #[inline(always)]
    fn look_up<const FMA: bool>(&self, t: f64) -> f64 {
        let table = if t >= 0.0 { &self.near } else { &self.far };
        let place = (2.0 - 2.0 * t.abs()).max(0.0).sqrt() * self.pieces_per_unit;
        let piece = (place as usize).min(table.len() - 1);
        let s = 2.0 * (place - piece as f64) - 1.0;
        let c = &table[piece];
        // Estrin's order: four short chains instead of one long.
        let (s2, pair) = (s * s, |i: usize| fma::<FMA>(c[i + 1], s, c[i]));
        let low = fma::<FMA>(pair(2), s2, pair(0));
        let high = fma::<FMA>(pair(6), s2, pair(4));
        fma::<FMA>(high, s2 * s2, low)
    }

    // The kernel between a point and every node.
    fn fill(&self, point: [f64; 3], nodes: &[[f64; 3]], values: &mut [f64]) {
        // Only one of the two closures runs, which the borrow checker cannot know.
        let values = RefCell::new(values);
        dispatch(
            #[inline(always)]
            || self.fill_slice::<true>(point, nodes, &mut values.borrow_mut()),
            #[inline(always)]
            || self.fill_slice::<false>(point, nodes, &mut values.borrow_mut()),
        );
    }

    #[inline(always)]
    fn fill_slice<const FMA: bool>(&self, point: [f64; 3], nodes: &[[f64; 3]], values: &mut [f64]) {
        for (nodes, values) in nodes.chunks(TILE).zip(values.chunks_mut(TILE)) {
            for (node, value) in nodes.iter().zip(values) {
                *value = self.look_up::<FMA>(dot(point, *node));
            }
        }
    }
}

/// The kernel `sum_{l <= L} (2l + 1) / (4 pi) P_l(t)`.
pub fn kernel_sum(l: usize, t: f64) -> f64 {
    let (mut before, mut now, mut sum) = (0.0, 1.0, 1.0);
    for degree in 1..=l {
        let d = degree as f64;
        (before, now) = (now, ((2.0 * d - 1.0) * t * now - (d - 1.0) * before) / d);
        sum += (2.0 * d + 1.0) * now;
    }
    sum / (4.0 * PI)
}

#[cfg(test)]
mod tests {
    use super::super::region::Region;
    use super::*;
    use crate::quadrature::legendre_pair;

    #[test]
    fn tasks_of_one_pool_share_a_basis() {
        let region = Region::Box { w: -124.5, s: 32.5, e: -114.0, n: 42.0 };
        let nodes = Nodes::inside(&region, 40).unwrap();
        let lon: Vec<f64> = (0..2000).map(|i| -124.0 + 0.004 * f64::from(i)).collect();
        let lat = vec![37.0; lon.len()];
        for _ in 0..20 {
            // Fresh each time, so that the tasks meet where it is first used.
            let basis = DualBasis::new(&nodes, 40, 0.05, 800, &Silent).unwrap();
            let sums: Vec<f64> = (0..16)
                .into_par_iter()
                .map(|_| basis.evaluate(&lon, &lat, |value| value).sum())
                .collect();
            assert!(sums.iter().all(|sum| *sum == sums[0]));
        }
    }

    #[test]
    fn a_cap_around_the_region_gives_what_the_nodes_give() {
        let region = Region::Box { w: -124.5, s: 32.5, e: -114.0, n: 42.0 };
        for l in [10, 60, 120] {
            let nodes = Nodes::inside(&region, l).unwrap();
            let basis = DualBasis::new(&nodes, l, 0.001, 800, &Silent).unwrap();
            let around = Around::new(&basis).unwrap();
            let lon: Vec<f64> = (0..200).map(|i| -124.5 + 0.0525 * f64::from(i)).collect();
            let lat: Vec<f64> =
                (0..200).map(|i| 32.5 + 9.5 * (0.618 * f64::from(i) % 1.0)).collect();
            let (short, whole) = (around.sums(&lon, &lat), basis.sums(&lon, &lat));
            let largest = whole.norm_max();
            let error = (&short - &whole).norm_max() / largest;
            assert!(
                error < 1e-10,
                "L {l}: {error:e}, {} for {}",
                around.weights.nrows(),
                lon.len()
            );
        }
    }

    #[test]
    fn the_table_agrees_with_the_sum_and_the_closed_form() {
        for l in [1, 10, 120, 300] {
            let kernel = Kernel::new(l);
            let peak = ((l + 1) * (l + 1)) as f64 / (4.0 * PI);
            assert!((kernel.at(1.0) - peak).abs() < 1e-11 * peak);
            for i in 0..=2000 {
                let t = (i as f64 * PI / 2000.0).cos();
                let sum = kernel_sum(l, t);
                let error = (kernel.at(t) - sum).abs() / peak;
                assert!(error < 2e-12, "L {l}, t {t}: {error:e}");
                if t < 0.999 {
                    let (lower, upper) = legendre_pair(l + 1, t);
                    let closed = (l as f64 + 1.0) * (lower - upper) / (4.0 * PI * (1.0 - t));
                    assert!((sum - closed).abs() < 1e-10 * peak, "L {l}, t {t}");
                }
            }
        }
    }
}
