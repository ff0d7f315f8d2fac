//! The fixtures are one small table pickled by pandas 2.2.2 in protocols 4 and 5.

use super::frame;
use crate::Values;
use crate::pickled::pickle::{Node, Pickle};

const PROTOCOL_5: &[u8] = include_bytes!("fixtures/small-5.pickle");
const PROTOCOL_4: &[u8] = include_bytes!("fixtures/small-4.pickle");

fn texts(values: &[Option<&str>]) -> Values {
    Values::Text(values.iter().map(|value| value.map(str::to_owned)).collect())
}

fn refusal(bytes: &[u8]) -> String {
    let error = frame(bytes).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    error.to_string()
}

#[test]
fn a_small_table_reads_as_pandas_has_it() {
    for bytes in [PROTOCOL_4, PROTOCOL_5] {
        let table = frame(bytes).unwrap();
        let names: Vec<_> = table.names().collect();
        assert_eq!(names, ["pid", "x", "y", "flag", "city", "grade", "stage", "count"]);
        assert_eq!(table.numbers("pid").unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(table.numbers("flag").unwrap(), [1.0, 0.0, 1.0]);
        assert_eq!(table.numbers("stage").unwrap(), [2.0, 1.0, 2.0]);
        let (x, y) = (table.numbers("x").unwrap(), table.numbers("y").unwrap());
        assert_eq!((x[0], x[2], y[2]), (0.5, -2.0, -4.0));
        assert!(x[1].is_nan() && y[1].is_nan());
        let count = table.numbers("count").unwrap();
        assert!(count[0] == 7.0 && count[1].is_nan() && count[2] == 9.0);
        assert_eq!(
            table.column("city").unwrap().values,
            texts(&[Some("Kyoto"), None, Some("Nara")])
        );
        assert_eq!(table.column("grade").unwrap().values, texts(&[Some("II"), None, Some("III")]));
    }
}

#[test]
fn a_call_to_the_system_is_refused_and_never_made() {
    let marker = std::env::temp_dir().join(format!("metier-pickle-{}", std::process::id()));
    let command = format!("touch {}", marker.display());
    let old = format!("\u{80}\u{2}cos\nsystem\n(X\0\0\0\0{command}tR.");
    let mut old: Vec<u8> = old.chars().map(|c| c as u8).collect();
    old[17] = command.len() as u8;
    let message = "byte 2: the pickle refers to `os.system`, which is refused";
    assert_eq!(refusal(&old), message);
    let new = b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.";
    assert_eq!(refusal(new), "byte 19: the pickle refers to `posix.system`, which is refused");
    for name in ["eval", "exec", "getattr", "__import__"] {
        let bytes = format!("\u{80}\u{2}cbuiltins\n{name}\n)R.");
        let bytes: Vec<u8> = bytes.chars().map(|c| c as u8).collect();
        assert!(refusal(&bytes).contains("which is refused"), "{name}");
    }
    assert!(!marker.exists());
}

#[test]
fn what_is_no_table_says_what_it_is() {
    let wrong = "the pickled table is damaged or unusual: a number stands where a call should";
    assert_eq!(refusal(b"\x80\x04K\x07."), wrong);
    assert_eq!(refusal(b"pid,event"), "byte 0: does not begin as a pickle of protocol 2 to 5");
    assert_eq!(refusal(b""), "byte 0: does not begin as a pickle of protocol 2 to 5");
    assert_eq!(refusal(b"\x80\x09."), "byte 2: pickle protocol 9 is not known");
    // A persistent reference asks the reader to fetch something from elsewhere.
    assert_eq!(refusal(b"\x80\x04NQ."), "byte 3: the pickle opcode 0x51 is not allowed");
    assert_eq!(refusal(b"\x80\x04)R."), "byte 4: the stack is empty");
    assert_eq!(refusal(b"\x80\x04(0."), "byte 4: the stack is empty");
    assert_eq!(refusal(b"\x80\x04h\x05."), "byte 4: recalls what was not kept");
}

#[test]
fn cutting_a_pickle_short_anywhere_is_an_error() {
    for end in 0..PROTOCOL_5.len() {
        assert!(frame(&PROTOCOL_5[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn no_single_damaged_byte_can_do_harm() {
    let mut bytes = PROTOCOL_5.to_vec();
    for at in 0..bytes.len() {
        for damage in [0x01, 0x80, 0xff] {
            bytes[at] ^= damage;
            // Either a table or an error; a panic or endless work would fail the test.
            if let Ok(table) = frame(&bytes) {
                assert!(table.columns().len() <= 8);
            }
            bytes[at] ^= damage;
        }
    }
}

#[test]
fn deep_nesting_and_cycles_are_harmless() {
    let deep = [b"\x80\x04N".as_slice(), &[0x85; 1_000_000], b"."].concat();
    assert!(refusal(&deep).contains("a list stands where a call should"));
    // A list that holds itself.
    let cycle = b"\x80\x04]\x94h\x00a.";
    let pickle = Pickle::read(cycle, |_, _| false).unwrap();
    assert_eq!(*pickle.node(pickle.result()), Node::List(vec![pickle.result()]));
    // A masked column that is its own data.
    let column =
        b"\x80\x04cpandas.core.arrays.integer\nIntegerArray\n)\x81\x94}(X\x05\0\0\0_datah\0\
                   X\x05\0\0\0_maskh\0ub.";
    let pickle = Pickle::read(column, super::array::is_allowed).unwrap();
    let error = super::array::View(&pickle).array(pickle.result()).unwrap_err();
    assert!(error.to_string().ends_with("arrays are nested too deeply"), "{error}");
}

#[test]
fn row_numbers_in_the_place_of_a_column_are_refused() {
    // A block whose values are `RangeIndex(3)`, which has a length and no values.
    let block = b"\x80\x02cpandas._libs.internals\n_unpickle_block\n\
        cpandas.core.indexes.base\n_new_Index\ncpandas.core.indexes.range\nRangeIndex\n\
        }(X\x05\0\0\0startK\x00X\x04\0\0\0stopK\x03X\x04\0\0\0stepK\x01u\x86R\
        cbuiltins\nslice\nK\x00K\x01K\x01\x87RK\x02\x87R.";
    let pickle = Pickle::read(block, super::array::is_allowed).unwrap();
    let view = super::array::View(&pickle);
    let error = super::table::place(&view, pickle.result(), 3, &mut [None]).unwrap_err();
    assert!(error.to_string().ends_with("0 values for columns of shape [3]"), "{error}");
}

#[test]
fn integers_of_every_width_keep_their_sign() {
    let long = |bytes: &[u8]| {
        let program = [b"\x80\x02\x8a", &[bytes.len() as u8][..], bytes, b"."].concat();
        let pickle = Pickle::read(&program, |_, _| false).unwrap();
        match pickle.node(pickle.result()) {
            Node::Int(value) => *value,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(long(&[]), 0);
    assert_eq!(long(&[0xff]), -1);
    assert_eq!(long(&[0xff, 0x00]), 255);
    assert_eq!(long(&[0; 8]), 0);
    assert_eq!(long(&[0, 0, 0, 0, 0, 0, 0, 0x80]), i64::MIN);
    let read = Pickle::read(b"\x80\x02J\xfe\xff\xff\xff.", |_, _| false).unwrap();
    assert_eq!(*read.node(read.result()), Node::Int(-2));
}
