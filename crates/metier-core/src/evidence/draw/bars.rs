//! Bars in groups, upright or lying where their labels are long, and histograms.

use super::canvas::{Anchor, Canvas, Paint, SMALL, TEXT, fit_text, text_width, wrap_text};
use super::colour::Role;
use super::frame::{Frame, legend, wanted};
use super::scale::Scale;
use crate::evidence::{Axes, BarGroup, Histogram};

const LABEL_LINES: usize = 3;

/// Groups of bars.
pub fn bars(canvas: &mut Canvas, value_label: &str, names: &[String], groups: &[BarGroup]) {
    let top = legend(canvas, names.iter().map(String::as_str));
    let ends = groups.iter().flat_map(|group| {
        group.values.iter().enumerate().flat_map(move |(i, value)| {
            let error = group.errors.get(i).copied().unwrap_or(0.0);
            [value - error, value + error]
        })
    });
    let (wanted_x, wanted_y) = wanted(canvas);
    let with_zero = ends.chain(std::iter::once(0.0));
    let slot = (canvas.width() - 80.0) / groups.len().max(1) as f64;
    let labels: Vec<Vec<String>> =
        groups.iter().map(|group| wrap_text(&group.label, SMALL, slot - 6.0)).collect();
    let fits = labels.iter().all(|lines| {
        lines.len() <= LABEL_LINES && lines.iter().all(|line| text_width(line, SMALL) <= slot - 2.0)
    });
    if fits {
        upright(canvas, value_label, groups, &labels, Scale::over(with_zero, false, wanted_y), top);
    } else {
        lying(canvas, value_label, groups, Scale::over(with_zero, false, wanted_x.min(6)), top);
    }
}

fn upright(
    canvas: &mut Canvas,
    value_label: &str,
    groups: &[BarGroup],
    labels: &[Vec<String>],
    scale: Scale,
    top: f64,
) {
    let mut none = Scale::over([0.0, 1.0].into_iter(), false, 2);
    none.ticks.clear();
    let frame = Frame::new(canvas, &Axes::new("", value_label), none, scale, top);
    let lines = labels.iter().map(Vec::len).max().unwrap_or(0);
    canvas.set_height(frame.bottom + 12.0 + lines as f64 * (SMALL + 3.0));
    let slot = (frame.right - frame.left) / groups.len().max(1) as f64;
    if let Some(zero) = frame.y_at(0.0) {
        canvas.path(vec![(frame.left, zero), (frame.right, zero)], Role::Soft);
    }
    for (g, group) in groups.iter().enumerate() {
        let start = frame.left + g as f64 * slot;
        for (i, at) in places(group, start, slot).enumerate() {
            let value = |value: f64| frame.y_at(value);
            bar(canvas, group, i, at, value, |along, value| (along, value));
        }
        for (row, line) in labels[g].iter().enumerate() {
            let at = (start + 0.5 * slot, frame.bottom + 8.0 + row as f64 * (SMALL + 3.0));
            canvas.text(line, at, SMALL, Anchor::Top, Role::Ink);
        }
    }
}

fn lying(canvas: &mut Canvas, value_label: &str, groups: &[BarGroup], scale: Scale, top: f64) {
    let room = 0.42 * canvas.width();
    let most = groups.iter().map(|group| group.values.len()).max().unwrap_or(1).max(1);
    let slot = (most as f64 * 13.0 + 10.0).max(30.0);
    let labels: Vec<Vec<String>> = groups
        .iter()
        .map(|group| {
            let mut lines = wrap_text(&group.label, SMALL, room);
            let allowed = (slot / (SMALL + 2.0)) as usize;
            if lines.len() > allowed {
                let rest = lines.split_off(allowed.max(1) - 1).join(" ");
                lines.push(rest);
            }
            lines.iter().map(|line| fit_text(line, SMALL, room)).collect()
        })
        .collect();
    let widest = labels.iter().flatten().map(|line| text_width(line, SMALL)).fold(0.0, f64::max);
    let (left, right) = (widest + 14.0, canvas.width() - 20.0);
    let bottom = top + 8.0 + slot * groups.len() as f64;
    canvas.set_height(bottom + SMALL + TEXT + 28.0);
    let value = |value: f64| scale.at(value).map(|at| left + at * (right - left));
    for (tick, label) in &scale.ticks {
        if let Some(x) = value(*tick) {
            canvas.path(vec![(x, top + 8.0), (x, bottom)], Role::Grid);
            canvas.text(label, (x, bottom + 6.0), SMALL, Anchor::Top, Role::Soft);
        }
    }
    if let Some(zero) = value(0.0) {
        canvas.path(vec![(zero, top + 8.0), (zero, bottom)], Role::Soft);
    }
    for (g, group) in groups.iter().enumerate() {
        let start = top + 8.0 + g as f64 * slot;
        for (i, at) in places(group, start, slot).enumerate() {
            bar(canvas, group, i, at, value, |along, value| (value, along));
        }
        let first = start + 0.5 * slot - 0.5 * (labels[g].len() as f64 - 1.0) * (SMALL + 2.0);
        for (row, line) in labels[g].iter().enumerate() {
            let at = (left - 8.0, first + row as f64 * (SMALL + 2.0));
            canvas.text(line, at, SMALL, Anchor::Right, Role::Ink);
        }
    }
    let at = (0.5 * (left + right), bottom + SMALL + 12.0);
    canvas.text(value_label, at, TEXT, Anchor::Top, Role::Ink);
}

