//! A region as it is written down, in lists of plain numbers.

use super::cap::Cap;
use super::region::Region;
use geo_types::{LineString, MultiPolygon, Polygon};
use serde::{Deserialize, Serialize};

type Ring = Vec<[f64; 2]>;

#[derive(Serialize, Deserialize)]
pub(super) enum Shape {
    Caps(Vec<Cap>),
    Box([f64; 4]),
    Polygons(Vec<Vec<Ring>>),
}

impl From<Region> for Shape {
    fn from(region: Region) -> Self {
        let ring = |ring: &LineString<f64>| ring.coords().map(|c| [c.x, c.y]).collect();
        match region {
            Region::Cap(cap) => Self::Caps(vec![cap]),
            Region::Caps(caps) => Self::Caps(caps),
            Region::Box { w, s, e, n } => Self::Box([w, s, e, n]),
            Region::Polygon(polygons) => Self::Polygons(
                polygons
                    .iter()
                    .map(|polygon| {
                        std::iter::once(polygon.exterior())
                            .chain(polygon.interiors())
                            .map(ring)
                            .collect()
                    })
                    .collect(),
            ),
        }
    }
}

impl From<Shape> for Region {
    fn from(shape: Shape) -> Self {
        match shape {
            Shape::Caps(caps) => match caps.as_slice() {
                [cap] => Self::Cap(*cap),
                _ => Self::Caps(caps),
            },
            Shape::Box([w, s, e, n]) => Self::Box { w, s, e, n },
            Shape::Polygons(polygons) => {
                let line = |ring: Ring| LineString::from(ring);
                let polygon = |rings: Vec<Ring>| {
                    let mut rings = rings.into_iter().map(line);
                    let outer = rings.next().unwrap_or_else(|| LineString::new(Vec::new()));
                    Polygon::new(outer, rings.collect())
                };
                Self::Polygon(MultiPolygon(polygons.into_iter().map(polygon).collect()))
            }
        }
    }
}
