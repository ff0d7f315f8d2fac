//! Polygons and shared borders from TopoJSON, where outlines are arcs that neighbours share.

use super::ring::{Shapes, position};
use crate::names;
use geo_types::Coord;
use metier_core::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Raw {
    transform: Option<Transform>,
    objects: serde_json::Map<String, Value>,
    arcs: Vec<Vec<Vec<f64>>>,
}

// Quantised positions are whole numbers, each relative to the one before.
#[derive(Deserialize)]
struct Transform {
    scale: [f64; 2],
    translate: [f64; 2],
}

/// A topology with its arcs decoded to degrees.
pub(super) struct Topology {
    arcs: Vec<Vec<Coord<f64>>>,
    objects: Vec<(String, Shape)>,
}

/// A geometry of the topology.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RawShape")]
pub(super) struct Shape {
    kind: Kind,
    id: Value,
    properties: Map<String, Value>,
}

#[derive(Debug)]
enum Kind {
    Polygon(Vec<Vec<i64>>),
    MultiPolygon(Vec<Vec<Vec<i64>>>),
    Collection(Vec<Shape>),
    /// Points and lines bound nothing, and a geometry may be null.
    Other,
}

#[derive(Deserialize)]
struct RawShape {
    r#type: Option<String>,
    #[serde(default)]
    arcs: Value,
    #[serde(default)]
    geometries: Vec<Shape>,
    #[serde(default)]
    id: Value,
    properties: Option<Map<String, Value>>,
}

impl TryFrom<RawShape> for Shape {
    type Error = serde_json::Error;

    fn try_from(raw: RawShape) -> Result<Self, Self::Error> {
        let kind = match raw.r#type.as_deref() {
            Some("Polygon") => Kind::Polygon(serde_json::from_value(raw.arcs)?),
            Some("MultiPolygon") => Kind::MultiPolygon(serde_json::from_value(raw.arcs)?),
            Some("GeometryCollection") => Kind::Collection(raw.geometries),
            _ => Kind::Other,
        };
        Ok(Self { kind, id: raw.id, properties: raw.properties.unwrap_or_default() })
    }
}

impl Shape {
    /// The id as text; empty where there is none.
    pub(super) fn id(&self) -> String {
        match &self.id {
            Value::String(id) => id.clone(),
            Value::Number(id) => id.to_string(),
            _ => String::new(),
        }
    }

    /// A property that is text.
    pub(super) fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).and_then(Value::as_str)
    }
}

impl Topology {
    pub(super) fn new(value: Value) -> Result<Self> {
        let bad = |error: serde_json::Error| Error::input(format!("no valid TopoJSON: {error}"));
        let raw: Raw = serde_json::from_value(value).map_err(bad)?;
        let decode = |(index, arc): (usize, &Vec<Vec<f64>>)| {
            decode(arc, raw.transform.as_ref(), &format!("arcs[{index}]"))
        };
        let arcs = raw.arcs.iter().enumerate().map(decode).collect::<Result<_>>()?;
        let shape = |(name, value)| {
            let shape = serde_json::from_value(value)
                .map_err(|error| bad(error).in_field(format!("objects.{name}")))?;
            Ok((name, shape))
        };
        let objects = raw.objects.into_iter().map(shape).collect::<Result<_>>()?;
        Ok(Self { arcs, objects })
    }

    /// Collects the polygons of one object, or of the only one.
    pub(super) fn polygons(&self, object: Option<&str>, shapes: &mut Shapes) -> Result<()> {
        let known = || self.objects.iter().map(|(name, _)| name.as_str());
        let found = match object {
            Some(wanted) => {
                self.objects.iter().find(|(name, _)| name == wanted).ok_or_else(|| {
                    Error::usage(format!("no object `{wanted}`")).help(names::suggest(
                        wanted,
                        known(),
                        "the objects are",
                    ))
                })?
            }
            None => match &self.objects[..] {
                [one] => one,
                [] => return Ok(()),
                _ => {
                    let list = known().collect::<Vec<_>>().join(", ");
                    return Err(Error::usage(format!("holds several objects: {list}"))
                        .help("name one after the file, as in `world.json#land`"));
                }
            },
        };
        self.collect(&found.1, &format!("objects.{}", found.0), shapes)
    }

