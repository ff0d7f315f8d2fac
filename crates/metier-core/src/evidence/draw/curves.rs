//! Lines with bands, and scattered points.

use super::canvas::{Canvas, Paint};
use super::colour::Role;
use super::frame::{Frame, legend, wanted};
use super::scale::Scale;
use crate::evidence::{Axes, Line, Points};

// Curves of few points show them; more would be a caterpillar.
const SHOWN_POINTS: usize = 24;

/// Curves, each with its band behind all curves.
pub fn lines(canvas: &mut Canvas, axes: &Axes, lines: &[Line]) {
    let top = legend(canvas, lines.iter().map(|line| line.name.as_str()));
    let (wanted_x, wanted_y) = wanted(canvas);
    let xs = lines.iter().flat_map(|line| line.x.iter().copied());
    let ys =
        lines.iter().flat_map(|line| line.y.iter().chain(&line.low).chain(&line.high).copied());
    let x = Scale::over(xs, axes.log_x, wanted_x);
    let y = Scale::over(ys, axes.log_y, wanted_y);
    let frame = Frame::new(canvas, axes, x, y, top);
    for (n, line) in lines.iter().enumerate() {
        band(canvas, &frame, n, line);
    }
    for (n, line) in lines.iter().enumerate() {
        let paint = Paint::from(Role::Series(n)).width(2.0);
        let mut stroke = Vec::new();
        for (x, y) in line.x.iter().zip(&line.y) {
            match frame.at(*x, *y) {
                Some(point) => stroke.push(point),
                // A gap in the data is a gap in the curve.
                None => canvas.path(thin(std::mem::take(&mut stroke)), paint),
            }
        }
        canvas.path(thin(stroke), paint);
        if line.x.len() <= SHOWN_POINTS {
            for point in line.x.iter().zip(&line.y).filter_map(|(x, y)| frame.at(*x, *y)) {
                canvas.symbol(n, point, 3.5, paint);
            }
        }
    }
}

fn band(canvas: &mut Canvas, frame: &Frame, n: usize, line: &Line) {
    let edge = |edge: &[f64]| -> Vec<(f64, f64)> {
        line.x.iter().zip(edge).filter_map(|(x, y)| frame.at(*x, *y)).collect()
    };
    if line.low.len() == line.x.len() && line.high.len() == line.x.len() && line.x.len() > 1 {
        let mut outline = thin(edge(&line.high));
        outline.extend(thin(edge(&line.low)).into_iter().rev());
        canvas.polygon(outline, Paint::from(Role::Series(n)).alpha(0.18));
    }
}

/// Groups of points.
pub fn scatter(canvas: &mut Canvas, axes: &Axes, groups: &[Points]) {
    let top = legend(canvas, groups.iter().map(|group| group.name.as_str()));
    let (wanted_x, wanted_y) = wanted(canvas);
    let xs = groups.iter().flat_map(|group| group.x.iter().copied());
    let ys = groups.iter().flat_map(|group| group.y.iter().copied());
    let x = Scale::over(xs, axes.log_x, wanted_x);
    let y = Scale::over(ys, axes.log_y, wanted_y);
    let frame = Frame::new(canvas, axes, x, y, top);
    let many = groups.iter().map(|group| group.x.len()).sum::<usize>();
    let (radius, alpha) = match many {
        0..60 => (4.5, 0.9),
        60..600 => (3.0, 0.7),
        _ => (2.0, 0.45),
    };
    for (n, group) in groups.iter().enumerate() {
        let paint = Paint::from(Role::Series(n)).alpha(alpha);
        for point in group.x.iter().zip(&group.y).filter_map(|(x, y)| frame.at(*x, *y)) {
            canvas.symbol(n, point, radius, paint);
        }
    }
}

// Points closer than a third of a pixel are one.
fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let last = points.last().copied();
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points {
        let near = kept.last().is_some_and(|previous| {
            (previous.0 - point.0).abs() < 0.3 && (previous.1 - point.1).abs() < 0.3
        });
        if !near || Some(point) == last {
            kept.push(point);
        }
    }
    kept
}
