//! Each reader on what it should read and on what it should refuse.

use super::*;
use crate::{Column, Frame, Values, write};
use ndarray::{Array1, Array3, ArrayD, array};
use proptest::prelude::*;
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;

/// A file of the given name and content, in a folder that goes away with it.
fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn csv_of(content: impl AsRef<[u8]>) -> Result<Frame> {
    csv_bytes(content.as_ref(), Path::new("t.csv"), &CsvOptions::default())
}

fn names(frame: &Frame) -> Vec<&str> {
    frame.names().collect()
}

fn numbers(frame: &Frame, name: &str) -> Vec<f64> {
    frame.numbers(name).unwrap().to_vec()
}

fn texts(frame: &Frame, name: &str) -> Vec<Option<String>> {
    frame.column(name).unwrap().texts().unwrap().to_vec()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(content).unwrap();
    out.finish().unwrap()
}

#[track_caller]
fn refuses<T: std::fmt::Debug>(outcome: Result<T>, message: &str, help: &str) {
    let error = outcome.unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(error.help_text().unwrap_or(""), help);
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn csv_finds_numbers_text_and_missing_values() {
    let frame = csv_of("age,sex,alive\n61,f,true\nNA,m,FALSE\n 4.5e1 ,?,\n").unwrap();
    assert_eq!(names(&frame), ["age", "sex", "alive"]);
    let age = numbers(&frame, "age");
    assert!(age[0] == 61.0 && age[1].is_nan() && age[2] == 45.0);
    assert_eq!(texts(&frame, "sex"), [Some("f".into()), Some("m".into()), None]);
    let alive = numbers(&frame, "alive");
    assert!(alive[0] == 1.0 && alive[1] == 0.0 && alive[2].is_nan());
}

#[test]
fn csv_finds_the_delimiter() {
    for delimiter in [',', ';', '\t', '|'] {
        let text = "city,note,x\nNara,\"a, b; c | d\",1\nKyoto,\"e, f\",2\n";
        let text: String = {
            // The delimiters inside quotes stay.
            let mut quoted = false;
            let swap = |c| {
                quoted ^= c == '"';
                if c == ',' && !quoted { delimiter } else { c }
            };
            text.chars().map(swap).collect()
        };
        let frame = csv_of(&text).unwrap();
        assert_eq!(names(&frame), ["city", "note", "x"], "{delimiter:?}");
        assert_eq!(numbers(&frame, "x"), [1.0, 2.0]);
    }
    assert_eq!(csv_of("value\n1\n2\n").unwrap().height(), 2);
}

#[test]
fn decimal_commas_go_with_semicolons() {
    let frame = csv_of("lon;lat;list\n2,35;-48,85;1,2,3\n1;2.5;4\n").unwrap();
    assert_eq!(numbers(&frame, "lon"), [2.35, 1.0]);
    assert_eq!(numbers(&frame, "lat"), [-48.85, 2.5]);
    assert_eq!(texts(&frame, "list"), [Some("1,2,3".into()), Some("4".into())]);
    let frame = csv_of("2,35;48,85\n1,5;2,5\n").unwrap();
    assert_eq!(numbers(&frame, "column_2"), [48.85, 2.5]);
}

#[test]
fn csv_tells_a_header_from_data() {
    for (text, header, first) in [
        ("1,2\n3,4\n", false, "column_1"),
        ("a,b\n3,4\n", true, "a"),
        ("a,b\nc,d\n", true, "a"),
        ("id,2019,2020\n1,5,6\n", true, "id"),
        ("Kyoto,1,2\nNara,3,4\n", false, "column_1"),
        (",x\n0,5\n", true, "column_1"),
        ("5,NA\n3,4\n", false, "column_1"),
    ] {
        let frame = csv_of(text).unwrap();
        assert_eq!(frame.height(), if header { 1 } else { 2 }, "{text:?}");
        assert_eq!(frame.columns()[0].name, first, "{text:?}");
    }
}

#[test]
fn csv_takes_what_is_given() {
    let options = CsvOptions {
        delimiter: Some(b';'),
        header: Some(false),
        missing: vec!["-9".into()],
        text: vec!["column_2".into()],
    };
    let frame = csv_bytes(b"1.5.0;-9\n2;07\n", Path::new("t"), &options).unwrap();
    assert_eq!(texts(&frame, "column_1"), [Some("1.5.0".into()), Some("2".into())]);
    assert_eq!(texts(&frame, "column_2"), [None, Some("07".into())]);
    let options = CsvOptions { text: vec!["zipp".into()], ..CsvOptions::default() };
    refuses(
        csv_bytes(b"zip,x\n01,2\n", Path::new("t.csv"), &options),
        "t.csv: no column `zipp`",
        "did you mean `zip`? the columns are: zip, x",
    );
}

#[test]
fn csv_keeps_quotes_marks_and_line_breaks() {
    let frame = csv_of("\u{feff}a,b\r\n\"say \"\"hi\"\"\",\"two\r\nlines\"\r\n").unwrap();
    assert_eq!(names(&frame), ["a", "b"]);
    assert_eq!(texts(&frame, "a"), [Some("say \"hi\"".into())]);
    assert_eq!(texts(&frame, "b"), [Some("two\r\nlines".into())]);
}

#[test]
fn csv_remembers_the_line_of_each_row() {
    let frame = csv_of("\n\na,b\n\n1,x\n2,\"y\nz\"\n\n3,w\n").unwrap();
    let lines: Vec<u64> = (0..3).map(|row| frame.line(row)).collect();
    assert_eq!(lines, [5, 6, 9]);
    assert_eq!(frame.error_at(2, "a", "bad").to_string(), "t.csv: row 9, a: bad");
    let dense = csv_of("a\n1\n2\n").unwrap();
    assert_eq!((dense.line(0), dense.line(1)), (2, 3));
}

#[test]
fn csv_keeps_identifiers_that_a_number_would_spoil() {
    let frame = csv_of("id,x\n12345678901234567891,1\n1,2\n").unwrap();
    assert_eq!(texts(&frame, "id")[0].as_deref(), Some("12345678901234567891"));
    assert_eq!(numbers(&csv_of("x\n9007199254740992\n").unwrap(), "x"), [9007199254740992.0]);
}

#[test]
fn csv_says_where_it_stumbles() {
    refuses(
        csv_of("a,b\n1,2\n3\n"),
        "t.csv: row 3: 1 field, where the header has 2",
        "the first column that is not there is `b`",
    );
    refuses(
        csv_of("1,2\n3,4,5\n6,7\n"),
        "t.csv: row 2: 3 fields, where the first row has 2",
        "put quotes around fields that contain the delimiter",
    );
    refuses(
        csv_of("a,b\n1,\"open\n2,3\n4,5\n"),
        "t.csv: row 2: a quoted field that opens here is never closed",
        "close the quote, or double the quotes that belong to the text",
    );
    refuses(
        csv_of("a,b,a\n1,2,3\n"),
        "t.csv: row 1: the name `a` is given to column 1 and to column 3",
        "give every column a name of its own",
    );
    refuses(csv_of(""), "t.csv: the file is empty", "a table needs a header and at least one row");
    refuses(
        csv_of(b"a,b\n1,caf\xe9\n"),
        "t.csv: row 2: byte 0xe9 is not UTF-8 text",
        "save the file as UTF-8; is it perhaps Latin-1, or not a text file at all?",
    );
    let frame = csv_of("a,b\n1,x\nseven,y\n").unwrap();
    refuses(
        frame.numbers("a").map(<[f64]>::to_vec),
        "t.csv: row 3, a: `seven` is not a number",
        "mark missing values by an empty field, NA, NaN, null or ?",
    );
}

#[test]
fn a_header_without_rows_is_an_empty_table() {
    let frame = csv_of("a,b\n").unwrap();
    assert_eq!((frame.height(), frame.columns().len()), (0, 2));
}

#[test]
fn gzip_is_seen_by_its_bytes() {
    let (_folder, path) = file("t.csv", gzip(b"a\n1\n"));
    assert_eq!(numbers(&super::frame(&path).unwrap(), "a"), [1.0]);
    let (_folder, path) = file("t.csv.gz", gzip(b"a\n1\n"));
    assert_eq!(numbers(&super::frame(&path).unwrap(), "a"), [1.0]);
    let (_folder, path) = file("t.csv.gz", &gzip(b"a,b,c\n1,2,3\n")[..20]);
    let message = format!("{}: the gzip data are damaged or cut short", path.display());
    refuses(super::frame(&path), &message, "");
}

#[test]
fn missing_files_and_unknown_endings() {
    let error = super::frame(Path::new("/nowhere/a.csv")).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().starts_with("/nowhere/a.csv: "), "{error}");
    let help = "tables are read from .csv, .tsv, .parquet, .jsonl, .npy, .npz and .geojson files";
    refuses(super::frame(Path::new("a.xlsx")), "a.xlsx: cannot read `.xlsx` files as tables", help);
    let no_ending = "cohort: the name has no ending to tell its format";
    refuses(super::frame(Path::new("cohort")), no_ending, help);
}

