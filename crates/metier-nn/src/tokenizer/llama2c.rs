//! The `tokenizer.bin` of llama2.c: scored pieces, merged greedily by score.

use metier_core::{Error, Result};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::Path;

/// The tokens before this one are `<unk>`, `<s>` and `</s>`.
const FIRST_PIECE: usize = 3;

/// Pieces and scores by token id.
#[derive(Clone, Debug)]
pub struct Llama2cVocabulary {
    pieces: Vec<(String, f32)>,
}

impl Llama2cVocabulary {
    /// Reads a `tokenizer.bin` of `count` tokens: the longest length, then for each token its score
    /// (f32), length (i32) and bytes.
    ///
    /// # Errors
    /// Fewer than three tokens; a file that cannot be read, ends too early, or holds more than that.
    pub fn read(path: &Path, count: usize) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
        let wrong = |message: String| Error::input(message).in_file(path);
        let mut rest = bytes.get(4..).ok_or_else(|| wrong("shorter than its header".into()))?;
        if count < FIRST_PIECE {
            return Err(wrong(format!(
                "{count} tokens leave no room for <unk>, <s> and </s>, which are the first three"
            )));
        }
        let mut pieces = Vec::new();
        for id in 0..count {
            let (piece, left) =
                one(rest).ok_or_else(|| wrong(format!("ends inside token {id} of {count}")))?;
            pieces.push(piece);
            rest = left;
        }
        if !rest.is_empty() {
            return Err(wrong(format!("{} bytes follow the last of {count} tokens", rest.len())));
        }
        Ok(Self { pieces })
    }

    /// A `tokenizer.json` with the same tokens and merges.
    pub fn to_json(&self) -> String {
        let names: Vec<String> = self
            .pieces
            .iter()
            .enumerate()
            .map(|(id, (text, _))| match id {
                0 => "<unk>".into(),
                1 => "<s>".into(),
                2 => "</s>".into(),
                _ => text.replace(' ', "▁"),
            })
            .collect();
        let vocabulary: Map<String, Value> =
            names.iter().enumerate().map(|(id, name)| (name.clone(), json!(id))).collect();
        let special = |id: usize| {
            json!({
                "id": id, "content": names[id], "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true,
            })
        };
        let content = json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": [special(0), special(1), special(2)],
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ]},
            "pre_tokenizer": null,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [
                    {"SpecialToken": {"id": "<s>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                ],
                "pair": [
                    {"SpecialToken": {"id": "<s>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "<s>", "type_id": 1}},
                    {"Sequence": {"id": "B", "type_id": 1}},
                ],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
            },
            "decoder": {"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ]},
            "model": {
                "type": "BPE", "dropout": null, "unk_token": "<unk>",
                "continuing_subword_prefix": null, "end_of_word_suffix": null,
                "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
                "vocab": vocabulary, "merges": self.merges(&names),
            },
        });
        format!("{content:#}\n")
    }

    /// Every way to put a piece together from two others, the best score first.
    fn merges(&self, names: &[String]) -> Vec<[String; 2]> {
        let known: HashMap<&str, usize> = names
            .iter()
            .enumerate()
            .skip(FIRST_PIECE)
            .map(|(id, name)| (name.as_str(), id))
            .collect();
        let mut ids: Vec<usize> = (FIRST_PIECE..names.len()).collect();
        ids.sort_by(|&a, &b| self.pieces[b].1.total_cmp(&self.pieces[a].1).then(a.cmp(&b)));
        let mut merges = Vec::new();
        for id in ids {
            let name = names[id].as_str();
            if name.starts_with("<0x") {
                continue;
            }
            for (at, _) in name.char_indices().skip(1) {
                let (left, right) = name.split_at(at);
                if known.contains_key(left) && known.contains_key(right) {
                    merges.push([left.to_string(), right.to_string()]);
                }
            }
        }
        merges
    }
}

/// The first piece of `bytes`, and what follows.
fn one(bytes: &[u8]) -> Option<((String, f32), &[u8])> {
    let (score, rest) = bytes.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
    let (text, rest) = rest.split_at_checked(length)?;
    Some(((String::from_utf8(text.to_vec()).ok()?, f32::from_le_bytes(*score)), rest))
}
