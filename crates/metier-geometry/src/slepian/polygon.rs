//! Polygons on the sphere: unwrapped rings, exact area, the even–odd rule, quadrature by scan lines.

use super::nodes::Nodes;
use crate::quadrature::gauss_legendre;
use geo_types::{LineString, MultiPolygon};
use metier_core::{Error, Result};
use std::f64::consts::PI;

/// Polygons whose rings have continuous longitudes.
#[derive(Clone, Debug)]
pub(super) struct Polygons {
    polygons: Vec<Vec<Ring>>,
    bounds: Vec<Bounds>,
    around_pole: usize,
}

// What no crossing of a polygon's rings lies outside of.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    west: f64,
    south: f64,
    east: f64,
    north: f64,
}

impl Bounds {
    fn new(rings: &[Ring]) -> Self {
        let (south, north) = latitudes(rings);
        let (west, east) = extent(rings.iter().flat_map(|ring| &ring.places));
        // A crossing is computed, and may lie past the end of its edge by its last digit.
        Self { west: west - 1e-9, south, east: east + 1e-9, north }
    }
}

// The rings are continuous, so a place may have to be looked for some turns away.
const TURNS: [f64; 5] = [-720.0, -360.0, 0.0, 360.0, 720.0];

// A closed ring: the last place equals the first. Longitudes run on beyond 180.
#[derive(Clone, Debug)]
struct Ring {
    places: Vec<(f64, f64)>,
    around_pole: bool,
}

impl Polygons {
    pub(super) fn new(polygons: &MultiPolygon<f64>) -> Result<Self> {
        let mut all = Vec::new();
        for polygon in polygons {
            let mut rings = vec![Ring::new(polygon.exterior())?];
            let home = rings[0].middle();
            for hole in polygon.interiors() {
                let mut hole = Ring::new(hole)?;
                let turns = ((home - hole.middle()) / 360.0).round();
                hole.shift(360.0 * turns);
                rings.push(hole);
            }
            rings.retain(|ring| ring.places.len() > 3);
            if !rings.is_empty() {
                all.push(rings);
            }
        }
        let around_pole = all.iter().flatten().filter(|ring| ring.around_pole).count();
        let bounds = all.iter().map(|rings| Bounds::new(rings)).collect();
        let polygons = Self { polygons: all, bounds, around_pole };
        if !(polygons.area() > 0.0) {
            return Err(Error::input("the polygon has no area")
                .in_field("region")
                .help("a polygon has at least three places that are not on one line"));
        }
        Ok(polygons)
    }

    /// The area on the unit sphere: outer rings less holes, exact for edges that are straight in
    /// longitude and latitude.
    pub(super) fn area(&self) -> f64 {
        self.polygons.iter().map(|rings| area(rings)).sum()
    }

    pub(super) fn contains(&self, lon: f64, lat: f64) -> bool {
        self.polygons.iter().zip(&self.bounds).any(|(rings, bounds)| {
            (bounds.south..=bounds.north).contains(&lat)
                && TURNS
                    .iter()
                    .map(|turn| lon + turn)
                    .any(|lon| (bounds.west..=bounds.east).contains(&lon) && holds(rings, lon, lat))
        })
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.around_pole > 0 {
            notes.push(format!(
                "{} of the rings goes around a pole: the pole nearer to it is taken to be inside",
                self.around_pole
            ));
        }
        let crossing = self.polygons.iter().flatten().filter(|ring| ring.crosses_itself()).count();
        if crossing > 0 {
            notes.push(format!(
                "{crossing} of the rings crosses itself: what is inside follows the even-odd rule"
            ));
        }
        notes
    }

    /// Quadrature nodes for functions of degree up to L: Gauss points along runs of scan lines,
    /// refined polygon by polygon until the area agrees with the exact one to a thousandth.
    pub(super) fn nodes(&self, l: usize) -> Result<Nodes> {
        // At least four nodes per half wavelength in each direction.
        let spacing = 45.0 / l as f64;
        let (whole, count) = (self.area(), self.polygons.len() as f64);
        let mut all = Nodes::default();
        for rings in &self.polygons {
            let exact = area(rings);
            // Half of the thousandth for the whole, half for each polygon by itself: an island
            // beside a continent need not be exact.
            let tolerance = 0.5e-3 * (exact + whole / count);
            // Crossed rings have no exact area by the boundary integral; scan lines are all there is.
            let crossed = rings.iter().any(Ring::crosses_itself);
            let (mut lines_per_step, mut previous) = (1.0, f64::INFINITY);
            let nodes = loop {
                let nodes = scan(rings, spacing, spacing / lines_per_step);
                let area: f64 = nodes.weights.iter().sum();
                let settled = crossed && lines_per_step > 8.0;
                let right = if settled { previous } else { exact };
                if (area - right).abs() <= tolerance {
                    break nodes;
                }
                if all.len() + nodes.len() > MAX_NODES {
                    return Err(Error::numeric(format!(
                        "the outline is too fine for L = {l}: {} nodes give an area off by {:.1} %",
                        nodes.len(),
                        100.0 * (area - right).abs() / right
                    ))
                    .in_field("region")
                    .help("simplify the outline, or take a box or a cap around it"));
                }
                previous = area;
                lines_per_step *= 1.5;
            };
            all.extend(nodes);
        }
        Ok(all)
    }
}

