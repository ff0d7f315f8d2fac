//! Newton–Schulz orthogonalization: a polynomial in `X·Xᵀ` that drives every singular value of a
//! matrix towards one with matrix products alone.
//!
//! The cost of one step on an `n × k` matrix (`n ≤ k`) is `4n²k + 2n³` floating-point operations if
//! nothing is known of the products. `X·Xᵀ` and the polynomial are symmetric, so only their lower
//! halves are computed, which leaves `3n²k + n³`.
//!
//! Products are cut into tiles of a fixed size and each tile is computed by one thread, so that the
//! result has the same bits on any number of threads.

use faer::linalg::matmul::{matmul, triangular};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};
use metier_nn::kernels::product;
use metier_nn::optim::squares;
use rayon::prelude::*;

/// `(a, b, c)` of the quintic `a·s + b·s³ + c·s⁵`, the same in every step.
pub const QUINTIC: [f32; 3] = [3.4445, -4.7750, 2.0315];

/// Edge of the square tiles of a symmetric product: large enough for the product of two tiles to run
/// at full speed, small enough to leave every thread several of them at the usual widths.
const TILE: usize = 192;
/// Columns of a panel of the wide product.
const PANEL: usize = 512;

/// Working space, reused from call to call: `2n² + nk` values for an `n × k` matrix with `n ≤ k`.
#[derive(Debug, Default)]
pub struct Scratch {
    gram: Vec<f32>,
    polynomial: Vec<f32>,
    iterate: Vec<f32>,
}

/// The scaling that brings the singular values of a matrix of Frobenius norm `norm` into the range
/// where a polynomial works.
pub(super) type Scale = fn(norm: f64) -> f64;

/// Writes to `out` the quintic Newton–Schulz iterate of `g` after `steps` steps (the paper's NS,
/// with 5 steps). Singular values above a hundredth of the norm of `g` end up in about
/// [0.68, 1.13]; a matrix of zeros stays one. Any strides are fine.
///
/// ```
/// use faer::Mat;
/// use metier_train::olion::{Scratch, newton_schulz};
/// let g = Mat::from_fn(1, 2, |_, j| [3.0f32, 4.0][j]);
/// let mut out = Mat::zeros(1, 2);
/// newton_schulz(g.as_ref(), 5, out.as_mut(), &mut Scratch::default());
/// assert!((out[(0, 0)] - 0.6964364 * 0.6).abs() < 1e-6);
/// ```
///
/// # Panics
/// When the shapes of `g` and `out` differ.
pub fn newton_schulz(
    g: MatRef<'_, f32>,
    steps: usize,
    out: MatMut<'_, f32>,
    scratch: &mut Scratch,
) {
    iterate(g, std::iter::repeat_n(QUINTIC, steps), |norm| 1.0 / (norm + 1e-7), out, scratch);
}

/// Applies one polynomial after the other to the singular values of the scaled `g`.
pub(super) fn iterate(
    g: MatRef<'_, f32>,
    polynomials: impl ExactSizeIterator<Item = [f32; 3]>,
    scale: Scale,
    out: MatMut<'_, f32>,
    scratch: &mut Scratch,
) {
    assert_eq!((g.nrows(), g.ncols()), (out.nrows(), out.ncols()), "shapes differ");
    if g.nrows() == 0 || g.ncols() == 0 {
        return;
    }
    // On the wide side the symmetric matrices are the smaller ones. A transpose only swaps strides.
    let (g, out) =
        if g.nrows() > g.ncols() { (g.transpose(), out.transpose_mut()) } else { (g, out) };
    let (n, k) = (g.nrows(), g.ncols());
    let gram = MatMut::from_column_major_slice_mut(grown(&mut scratch.gram, n * n), n, n);
    let polynomial =
        MatMut::from_column_major_slice_mut(grown(&mut scratch.polynomial, n * n), n, n);
    // The spare iterate lies in memory as `out` does, so that every product runs along the grain.
    let spare = grown(&mut scratch.iterate, n * k);
    let spare = if out.row_stride() == 1 {
        MatMut::from_column_major_slice_mut(spare, n, k)
    } else {
        MatMut::from_row_major_slice_mut(spare, n, k)
    };
    // Iterates alternate between the two; the last has to land in `out`.
    let (mut from, mut to) =
        if polynomials.len().is_multiple_of(2) { (out, spare) } else { (spare, out) };
    let (mut gram, mut polynomial) = (gram, polynomial);
    // In f64, as the iteration magnifies what is rounded here.
    let by = scale(frobenius(g));
    faer::zip!(from.rb_mut(), g).for_each(|faer::unzip!(to, g)| *to = (by * f64::from(*g)) as f32);
    for [a, b, c] in polynomials {
        let x = from.rb();
        symmetric_product(gram.rb_mut(), x, x.transpose(), None);
        let gram = gram.rb();
        symmetric_product(polynomial.rb_mut(), gram, gram, Some((b, c)));
        for i in 0..n {
            polynomial[(i, i)] += a;
        }
        wide_product(to.rb_mut(), polynomial.rb(), x);
        std::mem::swap(&mut from, &mut to);
    }
}

