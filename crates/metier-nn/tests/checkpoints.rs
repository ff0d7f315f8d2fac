//! Checkpoints in half precision and in shards, folders that cannot be read, and a real model.

use metier_core::Silent;
use metier_nn::device::cpu;
use metier_nn::generate::{GenerateConfig, generate};
use metier_nn::model::{
    Decoder, HostParameter, KeyValueCache, convert_llama2c, read_tensors, write_tensors,
};
use metier_nn::tokenizer::Tokenizer;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const HALVES: [&str; 2] = ["llama-tied-bf16-sharded", "llama-tied-f16"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A copy of a fixture that a test may spoil.
fn copy(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixture(name)).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

#[test]
fn half_precision_and_shards_give_the_logits_of_the_reference_implementation() {
    for name in HALVES {
        let tensors = read_tensors(&fixture(name).join("reference.safetensors")).unwrap();
        let held = |name: &str| tensors.iter().find(|tensor| tensor.name == name).unwrap();
        let (ids, right) = (held("ids"), &held("logits").data);
        let decoder = Decoder::read(&fixture(name), &cpu()).unwrap();
        let rows: Vec<Vec<u32>> = ids
            .data
            .chunks(ids.shape[1])
            .map(|row| row.iter().map(|&id| id as u32).collect())
            .collect();
        let rows: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
        let close = |ours: &[f32], right: &[f32]| {
            assert_eq!(ours.len(), right.len());
            for (a, b) in ours.iter().zip(right) {
                assert!((a - b).abs() <= 1e-4, "{name}: {a} for {b}");
            }
        };
        let whole = decoder.forward(decoder.tokens(&rows).unwrap(), None);
        close(&whole.into_data().try_into_vec::<f32>().unwrap(), right);

        // One token at a time, as generation reads.
        let mut cache = KeyValueCache::new();
        for (position, id) in rows[0].iter().enumerate() {
            let token = decoder.tokens(&[&[*id]]).unwrap();
            let ours = decoder.forward(token, Some(&mut cache)).into_data();
            let vocabulary = decoder.config().vocabulary;
            close(
                &ours.try_into_vec::<f32>().unwrap(),
                &right[position * vocabulary..][..vocabulary],
            );
        }
    }
}

#[test]
fn a_converted_checkpoint_writes_the_text_that_upstream_publishes() {
    let shared = std::env::var_os("METIER_SHARED").map(PathBuf::from);
    let Some(data) = shared.map(|shared| shared.join("stories260k")).filter(|data| data.exists())
    else {
        eprintln!("skipped: needs METIER_SHARED with stories260k");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let tokenizer = data.join("tok512.bin");
    convert_llama2c(&data.join("stories260K.bin"), Some(&tokenizer), folder.path()).unwrap();
    let decoder = Decoder::read(folder.path(), &cpu()).unwrap();
    let tokenizer = Tokenizer::read(&folder.path().join("tokenizer.json")).unwrap();

    let prompt = tokenizer.encode("").unwrap();
    let config = GenerateConfig { tokens: 255, ..GenerateConfig::default() };
    let ids = generate(&decoder, &prompt, &config, &Silent).unwrap();
    let ids: Vec<u32> = prompt.into_iter().chain(ids).collect();
    let first = [
        1, 403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426, 338, 401,
        396, 267,
    ];
    assert_eq!(ids[..20], first);
    let text = tokenizer.decode(&ids).unwrap();
    let published = "Once upon a time, there was a little girl named Lily. She loved to play \
        outside in the park. One day, she saw a big, red ball. She wanted to play with it, but it \
        was too high.\nLily's mom said, \"Lily, let's go to the park.\" Lily was sad and didn't know \
        what to do. She said, \"I want to play with your ball, but I can't find it.\"\nLily was sad \
        and didn't know what to do. She said, \"I'm sorry, Lily. I didn't know what to do.\"\nLily \
        didn't want to help her mom, so she";
    assert!(text.starts_with(published), "{text}");

    let encoded =
        tokenizer.encode("Once upon a time, there was a little girl named Lily.").unwrap();
    assert_eq!(encoded[..12], first[..12]);
}

#[test]
fn folders_that_cannot_be_read_say_why() {
    let folder = copy("gpt2");
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    let error = Decoder::read(folder.path(), &cpu()).unwrap_err();
    assert_eq!(error.message(), "neither model.safetensors nor its index is there");
    assert_eq!(error.exit_code(), 3);

    let folder = copy("llama-tied-bf16-sharded");
    fs::remove_file(folder.path().join("model-00001-of-00002.safetensors")).unwrap();
    let error = Decoder::read(folder.path(), &cpu()).unwrap_err();
    assert!(error.to_string().contains("model-00001-of-00002.safetensors"), "{error}");
    assert_eq!(error.exit_code(), 3);

    let index = folder.path().join("model.safetensors.index.json");
    fs::write(&index, r#"{"weight_map": {"a": "../../secret.safetensors"}}"#).unwrap();
    let error = Decoder::read(folder.path(), &cpu()).unwrap_err();
    assert_eq!(error.message(), "../../secret.safetensors is not a plain file name");
}

#[test]
fn scaled_rotary_positions_are_refused_where_files_put_them() {
    let message = |name: &str| {
        let folder = copy("llama");
        let path = folder.path().join("config.json");
        let text = fs::read_to_string(&path).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        value[name] =
            serde_json::json!({"rope_type": "llama3", "rope_theta": 5000.0, "factor": 8.0});
        fs::write(&path, value.to_string()).unwrap();
        let error = Decoder::read(folder.path(), &cpu()).unwrap_err();
        assert_eq!(error.location().field.as_deref(), Some(name));
        error.message().to_string()
    };
    for name in ["rope_scaling", "rope_parameters"] {
        assert_eq!(message(name), "scaled rotary positions are not supported");
    }
}

#[test]
fn tensors_come_in_the_order_of_their_layers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let names = ["h.0.weight", "h.2.bias", "h.2.weight", "h.10.weight", "wte.weight"];
    let tensor =
        |name: &&str| HostParameter { name: (*name).into(), shape: vec![1], data: vec![1.0] };
    let tensors: Vec<_> = names.iter().rev().map(tensor).collect();
    write_tensors(&path, &tensors).unwrap();
    // The library hands tensors out in the order of a hash map, which differs from call to call.
    for _ in 0..5 {
        let read = read_tensors(&path).unwrap();
        assert!(read.iter().map(|tensor| tensor.name.as_str()).eq(names));
    }
}
