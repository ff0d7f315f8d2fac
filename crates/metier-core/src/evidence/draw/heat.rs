//! Matrices of colours, and the bar that says what the colours mean.

use super::canvas::{Anchor, Canvas, Paint, SMALL, TEXT, fit_text, text_width};
use super::colour::{ColourMap, Role, ink_on};
use super::png;
use super::scale::Scale;
use crate::evidence::HeatMap;
use crate::evidence::text::number_to;

// A larger matrix becomes a picture; a smaller one has its numbers written into it.
const DRAWN_CELLS: usize = 1200;
const WRITTEN_CELLS: usize = 150;

/// A matrix of colours, row 0 on top.
pub fn heat_map(canvas: &mut Canvas, map: &HeatMap) {
    let rows = map.values.len();
    let columns = map.values.iter().map(Vec::len).max().unwrap_or(0);
    let colours = ColourMap::over(map.values.iter().flatten().copied(), map.signed);
    let top = colour_bar(canvas, &colours, &map.value_label);
    if rows == 0 || columns == 0 {
        return canvas.set_height(top + 20.0);
    }
    let row_names = names(&map.rows, rows);
    let column_names = names(&map.columns, columns);
    let room = 0.34 * canvas.width();
    let widest = row_names.iter().map(|name| text_width(name, SMALL)).fold(0.0, f64::max);
    let y_label = if map.y_label.is_empty() { 0.0 } else { TEXT + 8.0 };
    let left = 4.0 + y_label + widest.min(room) + 8.0;
    let right = canvas.width() - 14.0;
    let width = (right - left) / columns as f64;
    // Cells as wide as high where that makes a picture of a sensible height.
    let highest = if canvas.is_narrow() { 320.0 } else { 460.0 };
    let height = width.min(highest / rows as f64).min(40.0).max(18.0f64.min(highest / rows as f64));
    let top = top + 8.0;
    let bottom = top + height * rows as f64;
    let cell =
        |row: usize, column: usize| (left + column as f64 * width, top + row as f64 * height);
    if rows * columns > DRAWN_CELLS {
        let pixels = (0..rows * columns)
            .map(|i| map.values[i / columns].get(i % columns).and_then(|value| colours.at(*value)));
        canvas.image(png::data_uri(columns, rows, pixels), [left, top, right, bottom], false);
    } else {
        let written = rows * columns <= WRITTEN_CELLS && width > 30.0 && height > 14.0;
        for (r, row) in map.values.iter().enumerate() {
            for (c, value) in row.iter().enumerate() {
                let Some(colour) = colours.at(*value) else { continue };
                // Half a pixel more, so that no light shines through between cells.
                let (a, b) = (cell(r, c), cell(r + 1, c + 1));
                canvas.rectangle(a, (b.0.min(right - 0.5) + 0.5, b.1 + 0.3), Paint::rgb(colour));
                if written {
                    let at = (a.0 + 0.5 * width, a.1 + 0.5 * height);
                    let ink = Paint::rgb(ink_on(colour));
                    let label = number_to(*value, if width > 46.0 { 3 } else { 2 });
                    canvas.text(&label, at, SMALL - 1.0, Anchor::Middle, ink);
                }
            }
        }
    }
    let every = round_up(((SMALL + 4.0) / height).ceil().max(1.0) as usize);
    for (r, name) in row_names.iter().enumerate().step_by(every) {
        let at = (left - 8.0, top + (r as f64 + 0.5) * height);
        canvas.text(&fit_text(name, SMALL, room), at, SMALL, Anchor::Right, Role::Soft);
    }
    let below = column_labels(canvas, &column_names, left, bottom, width);
    let at = (0.5 * (left + right), below + 6.0);
    canvas.text(&map.x_label, at, TEXT, Anchor::Top, Role::Ink);
    canvas.set_height(below + if map.x_label.is_empty() { 6.0 } else { TEXT + 14.0 });
    let y_label = fit_text(&map.y_label, TEXT, bottom - top);
    canvas.text(&y_label, (0.7 * TEXT, 0.5 * (top + bottom)), TEXT, Anchor::Upwards, Role::Ink);
}

// Below the columns, side by side where they fit, else read upwards. Returns where they end.
fn column_labels(canvas: &mut Canvas, names: &[String], left: f64, top: f64, width: f64) -> f64 {
    let widest = names.iter().map(|name| text_width(name, SMALL)).fold(0.0, f64::max);
    let middle = |c: usize| left + (c as f64 + 0.5) * width;
    let plain = names.iter().all(|name| name.parse::<usize>().is_ok());
    if widest + 4.0 <= width || plain {
        let every = round_up(((widest + 8.0) / width).ceil().max(1.0) as usize);
        for (c, name) in names.iter().enumerate().step_by(every) {
            canvas.text(name, (middle(c), top + 6.0), SMALL, Anchor::Top, Role::Soft);
        }
        return top + 6.0 + SMALL;
    }
    let long = widest.min(110.0);
    let every = ((SMALL + 2.0) / width).ceil().max(1.0) as usize;
    for (c, name) in names.iter().enumerate().step_by(every) {
        let name = fit_text(name, SMALL, long);
        // Ends at the matrix, as if the label were hung up there.
        let at = (middle(c), top + 8.0 + 0.5 * text_width(&name, SMALL));
        canvas.text(&name, at, SMALL, Anchor::Upwards, Role::Soft);
    }
    top + 10.0 + long
}

// Every fifth is easier to count with than every third.
fn round_up(every: usize) -> usize {
    let mut power = 1;
    loop {
        if let Some(round) = [1, 2, 5].map(|lead| lead * power).into_iter().find(|r| *r >= every) {
            return round;
        }
        power *= 10;
    }
}

fn names(given: &[String], count: usize) -> Vec<String> {
    if given.is_empty() { (0..count).map(|i| i.to_string()).collect() } else { given.to_vec() }
}

/// Draws the colours with their numbers and returns where that ends.
pub fn colour_bar(canvas: &mut Canvas, colours: &ColourMap, label: &str) -> f64 {
    const STEPS: usize = 96;
    let wide = (0.45 * canvas.width()).min(260.0);
    let room = canvas.width() - wide - 44.0;
    let label = fit_text(label, TEXT, room);
    let left = if label.is_empty() { 20.0 } else { text_width(&label, TEXT) + 26.0 };
    canvas.text(&label, (4.0, 12.0), TEXT, Anchor::Left, Role::Ink);
    for step in 0..STEPS {
        let at = |step: usize| left + wide * step as f64 / STEPS as f64;
        let colour = colours.fraction((step as f64 + 0.5) / STEPS as f64);
        canvas.rectangle((at(step), 6.0), (at(step + 1) + 0.4, 18.0), Paint::rgb(colour));
    }
    let scale = Scale::over([colours.low, colours.high].into_iter(), false, 4);
    for (value, text) in &scale.ticks {
        let part = (value - colours.low) / (colours.high - colours.low);
        if (-1e-9..=1.0 + 1e-9).contains(&part) {
            let x = left + wide * part;
            canvas.path(vec![(x, 18.0), (x, 21.0)], Role::Soft);
            canvas.text(text, (x, 23.0), SMALL - 1.0, Anchor::Top, Role::Soft);
        }
    }
    38.0
}
