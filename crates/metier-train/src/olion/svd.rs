//! The singular value decomposition on one thread, which makes its bits the same everywhere.

use super::newton_schulz::frobenius;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::matmul::matmul;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use metier_core::{Error, Result};

/// `G = U·diag(s)·Vᵀ` with as many columns in `U` and `V` as the smaller side of `G` is long;
/// `s` falls.
pub(super) struct ThinSvd {
    pub(super) u: Mat<f32>,
    pub(super) s: Vec<f32>,
    pub(super) v: Mat<f32>,
}

impl ThinSvd {
    pub(super) fn of(g: MatRef<'_, f32>) -> Result<Self> {
        let (rows, columns) = (g.nrows(), g.ncols());
        let size = rows.min(columns);
        let (mut u, mut v) = (Mat::zeros(rows, size), Mat::zeros(columns, size));
        let s = decompose(g, Some((u.as_mut(), v.as_mut())))?;
        Ok(Self { u, s, v })
    }

    /// The number of singular values above rounding.
    pub(super) fn rank(&self) -> usize {
        let largest = self.s.first().copied().unwrap_or(0.0);
        let least = largest * f32::EPSILON * self.u.nrows().max(self.v.nrows()) as f32;
        self.s.iter().take_while(|s| **s > least).count()
    }

    /// Writes `U·Vᵀ` over the singular directions above rounding.
    pub(super) fn polar(&self, out: MatMut<'_, f32>) {
        let rank = self.rank();
        let (u, v) = (self.u.as_ref().subcols(0, rank), self.v.as_ref().subcols(0, rank));
        matmul(out, Accum::Replace, u, v.transpose(), 1.0, Par::Seq);
    }
}

/// The singular values alone, falling.
pub(super) fn singular_values(g: MatRef<'_, f32>) -> Result<Vec<f32>> {
    decompose(g, None)
}

/// Writes the polar factor of `g` to `out`.
pub(super) fn polar_factor(g: MatRef<'_, f32>, out: MatMut<'_, f32>) -> Result<()> {
    ThinSvd::of(g)?.polar(out);
    Ok(())
}

fn decompose(
    g: MatRef<'_, f32>,
    vectors: Option<(MatMut<'_, f32>, MatMut<'_, f32>)>,
) -> Result<Vec<f32>> {
    let (rows, columns) = (g.nrows(), g.ncols());
    // At a norm near 1 no square inside the decomposition overflows or vanishes; a power of two
    // changes no digit.
    let norm = frobenius(g);
    let scale = if norm > 0.0 { norm.log2().floor().exp2() } else { 1.0 };
    let g = Mat::from_fn(rows, columns, |i, j| (f64::from(g[(i, j)]) / scale) as f32);
    let mut s = Diag::<f32>::zeros(rows.min(columns));
    let kind = if vectors.is_some() { ComputeSvdVectors::Thin } else { ComputeSvdVectors::No };
    let settings = Default::default();
    let need = svd_scratch::<f32>(rows, columns, kind, kind, Par::Seq, settings);
    let (u, v) = vectors.unzip();
    let mut memory = MemBuffer::new(need);
    svd(g.as_ref(), s.as_mut(), u, v, Par::Seq, MemStack::new(&mut memory), settings).map_err(
        |_| {
            Error::numeric(format!(
                "the singular values of a {rows} × {columns} matrix did not converge"
            ))
        },
    )?;
    Ok(s.column_vector().iter().map(|s| (f64::from(*s) * scale) as f32).collect())
}
