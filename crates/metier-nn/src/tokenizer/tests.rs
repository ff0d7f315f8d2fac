use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn bytes_round_trip_and_agree_with_their_json_form(text in "\\PC{0,40}|[ -~\n\t]{0,40}") {
        let json = Tokenizer::from_json(&bytes::json()).unwrap();
        let ids = Tokenizer::Bytes.encode(&text).unwrap();
        prop_assert_eq!(&json.encode(&text).unwrap(), &ids);
        prop_assert_eq!(&Tokenizer::Bytes.decode(&ids).unwrap(), &text);
        prop_assert_eq!(&json.decode(&ids).unwrap(), &text);
    }
}

#[test]
fn a_written_byte_tokenizer_is_read_back_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    Tokenizer::Bytes.write(&path).unwrap();
    assert!(matches!(Tokenizer::read(&path).unwrap(), Tokenizer::Bytes));
    assert!(matches!(
        Tokenizer::named(&folder.path().to_string_lossy()).unwrap(),
        Tokenizer::Bytes
    ));
}

#[test]
fn a_trained_encoding_round_trips_through_its_file() {
    let text = "the cat sat on the mat; the cat ate the rat. naïve façade";
    let config = BpeConfig { vocabulary: 280, ..BpeConfig::default() };
    let trained = train_bpe([text].into_iter(), &config).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokenizer.json");
    trained.write(&path).unwrap();
    let read = Tokenizer::read(&path).unwrap();
    let ids = trained.encode(text).unwrap();
    assert!(ids.len() < 2 * text.len() / 3, "{} tokens", ids.len());
    assert_eq!(read.encode(text).unwrap(), ids);
    assert_eq!(read.decode(&ids).unwrap(), text);
    assert!(ids.iter().all(|&id| (id as usize) < read.vocabulary()));
}

#[test]
fn bad_input_is_named() {
    let error = train_bpe([""].into_iter(), &BpeConfig { vocabulary: 100, ..Default::default() });
    assert_eq!(error.unwrap_err().to_string(), "vocabulary: 100 tokens are too few");
    let error =
        train_bpe([""].into_iter(), &BpeConfig { vocabulary: 1 << 40, ..Default::default() });
    assert_eq!(error.unwrap_err().to_string(), "vocabulary: 1099511627776 tokens are too many");
    let error = Tokenizer::Bytes.decode(&[65, 300]).unwrap_err();
    assert_eq!(error.to_string(), "token 300 is not a byte");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, "{\"a\": 1}").unwrap();
    assert!(Tokenizer::read(&path).unwrap_err().to_string().contains("t.json: not a tokenizer"));
    let learned = train_bpe(["a b"].into_iter(), &BpeConfig::default()).unwrap();
    learned.write(&path).unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    // A comma lost inside the decoder.
    let at = whole.find("\"decoder\"").unwrap();
    let comma = at + whole[at..].find(',').unwrap();
    std::fs::write(&path, format!("{}{}", &whole[..comma], &whole[comma + 1..])).unwrap();
    assert!(Tokenizer::read(&path).unwrap_err().to_string().contains("t.json: not a tokenizer"));
    let missing = Tokenizer::named("/nowhere/tokenizer.json").unwrap_err();
    assert_eq!(missing.exit_code(), 3);
}