fn grown(space: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if space.len() < len {
        space.resize(len, 0.0);
    }
    &mut space[..len]
}

/// The Frobenius norm, summed in f64 and in an order that only the layout decides.
pub(super) fn frobenius(g: MatRef<'_, f32>) -> f64 {
    let g = if g.row_stride() == 1 { g } else { g.transpose() };
    let mut total = 0.0f64;
    for column in g.col_iter() {
        match column.try_as_col_major() {
            Some(column) => total += squares(column.as_slice()),
            None => total += column.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>(),
        }
    }
    total.sqrt()
}

fn scaled_copy(g: MatRef<'_, f32>, by: f32, out: MatMut<'_, f32>) {
    faer::zip!(out, g).for_each(|faer::unzip!(out, g)| *out = by * *g);
}

/// `out ← l·r` for a product that is known to be symmetric, or `out ← b·l + c·l·r` given `(b, c)`.
fn symmetric_product(
    out: MatMut<'_, f32>,
    l: MatRef<'_, f32>,
    r: MatRef<'_, f32>,
    sum: Option<(f32, f32)>,
) {
    let mut out = out;
    let tile = |i: usize, j: usize, mut out: MatMut<'_, f32>| {
        let (rows, columns) = (out.nrows(), out.ncols());
        let (l_tile, r_tile) = (l.subrows(i, rows), r.subcols(j, columns));
        let (accum, factor) = match sum {
            None => (Accum::Replace, 1.0),
            Some((b, c)) => {
                scaled_copy(l.submatrix(i, j, rows, columns), b, out.rb_mut());
                (Accum::Add, c)
            }
        };
        if i == j {
            let (lower, full) = (
                triangular::BlockStructure::TriangularLower,
                triangular::BlockStructure::Rectangular,
            );
            triangular::matmul(out, lower, accum, l_tile, full, r_tile, full, factor, Par::Seq);
        } else {
            matmul(out, accum, l_tile, r_tile, factor, Par::Seq);
        }
    };
    let n = out.nrows();
    if n <= TILE {
        tile(0, 0, out.rb_mut());
    } else {
        lower_tiles(out.rb_mut()).into_par_iter().for_each(|(i, j, out)| tile(i, j, out));
    }
    for j in 0..n {
        for i in j + 1..n {
            out[(j, i)] = out[(i, j)];
        }
    }
}

/// The tiles on and below the diagonal, each with the place of its first element.
fn lower_tiles(out: MatMut<'_, f32>) -> Vec<(usize, usize, MatMut<'_, f32>)> {
    let mut tiles = Vec::new();
    let mut right = out;
    let mut j = 0;
    while right.ncols() > 0 {
        let width = right.ncols().min(TILE);
        let (column, rest) = right.split_at_col_mut(width);
        let (_, mut below) = column.split_at_row_mut(j);
        let mut i = j;
        while below.nrows() > 0 {
            let height = below.nrows().min(TILE);
            let (tile, rest) = below.split_at_row_mut(height);
            tiles.push((i, j, tile));
            below = rest;
            i += height;
        }
        right = rest;
        j += width;
    }
    tiles
}

/// `out ← l·r` where `r` is wide.
fn wide_product(out: MatMut<'_, f32>, l: MatRef<'_, f32>, r: MatRef<'_, f32>) {
    let mut panels = Vec::new();
    let mut rest = out;
    let mut start = 0;
    while rest.ncols() > 0 {
        let width = rest.ncols().min(PANEL);
        let (panel, right) = rest.split_at_col_mut(width);
        panels.push((start, panel));
        rest = right;
        start += width;
    }
    let panel = |(start, out): (usize, MatMut<'_, f32>)| {
        let columns = out.ncols();
        product(out, l, r.subcols(start, columns));
    };
    if panels.len() == 1 {
        panels.into_iter().for_each(panel);
    } else {
        panels.into_par_iter().for_each(panel);
    }
}
