//! A window of the earth: a field in colours, coasts, a region, points.

use super::canvas::{Anchor, Canvas, Paint, SMALL};
use super::colour::{ColourMap, Role};
use super::heat::colour_bar;
use super::png;
use super::scale::Scale;
use crate::evidence::WorldMap;

/// A map in plate carrée, stretched so that shapes at its middle latitude are true.
pub fn map(canvas: &mut Canvas, world: &WorldMap) {
    let [west, south, east, north] = world.window;
    if !(west < east && south < north) {
        return canvas.set_height(20.0);
    }
    let raster = world.raster.as_ref().map_or(&[][..], |raster| &raster.values);
    let point_values = world.points.as_ref().map_or(&[][..], |points| &points.values);
    let colours = ColourMap::over(raster.iter().chain(point_values).copied(), world.signed);
    let coloured = !raster.is_empty() || !point_values.is_empty();
    let top = if coloured { colour_bar(canvas, &colours, &world.value_label) } else { 0.0 } + 8.0;

    let widest = canvas.width() - 40.0 - 14.0;
    let stretch = (0.5 * (south + north)).to_radians().cos().max(0.2);
    let shape = (north - south) / ((east - west) * stretch);
    let highest = if canvas.is_narrow() { 420.0 } else { 520.0 };
    let width = widest.min(highest / shape);
    let left = 40.0 + 0.5 * (widest - width);
    let (right, bottom) = (left + width, top + width * shape);
    let x_at = |longitude: f64| left + (longitude - west) / (east - west) * (right - left);
    let y_at = |latitude: f64| bottom - (latitude - south) / (north - south) * (bottom - top);

    if let Some(raster) = &world.raster
        && raster.values.len() == raster.width * raster.height
        && !raster.values.is_empty()
    {
        let pixels = raster.values.iter().map(|value| colours.at(*value));
        let uri = png::data_uri(raster.width, raster.height, pixels);
        canvas.image(uri, [left, top, right, bottom], true);
    }
    graticule(canvas, world, x_at, y_at, (left, top, right, bottom));
    // On colours a coast has to be seen against light and dark fields alike.
    let coast = if raster.is_empty() {
        Paint::from(Role::Coast).width(0.8)
    } else {
        Paint::rgb([40, 40, 40]).width(0.8).alpha(0.8)
    };
    let region = Paint::from(Role::Region).width(2.0);
    for (lines, paint) in [(&world.outlines, coast), (&world.region, region)] {
        for line in lines {
            for part in inside(line, world.window) {
                let points = part.into_iter().map(|(lon, lat)| (x_at(lon), y_at(lat)));
                canvas.path(thin(points), paint);
            }
        }
    }
    if let Some(points) = &world.points {
        let radius = if points.places.len() > 500 { 1.8 } else { 3.2 };
        for (i, (longitude, latitude)) in points.places.iter().enumerate() {
            if !(west..=east).contains(longitude) || !(south..=north).contains(latitude) {
                continue;
            }
            let colour = points.values.get(i).and_then(|value| colours.at(*value));
            let paint = colour.map_or(Paint::from(Role::Series(0)).alpha(0.6), Paint::rgb);
            canvas.circle((x_at(*longitude), y_at(*latitude)), radius, paint);
        }
    }
    canvas.set_height(bottom + SMALL + 14.0);
}

fn graticule(
    canvas: &mut Canvas,
    world: &WorldMap,
    x_at: impl Fn(f64) -> f64,
    y_at: impl Fn(f64) -> f64,
    (left, top, right, bottom): (f64, f64, f64, f64),
) {
    let [west, south, east, north] = world.window;
    let plain = world.raster.is_none();
    let (across, along) = if canvas.is_narrow() { (3, 4) } else { (6, 5) };
    for (longitude, _) in degrees(west, east, across) {
        let x = x_at(longitude);
        if plain {
            canvas.path(vec![(x, top), (x, bottom)], Role::Grid);
        }
        let label = coordinate(longitude, "E", "W");
        canvas.text(&label, (x, bottom + 6.0), SMALL, Anchor::Top, Role::Soft);
    }
    for (latitude, _) in degrees(south, north, along) {
        let y = y_at(latitude);
        if plain {
            canvas.path(vec![(left, y), (right, y)], Role::Grid);
        }
        let label = coordinate(latitude, "N", "S");
        canvas.text(&label, (left - 6.0, y), SMALL, Anchor::Right, Role::Soft);
    }
    let frame = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    canvas.path(frame, Role::Soft);
}

