//! Points with their properties from GeoJSON.

use super::geojson::parse;
use super::ring::position;
use crate::frame::format_number;
use crate::read::source;
use crate::{Column, Frame, Values};
use geojson::{Feature, GeoJson, GeometryValue};
use metier_core::{Error, Result};
use serde_json::Value;
use std::path::Path;

/// The points of a GeoJSON file as a table: `lon`, `lat`, then the properties of the features, in
/// the order in which they first occur. A property that is itself called `lon` or `lat` becomes
/// `properties.lon` or `properties.lat`.
///
/// Numbers and truth values (1 and 0) make columns of numbers; anything else makes a column of text.
///
/// # Errors
/// A missing file, text that is no GeoJSON, or a feature that is not a point, with its place such as
/// `features[3].geometry`.
pub fn read_points(path: &Path) -> Result<Frame> {
    let bytes = source::bytes(path)?;
    parse_points(&bytes).map_err(|error| error.in_file(path))
}

pub(super) fn parse_points(bytes: &[u8]) -> Result<Frame> {
    let features = match parse(super::json(bytes)?)? {
        GeoJson::FeatureCollection(collection) => collection.features,
        GeoJson::Feature(feature) => vec![feature],
        GeoJson::Geometry(geometry) => vec![Feature::from(geometry)],
    };
    let (mut lon, mut lat) = (Vec::new(), Vec::new());
    let mut names: Vec<&str> = Vec::new();
    for (index, feature) in features.iter().enumerate() {
        let place = || format!("features[{index}].geometry");
        let coord = match feature.geometry.as_ref().map(|geometry| &geometry.value) {
            Some(GeometryValue::Point { coordinates }) => position(coordinates.as_slice()),
            Some(other) => Err(Error::input(format!("a {}, not a Point", other.type_name()))),
            None => Err(Error::input("no geometry, where a Point is wanted")),
        };
        let coord = coord.map_err(|error| error.in_field(place()))?;
        lon.push(coord.x);
        lat.push(coord.y);
        for name in feature.properties.iter().flat_map(|properties| properties.keys()) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let mut columns = vec![Column::number("lon", lon), Column::number("lat", lat)];
    for name in names {
        let values = features.iter().map(|feature| feature.property(name)).collect::<Vec<_>>();
        let title = match name {
            "lon" | "lat" => format!("properties.{name}"),
            other => other.to_owned(),
        };
        columns.push(Column { name: title, values: column(&values) });
    }
    Frame::new(columns)
}

fn column(values: &[Option<&Value>]) -> Values {
    let number = |value: &Option<&Value>| match value {
        None | Some(Value::Null) => Some(f64::NAN),
        Some(Value::Bool(value)) => Some(f64::from(u8::from(*value))),
        Some(Value::Number(value)) => value.as_f64(),
        Some(_) => None,
    };
    let text = |value: &Option<&Value>| match value {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(value)) => {
            Some(value.as_f64().map_or_else(|| value.to_string(), format_number))
        }
        Some(other) => Some(other.to_string()),
    };
    match values.iter().map(number).collect::<Option<Vec<_>>>() {
        Some(numbers) => Values::Number(numbers),
        None => Values::Text(values.iter().map(text).collect()),
    }
}