// The area on the unit sphere of one polygon: its outer ring less its holes.
fn area(rings: &[Ring]) -> f64 {
    let holes = rings.iter().skip(1).map(Ring::area).sum::<f64>();
    rings.first().map_or(0.0, |outer| outer.area() - holes)
}

fn scan(rings: &[Ring], along: f64, across: f64) -> Nodes {
    let mut nodes = Nodes::default();
    let (south, north) = latitudes(rings);
    // Three Gauss lines per band.
    let bands = ((north - south) / (3.0 * across)).ceil().max(1.0) as usize;
    let height = (north - south) / bands as f64;
    for band in 0..bands {
        let from = south + band as f64 * height;
        let (lines, heights) = gauss_legendre(3, from, from + height);
        for (lat, height) in lines.iter().zip(heights) {
            let (cos, weight) = (lat.to_radians().cos(), height.to_radians());
            let crossings = crossings(rings, *lat);
            // A ring that touches itself has runs of no length.
            for run in crossings.chunks_exact(2).filter(|run| run[0] < run[1]) {
                run_nodes(run[0], run[1], along / cos, |lon, length| {
                    nodes.push(lon, *lat, weight * cos * length.to_radians());
                });
            }
        }
    }
    nodes
}

/// More nodes than this would need gigabytes.
const MAX_NODES: usize = 40_000;

// Gauss points along a run, three per piece where the run is long.
fn run_nodes(from: f64, to: f64, spacing: f64, mut push: impl FnMut(f64, f64)) {
    let wanted = ((to - from) / spacing).ceil().max(1.0);
    if to - from > 359.999 {
        // All the way around, where equal steps are exact for every wave of fewer turns than steps.
        // Near a pole the steps are few; eight more hold the waves that reach it.
        let count = wanted + 8.0;
        let step = (to - from) / count;
        (0..count as usize).for_each(|i| push(from + i as f64 * step, step));
        return;
    }
    let (pieces, points) =
        if wanted <= 3.0 { (1, wanted as usize) } else { ((wanted / 3.0).ceil() as usize, 3) };
    let length = (to - from) / pieces as f64;
    for piece in 0..pieces {
        let start = from + piece as f64 * length;
        let (lon, weights) = gauss_legendre(points, start, start + length);
        lon.into_iter().zip(weights).for_each(|(lon, weight)| push(lon, weight));
    }
}

// The even–odd rule: whether an odd number of crossings lies to the east.
fn holds(rings: &[Ring], lon: f64, lat: f64) -> bool {
    each_crossing(rings, lat).filter(|crossing| *crossing > lon).count() % 2 == 1
}

// The longitudes at which the rings cross a latitude, ascending; an even number.
fn crossings(rings: &[Ring], lat: f64) -> Vec<f64> {
    let mut found: Vec<f64> = each_crossing(rings, lat).collect();
    found.sort_by(f64::total_cmp);
    found
}

fn each_crossing(rings: &[Ring], lat: f64) -> impl Iterator<Item = f64> {
    rings.iter().flat_map(|ring| ring.places.windows(2)).filter_map(move |edge| {
        let [(x0, y0), (x1, y1)] = [edge[0], edge[1]];
        // Half open, so that a corner on the line counts once.
        ((y0 <= lat) != (y1 <= lat)).then(|| x0 + (lat - y0) / (y1 - y0) * (x1 - x0))
    })
}

// The least and the greatest longitude.
fn extent<'a>(places: impl Iterator<Item = &'a (f64, f64)>) -> (f64, f64) {
    places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| {
        (low.min(place.0), high.max(place.0))
    })
}

fn latitudes(rings: &[Ring]) -> (f64, f64) {
    rings
        .iter()
        .flat_map(|ring| &ring.places)
        .fold((90.0, -90.0), |(south, north), place| (place.1.min(south), place.1.max(north)))
}

impl Ring {
    fn new(ring: &LineString<f64>) -> Result<Self> {
        let mut places: Vec<(f64, f64)> = Vec::with_capacity(ring.0.len() + 3);
        for coord in ring.coords() {
            if let Some(bad) = crate::sphere::first_bad_point(&[coord.x], &[coord.y]) {
                return Err(Error::input(bad.message).in_field("region").help(bad.help));
            }
            let lon = match places.last() {
                // The way between neighbours is the short one: across the date line if need be.
                Some((before, _)) => before + wrap(coord.x - before),
                None => coord.x,
            };
            if places.last() != Some(&(lon, coord.y)) {
                places.push((lon, coord.y));
            }
        }
        let (Some(&first), Some(&last)) = (places.first(), places.last()) else {
            return Ok(Self { places, around_pole: false });
        };
        // Closes what is open; a gap of full turns means that the ring went around a pole.
        let closing = wrap(first.0 - last.0);
        if closing != 0.0 || first.1 != last.1 {
            places.push((last.0 + closing, first.1));
        }
        let end = places[places.len() - 1].0;
        let around_pole = (end - first.0).abs() > 180.0;
        if around_pole {
            let mean = places.iter().map(|place| place.1).sum::<f64>() / places.len() as f64;
            let pole = if mean < 0.0 { -90.0 } else { 90.0 };
            places.extend([(end, pole), (first.0, pole), first]);
        }
        Ok(Self { places, around_pole })
    }

