//! The byte tokenizer in the form that other programs read.

use serde_json::{Map, Value, json};

/// A `tokenizer.json` whose tokens are single bytes with the byte's value as id. Such a file names
/// bytes by printable characters: a byte that prints stands for itself, the others follow from
/// U+0100 on in their order.
pub(super) fn json() -> String {
    let mut next = 0x100;
    let vocabulary: Map<String, Value> = (0..=255u8)
        .map(|byte| {
            let prints = matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
            let code = if prints {
                u32::from(byte)
            } else {
                next += 1;
                next - 1
            };
            let name = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            (name.to_string(), json!(byte))
        })
        .collect();
    let byte_level = json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false,
    });
    let content = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": byte_level,
        "post_processor": null,
        "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null,
            "continuing_subword_prefix": null, "end_of_word_suffix": null,
            "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": vocabulary, "merges": [],
        },
    });
    format!("{content:#}\n")
}
