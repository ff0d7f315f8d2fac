//! IDX arrays of bytes, the format of MNIST and its kin.

use super::source;
use metier_core::{Error, Result};
use ndarray::ArrayD;
use std::path::Path;

/// Reads an IDX file of unsigned bytes, gzipped or not.
///
/// # Errors
/// A missing file, a wrong magic number, elements of another type, or a length that does not fit
/// the dimensions.
pub fn idx(path: &Path) -> Result<ArrayD<u8>> {
    parse(source::bytes(path)?).map_err(|error| error.in_file(path))
}

fn parse(mut bytes: Vec<u8>) -> Result<ArrayD<u8>> {
    let [0, 0, kind, rank, ..] = bytes[..] else {
        return Err(Error::input("is not an IDX file: it should begin with two zero bytes"));
    };
    if kind != 0x08 {
        return Err(Error::input(format!(
            "holds elements of type 0x{kind:02x}, where unsigned bytes (0x08) are wanted"
        )));
    }
    let start = 4 + 4 * usize::from(rank);
    let Some(header) = bytes.get(4..start) else {
        return Err(Error::input("is cut short within its header"));
    };
    let shape: Vec<usize> = header
        .chunks_exact(4)
        .map(|size| u32::from_be_bytes([size[0], size[1], size[2], size[3]]) as usize)
        .collect();
    let wanted = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let found = bytes.len() - start;
    if wanted != Some(found) {
        return Err(Error::input(format!(
            "holds {found} bytes of data, where the dimensions {shape:?} need {}",
            wanted.map_or_else(|| "more than there can be".to_owned(), |wanted| wanted.to_string())
        )));
    }
    bytes.drain(..start);
    ArrayD::from_shape_vec(shape, bytes).map_err(|error| Error::internal(error.to_string()))
}
