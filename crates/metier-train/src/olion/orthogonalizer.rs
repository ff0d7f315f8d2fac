//! The choice of how a matrix is brought close to one with orthonormal rows or columns.

use super::newton_schulz::{Scratch, newton_schulz};
use super::polar_express::polar_express;
use super::svd::polar_factor;
use faer::{MatMut, MatRef};
use metier_core::{Error, Result};
use ndarray::{Array3, ArrayView2, ArrayView3, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// How a matrix `U·Σ·Vᵀ` is replaced by `U·Vᵀ`, nearly or exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Orthogonalizer {
    /// Newton–Schulz with one quintic: singular values end up in about [0.68, 1.13].
    Quintic {
        /// The number of steps; the paper takes 5.
        steps: usize,
    },
    /// Newton–Schulz with five different quintics: singular values end up closer to one.
    PolarExpress,
    /// The singular value decomposition: exact, and many times slower.
    Svd,
}

impl Default for Orthogonalizer {
    fn default() -> Self {
        Self::Quintic { steps: 5 }
    }
}

impl Orthogonalizer {
    /// Checks that there is at least one step.
    ///
    /// # Errors
    /// Zero steps; without orthogonalization OLion is the optimizer called `lion-rms`.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Quintic { steps: 0 } => {
                Err(Error::usage("ns_steps = 0 leaves nothing orthogonal")
                    .in_field("ns_steps")
                    .help("sign steps without orthogonalization are the optimizer `lion-rms`"))
            }
            _ => Ok(()),
        }
    }

    /// Writes the orthogonalized `g` to `out`. A matrix of zeros stays one.
    ///
    /// # Errors
    /// A singular value decomposition that does not converge.
    ///
    /// # Panics
    /// When the shapes of `g` and `out` differ.
    pub fn apply(
        &self,
        g: MatRef<'_, f32>,
        out: MatMut<'_, f32>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        match *self {
            Self::Quintic { steps } => newton_schulz(g, steps, out, scratch),
            Self::PolarExpress => polar_express(g, out, scratch),
            Self::Svd => polar_factor(g, out)?,
        }
        Ok(())
    }

    /// [`apply`](Self::apply) to one matrix.
    ///
    /// # Errors
    /// Values that are not finite; a decomposition that does not converge.
    ///
    /// ```
    /// use metier_train::olion::Orthogonalizer;
    /// use ndarray::array;
    /// let q = Orthogonalizer::Svd.orthogonalize(array![[3.0, 0.0], [0.0, -0.1]].view())?;
    /// assert!((q[[1, 1]] + 1.0).abs() < 1e-6);
    /// # Ok::<(), metier_core::Error>(())
    /// ```
    pub fn orthogonalize(&self, g: ArrayView2<'_, f32>) -> Result<ndarray::Array2<f32>> {
        Ok(self.orthogonalize_batch(g.insert_axis(Axis(0)))?.index_axis_move(Axis(0), 0))
    }

    /// [`apply`](Self::apply) to every matrix `[i, .., ..]` of a stack, spread over the threads.
    ///
    /// # Errors
    /// Values that are not finite; a decomposition that does not converge.
    pub fn orthogonalize_batch(&self, g: ArrayView3<'_, f32>) -> Result<Array3<f32>> {
        self.validate()?;
        let broken = g.iter().filter(|value| !value.is_finite()).count();
        if broken > 0 {
            return Err(Error::input(format!("{broken} values of the matrices are not finite")));
        }
        let (_, rows, columns) = g.dim();
        let g = g.as_standard_layout();
        let mut out = Array3::zeros(g.dim());
        let pool = Pool::default();
        let size = (rows * columns).max(1);
        let source = g.as_slice().unwrap_or_default();
        let target = out.as_slice_mut().unwrap_or_default();
        source.par_chunks(size).zip(target.par_chunks_mut(size)).try_for_each(|(g, out)| {
            pool.with(|scratch: &mut Scratch| {
                let g = MatRef::from_row_major_slice(g, rows, columns);
                let out = MatMut::from_row_major_slice_mut(out, rows, columns);
                self.apply(g, out, scratch)
            })
        })?;
        Ok(out)
    }
}

/// Working spaces that tasks borrow, as many as have been in use at once.
#[derive(Debug, Default)]
pub(super) struct Pool<T>(Mutex<Vec<T>>);

impl<T: Default> Pool<T> {
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut space = taken.unwrap_or_default();
        let result = work(&mut space);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(space);
        result
    }
}