// The two edges of each bar of a group along the axis of groups.
fn places(group: &BarGroup, start: f64, slot: f64) -> impl Iterator<Item = (f64, f64)> + use<> {
    let count = group.values.len().max(1);
    let width = (0.78 * slot / count as f64).min(64.0);
    let first = start + 0.5 * (slot - width * count as f64);
    let gap = if count > 1 { (0.06 * width).max(0.6) } else { 0.0 };
    (0..group.values.len()).map(move |i| {
        let from = first + i as f64 * width;
        (from + gap, from + width - gap)
    })
}

fn bar(
    canvas: &mut Canvas,
    group: &BarGroup,
    i: usize,
    (from, to): (f64, f64),
    value_at: impl Fn(f64) -> Option<f64>,
    place: impl Fn(f64, f64) -> (f64, f64),
) {
    let value = group.values[i];
    let (Some(zero), Some(end)) = (value_at(0.0), value_at(value)) else { return };
    canvas.rectangle(place(from, zero), place(to, end), Role::Series(i));
    let error = group.errors.get(i).copied().filter(|error| error.is_finite() && *error > 0.0);
    let Some(error) = error else { return };
    if let (Some(low), Some(high)) = (value_at(value - error), value_at(value + error)) {
        let (middle, cap) = (0.5 * (from + to), 0.2 * (to - from));
        let paint = Paint::from(Role::Ink).width(1.4);
        canvas.path(vec![place(middle, low), place(middle, high)], paint);
        for end in [low, high] {
            canvas.path(vec![place(middle - cap, end), place(middle + cap, end)], paint);
        }
    }
}

/// Counts over intervals; several series overlap and are seen through.
pub fn histogram(canvas: &mut Canvas, histogram: &Histogram) {
    let series = &histogram.series;
    let top = legend(canvas, series.iter().map(|(name, _)| name.as_str()));
    let (wanted_x, wanted_y) = wanted(canvas);
    let x = Scale::over(histogram.edges.iter().copied(), false, wanted_x);
    let counts = series.iter().flat_map(|(_, counts)| counts.iter().copied());
    let y = Scale::over(counts.chain(std::iter::once(0.0)), false, wanted_y);
    let axes = Axes::new(&*histogram.x_label, &*histogram.y_label);
    let frame = Frame::new(canvas, &axes, x, y, top);
    let alpha = if series.len() > 1 { 0.35 } else { 0.75 };
    for (n, (_, counts)) in series.iter().enumerate() {
        let paint = Paint::from(Role::Series(n));
        let mut outline = Vec::new();
        for (edges, count) in histogram.edges.windows(2).zip(counts) {
            let corner = |edge: f64| frame.at(edge, *count);
            if let (Some(from), Some(to)) = (corner(edges[0]), corner(edges[1])) {
                canvas.rectangle((from.0, frame.bottom), to, paint.alpha(alpha));
                outline.extend([from, to]);
            }
        }
        if let (Some(first), Some(last)) = (outline.first().copied(), outline.last().copied()) {
            outline.insert(0, (first.0, frame.bottom));
            outline.push((last.0, frame.bottom));
        }
        canvas.path(outline, paint.width(1.5));
    }
}