#[test]
fn geojson_points_are_a_table() {
    let text = r#"{"type":"FeatureCollection","features":[{"type":"Feature",
        "properties":{"price":7},"geometry":{"type":"Point","coordinates":[139.7,35.7]}}]}"#;
    let (_folder, path) = file("t.geojson", text);
    let frame = super::frame(&path).unwrap();
    assert_eq!(numbers(&frame, "lon"), [139.7]);
    assert_eq!(numbers(&frame, "price"), [7.0]);
}

#[test]
fn jsonl_gathers_keys_over_lines() {
    let text =
        "{\"a\": 1, \"s\": \"x\"}\n\n{\"a\": null, \"b\": true}\n{\"s\": \"1\", \"a\": 2.5}\n";
    let (_folder, path) = file("t.jsonl", text);
    let frame = super::frame(&path).unwrap();
    assert_eq!(names(&frame), ["a", "s", "b"]);
    let a = numbers(&frame, "a");
    assert!(a[0] == 1.0 && a[1].is_nan() && a[2] == 2.5);
    assert_eq!(texts(&frame, "s"), [Some("x".into()), None, Some("1".into())]);
    let b = numbers(&frame, "b");
    assert!(b[0].is_nan() && b[1] == 1.0 && b[2].is_nan());
    assert_eq!(frame.line(2), 4);
}

