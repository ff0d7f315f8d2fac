//! Features read off a grid, for more points than there are cells.

use metier_core::{Error, Result};
use ndarray::{Array2, ArrayViewMut1, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A grid of longitudes and latitudes, both multiples of one step, between whose corners features
/// are interpolated bilinearly.
///
/// The grid closes at the date line and meets in one value at each pole. Only corners that have a
/// point beside them are ever computed, so a value does not depend on the other points.
///
/// It loses the details that are finer than its cells: half a degree is 55 km.
///
/// ```
/// use metier_geometry::slepian::Raster;
/// assert_eq!(Raster::default().step_deg, 0.5);
/// assert!(Raster { step_deg: 0.7 }.validate().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raster {
    /// The distance of neighbouring corners, in degrees.
    pub step_deg: f64,
}

impl Default for Raster {
    /// The paper's: half a degree.
    fn default() -> Self {
        Self { step_deg: 0.5 }
    }
}

// The four corners of a point's cell, by number, and their shares.
type Corners = [(u64, f64); 4];

impl Raster {
    /// Checks that a whole number of steps leads from pole to pole.
    ///
    /// # Errors
    /// Any other step, or one outside 0.001 to 45 degrees.
    pub fn validate(&self) -> Result<()> {
        let steps = 180.0 / self.step_deg;
        if (0.001..=45.0).contains(&self.step_deg) && (steps - steps.round()).abs() < 1e-9 * steps {
            return Ok(());
        }
        Err(Error::usage(format!("the step of the grid is {} degrees", self.step_deg))
            .in_field("raster")
            .help("take a step from 0.001 to 45 that divides 180, such as 0.5 or 0.1"))
    }

    fn rows(&self) -> u64 {
        (180.0 / self.step_deg).round() as u64
    }

    fn corners(&self, lon: f64, lat: f64) -> Corners {
        let (rows, columns) = (self.rows(), 2 * self.rows());
        let across = (lon + 180.0).rem_euclid(360.0) / 360.0 * columns as f64;
        let up = (lat + 90.0) / 180.0 * rows as f64;
        let (column, row) = (across as u64, (up as u64).min(rows - 1));
        let (x, y) = (across - column as f64, up - row as f64);
        let corner = |row: u64, column: u64| match row {
            // A pole is one place, whatever its longitude.
            _ if row == 0 || row == rows => row * columns,
            _ => row * columns + column % columns,
        };
        [
            (corner(row, column), (1.0 - x) * (1.0 - y)),
            (corner(row, column + 1), x * (1.0 - y)),
            (corner(row + 1, column), (1.0 - x) * y),
            (corner(row + 1, column + 1), x * y),
        ]
    }

    fn place(&self, corner: u64) -> (f64, f64) {
        let (rows, columns) = (self.rows(), 2 * self.rows());
        let share = |part: u64, whole: u64| part as f64 / whole as f64;
        (
            360.0 * share(corner % columns, columns) - 180.0,
            180.0 * share(corner / columns, rows) - 90.0,
        )
    }

    /// The features of each place, interpolated between what `encode` gives at the corners.
    ///
    /// # Errors
    /// What `encode` returns.
    pub(super) fn interpolate(
        &self,
        lon: &[f64],
        lat: &[f64],
        encode: impl FnOnce(&[f64], &[f64]) -> Result<Array2<f32>>,
    ) -> Result<Array2<f32>> {
        let cells: Vec<Corners> =
            lon.par_iter().zip(lat).map(|(lon, lat)| self.corners(*lon, *lat)).collect();
        let mut needed: Vec<u64> = cells.iter().flatten().map(|(corner, _)| *corner).collect();
        needed.par_sort_unstable();
        needed.dedup();
        let (corner_lon, corner_lat): (Vec<f64>, Vec<f64>) =
            needed.iter().map(|corner| self.place(*corner)).unzip();
        let known = encode(&corner_lon, &corner_lat)?;
        let mut features = Array2::zeros((lon.len(), known.ncols()));
        let mix = |mut row: ArrayViewMut1<'_, f32>, cell: &Corners| {
            for (corner, share) in cell {
                // Every corner was collected above.
                if let Ok(known_row) = needed.binary_search(corner) {
                    row.scaled_add(*share as f32, &known.row(known_row));
                }
            }
        };
        features
            .axis_iter_mut(Axis(0))
            .into_par_iter()
            .zip(&cells)
            .for_each(|(row, cell)| mix(row, cell));
        Ok(features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slepian::sh_features;

    #[test]
    fn corners_are_met_and_cells_are_bilinear() {
        let raster = Raster { step_deg: 10.0 };
        let exact = |lon: &[f64], lat: &[f64]| sh_features(6, lon, lat);
        let (lon, lat) = ([20.0, 180.0, -180.0, 33.0, 25.0], [40.0, 10.0, 10.0, 90.0, 40.0]);
        let found = raster.interpolate(&lon, &lat, exact).unwrap();
        let right = exact(&lon, &lat).unwrap();
        let close = |a: f32, b: f32| assert!((a - b).abs() < 2e-6, "{a} {b}");
        for row in 0..4 {
            found.row(row).iter().zip(right.row(row)).for_each(|(a, b)| close(*a, *b));
        }
        let ends = exact(&[20.0, 30.0], &[40.0, 40.0]).unwrap();
        for k in 0..36 {
            close(found[[4, k]], 0.5 * (ends[[0, k]] + ends[[1, k]]));
        }
    }

    #[test]
    fn the_date_line_and_the_poles_are_no_edges() {
        let raster = Raster::default();
        let exact = |lon: &[f64], lat: &[f64]| sh_features(8, lon, lat);
        let lon = [179.9, -179.9, 180.0, -180.0, 0.0, 123.4];
        let lat = [12.0, 12.0, 12.2, 12.2, -90.0, -90.0];
        let found = raster.interpolate(&lon, &lat, exact).unwrap();
        let right = exact(&lon, &lat).unwrap();
        found.iter().zip(&right).for_each(|(a, b)| assert!((a - b).abs() < 2e-3, "{a} {b}"));
        for (a, b) in [(2, 3), (4, 5)] {
            found.row(a).iter().zip(found.row(b)).for_each(|(a, b)| assert!((a - b).abs() < 1e-6));
        }
    }

    #[test]
    fn steps_that_do_not_close_are_refused() {
        for step_deg in [0.7, 0.0, -1.0, 60.0, f64::NAN] {
            let error = Raster { step_deg }.validate().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("raster: the step of the grid is {step_deg} degrees")
            );
        }
        for step_deg in [0.001, 0.1, 0.5, 1.0, 45.0] {
            Raster { step_deg }.validate().unwrap();
        }
    }
}
