use super::*;
use crate::device;
use burn::tensor::Tensor;

fn llama() -> DecoderConfig {
    DecoderConfig {
        layout: Layout::Llama,
        vocabulary: 40,
        hidden: 16,
        intermediate: 24,
        layers: 2,
        heads: 4,
        key_value_heads: 2,
        head_width: 4,
        context: 12,
        norm_epsilon: 1e-5,
        rope_base: 1e4,
        tied: false,
        bias: false,
    }
}

fn gpt2() -> DecoderConfig {
    DecoderConfig { bias: true, ..DecoderConfig::gpt2(40, 12, 2, 4, 16) }
}

fn logits(decoder: &Decoder, ids: &[u32], cache: Option<&mut KeyValueCache>) -> Vec<f32> {
    to_host_values(decoder.forward(decoder.tokens(&[ids]).unwrap(), cache))
}

#[test]
fn a_written_folder_gives_the_same_scores() {
    for config in [llama(), gpt2()] {
        let folder = tempfile::tempdir().unwrap();
        let decoder = Decoder::random(&config, 1, &device::cpu()).unwrap();
        decoder.write(folder.path()).unwrap();
        let read = Decoder::read(folder.path(), &device::cpu()).unwrap();
        assert_eq!(read.config(), &config);
        assert_eq!(logits(&read, &[3, 1, 4], None), logits(&decoder, &[3, 1, 4], None));
    }
}

#[test]
fn weights_in_several_files_are_the_same_weights() {
    let folder = tempfile::tempdir().unwrap();
    let decoder = Decoder::random(&llama(), 1, &device::cpu()).unwrap();
    decoder.config().write(&folder.path().join("config.json")).unwrap();
    checkpoint::write_shards(folder.path(), &decoder.to_host(), 4000).unwrap();
    assert!(!folder.path().join("model.safetensors").exists());
    let files = std::fs::read_dir(folder.path()).unwrap().count();
    assert!(files > 4, "{files} files");
    let read = Decoder::read(folder.path(), &device::cpu()).unwrap();
    let values = |decoder: &Decoder| decoder.to_host().into_iter().map(|p| p.data).collect();
    let (ours, right): (Vec<Vec<f32>>, Vec<Vec<f32>>) = (values(&read), values(&decoder));
    assert_eq!(ours, right);
    assert_eq!(read_tensors(folder.path()).unwrap().len(), right.len());
}

#[test]
fn a_cache_does_not_change_the_scores() {
    for config in [llama(), gpt2()] {
        let decoder = Decoder::random(&config, 2, &device::cpu()).unwrap();
        let ids = [3, 1, 4, 1, 5, 9];
        let whole = logits(&decoder, &ids, None);
        let mut cache = KeyValueCache::new();
        let mut parts = logits(&decoder, &ids[..3], Some(&mut cache));
        for id in &ids[3..] {
            parts.extend(logits(&decoder, &[*id], Some(&mut cache)));
        }
        assert_eq!(cache.len(), ids.len());
        for (a, b) in whole.iter().zip(&parts) {
            assert!((a - b).abs() < 1e-5, "{a} and {b}");
        }
    }
}

#[test]
fn a_position_does_not_see_what_follows() {
    for config in [llama(), gpt2()] {
        let decoder = Decoder::random(&config, 3, &device::cpu()).unwrap();
        let a = logits(&decoder, &[3, 1, 4, 1], None);
        let b = logits(&decoder, &[3, 1, 4, 7], None);
        assert_eq!(a[..3 * config.vocabulary], b[..3 * config.vocabulary]);
        assert_ne!(a, b);
    }
}