#[test]
fn jsonl_keeps_long_identifiers_and_mixed_values_as_text() {
    let (_folder, path) =
        file("t.jsonl", "{\"id\":9007199254740993,\"m\":1}\n{\"id\":7,\"m\":true}\n");
    let frame = jsonl(&path).unwrap();
    assert_eq!(texts(&frame, "id"), [Some("9007199254740993".into()), Some("7".into())]);
    assert_eq!(texts(&frame, "m"), [Some("1".into()), Some("true".into())]);
}

#[test]
fn jsonl_says_where_it_stumbles() {
    for (text, message, help) in [
        (
            "{\"a\":1}\n{\"a\":\n",
            "row 2: is not JSON: EOF while parsing a value (at byte 5)",
            "give one whole JSON object per line",
        ),
        (
            "{\"a\":NaN}\n",
            "row 1: is not JSON: expected value (at byte 6)",
            "JSON has no NaN and no Infinity: write null",
        ),
        (
            "{\"a\":1}\n\n[1]\n",
            "row 3: a list, where an object is wanted",
            "give one JSON object per line, as in {\"age\": 61, \"sex\": \"f\"}",
        ),
        (
            "{\"a\":{\"b\":1}}\n",
            "row 1, a: is an object, where a plain value is wanted",
            "spread it over columns of its own",
        ),
        ("\n", "the file is empty", "give one JSON object per line"),
    ] {
        let (_folder, path) = file("t.jsonl", text);
        let error = jsonl(&path).unwrap_err();
        let place = path.display().to_string();
        assert_eq!(error.to_string(), format!("{place}: {message}"));
        assert_eq!(error.help_text(), Some(help));
    }
}