fn degrees(low: f64, high: f64, wanted: usize) -> impl Iterator<Item = (f64, String)> {
    // Whole turns are cut in quarters and sixths, which tenths do not do well.
    let ticks = if high - low >= 180.0 {
        let step = if wanted > 4 { 60.0 } else { 90.0 };
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        (first..=last).map(|i| (i as f64 * step, String::new())).collect()
    } else {
        Scale::over([low, high].into_iter(), false, wanted).ticks
    };
    ticks.into_iter().filter(move |(value, _)| (low..=high).contains(value))
}

fn coordinate(degrees: f64, positive: &str, negative: &str) -> String {
    let turned = (degrees + 180.0).rem_euclid(360.0) - 180.0;
    let value = if positive == "E" && turned != -180.0 { turned } else { degrees };
    let text = format!("{:.2}", value.abs());
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match value {
        v if v == 0.0 || v.abs() == 180.0 => format!("{text}°"),
        v if v > 0.0 => format!("{text}°{positive}"),
        _ => format!("{text}°{negative}"),
    }
}

// The parts of a line inside the window. A step of more than half a turn is the seam of the
// coordinates, not a line.
fn inside(line: &[(f64, f64)], window: [f64; 4]) -> Vec<Vec<(f64, f64)>> {
    let mut parts: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut joined = false;
    for pair in line.windows(2) {
        let clipped = if (pair[1].0 - pair[0].0).abs() > 180.0 {
            None
        } else {
            clip(pair[0], pair[1], window)
        };
        let Some((from, to)) = clipped else {
            joined = false;
            continue;
        };
        match parts.last_mut() {
            Some(part) if joined && from == pair[0] => part.push(to),
            _ => parts.push(vec![from, to]),
        }
        joined = to == pair[1];
    }
    parts
}

// Liang and Barsky's clipping of a segment against a window.
fn clip(
    from: (f64, f64),
    to: (f64, f64),
    [west, south, east, north]: [f64; 4],
) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    if !(dx + dy).is_finite() {
        return None;
    }
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for (direction, room) in
        [(-dx, from.0 - west), (dx, east - from.0), (-dy, from.1 - south), (dy, north - from.1)]
    {
        if direction == 0.0 {
            if room < 0.0 {
                return None;
            }
            continue;
        }
        let at = room / direction;
        if direction < 0.0 {
            enter = enter.max(at);
        } else {
            leave = leave.min(at);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |part: f64| match part {
        0.0 => from,
        1.0 => to,
        part => (from.0 + part * dx, from.1 + part * dy),
    };
    Some((at(enter), at(leave)))
}

// Points closer than half a pixel are one: outlines are finer than any screen.
fn thin(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let mut last = None;
    for point in points {
        last = Some(point);
        let near = kept.last().is_some_and(|previous| {
            (previous.0 - point.0).abs() < 0.5 && (previous.1 - point.1).abs() < 0.5
        });
        if !near {
            kept.push(point);
        }
    }
    if let (Some(last), Some(kept_last)) = (last, kept.last())
        && last != *kept_last
    {
        kept.push(last);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_the_window() {
        let window = [0.0, 0.0, 10.0, 10.0];
        assert_eq!(clip((-5.0, 5.0), (5.0, 5.0), window), Some(((0.0, 5.0), (5.0, 5.0))));
        assert_eq!(clip((-5.0, 5.0), (-1.0, 5.0), window), None);
        assert_eq!(clip((2.0, 3.0), (4.0, 5.0), window), Some(((2.0, 3.0), (4.0, 5.0))));
        assert_eq!(clip((f64::NAN, 3.0), (4.0, 5.0), window), None);
        let line = [(5.0, 5.0), (15.0, 5.0), (15.0, 8.0), (5.0, 8.0), (6.0, 9.0)];
        assert_eq!(
            inside(&line, window),
            [vec![(5.0, 5.0), (10.0, 5.0)], vec![(10.0, 8.0), (5.0, 8.0), (6.0, 9.0)]]
        );
    }

    #[test]
    fn the_seam_of_the_coordinates_is_no_line() {
        let window = [-180.0, -90.0, 180.0, 90.0];
        let line = [(178.0, 60.0), (179.0, 61.0), (-179.0, 62.0), (-178.0, 63.0)];
        assert_eq!(inside(&line, window).len(), 2);
    }

    #[test]
    fn coordinates_in_words() {
        assert_eq!(coordinate(-122.5, "E", "W"), "122.5°W");
        assert_eq!(coordinate(190.0, "E", "W"), "170°W");
        assert_eq!(coordinate(0.0, "N", "S"), "0°");
        assert_eq!(coordinate(-180.0, "E", "W"), "180°");
        assert_eq!(coordinate(36.0, "N", "S"), "36°N");
    }
}