#[test]
fn gradients_agree_with_differences() {
    for config in [llama(), gpt2()] {
        let traced = device::cpu().autodiff();
        let decoder = Decoder::random(&config, 4, &traced).unwrap();
        let ids: &[u32] = &[3, 1, 4, 1, 5];
        let loss = |decoder: &Decoder| -> Tensor<1> {
            let scores = decoder.forward(decoder.tokens(&[&ids[..4]]).unwrap(), None);
            crate::kernels::cross_entropy(scores, decoder.tokens(&[&ids[1..]]).unwrap())
        };
        let mut gradients = loss(&decoder).backward();
        let gradients = decoder.gradients(&mut gradients);
        let values: Vec<Vec<f32>> = decoder.to_host().into_iter().map(|p| p.data).collect();
        for (parameter, (name, _)) in decoder.parameters().iter().enumerate() {
            // The entry with the largest gradient, where a difference is above the rounding of f32.
            let gradient = &gradients[parameter];
            let (at, expected) =
                gradient.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap();
            let moved = |by: f32| {
                let mut values = values.clone();
                values[parameter][at] += by;
                let decoder = Decoder::from_values(&config, values, &device::cpu()).unwrap();
                f64::from(to_host_values(loss(&decoder))[0])
            };
            let step = 5e-3;
            let found = (moved(step) - moved(-step)) / f64::from(2.0 * step);
            let expected = f64::from(*expected);
            let error = (found - expected).abs();
            assert!(error < 1e-4 + 0.02 * expected.abs(), "{name}: {found} for {expected}");
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Decoder::read(folder.path(), &device::cpu()).unwrap_err();
    assert_eq!(missing.exit_code(), 3);
    let decoder = Decoder::random(&llama(), 1, &device::cpu()).unwrap();
    decoder.write(folder.path()).unwrap();

    let wider = DecoderConfig { intermediate: 32, ..llama() };
    wider.write(&folder.path().join("config.json")).unwrap();
    let error = Decoder::read(folder.path(), &device::cpu()).unwrap_err();
    let text = "the tensor model.layers.0.mlp.gate_proj.weight has the shape [24, 16]; \
                config.json asks for [32, 16]";
    assert_eq!(error.message(), text);

    let deeper = DecoderConfig { layers: 3, ..llama() };
    deeper.write(&folder.path().join("config.json")).unwrap();
    let error = Decoder::read(folder.path(), &device::cpu()).unwrap_err();
    assert!(error.message().starts_with("the tensor model.layers.2."), "{error}");
    assert!(error.message().ends_with("is missing"), "{error}");

    std::fs::write(folder.path().join("model.safetensors"), b"no").unwrap();
    let error = Decoder::read(folder.path(), &device::cpu()).unwrap_err();
    assert!(error.message().starts_with("not a safetensors file"), "{error}");

    let error = decoder.tokens(&[&[1, 40]]).unwrap_err();
    assert_eq!(error.to_string(), "row 1: token 40 is outside the vocabulary of 40");
    let error = decoder.tokens(&[&[0; 13]]).unwrap_err();
    assert_eq!(error.to_string(), "13 tokens exceed the context of 12");
    let error = DecoderConfig { key_value_heads: 3, ..llama() }.validate().unwrap_err();
    let text = "num_key_value_heads: 3 key-value heads do not divide 4 query heads";
    assert_eq!(error.to_string(), text);
    let error = DecoderConfig { context: usize::MAX, ..gpt2() }.validate().unwrap_err();
    assert!(error.to_string().starts_with("max_position_embeddings: 1844"), "{error}");
    let error = DecoderConfig {
        layers: 1 << 30,
        hidden: 1 << 20,
        heads: 1,
        head_width: 1 << 20,
        key_value_heads: 1,
        ..gpt2()
    }
    .validate()
    .unwrap_err();
    assert!(error.message().ends_with("parameters"), "{error}");
    let huge = serde_json::json!({"model_type": "gpt2", "n_embd": u64::MAX, "n_head": 1,
        "vocab_size": 9, "n_layer": 1, "n_positions": 8});
    assert!(DecoderConfig::from_json(&huge).is_err());
}

#[test]
fn the_configuration_round_trips_and_unknown_layouts_are_named() {
    for config in [llama(), gpt2()] {
        assert_eq!(DecoderConfig::from_json(&config.to_json()).unwrap(), config);
    }
    let error = DecoderConfig::from_json(&serde_json::json!({"model_type": "rnn"})).unwrap_err();
    assert_eq!(error.to_string(), "model_type: the layout rnn is not known");
    let error = DecoderConfig::from_json(&serde_json::json!({"model_type": "llama"})).unwrap_err();
    assert_eq!(error.to_string(), "hidden_size: is missing");
}