#[test]
fn parquet_refuses_what_is_not_parquet() {
    let (_folder, path) = file("t.parquet", "a,b\n1,2\n3,4\n");
    let error = super::frame(&path).unwrap_err();
    assert!(
        error.message().starts_with("is not a Parquet file that can be read: "),
        "{}",
        error.message()
    );
    assert_eq!((error.location().file.as_deref(), error.exit_code()), (Some(path.as_path()), 2));
}

/// Written by `pyarrow` through the script beside it: every kind of column that people's files
/// have.
#[test]
fn parquet_of_another_writer() {
    let frame = parquet(Path::new("tests/data/kinds.parquet")).unwrap();
    assert_eq!(
        names(&frame),
        [
            "f64", "f32", "f16", "i8", "i64", "big", "u32", "u64", "bool", "decimal", "text",
            "category", "date", "milli", "nano", "point.x", "point.y"
        ]
    );
    for name in ["f64", "f32", "f16"] {
        let values = numbers(&frame, name);
        assert!(values[0] == 0.5 && values[1].is_nan() && values[2] == -2.0, "{name} {values:?}");
    }
    let whole = |name: &str| numbers(&frame, name);
    assert!(whole("i8")[0] == -7.0 && whole("i8")[1].is_nan());
    assert_eq!(whole("i64")[2], -9_007_199_254_740_992.0);
    assert_eq!(texts(&frame, "big")[0].as_deref(), Some("9007199254740993"));
    assert_eq!(whole("u32")[0], 4_294_967_295.0);
    assert_eq!(texts(&frame, "u64")[0].as_deref(), Some("18446744073709551615"));
    assert!(whole("bool")[0] == 1.0 && whole("bool")[1].is_nan() && whole("bool")[2] == 0.0);
    assert_eq!(whole("decimal")[0], 12.34);
    assert_eq!(whole("decimal")[2], -0.05);
    assert_eq!(texts(&frame, "text"), [Some("Kyōto".into()), None, Some(String::new())]);
    assert_eq!(texts(&frame, "category"), [Some("a".into()), None, Some("a".into())]);
    assert_eq!(texts(&frame, "date")[2].as_deref(), Some("1969-12-31"));
    assert_eq!(texts(&frame, "milli")[0].as_deref(), Some("2024-02-29T12:30:00"));
    assert_eq!(texts(&frame, "nano")[0].as_deref(), Some("2024-02-29T12:30:00.000000001"));
    assert!(whole("point.x")[0] == 1.5 && whole("point.x")[1].is_nan());
}

#[test]
fn parquet_refuses_lists() {
    let error = parquet(Path::new("tests/data/lists.parquet")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tests/data/lists.parquet: tags.list.element: is a column of lists, where plain values \
         are wanted"
    );
}

