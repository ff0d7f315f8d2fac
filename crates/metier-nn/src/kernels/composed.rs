//! The operations as compositions of elementary ones.

use burn::tensor::{Bool, Int, Tensor, activation};

/// `(x - mean) / sqrt(variance + ε) · weight + bias` over the last dimension.
pub fn layer_norm(
    x: Tensor<3>,
    weight: Tensor<1>,
    bias: Option<Tensor<1>>,
    epsilon: f64,
) -> Tensor<3> {
    let centred = x.clone() - x.mean_dim(2);
    let variance = (centred.clone() * centred.clone()).mean_dim(2);
    let out = centred / (variance + epsilon).sqrt() * weight.unsqueeze();
    match bias {
        Some(bias) => out + bias.unsqueeze(),
        None => out,
    }
}

/// `x / sqrt(mean(x²) + ε) · weight` over the last dimension.
pub fn rms_norm(x: Tensor<3>, weight: Tensor<1>, epsilon: f64) -> Tensor<3> {
    let square = (x.clone() * x.clone()).mean_dim(2);
    x / (square + epsilon).sqrt() * weight.unsqueeze()
}

/// `softmax(q kᵀ / √width) v`, where a query sees the keys up to its own position. Fewer queries than
/// keys are the last positions. All of shape `[batch, heads, length, width]`.
pub fn causal_attention(queries: Tensor<4>, keys: Tensor<4>, values: Tensor<4>) -> Tensor<4> {
    let [_, _, length, width] = queries.dims();
    let seen = keys.dims()[2];
    let scores = queries.matmul(keys.swap_dims(2, 3)) / (width as f64).sqrt();
    let scores = if length == 1 {
        scores
    } else {
        let offset = (seen - length) as i64;
        let hidden: Tensor<2, Bool> = Tensor::tril_mask([length, seen], offset, &scores.device());
        scores.mask_fill(hidden.unsqueeze(), f32::NEG_INFINITY)
    };
    activation::softmax(scores, 3).matmul(values)
}

/// The mean of `-log softmax(scores)[target]` in nats. `[batch, length, vocabulary]` scores and
/// `[batch, length]` targets.
pub fn cross_entropy(scores: Tensor<3>, targets: Tensor<2, Int>) -> Tensor<1> {
    let log_probabilities = activation::log_softmax(scores, 2);
    -log_probabilities.gather(2, targets.unsqueeze_dim(2)).mean()
}

/// [`causal_attention`] of queries, keys and values that lie side by side, `[batch, length, 3·width]`
/// to `[batch, length, width]`.
pub fn packed_attention(packed: Tensor<3>, heads: usize) -> Tensor<3> {
    let [batch, length, triple] = packed.dims();
    let width = triple / 3;
    let part = |i: usize| {
        let part = packed.clone().narrow(2, i * width, width);
        part.reshape([batch, length, heads, width / heads]).swap_dims(1, 2)
    };
    let out = causal_attention(part(0), part(1), part(2));
    out.swap_dims(1, 2).reshape([batch, length, width])
}

/// `x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))`
pub fn gelu(x: Tensor<3>) -> Tensor<3> {
    activation::gelu_approximate(x)
}
