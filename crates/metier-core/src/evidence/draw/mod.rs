//! Draws figures as SVG, for the page and as files.
//!
//! Drawing happens once, in colours that stand for roles ("ink", "second series"); a [`Theme`] then
//! puts real colours in their place, so that light, dark and the page's own are the same picture.

mod bars;
mod canvas;
mod colour;
mod curves;
mod frame;
mod heat;
mod map;
mod png;
mod scale;
#[cfg(test)]
mod tests;

use super::{Figure, Plot};
use canvas::Canvas;
pub use colour::Theme;

/// How large a figure is drawn, in pixels of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For a page on a desk.
    Wide,
    /// For a telephone: the letters stay as large, the picture gets smaller.
    Narrow,
}

impl Size {
    fn width(self) -> f64 {
        match self {
            Size::Wide => 720.0,
            Size::Narrow => 350.0,
        }
    }

    fn is_narrow(self) -> bool {
        self == Size::Narrow
    }
}

/// The picture of `figure`, without its words: those are text of the page.
///
/// The same figure gives the same bytes on every machine.
pub fn svg(figure: &Figure, size: Size, theme: Theme) -> String {
    let mut canvas = Canvas::new(size);
    match &figure.plot {
        Plot::Lines { axes, lines } => curves::lines(&mut canvas, axes, lines),
        Plot::Scatter { axes, points } => curves::scatter(&mut canvas, axes, points),
        Plot::Bars { y_label, names, groups } => {
            bars::bars(&mut canvas, y_label, names, groups);
        }
        Plot::Histogram(histogram) => bars::histogram(&mut canvas, histogram),
        Plot::HeatMap(heat_map) => heat::heat_map(&mut canvas, heat_map),
        Plot::Map(world) => map::map(&mut canvas, world),
    }
    theme.apply(&canvas.finish(&figure.title))
}