#[test]
fn npy_reads_every_numeric_type() {
    // Header and data as NumPy writes them, made by hand.
    let make = |descr: &str, data: &[u8]| {
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    };
    let cases: [(&str, Vec<u8>); 10] = [
        ("<f2", vec![0x00, 0x3c, 0x00, 0xc0]),
        ("<f4", [1f32, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect()),
        (">f4", [1f32, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect()),
        ("<f8", [1f64, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect()),
        (">f8", [1f64, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect()),
        ("|i1", vec![1, 0xfe]),
        ("<i2", [1i16, -2].iter().flat_map(|v| v.to_le_bytes()).collect()),
        (">i4", [1i32, -2].iter().flat_map(|v| v.to_be_bytes()).collect()),
        ("<i8", [1i64, -2].iter().flat_map(|v| v.to_le_bytes()).collect()),
        ("=i8", [1i64, -2].iter().flat_map(|v| v.to_le_bytes()).collect()),
    ];
    for (descr, data) in cases {
        let (_folder, path) = file("t.npy", make(descr, &data));
        assert_eq!(npy(&path).unwrap(), array![1.0, -2.0].into_dyn(), "{descr}");
    }
    for (descr, data) in [("|u1", vec![1, 254]), ("|b1", vec![1, 0])] {
        let second = f64::from(data[1]);
        let (_folder, path) = file("t.npy", make(descr, &data));
        assert_eq!(npy(&path).unwrap(), array![1.0, second].into_dyn(), "{descr}");
    }
    let place = |path: &Path, message: &str| format!("{}: {message}", path.display());
    let (_folder, path) = file("t.npy", make("<f8", &[0; 15]));
    refuses(npy(&path), &place(&path, "is cut short: the header promises more data"), "");
    let (_folder, path) = file("t.npy", make("<f8", &[0; 17]));
    refuses(npy(&path), &place(&path, "has 1 bytes more than its header promises"), "");
    let (_folder, path) = file("t.npy", make("|O", &[0; 16]));
    refuses(
        npy(&path),
        &place(&path, "holds elements of type '|O', where numbers are wanted"),
        "save it as floating-point numbers or integers, not as objects or strings",
    );
    let (_folder, path) = file("t.npy", "not an array");
    refuses(npy(&path), &place(&path, "is not an NPY array"), "");
}

#[test]
fn an_array_without_rows_is_no_table_however_wide() {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4000000000), }\n";
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let (_folder, path) = file("wide.npy", bytes);
    let place = format!("{}: an array of shape [0, 4000000000] has no rows", path.display());
    refuses(super::frame(&path), &place, "");
}

#[test]
fn arrays_become_tables_where_they_can() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    write::npy(&path, array![[1.0f32, 2.0], [3.0, 4.0]].view()).unwrap();
    let frame = super::frame(&path).unwrap();
    assert_eq!(names(&frame), ["column_1", "column_2"]);
    assert_eq!(numbers(&frame, "column_2"), [2.0, 4.0]);
    write::npy(&path, Array1::<i64>::from(vec![5, 6]).view()).unwrap();
    assert_eq!(numbers(&super::frame(&path).unwrap(), "column_1"), [5.0, 6.0]);
    write::npy(&path, Array3::<f64>::zeros((2, 2, 2)).view()).unwrap();
    refuses(
        super::frame(&path),
        &format!("{}: an array of shape [2, 2, 2] is no table", path.display()),
        "a table has one or two dimensions",
    );
}

#[test]
fn npz_holds_named_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let mut writer = ndarray_npy::NpzWriter::new_compressed(std::fs::File::create(&path).unwrap());
    writer.add_array("y", &Array1::<i32>::from(vec![1, 0])).unwrap();
    writer.add_array("x", &array![[1.0f32, 2.0], [3.0, 4.0]]).unwrap();
    writer.finish().unwrap();
    let arrays = npz(&path).unwrap();
    assert_eq!(arrays[0], ("y".to_owned(), array![1.0, 0.0].into_dyn()));
    let frame = super::frame(&path).unwrap();
    assert_eq!(names(&frame), ["y", "x_1", "x_2"]);
    assert_eq!(numbers(&frame, "x_2"), [2.0, 4.0]);
    std::fs::write(&path, "not a zip").unwrap();
    let error = npz(&path).unwrap_err();
    assert!(error.message().starts_with("is not an NPZ archive: "), "{error}");
}

#[test]
fn idx_reads_bytes_of_any_rank() {
    let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3];
    bytes.extend([1, 2, 3, 4, 5, 6]);
    for content in [bytes.clone(), gzip(&bytes)] {
        let (_folder, path) = file("train-images-idx3-ubyte", content);
        let array = idx(&path).unwrap();
        assert_eq!(array.shape(), [2, 1, 3]);
        assert_eq!(array[[1, 0, 2]], 6);
    }
    let broken = |bytes: &[u8], message: &str| {
        let (_folder, path) = file("x.idx", bytes);
        refuses(idx(&path), &format!("{}: {message}", path.display()), "");
    };
    broken(b"PK\x03\x04", "is not an IDX file: it should begin with two zero bytes");
    broken(
        &[0, 0, 0x0d, 1, 0, 0, 0, 0],
        "holds elements of type 0x0d, where unsigned bytes (0x08) are wanted",
    );
    broken(&bytes[..9], "is cut short within its header");
    broken(&bytes[..20], "holds 4 bytes of data, where the dimensions [2, 1, 3] need 6");
    broken(
        &[&[0, 0, 8, 3][..], &[0xff; 12]].concat(),
        "holds 0 bytes of data, where the dimensions [4294967295, 4294967295, 4294967295] need \
         more than there can be",
    );
}

