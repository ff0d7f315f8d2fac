//! Quadrature nodes inside a region.

use super::polygon::Polygons;
use super::region::{Region, width};
use crate::quadrature::gauss_legendre;
use metier_core::{Error, Result};

/// Quadrature nodes of a region: places in degrees, and weights that add up to its area on the unit
/// sphere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nodes {
    /// Longitudes.
    pub lon: Vec<f64>,
    /// Latitudes.
    pub lat: Vec<f64>,
    /// Weights, positive.
    pub weights: Vec<f64>,
}

impl Nodes {
    pub(super) fn push(&mut self, lon: f64, lat: f64, weight: f64) {
        self.lon.push(lon);
        self.lat.push(lat);
        self.weights.push(weight);
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.lon.extend(more.lon);
        self.lat.extend(more.lat);
        self.weights.extend(more.weights);
    }

    /// Nodes for functions of degree up to `l`: Gauss–Legendre in sin(lat) and in longitude for a
    /// box, Gauss points along scan lines for polygons.
    ///
    /// # Errors
    /// A region that does not validate, one that is made of caps (they need no nodes), or an outline
    /// finer than any rule of reasonable size.
    pub fn inside(region: &Region, l: usize) -> Result<Self> {
        region.validate()?;
        match region {
            Region::Box { w, s, e, n } => Ok(box_nodes(*w, *s, *e, *n, l)),
            Region::Polygon(polygons) => Polygons::new(polygons)?.nodes(l),
            Region::Cap(_) | Region::Caps(_) => {
                Err(Error::usage("caps are solved exactly and need no nodes").in_field("region"))
            }
        }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

fn box_nodes(w: f64, s: f64, e: f64, n: f64, l: usize) -> Nodes {
    let width = width(w, e);
    let widest = if s <= 0.0 && n >= 0.0 { 1.0 } else { s.abs().min(n.abs()).to_radians().cos() };
    let (z, z_weights) =
        gauss_legendre(enough(n - s, l), s.to_radians().sin(), n.to_radians().sin());
    let (lon, lon_weights) = gauss_legendre(enough(width * widest, l), w, w + width);
    let mut nodes = Nodes::default();
    for (z, z_weight) in z.iter().zip(&z_weights) {
        for (lon, lon_weight) in lon.iter().zip(&lon_weights) {
            nodes.push(*lon, z.asin().to_degrees(), z_weight * lon_weight.to_radians());
        }
    }
    nodes
}

// A product of two functions of degree L has 2L waves around the circle. Gauss nodes converge at
// once when there are more than L times half the extent (in radians); the surplus makes that sure.
fn enough(extent_deg: f64, l: usize) -> usize {
    (1.4 * l as f64 * 0.5 * extent_deg.to_radians()).ceil() as usize + 12
}
