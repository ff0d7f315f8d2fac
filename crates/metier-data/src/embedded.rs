//! The data sets that lie inside the program, so that the evidence runs with nothing else
//! installed. Sources, licences and sums: `data/SOURCES.md`.

use crate::read::{CsvOptions, csv_bytes, gunzip};
use crate::{Frame, read};
use metier_core::{Error, Result};
use ndarray::{Array2, Array3};
use std::path::Path;

/// How finely coasts and borders are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Detail {
    /// For maps of the world: 1 to 110 million.
    #[default]
    Coarse,
    /// For maps of a country: 1 to 50 million.
    Fine,
}

/// Grey images with the class of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Images {
    /// The pixels, image × row × column, from 0 to [`white`](Self::white).
    pub pixels: Array3<u8>,
    /// The class of each image, counted from 0.
    pub labels: Vec<u8>,
    /// The value of the brightest pixel that the format allows.
    pub white: u8,
}

impl Images {
    /// One row per image with its pixels in reading order, scaled to [0, 1].
    pub fn features(&self) -> Array2<f32> {
        let (count, height, width) = self.pixels.dim();
        let scale = f32::from(self.white);
        Array2::from_shape_fn((count, height * width), |(image, at)| {
            f32::from(self.pixels[[image, at / width, at % width]]) / scale
        })
    }
}

/// An embedded file: the name that it has in `data/`, and its bytes as they lie there.
pub(crate) struct File {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! file {
    ($name:literal) => {
        File { name: $name, bytes: include_bytes!(concat!("../../../data/", $name)) }
    };
}

pub(crate) static DIGITS: File = file!("digits.csv.gz");
pub(crate) static MNIST_5K: File = file!("mnist-5k.csv.gz");
pub(crate) static GBSG2: File = file!("gbsg2.csv");
pub(crate) static LYMPH_NODE: File = file!("lymph-node.csv");
pub(crate) static ACTG175: File = file!("actg175.csv.gz");
pub(crate) static PLACES: File = file!("places.csv.gz");
pub(crate) static PLACES_JAPAN: File = file!("places-japan.csv.gz");
pub(crate) static LAND_110M: File = file!("land-110m.json.gz");
pub(crate) static LAND_50M: File = file!("land-50m.json.gz");
pub(crate) static COUNTRIES_110M: File = file!("countries-110m.json.gz");
pub(crate) static COUNTRIES_50M: File = file!("countries-50m.json.gz");

/// 1,797 handwritten digits of 8×8 pixels from 0 to 16.
///
/// ```
/// let digits = metier_data::embedded::digits()?;
/// assert_eq!(digits.pixels.dim(), (1797, 8, 8));
/// assert_eq!(digits.labels[..4], [0, 1, 2, 3]);
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// Never, unless the program file itself is damaged; so for every function here.
pub fn digits() -> Result<Images> {
    images(&DIGITS, 8, 16)
}

/// 5,000 digits of MNIST, 500 of each, of 28×28 pixels from 0 to 255, sorted by digit.
///
/// # Errors
/// See [`digits`].
pub fn mnist_5k() -> Result<Images> {
    images(&MNIST_5K, 28, 255)
}

/// The 5,000 most populous places of the world, largest first: `name`, `country` (two letters),
/// `admin1` (code of the first-level division), `lon`, `lat`, `population`.
///
/// # Errors
/// See [`digits`].
pub fn places() -> Result<Frame> {
    // No `NA` among the missing: it is Namibia.
    table(&PLACES, &[""], &["country", "admin1"])
}

/// All 2,188 Japanese places with more than 500 people: `name`, `prefecture` (one of 47 codes),
/// `lon`, `lat`, `population`.
///
/// # Errors
/// See [`digits`].
pub fn places_japan() -> Result<Frame> {
    table(&PLACES_JAPAN, &[""], &["prefecture"])
}

/// German Breast Cancer Study Group 2: 686 women; `time` in days, `cens` = 1 for recurrence or
/// death.
///
/// # Errors
/// See [`digits`].
pub fn gbsg2() -> Result<Frame> {
    table(&GBSG2, &["", "NA"], &[])
}

/// The trial of [`gbsg2`] with the dates of recurrence (`rectime`, `censrec`) and of death
/// (`survtime`, `censdead`) apart.
///
/// # Errors
/// See [`digits`].
pub fn lymph_node() -> Result<Frame> {
    table(&LYMPH_NODE, &["", "NA"], &[])
}

/// AIDS Clinical Trials Group study 175: 2,139 adults with HIV in four `arms`; `days` to event or
/// censoring, `cens` = 1 for an event.
///
/// # Errors
/// See [`digits`].
pub fn actg175() -> Result<Frame> {
    table(&ACTG175, &["", "NA"], &[])
}

/// The land of the earth as TopoJSON text.
///
/// # Errors
/// See [`digits`].
pub fn land(detail: Detail) -> Result<String> {
    text(match detail {
        Detail::Coarse => &LAND_110M,
        Detail::Fine => &LAND_50M,
    })
}

/// The countries of the earth as TopoJSON text: objects `countries` and `land`.
///
/// # Errors
/// See [`digits`].
pub fn countries(detail: Detail) -> Result<String> {
    text(match detail {
        Detail::Coarse => &COUNTRIES_110M,
        Detail::Fine => &COUNTRIES_50M,
    })
}

pub(crate) fn content(file: &File) -> Result<Vec<u8>> {
    let is_packed = read::is_gzip(file.bytes);
    if is_packed { gunzip(file.bytes) } else { Ok(file.bytes.to_vec()) }
}

fn text(file: &File) -> Result<String> {
    String::from_utf8(content(file)?).map_err(|_| damaged(file))
}

fn table(file: &File, missing: &[&str], text: &[&str]) -> Result<Frame> {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let options = CsvOptions {
        delimiter: Some(b','),
        header: Some(true),
        missing: owned(missing),
        text: owned(text),
    };
    csv_bytes(&content(file)?, Path::new(file.name), &options)
}

// A dedicated reader: four million small numbers deserve better than a general one.
fn images(file: &File, side: usize, white: u8) -> Result<Images> {
    let mut pixels = Vec::new();
    let mut labels = Vec::new();
    for line in content(file)?.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let start = pixels.len();
        for field in line.split(|&byte| byte == b',') {
            let digits = field.iter().filter(|byte| byte.is_ascii_digit());
            pixels.push(
                digits.fold(0u8, |value, &byte| value.wrapping_mul(10).wrapping_add(byte - b'0')),
            );
        }
        if pixels.len() - start != side * side + 1 {
            return Err(damaged(file));
        }
        labels.extend(pixels.pop());
    }
    let pixels =
        Array3::from_shape_vec((labels.len(), side, side), pixels).map_err(|_| damaged(file))?;
    Ok(Images { pixels, labels, white })
}