#[test]
fn writers_refuse_what_their_format_cannot_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let frame = Frame::new(vec![
        Column::number("x", vec![1.0, f64::INFINITY]),
        Column::text("s", [Some("a"), None]),
    ])
    .unwrap();
    let place = |name: &str| path(name).display().to_string();
    refuses(
        write::frame(&path("t.npy"), &frame),
        &format!("{}: s: holds text, which an .npy array of numbers cannot hold", place("t.npy")),
        "write .csv, .parquet or .jsonl instead, or leave the column out",
    );
    refuses(
        write::frame(&path("t.jsonl"), &frame),
        "row 2, x: JSON cannot hold an infinite number",
        "write Parquet or CSV instead",
    );
    refuses(
        write::frame(&path("t.xlsx"), &frame),
        &format!("{}: cannot write `.xlsx` files", place("t.xlsx")),
        "tables are written as .csv, .tsv, .parquet, .jsonl or .npy",
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Equal up to the sign of zero, with missing equal to missing.
fn same(a: &Frame, b: &Frame) -> bool {
    a.height() == b.height()
        && a.columns().len() == b.columns().len()
        && a.columns().iter().zip(b.columns()).all(|(a, b)| {
            a.name == b.name
                && match (&a.values, &b.values) {
                    (Values::Number(a), Values::Number(b)) => {
                        a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
                    }
                    (a, b) => a == b,
                }
        })
}

/// A table with a column of numbers, some missing, and one of words that no reader could take for
/// anything else; the words hold all that quoting is for.
fn tables(finite: bool) -> impl Strategy<Value = Frame> {
    let number = prop_oneof![
        8 => proptest::num::f64::NORMAL | proptest::num::f64::ZERO | proptest::num::f64::SUBNORMAL,
        2 => (-1_000_000i64..1_000_000).prop_map(|whole| whole as f64),
        1 => Just(f64::NAN),
        1 => Just(if finite { 1.0 } else { f64::NEG_INFINITY }),
    ];
    let word = proptest::option::weighted(0.8, "w[ -~é\n\r\t\"',;|]{0,12}");
    proptest::collection::vec((number, word), 1..40).prop_map(|rows| {
        let (numbers, mut words): (Vec<f64>, Vec<Option<String>>) = rows.into_iter().unzip();
        // A column with nothing in it reads as one of numbers.
        words[0].get_or_insert_with(|| "word".into());
        Frame::new(vec![Column::number("x", numbers), Column::text("the \"words\", all", words)])
            .unwrap()
    })
}

fn through(name: &str, frame: &Frame) -> Frame {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write::frame(&path, frame).unwrap();
    super::frame(&path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn csv_round_trip(frame in tables(false)) {
        prop_assert!(same(&through("t.csv", &frame), &frame));
        prop_assert!(same(&through("t.tsv", &frame), &frame));
    }

    #[test]
    fn parquet_round_trip(frame in tables(false)) {
        prop_assert!(same(&through("t.parquet", &frame), &frame));
    }

    #[test]
    fn jsonl_round_trip(frame in tables(true)) {
        prop_assert!(same(&through("t.jsonl", &frame), &frame));
    }

    #[test]
    fn npy_round_trip(values in proptest::collection::vec(proptest::num::f64::ANY, 0..60)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.npy");
        let array = ArrayD::from_shape_vec(vec![values.len(), 1], values).unwrap();
        write::npy(&path, array.view()).unwrap();
        let back = npy(&path).unwrap();
        prop_assert_eq!(back.shape(), array.shape());
        prop_assert!(back.iter().zip(&array).all(|(a, b)| a.to_bits() == b.to_bits()));
    }

    /// Whatever the bytes are, a reader answers with a table or an error.
    #[test]
    fn readers_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["t.csv", "t.jsonl", "t.parquet", "t.npy", "t.npz"] {
            let path = folder.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            let _ = super::frame(&path);
        }
        let path = folder.path().join("t.csv");
        let _ = idx(&path);
    }
}
