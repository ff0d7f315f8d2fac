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

use super::harmonics::{TILE, dispatch, fma};
use super::nodes::Nodes;
use crate::sphere::{dot, unit};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};
use metier_core::{Error, Result};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use std::cell::RefCell;
use std::f64::consts::PI;

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
}

impl DualBasis {
    /// All functions with lambda above `thresh`, at most `max_modes` of them.
    pub(super) fn new(nodes: &Nodes, l: usize, thresh: f64, max_modes: usize) -> Result<Self> {
        let area: f64 = nodes.weights.iter().sum();
        let shannon = ((l + 1) * (l + 1)) as f64 * area / (4.0 * PI);
        let kernel = Kernel::new(l);
        let places: Vec<[f64; 3]> =
            nodes.lon.iter().zip(&nodes.lat).map(|(lon, lat)| unit(*lon, *lat)).collect();
        let roots: Vec<f64> = nodes.weights.iter().map(|w| w.sqrt()).collect();
        // As many functions again are too weak to keep but too strong to ignore.
        let bound = max_modes.saturating_mul(4).saturating_add(400);
        let factor = pivoted_cholesky(&kernel, &places, &roots, bound)
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
        Ok(Self { lambda, nodes: places, coefficients, shannon, kernel })
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
        Self { lambda, nodes, coefficients, shannon, kernel: Kernel::new(l) }
    }

    pub(super) fn evaluate<T: Copy + Send + Sync + Default>(
        &self,
        lon: &[f64],
        lat: &[f64],
        convert: impl Fn(f64) -> T + Sync,
    ) -> Array2<T> {
        let columns = self.lambda.len();
        let mut values = vec![T::default(); lon.len() * columns];
        values.par_chunks_mut(BLOCK * columns).enumerate().for_each(|(block, rows)| {
            let first = block * BLOCK;
            let count = rows.len() / columns;
            let places: Vec<[f64; 3]> =
                (first..first + count).map(|i| unit(lon[i], lat[i])).collect();
            // One column per point: the kernel's values at the nodes.
            let mut kernels = vec![0.0; self.nodes.len() * count];
            for (place, column) in places.iter().zip(kernels.chunks_exact_mut(self.nodes.len())) {
                self.kernel.fill(*place, &self.nodes, column);
            }
            let kernels = MatRef::from_column_major_slice(&kernels, self.nodes.len(), count);
            let mut sums = Mat::zeros(columns, count);
            let weights = self.coefficients.transpose();
            matmul(&mut sums, Accum::Replace, weights, kernels, 1.0, Par::Seq);
            for (row, sums) in rows.chunks_exact_mut(columns).zip(sums.col_iter()) {
                row.iter_mut().zip(sums.iter()).for_each(|(value, sum)| *value = convert(*sum));
            }
        });
        Array2::from_shape_vec((lon.len(), columns), values).unwrap_or_default()
    }
}

// The factor C with C C' = sqrt(w_i) D sqrt(w_j) up to rounding, or None when it needs more than
// `bound` columns.
fn pivoted_cholesky(
    kernel: &Kernel,
    places: &[[f64; 3]],
    roots: &[f64],
    bound: usize,
) -> Option<Mat<f64>> {
    let n = places.len();
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
            return None;
        }
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
    }
    Some(Mat::from_fn(n, columns.len(), |i, k| columns[k][i]))
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
        let table = |sign: f64| {
            (0..pieces)
                .into_par_iter()
                .map(|piece| {
                    interpolate(|s| {
                        let chord = (piece as f64 + 0.5 * (s + 1.0)) / pieces_per_unit;
                        kernel_sum(l, sign * (1.0 - 0.5 * chord * chord))
                    })
                })
                .collect()
        };
        Self { near: table(1.0), far: table(-1.0), pieces_per_unit }
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

// The polynomial of degree 7 through the Chebyshev points of [-1, 1], by powers.
fn interpolate(f: impl Fn(f64) -> f64) -> [f64; TERMS] {
    let n = TERMS as f64;
    let angle = |j: usize| PI * (j as f64 + 0.5) / n;
    let samples: [f64; TERMS] = std::array::from_fn(|j| f(angle(j).cos()));
    let mut powers = [0.0; TERMS];
    // T_k by powers, built up as k grows.
    let (mut before, mut now) = ([0.0; TERMS], [0.0; TERMS]);
    now[0] = 1.0;
    for k in 0..TERMS {
        let sum: f64 = (0..TERMS).map(|j| samples[j] * (k as f64 * angle(j)).cos()).sum();
        let weight = sum * if k == 0 { 1.0 } else { 2.0 } / n;
        powers.iter_mut().zip(&now).for_each(|(p, t)| *p += weight * t);
        let mut next = [0.0; TERMS];
        for i in 0..TERMS {
            let shifted = if i > 0 { now[i - 1] } else { 0.0 };
            next[i] = if k == 0 { shifted } else { 2.0 * shifted - before[i] };
        }
        (before, now) = (now, next);
    }
    powers
}

#[cfg(test)]
mod tests {
    use super::*;

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
                    let closed = (l as f64 + 1.0) * (legendre(l, t) - legendre(l + 1, t))
                        / (4.0 * PI * (1.0 - t));
                    assert!((sum - closed).abs() < 1e-10 * peak, "L {l}, t {t}");
                }
            }
        }
    }

    fn legendre(l: usize, t: f64) -> f64 {
        let (mut before, mut now) = (0.0, 1.0);
        for degree in 1..=l {
            let d = degree as f64;
            (before, now) = (now, ((2.0 * d - 1.0) * t * now - (d - 1.0) * before) / d);
        }
        now
    }
}
