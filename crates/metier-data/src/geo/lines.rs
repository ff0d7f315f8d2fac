//! Coasts and borders as lines to draw.

use super::topojson::Topology;
use crate::embedded::{self, Detail};
use geo_types::Coord;
use metier_core::Result;

/// A line of `(longitude, latitude)` in degrees.
type Line = Vec<(f64, f64)>;

/// The coast lines of the earth, cut where they cross the date line.
///
/// ```
/// use metier_data::geo::{Detail, coastlines};
/// let coasts = coastlines(Detail::Coarse)?;
/// assert!(coasts.iter().flatten().all(|(lon, lat)| lon.abs() <= 180.0 && lat.abs() <= 90.0));
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// Never, unless the program file itself is damaged.
pub fn coastlines(detail: Detail) -> Result<Vec<Line>> {
    lines(&embedded::land(detail)?, |topology| topology.all())
}

/// The borders between countries, without coasts, cut where they cross the date line.
///
/// # Errors
/// Never, unless the program file itself is damaged.
pub fn borders(detail: Detail) -> Result<Vec<Line>> {
    lines(&embedded::countries(detail)?, |topology| topology.shared("countries"))
}

fn lines(text: &str, pick: impl Fn(&Topology) -> Vec<&[Coord<f64>]>) -> Result<Vec<Line>> {
    let topology = Topology::new(super::json(text.as_bytes())?)?;
    let mut lines = Vec::new();
    pick(&topology).into_iter().for_each(|arc| cut(arc, &mut lines));
    Ok(lines)
}

// A step of more than half a turn is the short one across the date line.
fn cut(arc: &[Coord<f64>], lines: &mut Vec<Line>) {
    let mut line: Line = Vec::with_capacity(arc.len());
    for position in arc {
        if let Some(&(lon, lat)) = line.last()
            && (position.x - lon).abs() > 180.0
        {
            let edge = 180.0f64.copysign(lon);
            let (before, after) = (edge - lon, position.x + edge);
            let share = if before == after { 0.5 } else { before / (before + after) };
            let meeting = lat + share * (position.y - lat);
            line.push((edge, meeting));
            lines.push(std::mem::replace(&mut line, vec![(-edge, meeting)]));
        }
        line.push((position.x, position.y));
    }
    if line.len() > 1 {
        lines.push(line);
    }
}
