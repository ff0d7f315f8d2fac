//! The frame of a plot: scales, ticks, labels, and the legend above it, where it hides nothing.

use super::canvas::{Anchor, Canvas, Paint, SMALL, TEXT, fit_text, text_width};
use super::colour::Role;
use super::scale::Scale;
use crate::evidence::Axes;

const GAP: f64 = 8.0;

/// A plot's inner rectangle with its scales.
pub struct Frame {
    pub x: Scale,
    pub y: Scale,
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Frame {
    /// Draws the frame for these scales below a legend that ends at `top`.
    pub fn new(canvas: &mut Canvas, axes: &Axes, x: Scale, y: Scale, top: f64) -> Self {
        let widest =
            y.ticks.iter().map(|(_, label)| text_width(label, SMALL)).fold(0.0f64, f64::max);
        let y_label = if axes.y_label.is_empty() { 0.0 } else { TEXT + GAP };
        let x_label = if axes.x_label.is_empty() { 0.0 } else { TEXT + 10.0 };
        let height = if canvas.is_narrow() { 210.0 } else { 330.0 };
        let frame = Self {
            left: 4.0 + y_label + widest + GAP,
            top: top + GAP,
            right: canvas.width() - 18.0,
            bottom: top + GAP + height,
            x,
            y,
        };
        canvas.set_height(frame.bottom + 12.0 + SMALL + x_label + 4.0);
        frame.draw(canvas, axes);
        frame
    }

    /// Where a point lies on the sheet, if the scales have a place for it.
    pub fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x_at(x)?, self.y_at(y)?))
    }

    /// Where an abscissa lies on the sheet.
    pub fn x_at(&self, x: f64) -> Option<f64> {
        Some(self.left + self.x.at(x)? * (self.right - self.left))
    }

    /// Where an ordinate lies on the sheet.
    pub fn y_at(&self, y: f64) -> Option<f64> {
        Some(self.bottom - self.y.at(y)? * (self.bottom - self.top))
    }

    fn draw(&self, canvas: &mut Canvas, axes: &Axes) {
        let (left, top, right, bottom) = (self.left, self.top, self.right, self.bottom);
        for (value, label) in &self.y.ticks {
            if let Some(y) = self.y_at(*value) {
                canvas.path(vec![(left, y), (right, y)], Role::Grid);
                canvas.text(label, (left - GAP, y), SMALL, Anchor::Right, Role::Soft);
            }
        }
        let mut free_from = f64::NEG_INFINITY;
        for (value, label) in &self.x.ticks {
            if let Some(x) = self.x_at(*value) {
                let half = 0.5 * text_width(label, SMALL);
                canvas.path(vec![(x, bottom), (x, bottom + 4.0)], Role::Soft);
                // A number that would touch its neighbour, or leave the sheet, is left out.
                if x - half > free_from && x + half < canvas.width() {
                    let at = (x, bottom + 8.0);
                    canvas.text(label, at, SMALL, Anchor::Top, Role::Soft);
                    free_from = x + half + 4.0;
                }
            }
        }
        canvas.path(vec![(left, bottom), (right, bottom)], Role::Soft);
        self.label(canvas, axes, top);
    }

    fn label(&self, canvas: &mut Canvas, axes: &Axes, top: f64) {
        let x_label = fit_text(&axes.x_label, TEXT, canvas.width() - 8.0);
        let half = 0.5 * text_width(&x_label, TEXT);
        let middle = (0.5 * (self.left + self.right)).min(canvas.width() - 4.0 - half).max(half);
        let at = (middle, self.bottom + SMALL + 14.0);
        canvas.text(&x_label, at, TEXT, Anchor::Top, Role::Ink);
        let y_label = fit_text(&axes.y_label, TEXT, self.bottom - top + 16.0);
        let at = (0.7 * TEXT, 0.5 * (top + self.bottom));
        canvas.text(&y_label, at, TEXT, Anchor::Upwards, Role::Ink);
    }
}

/// How many ticks fit along x and y.
pub fn wanted(canvas: &Canvas) -> (usize, usize) {
    if canvas.is_narrow() { (4, 5) } else { (8, 6) }
}

/// Draws the names of series in rows from the top and returns where the rows end. One nameless
/// series needs none.
pub fn legend<'a>(canvas: &mut Canvas, names: impl Iterator<Item = &'a str>) -> f64 {
    let names: Vec<&str> = names.collect();
    if names.iter().all(|name| name.is_empty()) {
        return 4.0;
    }
    let (mut x, mut y) = (6.0, 12.0);
    for (n, name) in names.iter().enumerate() {
        let name = fit_text(name, TEXT, canvas.width() - 40.0);
        let width = 20.0 + text_width(&name, TEXT);
        if x + width > canvas.width() && x > 6.0 {
            (x, y) = (6.0, y + 20.0);
        }
        let paint = Paint::from(Role::Series(n));
        canvas.path(vec![(x - 4.0, y), (x + 12.0, y)], paint.width(2.0));
        canvas.symbol(n, (x + 4.0, y), 4.0, paint);
        canvas.text(&name, (x + 18.0, y), TEXT, Anchor::Left, Role::Ink);
        x += width + 16.0;
    }
    y + 12.0
}
