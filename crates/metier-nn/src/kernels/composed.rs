//! The operations as compositions of elementary ones.

use super::{RotaryTable, WeightLayout};
use burn::tensor::{Bool, Int, Tensor, TensorData, activation, module};

/// `x · weight + bias` of every row, `[batch, length, in]` to `[batch, length, out]`.
pub fn linear(
    x: Tensor<3>,
    weight: Tensor<2>,
    layout: WeightLayout,
    bias: Option<Tensor<1>>,
) -> Tensor<3> {
    let weight = match layout {
        WeightLayout::InOut => weight,
        WeightLayout::OutIn => weight.transpose(),
    };
    module::linear(x, weight, bias)
}

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
    let part = |i: usize| split_heads(packed.clone().narrow(2, i * width, width), heads);
    let out = causal_attention(part(0), part(1), part(2));
    out.swap_dims(1, 2).reshape([batch, length, width])
}

/// `x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))`
pub fn gelu(x: Tensor<3>) -> Tensor<3> {
    activation::gelu_approximate(x)
}

/// `[batch, length, heads · width]` to `[batch, heads, length, width]`.
pub fn split_heads(x: Tensor<3>, heads: usize) -> Tensor<4> {
    let [batch, length, width] = x.dims();
    x.reshape([batch, length, heads, width / heads]).swap_dims(1, 2)
}

/// Repeats each key or value head for the query heads that share it, `[batch, heads, length, width]`.
pub fn repeat_heads(x: Tensor<4>, times: usize) -> Tensor<4> {
    if times == 1 {
        return x;
    }
    let [batch, heads, length, width] = x.dims();
    x.reshape([batch, heads, 1, length, width])
        .expand([batch, heads, times, length, width])
        .reshape([batch, heads * times, length, width])
}

/// Turns each pair `(x_i, x_{i + width/2})` of heads `[batch, heads, length, width]` by its angle.
pub fn rotate(x: Tensor<4>, table: &RotaryTable) -> Tensor<4> {
    let [_, _, length, width] = x.dims();
    let half = width / 2;
    let factors = |of: fn(&(f32, f32)) -> f32| {
        let both = table.turns().flat_map(|row| row.iter().chain(row)).map(of);
        let values = TensorData::new(both.collect::<Vec<f32>>(), [1, 1, length, width]);
        Tensor::<4>::from_data(values, &x.device())
    };
    let (cosines, sines) = (factors(|turn| turn.0), factors(|turn| turn.1));
    let first = x.clone().narrow(3, 0, half);
    let second = x.clone().narrow(3, half, half);
    let turned = Tensor::cat(vec![-second, first], 3);
    x * cosines + turned * sines
}

/// [`causal_attention`] of queries, keys and values of `[query heads, key heads]`, the first two rotated,
/// from `[batch, length, heads · width]` each to the form of the queries.
pub fn rotary_attention(
    [queries, keys, values]: [Tensor<3>; 3],
    [query_heads, key_heads]: [usize; 2],
    table: &RotaryTable,
) -> Tensor<3> {
    let [batch, length, width] = queries.dims();
    let times = query_heads / key_heads;
    let queries = rotate(split_heads(queries, query_heads), table);
    let keys = repeat_heads(rotate(split_heads(keys, key_heads), table), times);
    let values = repeat_heads(split_heads(values, key_heads), times);
    causal_attention(queries, keys, values).swap_dims(1, 2).reshape([batch, length, width])
}

/// `x · sigmoid(x) · up` with `x` the gate.
pub fn swiglu(gate: Tensor<3>, up: Tensor<3>) -> Tensor<3> {
    activation::silu(gate) * up
}
