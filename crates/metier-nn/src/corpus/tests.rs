use super::*;
use crate::tokenizer::Tokenizer;
use crate::train::Batches;
use metier_core::Silent;
use proptest::prelude::*;
use std::collections::HashSet;

proptest! {
    #[test]
    fn a_token_file_holds_what_was_written(
        ids in prop::collection::vec(0u32..70_000, 0..200), wide in any::<bool>(),
    ) {
        let vocabulary = if wide { 70_000 } else { 65_536 };
        let ids: Vec<u32> = ids.into_iter().filter(|&id| id < vocabulary).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.bin");
        let count = ids.len();
        Tokens::new(ids.clone(), vocabulary as usize).unwrap().write(&path).unwrap();
        let read = Tokens::open(&path).unwrap();
        prop_assert_eq!(read.window(0, count), ids);
        prop_assert_eq!(read.vocabulary(), vocabulary as usize);
    }

    #[test]
    fn a_batch_does_not_depend_on_what_was_asked_before(number in 0u64..50, other in 0u64..50) {
        let tokens = Tokens::new((0..200).collect(), 200).unwrap();
        let config = LoaderConfig { batch: 3, context: 8, seed: 5, shuffle: true };
        let mut a = TokenBatches::new(tokens.clone(), config).unwrap();
        let mut b = TokenBatches::new(tokens, config).unwrap();
        b.batch(other).unwrap();
        prop_assert_eq!(a.batch(number).unwrap(), b.batch(number).unwrap());
    }
}

#[test]
fn one_pass_serves_each_window_once_and_targets_follow_inputs() {
    let tokens = Tokens::new((0..161).collect(), 161).unwrap();
    let config = LoaderConfig { batch: 1, context: 8, seed: 1, shuffle: true };
    let mut loader = TokenBatches::new(tokens, config).unwrap();
    let windows = loader.windows() as u64;
    let mut seen = HashSet::new();
    for number in 0..windows {
        let window = loader.batch(number).unwrap();
        for (input, target) in window.inputs[0].iter().zip(&window.targets[0]) {
            assert_eq!(input + 1, *target);
            assert!(seen.insert(*input), "{input} came twice");
        }
    }
    assert_eq!(seen.len() as u64, 8 * windows);
}

#[test]
fn every_tenth_text_is_held_out_in_the_order_of_names() {
    let folder = tempfile::tempdir().unwrap();
    for i in 0..20 {
        let letter = char::from(b'a' + i as u8);
        std::fs::write(folder.path().join(format!("{i:02}.txt")), letter.to_string()).unwrap();
    }
    std::fs::write(folder.path().join("notes.md"), "not a text").unwrap();
    let corpus = read_corpus(folder.path(), &Tokenizer::Bytes, &Silent).unwrap();
    assert_eq!(Tokenizer::Bytes.decode(&corpus.held_out.window(0, 2)).unwrap(), "jt");
    assert_eq!(corpus.train.len(), 18);
}

#[test]
fn texts_encoded_once_give_the_corpus_that_they_give_themselves() {
    let folder = tempfile::tempdir().unwrap();
    for i in 0..20 {
        let letter = char::from(b'a' + i as u8).to_string();
        std::fs::write(folder.path().join(format!("{i:02}.txt")), letter.repeat(5 + i)).unwrap();
    }
    let file = folder.path().join("out/tokens.bin");
    let count = write_corpus(folder.path(), &Tokenizer::Bytes, &file, &Silent).unwrap();
    assert_eq!(count, 290);
    let texts = read_corpus(folder.path(), &Tokenizer::Bytes, &Silent).unwrap();
    let tokens = read_corpus(&file, &Tokenizer::Bytes, &Silent).unwrap();
    assert_eq!(texts.fingerprint(), tokens.fingerprint());
    assert_eq!(learning_texts(folder.path()).unwrap().concat().len(), texts.train.len());
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn the_last_tenth_of_a_single_text_is_held_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    std::fs::write(&path, "0123456789".repeat(5)).unwrap();
    let corpus = read_corpus(&path, &Tokenizer::Bytes, &Silent).unwrap();
    assert_eq!((corpus.train.len(), corpus.held_out.len()), (45, 5));
}

#[test]
fn bad_input_is_named_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    std::fs::write(&path, b"fine\nfine\nb\xffd").unwrap();
    let error = read_corpus(&path, &Tokenizer::Bytes, &Silent).unwrap_err();
    assert!(error.to_string().ends_with("text.txt: row 3: is not UTF-8 text"), "{error}");

    std::fs::write(&path, "short").unwrap();
    let error = read_corpus(&path, &Tokenizer::Bytes, &Silent).unwrap_err();
    assert!(error.to_string().ends_with("5 tokens are too few to learn from"), "{error}");

    let file = folder.path().join("tokens.bin");
    Tokens::new(vec![1, 2, 3], 4).unwrap().write(&file).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.pop();
    std::fs::write(&file, &bytes).unwrap();
    assert!(
        Tokens::open(&file).unwrap_err().to_string().contains("3 tokens of 2 bytes do not fit")
    );
    std::fs::write(&file, b"something else").unwrap();
    assert!(Tokens::open(&file).unwrap_err().to_string().contains("not a token file"));

    let error = Tokens::new(vec![0, 9], 4).unwrap_err();
    assert_eq!(error.to_string(), "row 2: token 9 is outside the vocabulary of 4");
    let tokens = Tokens::new(vec![0, 1, 2], 4).unwrap();
    let config = LoaderConfig { batch: 1, context: 8, seed: 0, shuffle: true };
    let large = LoaderConfig { batch: usize::MAX, context: 2, ..config };
    let error = TokenBatches::new(tokens.clone(), large).unwrap_err();
    assert!(error.to_string().ends_with("sequences of 2 tokens are too many at once"), "{error}");
    let error = TokenBatches::new(tokens, config).unwrap_err();
    assert_eq!(error.to_string(), "3 tokens are too few for a window of 8");
}
