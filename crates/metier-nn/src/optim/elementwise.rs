//! Work on the values of a parameter one by one, over all threads.

use rayon::prelude::*;

/// Below this many values a thread costs more than it saves.
const CHUNK: usize = 1 << 14;

/// The sign, and zero for zero.
///
/// ```
/// assert_eq!([-2.0, 0.0, 3.0].map(metier_nn::optim::sign), [-1.0, 0.0, 1.0]);
/// ```
pub fn sign(value: f32) -> f32 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

/// Calls `f(param, state, grad)` on matching chunks of the three slices, in parallel where they are
/// long. `f` must treat each value by itself; then the result does not depend on the threads.
pub fn for_each_chunk(
    param: &mut [f32],
    state: &mut [f32],
    grad: &[f32],
    f: impl Fn(&mut [f32], &mut [f32], &[f32]) + Sync,
) {
    if param.len() <= CHUNK {
        return f(param, state, grad);
    }
    param
        .par_chunks_mut(CHUNK)
        .zip(state.par_chunks_mut(CHUNK))
        .zip(grad.par_chunks(CHUNK))
        .for_each(|((param, state), grad)| f(param, state, grad));
}

/// [`for_each_chunk`] with a second state.
pub(crate) fn for_each_chunk_of_two(
    param: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
    grad: &[f32],
    f: impl Fn(&mut [f32], &mut [f32], &mut [f32], &[f32]) + Sync,
) {
    if param.len() <= CHUNK {
        return f(param, first, second, grad);
    }
    param
        .par_chunks_mut(CHUNK)
        .zip(first.par_chunks_mut(CHUNK))
        .zip(second.par_chunks_mut(CHUNK))
        .zip(grad.par_chunks(CHUNK))
        .for_each(|(((param, first), second), grad)| f(param, first, second, grad));
}
