//! Polygons from GeoJSON.

use super::ring::{Shapes, position};
use geo_types::Coord;
use geojson::{GeoJson, Geometry, GeometryValue, Position};
use metier_core::{Error, Result};
use serde_json::Value;

pub(super) fn polygons(value: Value, shapes: &mut Shapes) -> Result<()> {
    for_each_geometry(&parse(value)?, &mut |geometry, place| from_geometry(geometry, place, shapes))
}

pub(super) fn parse(value: Value) -> Result<GeoJson> {
    serde_json::from_value(value).map_err(|error| {
        Error::input(format!("no valid GeoJSON: {error}"))
            .help("outlines are read from GeoJSON and TopoJSON files")
    })
}

// Calls `visit` with each geometry and the place where it stands.
fn for_each_geometry(
    json: &GeoJson,
    visit: &mut dyn FnMut(&Geometry, &str) -> Result<()>,
) -> Result<()> {
    match json {
        GeoJson::Geometry(geometry) => visit(geometry, ""),
        GeoJson::Feature(feature) => {
            feature.geometry.as_ref().map_or(Ok(()), |geometry| visit(geometry, "geometry."))
        }
        GeoJson::FeatureCollection(collection) => {
            collection.features.iter().enumerate().try_for_each(|(index, feature)| {
                let place = format!("features[{index}].geometry.");
                feature.geometry.as_ref().map_or(Ok(()), |geometry| visit(geometry, &place))
            })
        }
    }
}

fn from_geometry(geometry: &Geometry, place: &str, shapes: &mut Shapes) -> Result<()> {
    match &geometry.value {
        GeometryValue::Polygon { coordinates } => {
            polygon(coordinates, &format!("{place}coordinates"), shapes)
        }
        GeometryValue::MultiPolygon { coordinates } => {
            coordinates.iter().enumerate().try_for_each(|(index, rings)| {
                polygon(rings, &format!("{place}coordinates[{index}]"), shapes)
            })
        }
        GeometryValue::GeometryCollection { geometries } => {
            geometries.iter().enumerate().try_for_each(|(index, geometry)| {
                from_geometry(geometry, &format!("{place}geometries[{index}]."), shapes)
            })
        }
        // Points and lines beside the polygons bound nothing.
        _ => Ok(()),
    }
}

fn polygon(rings: &[Vec<Position>], place: &str, shapes: &mut Shapes) -> Result<()> {
    let coords = |ring: usize| {
        let read = |(index, values): (usize, &Position)| {
            let at = || format!("{place}[{ring}][{index}]");
            position(values.as_slice()).map_err(|error| error.in_field(at()))
        };
        rings[ring].iter().enumerate().map(read).collect::<Result<Vec<Coord<f64>>>>()
    };
    let rings = (0..rings.len()).map(coords).collect::<Result<Vec<_>>>()?;
    shapes.push(&rings, place)
}