fn damaged(file: &File) -> Error {
    Error::internal("the embedded data are damaged").in_file(file.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    #[test]
    fn digits_are_the_known_ones() {
        let digits = digits().unwrap();
        assert_eq!(digits.pixels.dim(), (1797, 8, 8));
        assert_eq!(digits.pixels.iter().max(), Some(&16));
        assert_eq!(digits.pixels.iter().map(|&pixel| u64::from(pixel)).sum::<u64>(), 561_718);
        assert_eq!(digits.features()[[0, 2]], 5.0 / 16.0);
        assert_eq!(digits.labels.iter().filter(|&&label| label == 3).count(), 183);
    }

    #[test]
    fn mnist_is_balanced() {
        let mnist = mnist_5k().unwrap();
        assert_eq!(mnist.pixels.dim(), (5000, 28, 28));
        assert_eq!(mnist.pixels.iter().max(), Some(&255));
        for digit in 0..10 {
            assert_eq!(mnist.labels.iter().filter(|&&label| label == digit).count(), 500);
        }
    }

    #[test]
    fn places_keep_codes_and_namibia() {
        let places = places().unwrap();
        assert_eq!(places.height(), 5000);
        assert_eq!(places.column("name").unwrap().labels()[0].as_deref(), Some("Shanghai"));
        let countries = places.column("country").unwrap();
        assert_eq!(countries.values.missing(), 0);
        assert!(countries.texts().unwrap().contains(&Some("NA".to_owned())));
        let population = places.numbers("population").unwrap();
        assert!(population.is_sorted_by(|a, b| a >= b));
        assert_eq!(population[4999], 122_287.0);
    }

    #[test]
    fn every_japanese_place_has_one_of_47_prefectures() {
        let japan = places_japan().unwrap();
        assert_eq!(japan.height(), 2188);
        let mut codes = japan.column("prefecture").unwrap().texts().unwrap().to_vec();
        codes.sort();
        codes.dedup();
        assert_eq!((codes.len(), codes[0].as_deref()), (47, Some("01")));
        let lat = japan.numbers("lat").unwrap();
        assert!(lat.iter().all(|lat| (24.0..46.0).contains(lat)));
    }

    #[test]
    fn trials_have_their_rows_and_events() {
        let gbsg2 = gbsg2().unwrap();
        let lymph = lymph_node().unwrap();
        let actg = actg175().unwrap();
        assert_eq!((gbsg2.height(), lymph.height(), actg.height()), (686, 686, 2139));
        assert_eq!(gbsg2.numbers("cens").unwrap().iter().sum::<f64>(), 299.0);
        assert_eq!(lymph.numbers("censdead").unwrap().iter().sum::<f64>(), 171.0);
        assert_eq!(actg.numbers("cens").unwrap().iter().sum::<f64>(), 521.0);
        assert_eq!(actg.column("cd496").unwrap().values.missing(), 797);
        assert_eq!(actg.columns()[0].name, "pidnum");
        assert!(matches!(gbsg2.column("tgrade").unwrap().values, Values::Text(_)));
    }

    #[test]
    fn outlines_are_topologies() {
        for detail in [Detail::Coarse, Detail::Fine] {
            assert!(land(detail).unwrap().starts_with(r#"{"type":"Topology""#));
            assert!(countries(detail).unwrap().contains(r#""countries""#));
        }
    }
}
