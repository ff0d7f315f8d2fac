//! What the weights of a model look like: how large, how spread over directions, how spiked.

use super::svd::singular_values;
use faer::MatRef;
use metier_core::{Error, Result};
use metier_nn::optim::{MatrixView, Role};
use rayon::prelude::*;
use serde::Serialize;

/// The shape of one weight matrix's values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatrixProfile {
    /// The tensor's name; matrices of a stack have their number behind it.
    pub name: String,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// The largest singular value.
    pub spectral: f64,
    /// The largest absolute value, `‖W‖∞` entry by entry.
    pub largest: f64,
    /// The root mean square of the values.
    pub rms: f64,
    /// `‖W‖_F² / σ₁²` over the number of singular values: 1 where all are equal, and near 0 where
    /// one direction dominates.
    pub flatness: f64,
    /// `largest / rms`: about 4 for as many normal numbers as a small matrix has, more with outliers.
    pub peak: f64,
    /// All singular values, falling.
    pub singular_values: Vec<f32>,
}

/// The profiles of all hidden matrices among `tensors`, which are names, shapes and values.
///
/// # Errors
/// A value that is not finite, or a singular value decomposition that does not converge, with the
/// matrix's name.
///
/// ```
/// use metier_train::olion::profile_matrices;
/// let (name, shape, data) = ("h.0.mlp.c_fc.weight".to_owned(), vec![2, 2], vec![3.0, 0.0, 0.0, 4.0]);
/// let profiles = profile_matrices(&[(&name, &shape, &data)])?;
/// assert_eq!((profiles[0].spectral, profiles[0].largest, profiles[0].rms), (4.0, 4.0, 2.5));
/// # Ok::<(), metier_core::Error>(())
/// ```
pub fn profile_matrices(tensors: &[(&str, &[usize], &[f32])]) -> Result<Vec<MatrixProfile>> {
    let mut tasks = Vec::new();
    for (name, shape, data) in tensors {
        if Role::of(name, shape) != Role::Matrix {
            continue;
        }
        let MatrixView { count, rows, columns } = MatrixView::of(name, shape)?;
        for (i, values) in data.chunks_exact((rows * columns).max(1)).take(count).enumerate() {
            let name = if count == 1 { (*name).to_owned() } else { format!("{name}[{i}]") };
            tasks.push((name, rows, columns, values));
        }
    }
    tasks.into_par_iter().map(|(name, r, c, values)| profile(name, r, c, values)).collect()
}

fn profile(name: String, rows: usize, columns: usize, values: &[f32]) -> Result<MatrixProfile> {
    let strays = values.iter().filter(|value| !value.is_finite()).count();
    if strays > 0 {
        return Err(Error::input(format!("{name} holds {strays} values that are not finite")));
    }
    let singular_values = singular_values(MatRef::from_row_major_slice(values, rows, columns))
        .map_err(|error| Error::numeric(format!("{name}: {error}")))?;
    let spectral = singular_values.first().map_or(0.0, |s| f64::from(*s));
    let squares: f64 = values.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
    let rms = (squares / values.len().max(1) as f64).sqrt();
    let largest = values.iter().fold(0.0f64, |most, v| most.max(f64::from(v.abs())));
    let or_zero = |value: f64| if value.is_finite() { value } else { 0.0 };
    Ok(MatrixProfile {
        name,
        rows,
        columns,
        spectral,
        largest,
        rms,
        flatness: or_zero(squares / (spectral * spectral) / rows.min(columns) as f64),
        peak: or_zero(largest / rms),
        singular_values,
    })
}

/// The mean of a property over matrices; zero without any.
pub fn mean_of(profiles: &[MatrixProfile], property: impl Fn(&MatrixProfile) -> f64) -> f64 {
    // A sum of nothing would be minus zero.
    profiles.iter().map(property).fold(0.0, |sum, value| sum + value) / profiles.len().max(1) as f64
}

/// What the profile of a checkpoint suggests about the optimizer that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Flat spectra: the steps were orthogonalized, as by Muon or OLion.
    Orthogonalized,
    /// A few directions dominate: the steps were taken value by value, as by AdamW or Lion.
    Elementwise,
    /// Neither is clear.
    Unclear,
}

/// The flatness that random normal matrices of the same shapes would have, from the edge of their
/// spectrum, `σ₁ ≈ √d1 + √d2`.
fn random_flatness(profile: &MatrixProfile) -> f64 {
    let (d1, d2) = (profile.rows as f64, profile.columns as f64);
    d1.max(d2) / (d1.sqrt() + d2.sqrt()).powi(2)
}

/// Judges by how flat the spectra are beside those of random matrices, over all matrices. The
/// thresholds come from the models that this method's evidence trains, and from those alone: take
/// the answer as a hint.
pub fn likely_origin(profiles: &[MatrixProfile]) -> Origin {
    if profiles.is_empty() {
        return Origin::Unclear;
    }
    match relative_flatness(profiles) {
        flat if flat > FLAT => Origin::Orthogonalized,
        flat if flat < SPIKED => Origin::Elementwise,
        _ => Origin::Unclear,
    }
}

/// The mean of each matrix's flatness over that of a random matrix of its shape.
pub fn relative_flatness(profiles: &[MatrixProfile]) -> f64 {
    mean_of(profiles, |profile| profile.flatness / random_flatness(profile))
}

const FLAT: f64 = 0.45;
const SPIKED: f64 = 0.30;

impl Origin {
    /// A sentence for the user, with what follows for fine-tuning.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Orthogonalized => {
                "flat spectra: probably trained with orthogonalized steps (Muon or OLion), or hardly \
                 trained at all; fine-tune with the same"
            }
            Self::Elementwise => {
                "a few directions dominate: probably trained with AdamW or Lion; Muon is reported to \
                 fine-tune such a model worse than AdamW does"
            }
            Self::Unclear => "the spectra do not tell how this model was trained",
        }
    }
}
