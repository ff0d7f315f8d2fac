//! The LegS system's diagonal-plus-low-rank form as a safetensors file, for other programs' layers.

use super::legs::{MAX_DENSE, check_states, legs_eigenvectors, legs_spectrum};
use metier_core::{Error, Result, files};
use safetensors::tensor::{Dtype, TensorView};
use std::path::Path;

/// Writes the initial state of an S4, S4D or S5 layer of N states, float64: `Lambda_re` and
/// `Lambda_im`, the eigenvalues of the normal part of `-A`, pairs next to one another; `P` and `B` in
/// the basis of the eigenvectors, both real; with `vectors` that basis, `V_re` and `V_im`, one vector
/// per column. `-A = V (diag(Lambda) - P Pᵀ) V*` and `x' = -A x + B u`.
///
/// # Errors
/// No states or more than [`MAX_DENSE`], or a file that cannot be written.
pub fn export_dplr(n: usize, vectors: bool, path: &Path) -> Result<()> {
    check_states(n, MAX_DENSE)?;
    let modes: Vec<(f64, f64, f64)> = legs_spectrum(n)?.both_signs().collect();
    let mut tensors = vec![
        ("Lambda_re", vec![n], vec![-0.5; n]),
        ("Lambda_im", vec![n], modes.iter().map(|(w, ..)| -w).collect()),
        ("P", vec![n], modes.iter().map(|(_, p, _)| *p).collect()),
        ("B", vec![n], modes.iter().map(|(.., b)| *b).collect::<Vec<f64>>()),
    ];
    if vectors {
        let vectors = legs_eigenvectors(n)?;
        tensors.push(("V_re", vec![n, n], vectors.iter().map(|v| v.re).collect()));
        tensors.push(("V_im", vec![n, n], vectors.iter().map(|v| v.im).collect()));
    }
    let bytes: Vec<(&str, Vec<usize>, Vec<u8>)> = tensors
        .into_iter()
        .map(|(name, shape, values)| {
            (name, shape, values.into_iter().flat_map(f64::to_le_bytes).collect())
        })
        .collect();
    let views = bytes
        .iter()
        .map(|(name, shape, bytes)| Ok((*name, TensorView::new(Dtype::F64, shape.clone(), bytes)?)))
        .collect::<std::result::Result<Vec<_>, safetensors::SafeTensorError>>();
    let file = views
        .and_then(|views| safetensors::serialize(views, None))
        .map_err(|error| Error::internal(error.to_string()))?;
    files::write_bytes(path, &file)
}
