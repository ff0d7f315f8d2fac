//! What happens to gradients between the model and the optimizer.

/// Scales gradients whose norm over all of them together is `norm` down to `limit`. Smaller ones
/// stay as they are, to the bit.
pub fn clip_gradients(gradients: &mut [Vec<f32>], norm: f64, limit: f32) {
    let limit = f64::from(limit);
    if norm > limit {
        scale(gradients, (limit / norm) as f32);
    }
}

/// Adds the gradients of one more micro-batch.
pub fn accumulate(total: &mut [Vec<f32>], more: &[Vec<f32>]) {
    for (total, more) in total.iter_mut().zip(more) {
        for (total, more) in total.iter_mut().zip(more) {
            *total += more;
        }
    }
}

pub(super) fn scale(gradients: &mut [Vec<f32>], factor: f32) {
    for value in gradients.iter_mut().flatten() {
        *value *= factor;
    }
}
