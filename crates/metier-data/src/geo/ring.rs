//! Rings as they come, and as they should be: closed, unwrapped, simple.

use super::Outlines;
use geo_types::{Coord, LineString, MultiPolygon, Polygon};
use metier_core::{Error, Result};

/// Polygons as they are collected from a file.
#[derive(Default)]
pub(super) struct Shapes {
    polygons: Vec<Polygon<f64>>,
    notes: Vec<String>,
    trusted: bool,
}

impl Shapes {
    /// For outlines that are known to be sound: no search for crossings, which costs time.
    pub(super) fn trusted() -> Self {
        Self { trusted: true, ..Self::default() }
    }

    /// Adds a polygon: its outer ring, then its holes. `place` is where the list of rings stands.
    pub(super) fn push(&mut self, rings: &[Vec<Coord<f64>>], place: &str) -> Result<()> {
        let mut mended = Vec::with_capacity(rings.len());
        for (index, ring) in rings.iter().enumerate() {
            let place = format!("{place}[{index}]");
            mended.push(self.mend(ring, &place).map_err(|error| error.in_field(place))?);
        }
        // Some files cut a hole of a hundred metres into the pole, or give the hole first.
        if mended.len() > 1 {
            mended.retain(|ring| ring.iter().any(|position| position.y.abs() < 89.99));
        }
        mended.sort_by(|a, b| area(b).total_cmp(&area(a)));
        let mut rings = mended.into_iter();
        let Some(mut outer) = rings.next() else {
            return Ok(());
        };
        turn(&mut outer, 0.0);
        let home = middle(&outer);
        let holes = rings.map(|mut hole| {
            turn(&mut hole, home);
            LineString(hole)
        });
        self.polygons.push(Polygon::new(LineString(outer), holes.collect()));
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Outlines> {
        if self.polygons.is_empty() {
            return Err(Error::input("holds no polygons")
                .help("a region is made of features of type Polygon or MultiPolygon"));
        }
        Ok(Outlines { polygons: MultiPolygon(self.polygons), notes: self.notes })
    }

    fn mend(&mut self, ring: &[Coord<f64>], place: &str) -> Result<Vec<Coord<f64>>> {
        let mut path = unwrapped(ring);
        let first = *path.first().ok_or_else(|| Error::input("the ring is empty"))?;
        let last = path[path.len() - 1];
        let gap = first.x - last.x;
        let full_turns = (gap / 360.0).round();
        let is_closed = first.y == last.y && (gap - 360.0 * full_turns).abs() < 1e-9;
        let distinct = path.len() - usize::from(is_closed);
        if distinct < 3 {
            return Err(Error::input(format!("the ring has {distinct} distinct positions")).help(
                "a ring needs at least three positions, and the first once more at its end",
            ));
        }
        if !is_closed {
            self.notes.push(format!("{place} is not closed; its ends are joined"));
            path.push(Coord { x: last.x + short_way(gap), y: first.y });
        }
        if !self.trusted {
            refuse_crossings(&path)?;
        }
        let end = path[path.len() - 1];
        if (end.x - first.x).abs() > 180.0 {
            // Once around the earth: over the pole and back along it.
            let mean = path.iter().map(|position| position.y).sum::<f64>() / path.len() as f64;
            let pole = if mean < 0.0 { -90.0 } else { 90.0 };
            path.extend([Coord { x: end.x, y: pole }, Coord { x: first.x, y: pole }, first]);
        } else if let Some(last) = path.last_mut() {
            *last = first;
        }
        Ok(path)
    }
}

/// The longitude and the latitude of a position, when it is one.
pub(super) fn position(values: &[f64]) -> Result<Coord<f64>> {
    let &[x, y, ..] = values else {
        return Err(Error::input("a position needs a longitude and a latitude"));
    };
    let is_lon = |value: f64| (-360.0..=360.0).contains(&value);
    let is_lat = |value: f64| (-90.0..=90.0).contains(&value);
    if is_lon(x) && is_lat(y) {
        return Ok(Coord { x, y });
    }
    let error = if is_lon(x) {
        Error::input(format!("latitude {y} is outside [-90, 90]"))
    } else {
        Error::input(format!("longitude {x} is outside [-360, 360]"))
    };
    Err(if is_lon(y) && is_lat(x) {
        error.help("are longitude and latitude swapped? the longitude comes first")
    } else {
        error.help("positions are degrees of longitude and latitude, not projected metres")
    })
}

// Repeated positions go; each longitude follows the one before by the shorter way.
fn unwrapped(ring: &[Coord<f64>]) -> Vec<Coord<f64>> {
    let mut path: Vec<Coord<f64>> = Vec::with_capacity(ring.len() + 4);
    for &position in ring {
        let Some(before) = path.last() else {
            path.push(position);
            continue;
        };
        let x = before.x + short_way(position.x - before.x);
        if (x, position.y) != (before.x, before.y) {
            path.push(Coord { x, y: position.y });
        }
    }
    path
}

// The same difference of longitudes within [-180, 180]; small ones exactly as they are.
fn short_way(difference: f64) -> f64 {
    if difference.abs() <= 180.0 {
        return difference;
    }
    difference - 360.0 * (difference / 360.0).round()
}

// Green's theorem; exact for edges along parallels and meridians, good enough to compare rings.
fn area(ring: &[Coord<f64>]) -> f64 {
    let edge = |pair: &[Coord<f64>]| {
        let sines = pair[0].y.to_radians().sin() + pair[1].y.to_radians().sin();
        0.5 * sines * (pair[1].x - pair[0].x).to_radians()
    };
    ring.windows(2).map(edge).sum::<f64>().abs()
}

fn middle(ring: &[Coord<f64>]) -> f64 {
    let fold = |(low, high): (f64, f64), at: &Coord<f64>| (low.min(at.x), high.max(at.x));
    let (low, high) = ring.iter().fold((f64::INFINITY, f64::NEG_INFINITY), fold);
    0.5 * (low + high)
}

// By full turns to where its middle is nearest to `home`.
fn turn(ring: &mut [Coord<f64>], home: f64) {
    let turns = ((home - middle(ring)) / 360.0).round_ties_even();
    if turns != 0.0 {
        ring.iter_mut().for_each(|position| position.x += 360.0 * turns);
    }
}

// A sweep from south to north keeps the pairs to compare few.
fn refuse_crossings(path: &[Coord<f64>]) -> Result<()> {
    let edge = |index: usize| (path[index], path[index + 1]);
    let south = |index: usize| path[index].y.min(path[index + 1].y);
    let mut order: Vec<usize> = (0..path.len() - 1).collect();
    order.sort_by(|&a, &b| south(a).total_cmp(&south(b)));
    let mut open: Vec<usize> = Vec::new();
    for index in order {
        let level = south(index);
        open.retain(|&other| path[other].y.max(path[other + 1].y) >= level);
        if let Some(&other) = open.iter().find(|&&other| cross(edge(index), edge(other))) {
            let (first, second) = (index.min(other), index.max(other));
            let near = path[first];
            return Err(Error::input(format!(
                "the ring crosses itself: segment {} (from {}, {}) and segment {} meet",
                first + 1,
                near.x,
                near.y,
                second + 1
            ))
            .help("mend the outline in a geographic editor, or give its parts as polygons"));
        }
        open.push(index);
    }
    Ok(())
}

// Whether two segments cross at a point inside both; touching does not count.
fn cross((a, b): (Coord<f64>, Coord<f64>), (c, d): (Coord<f64>, Coord<f64>)) -> bool {
    let side = |p: Coord<f64>, q: Coord<f64>, r: Coord<f64>| {
        (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)
    };
    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}
