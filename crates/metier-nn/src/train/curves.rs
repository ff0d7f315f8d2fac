//! The curves of a run.

use super::Record;
use metier_core::evidence::draw::{Size, Theme, svg};
use metier_core::evidence::{Axes, Figure, Line, Plot};
use metier_core::{Result, files};
use std::path::Path;

/// Points beyond this many say no more in a picture.
const POINTS: usize = 400;

/// Draws training and held-out loss over tokens to an SVG file.
///
/// # Errors
/// An I/O error that names the file.
pub fn loss_curves(records: &[Record], path: &Path) -> Result<()> {
    let mut lines = vec![smoothed("training", records)];
    let measured: Vec<(f64, f64)> = records
        .iter()
        .filter_map(|record| Some((record.tokens as f64, record.held_out_loss?)))
        .collect();
    if !measured.is_empty() {
        let (x, y) = measured.into_iter().unzip();
        lines.push(Line::new("held out", x, y));
    }
    let plot = Plot::Lines { axes: Axes::new("tokens", "loss (nats per token)"), lines };
    let figure = Figure::new("loss", "Loss over the run", plot);
    files::write_bytes(path, svg(&figure, Size::Wide, Theme::Light).as_bytes())
}

/// Means over equal spans of steps, with the least and greatest loss of each span as a band.
fn smoothed(name: &str, records: &[Record]) -> Line {
    let span = records.len().div_ceil(POINTS).max(1);
    let mut line = Line { name: name.into(), ..Line::default() };
    for part in records.chunks(span) {
        let losses = || part.iter().map(|record| record.loss);
        line.x.extend(part.last().map(|record| record.tokens as f64));
        line.y.push(losses().sum::<f64>() / part.len() as f64);
        if span > 1 {
            line.low.push(losses().fold(f64::INFINITY, f64::min));
            line.high.push(losses().fold(f64::NEG_INFINITY, f64::max));
        }
    }
    line
}