    fn middle(&self) -> f64 {
        let (low, high) = extent(self.places.iter());
        0.5 * (low + high)
    }

    fn shift(&mut self, by: f64) {
        self.places.iter_mut().for_each(|place| place.0 += by);
    }

    // Green's theorem: the integral of sin(lat) along the ring, each edge in closed form.
    fn area(&self) -> f64 {
        let edge = |pair: &[(f64, f64)]| {
            let (low, high) = (pair[0].1.to_radians(), pair[1].1.to_radians());
            let half = 0.5 * (high - low);
            let shrink = if half.abs() < 1e-9 { 1.0 } else { half.sin() / half };
            (pair[1].0 - pair[0].0).to_radians() * (0.5 * (high + low)).sin() * shrink
        };
        self.places.windows(2).map(edge).sum::<f64>().abs().min(4.0 * PI)
    }

    fn crosses_itself(&self) -> bool {
        let edges: Vec<[(f64, f64); 2]> = self.places.windows(2).map(|p| [p[0], p[1]]).collect();
        let south = |edge: &[(f64, f64); 2]| edge[0].1.min(edge[1].1);
        let north = |edge: &[(f64, f64); 2]| edge[0].1.max(edge[1].1);
        let mut order: Vec<usize> = (0..edges.len()).collect();
        order.sort_by(|a, b| south(&edges[*a]).total_cmp(&south(&edges[*b])));
        order.iter().enumerate().any(|(rank, &a)| {
            order[rank + 1..]
                .iter()
                .take_while(|b| south(&edges[**b]) <= north(&edges[a]))
                .any(|&b| cross(edges[a], edges[b]))
        })
    }
}

// Whether two edges cross at a point inside both.
fn cross(a: [(f64, f64); 2], b: [(f64, f64); 2]) -> bool {
    let side = |p: (f64, f64), e: [(f64, f64); 2]| {
        (e[1].0 - e[0].0) * (p.1 - e[0].1) - (e[1].1 - e[0].1) * (p.0 - e[0].0)
    };
    side(b[0], a) * side(b[1], a) < 0.0 && side(a[0], b) * side(a[1], b) < 0.0
}

// Into (-180, 180].
fn wrap(degrees: f64) -> f64 {
    let turned = degrees.rem_euclid(360.0);
    if turned > 180.0 { turned - 360.0 } else { turned }
}

#[cfg(test)]
mod tests {
    use super::*;
    use geo_types::Polygon;
    use proptest::prelude::*;

    // Counts every crossing of every polygon, whatever its bounds.
    fn holds_by_all(polygons: &Polygons, lon: f64, lat: f64) -> bool {
        polygons.polygons.iter().any(|rings| {
            let crossings = crossings(rings, lat);
            TURNS.iter().any(|turn| crossings.iter().filter(|c| **c > lon + turn).count() % 2 == 1)
        })
    }

    // Coarse steps, so that corners, edges and places often share a longitude or latitude.
    fn places() -> impl Strategy<Value = Vec<(f64, f64)>> {
        let place =
            (-36..=36i32, -18..=18i32).prop_map(|(x, y)| (10.0 * f64::from(x), 5.0 * f64::from(y)));
        prop::collection::vec(place, 3..9)
    }

    proptest! {
        #[test]
        fn bounds_change_nothing_about_what_is_inside(
            outlines in prop::collection::vec((places(), prop::option::of(places())), 1..4),
            asked in prop::collection::vec((-360.0..360.0f64, -90.0..90.0f64), 40),
        ) {
            let polygons = outlines.iter().map(|(outer, hole)| {
                let hole = hole.iter().map(|hole| LineString::from(hole.clone())).collect();
                Polygon::new(LineString::from(outer.clone()), hole)
            });
            // Some have no area, and are no region.
            if let Ok(polygons) = Polygons::new(&MultiPolygon(polygons.collect())) {
                let corners = outlines.iter().flat_map(|(outer, _)| outer.iter().copied());
                for (lon, lat) in asked.into_iter().chain(corners) {
                    for (lon, lat) in [(lon, lat), (lon.round(), (lat / 5.0).round() * 5.0)] {
                        prop_assert_eq!(
                            polygons.contains(lon, lat),
                            holds_by_all(&polygons, lon, lat),
                            "{} {}", lon, lat
                        );
                    }
                }
            }
        }
    }
}