    /// The polygons of one geometry.
    pub(super) fn collect(&self, shape: &Shape, place: &str, shapes: &mut Shapes) -> Result<()> {
        match &shape.kind {
            Kind::Polygon(arcs) => self.polygon(arcs, &format!("{place}.arcs"), shapes),
            Kind::MultiPolygon(arcs) => arcs.iter().enumerate().try_for_each(|(index, rings)| {
                self.polygon(rings, &format!("{place}.arcs[{index}]"), shapes)
            }),
            Kind::Collection(geometries) => {
                geometries.iter().enumerate().try_for_each(|(index, shape)| {
                    self.collect(shape, &format!("{place}.geometries[{index}]"), shapes)
                })
            }
            Kind::Other => Ok(()),
        }
    }

    /// The geometries of a collection.
    pub(super) fn members(&self, object: &str) -> &[Shape] {
        match self.objects.iter().find(|(name, _)| name == object).map(|(_, shape)| &shape.kind) {
            Some(Kind::Collection(geometries)) => geometries,
            _ => &[],
        }
    }

    /// Every arc.
    pub(super) fn all(&self) -> Vec<&[Coord<f64>]> {
        self.arcs.iter().map(Vec::as_slice).collect()
    }

    /// The arcs that two members of a collection share.
    pub(super) fn shared(&self, object: &str) -> Vec<&[Coord<f64>]> {
        let mut used = vec![0u32; self.arcs.len()];
        for member in self.members(object) {
            let mut own = Vec::new();
            member.arcs(&mut own);
            own.sort_unstable();
            own.dedup();
            for arc in own {
                if let Some(count) = used.get_mut(arc) {
                    *count += 1;
                }
            }
        }
        let pairs = self.arcs.iter().zip(used);
        pairs.filter(|(_, used)| *used > 1).map(|(arc, _)| arc.as_slice()).collect()
    }

    fn polygon(&self, rings: &[Vec<i64>], place: &str, shapes: &mut Shapes) -> Result<()> {
        let mut joined = Vec::with_capacity(rings.len());
        for (index, ring) in rings.iter().enumerate() {
            let at = |error: Error| error.in_field(format!("{place}[{index}]"));
            joined.push(self.join(ring).map_err(at)?);
        }
        shapes.push(&joined, place)
    }

    fn join(&self, ring: &[i64]) -> Result<Vec<Coord<f64>>> {
        let mut path: Vec<Coord<f64>> = Vec::new();
        for &index in ring {
            let arc = self.arcs.get(forward(index)).ok_or_else(|| {
                Error::input(format!("there is no arc {index}: the file has {}", self.arcs.len()))
            })?;
            // The first position of an arc is the last of the one before.
            path.pop();
            if index < 0 {
                path.extend(arc.iter().rev());
            } else {
                path.extend(arc);
            }
        }
        Ok(path)
    }
}

impl Shape {
    fn arcs(&self, found: &mut Vec<usize>) {
        match &self.kind {
            Kind::Polygon(arcs) => found.extend(arcs.iter().flatten().map(|&i| forward(i))),
            Kind::MultiPolygon(arcs) => {
                found.extend(arcs.iter().flatten().flatten().map(|&i| forward(i)));
            }
            Kind::Collection(geometries) => {
                geometries.iter().for_each(|shape| shape.arcs(found));
            }
            Kind::Other => {}
        }
    }
}

// A negative index is an arc that is walked backwards: -1 is arc 0.
fn forward(index: i64) -> usize {
    (if index < 0 { !index } else { index }) as usize
}

fn decode(arc: &[Vec<f64>], transform: Option<&Transform>, place: &str) -> Result<Vec<Coord<f64>>> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut path = Vec::with_capacity(arc.len());
    for (index, values) in arc.iter().enumerate() {
        let here = match (transform, &values[..]) {
            (Some(transform), &[dx, dy, ..]) => {
                x += dx;
                y += dy;
                let [kx, ky] = transform.scale;
                let [x0, y0] = transform.translate;
                // Rounding may carry a position at the edge of the world beyond it by a hair.
                let lon = (x * kx + x0).clamp(-180.0, 180.0);
                position(&[lon, y * ky + y0])
            }
            _ => position(values),
        };
        path.push(here.map_err(|error| error.in_field(format!("{place}[{index}]")))?);
    }
    Ok(path)
}
