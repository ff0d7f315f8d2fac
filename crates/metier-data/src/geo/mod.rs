//! Outlines on the earth: polygons and points from the files that people have, and the coasts,
//! borders and countries that lie inside the program.
//!
//! GeoJSON and TopoJSON are told apart by their content. A TopoJSON file with several objects is
//! read as `world.json#land`, with the name of the object after `#`.
//!
//! # How rings come back
//!
//! Rings may come in either direction, open, across the date line or around a pole. What comes back
//! is always an ordinary closed ring in the plane of longitude and latitude, so that the even–odd
//! rule decides what is inside:
//!
//! - Longitudes are continuous. The way between neighbours is the short one, so a ring across the
//!   date line runs on beyond 180 (or below -180). The middle of a polygon lies in [-180, 180], and
//!   its holes are turned to where it lies.
//! - A ring that goes once around the earth holds a pole: the one that its mean latitude is nearer
//!   to. It spans 360 degrees of longitude and is closed over that pole, through the two corners at
//!   latitude ±90.
//! - The largest ring of a polygon is its outer one, whatever their order in the file.
//! - An open ring is closed, which [`Outlines::notes`] tells.
//! - A ring that crosses itself is an error that names the ring and the two segments.

mod country;
mod geojson;
mod iso;
mod lines;
mod points;
mod ring;
#[cfg(test)]
mod tests;
mod topojson;

pub use crate::embedded::Detail;
pub use country::{countries, country};
pub use lines::{borders, coastlines};
pub use points::read_points;

use crate::read::source;
use geo_types::MultiPolygon;
use metier_core::{Error, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Polygons, and what was mended in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlines {
    /// The polygons, in degrees of longitude (x) and latitude (y).
    pub polygons: MultiPolygon<f64>,
    /// What a user should know about the file, such as a ring that was not closed.
    pub notes: Vec<String>,
}

/// The polygons of a GeoJSON or TopoJSON file, holes included, all features together.
///
/// ```no_run
/// let lakes = metier_data::geo::read_polygons("lakes.geojson".as_ref())?;
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A missing file; text that is no JSON, with its line; a file without polygons; a position that is
/// none, or a ring that is too short or crosses itself, with its place such as
/// `features[2].geometry.coordinates[0][17]`.
pub fn read_polygons(path: &Path) -> Result<MultiPolygon<f64>> {
    outlines(path).map(|outlines| outlines.polygons)
}

/// [`read_polygons`], with notes on what was mended.
///
/// # Errors
/// As [`read_polygons`].
pub fn outlines(path: &Path) -> Result<Outlines> {
    let (file, object) = with_object(path);
    let bytes = source::bytes(&file)?;
    parse_outlines(&bytes, object.as_deref()).map_err(|error| error.in_file(&file))
}

/// [`outlines`] of the content of a file, and of one object in it where it is TopoJSON.
///
/// # Errors
/// As [`read_polygons`], without the file.
pub fn parse_outlines(bytes: &[u8], object: Option<&str>) -> Result<Outlines> {
    let value = json(bytes)?;
    let mut shapes = ring::Shapes::default();
    if value.get("type").and_then(Value::as_str) == Some("Topology") {
        topojson::Topology::new(value)?.polygons(object, &mut shapes)?;
    } else {
        geojson::polygons(value, &mut shapes)?;
    }
    shapes.finish()
}

pub(crate) fn json(bytes: &[u8]) -> Result<Value> {
    serde_json::from_slice(bytes).map_err(|error| {
        Error::input(format!("no valid JSON: {error}"))
            .at_row(error.line() as u64)
            .help("outlines are read from GeoJSON and TopoJSON files")
    })
}

// `#` may also be a part of the file's own name.
fn with_object(path: &Path) -> (PathBuf, Option<String>) {
    let whole = (path.to_path_buf(), None);
    if path.exists() {
        return whole;
    }
    match path.to_str().and_then(|text| text.rsplit_once('#')) {
        Some((file, object)) => (PathBuf::from(file), Some(object.to_owned())),
        None => whole,
    }
}
