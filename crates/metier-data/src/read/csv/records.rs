//! Text cut into records, each with the line on which it starts.

use ::csv::{ByteRecord, Reader, ReaderBuilder};
use metier_core::{Error, Result};

/// The bytes without a byte-order mark, known to be UTF-8.
pub(super) struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(_) => Ok(Self(bytes)),
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
                Err(Error::input(format!(
                    "byte 0x{:02x} is not UTF-8 text",
                    bytes[error.valid_up_to()]
                ))
                .at_row(line)
                .help("save the file as UTF-8; is it perhaps Latin-1, or not a text file at all?"))
            }
        }
    }

    /// Its beginning, which may end within a character or a record.
    pub(super) fn start(&self, bytes: usize) -> Self {
        Self(&self.0[..self.0.len().min(bytes)])
    }

    /// The records, from the first on.
    pub(super) fn records(&self, delimiter: u8) -> Records<'a> {
        Records {
            bytes: self.0,
            start: 0,
            reader: ReaderBuilder::new()
                .delimiter(delimiter)
                .has_headers(false)
                .flexible(true)
                .from_reader(self.0),
        }
    }
}

/// The records one by one.
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    /// Where the last record begins.
    start: usize,
    reader: Reader<&'a [u8]>,
}

impl Records<'_> {
    /// Reads the next record and gives the line on which it starts; `None` at the end.
    pub(super) fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>> {
        // The reader passes over blank lines; the line of the record is the one after them.
        let from = self.reader.position().byte() as usize;
        self.start = from;
        let line = self.reader.position().line();
        let more = self
            .reader
            .read_byte_record(record)
            .map_err(|error| Error::input(error.to_string()).at_row(line))?;
        let blank = self.bytes.get(from..).unwrap_or_default();
        let blank = blank.iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
        let skipped = blank.filter(|&&byte| byte == b'\n').count() as u64;
        Ok(more.then_some(line + skipped))
    }

    /// Whether the last record runs to the end of the text because a quote in it stays open.
    pub(super) fn stays_open(&self, record: &ByteRecord) -> bool {
        let odd_quotes = || {
            let record = &self.bytes[self.start..];
            record.iter().filter(|&&byte| byte == b'"').count() % 2 == 1
        };
        self.reader.position().byte() as usize >= self.bytes.len()
            && record.iter().any(|field| field.contains(&b'\n'))
            && odd_quotes()
    }
}

/// A field as text.
pub(super) fn as_str(field: &[u8]) -> &str {
    // The whole text was checked, and delimiters are ASCII, so no field can cut a character.
    std::str::from_utf8(field).unwrap_or_default()
}
