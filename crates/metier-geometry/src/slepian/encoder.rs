//! From points to features: global harmonics beside the functions of a region, to one scale.

use super::basis::{SlepianBasis, beside};
use super::harmonics::{sh_features, sh_names};
use super::raster::Raster;
use super::region::{Region, RegionSpec};
use crate::sphere::{KM_PER_DEGREE, check_points};
use metier_core::{Error, Progress, Result, Silent};
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The most degrees of global harmonics, which make 40,000 columns.
pub(super) const MAX_GLOBAL: usize = 200;

/// What an encoder is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlepianConfig {
    /// The region, or `Fit` for the smallest cap around the points.
    pub region: RegionSpec,
    /// The largest degree of the region's functions; details of 20,015 km / L.
    pub l: usize,
    /// The least share of a function's energy inside the region.
    pub thresh: f64,
    /// The most functions of the region that are accepted.
    pub max_modes: usize,
    /// The number of degrees of global harmonics beside them (`global_l^2` features); 0 for none.
    pub global_l: usize,
    /// Whether every feature is brought to mean 0 and deviation 1 on the points of the fit.
    pub scale: bool,
    /// Interpolate the features between the corners of a grid instead of computing them at every
    /// point; for very many points, at the price of resolution.
    pub raster: Option<Raster>,
}

impl Default for SlepianConfig {
    /// The paper's hybrid: L = 80, thresh 0.05, at most 800 functions, 100 global harmonics.
    fn default() -> Self {
        Self {
            region: RegionSpec::Fit,
            l: 80,
            thresh: 0.05,
            max_modes: 800,
            global_l: 10,
            scale: true,
            raster: None,
        }
    }
}

impl SlepianConfig {
    /// Checks every number that does not depend on points.
    ///
    /// # Errors
    /// The first parameter that is out of range, by name.
    pub fn validate(&self) -> Result<()> {
        if let RegionSpec::Given(region) | RegionSpec::Mended { region, .. } = &self.region {
            region.validate()?;
        }
        let out = |name: &str, message: String| Err(Error::usage(message).in_field(name));
        if !(1..=super::MAX_DEGREE).contains(&self.l) {
            return out(
                "L",
                format!("L is {}, where 1 to {} can be had", self.l, super::MAX_DEGREE),
            );
        }
        if !(0.0..1.0).contains(&self.thresh) {
            return out("thresh", format!("thresh is {}, outside [0, 1)", self.thresh));
        }
        if let Some(raster) = &self.raster {
            raster.validate()?;
        }
        if self.max_modes == 0 {
            return out("max_modes", "max_modes is 0".into());
        }
        if self.global_l > MAX_GLOBAL {
            let columns = (self.global_l as u128).pow(2);
            return out(
                "global",
                format!("global = {} would make {columns} columns", self.global_l),
            );
        }
        Ok(())
    }
}

/// Mean and deviation of every feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Scaler {
    pub(super) mean: Vec<f64>,
    pub(super) deviation: Vec<f64>,
}

impl Scaler {
    fn fit(features: &Array2<f32>) -> Self {
        let rows = features.nrows().max(1) as f64;
        let columns = features.ncols();
        let mut mean = vec![0.0; columns];
        for row in features.rows() {
            mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += f64::from(*value) / rows);
        }
        let mut square = vec![0.0; columns];
        for row in features.rows() {
            for ((square, value), mean) in square.iter_mut().zip(row).zip(&mean) {
                *square += (f64::from(*value) - mean).powi(2) / rows;
            }
        }
        // A feature that does not vary, such as the constant harmonic, is only centred.
        let flat = |square: f64, mean: f64| square.sqrt() <= 1e-6 * mean.abs().max(1e-12);
        let deviation = square
            .iter()
            .zip(&mean)
            .map(|(square, mean)| if flat(*square, *mean) { 1.0 } else { square.sqrt() })
            .collect();
        Self { mean, deviation }
    }

    fn apply(&self, features: &mut Array2<f32>) {
        features.axis_iter_mut(Axis(0)).into_par_iter().for_each(|mut row| {
            for ((value, mean), deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *value = ((f64::from(*value) - mean) / deviation) as f32;
            }
        });
    }
}

/// A fitted encoder: `[global harmonics | functions of the region]`.
///
/// ```
/// use metier_geometry::slepian::{Region, SlepianConfig, SlepianEncoder};
/// let (lon, lat) = ([-122.4, -118.2, -121.5], [37.8, 34.1, 38.6]);
/// let config = SlepianConfig {
///     region: Region::cap(-119.5, 37.0, 7.5).into(),
///     l: 40,
///     global_l: 0,
///     ..SlepianConfig::default()
/// };
/// let encoder = SlepianEncoder::fit(&config, &lon, &lat)?;
/// assert_eq!(encoder.transform(&lon, &lat)?.dim(), (3, 12));
/// assert_eq!(encoder.feature_names()[1], "slep_m1c_k0");
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SlepianEncoder {
    pub(super) global_l: usize,
    pub(super) region: Region,
    pub(super) basis: SlepianBasis,
    pub(super) scaler: Option<Scaler>,
    pub(super) warnings: Vec<String>,
    pub(super) raster: Option<Raster>,
}

impl SlepianEncoder {
    /// Makes the functions of the region and, with `scale`, learns the scale of each feature from
    /// the points, in degrees.
    ///
    /// # Errors
    /// A configuration that does not validate; points that are none (with their row); a fit or a
    /// scale without points; what [`SlepianBasis::new`] refuses.
    pub fn fit(config: &SlepianConfig, lon: &[f64], lat: &[f64]) -> Result<Self> {
        Self::fit_with_progress(config, lon, lat, &Silent)
    }

    /// [`fit`](Self::fit), for regions, degrees and tables that take long.
    ///
    /// # Errors
    /// As there, or a request to stop.
    pub fn fit_with_progress(
        config: &SlepianConfig,
        lon: &[f64],
        lat: &[f64],
        progress: &dyn Progress,
    ) -> Result<Self> {
        config.validate()?;
        check_points(lon, lat)?;
        if config.scale && lon.is_empty() {
            return Err(Error::input(
                "no points are given to learn the scale of the features from",
            )
            .help("give points, or turn scaling off"));
        }
        let region = config.region.resolve(lon, lat)?;
        let SlepianConfig { l, thresh, max_modes, .. } = *config;
        let basis = SlepianBasis::new_with_progress(&region, l, thresh, max_modes, progress)?;
        let mut warnings = config.region.notes().to_vec();
        warnings.extend(region.notes()?);
        warnings.extend(basis.warnings());
        let global_l = config.global_l;
        let raster = config.raster;
        let mut encoder = Self { global_l, region, basis, scaler: None, warnings, raster };
        encoder.warnings.extend(encoder.coarse_raster());
        let outside = encoder.outside(lon, lat)?;
        if outside * 5 > lon.len() {
            encoder.warnings.push(format!(
                "{outside} of {} points lie outside the region, where its functions are close to \
                 zero",
                lon.len()
            ));
        }
        if config.scale {
            encoder.scaler =
                Some(Scaler::fit(&encoder.transform_with_progress(lon, lat, progress)?));
        }
        Ok(encoder)
    }

    /// The features of each point, one row per point.
    ///
    /// # Errors
    /// Unequal numbers of longitudes and latitudes, or a point that is none.
    pub fn transform(&self, lon: &[f64], lat: &[f64]) -> Result<Array2<f32>> {
        self.transform_with_progress(lon, lat, &Silent)
    }

    /// [`transform`](Self::transform), for tables that take long.
    ///
    /// # Errors
    /// As there, or a request to stop.
    pub fn transform_with_progress(
        &self,
        lon: &[f64],
        lat: &[f64],
        progress: &dyn Progress,
    ) -> Result<Array2<f32>> {
        check_points(lon, lat)?;
        let mut features = match self.raster {
            Some(raster) => {
                raster.interpolate(lon, lat, |lon, lat| self.in_blocks(lon, lat, progress))?
            }
            None => self.in_blocks(lon, lat, progress)?,
        };
        if let Some(scaler) = &self.scaler {
            scaler.apply(&mut features);
        }
        Ok(features)
    }

    // Blocks of a fraction of a second each. They follow one another on the caller's thread, since
    // that may be the only one that is told of a request to stop.
    fn in_blocks(&self, lon: &[f64], lat: &[f64], progress: &dyn Progress) -> Result<Array2<f32>> {
        const BLOCK: usize = 1 << 16;
        progress.check()?;
        if lon.len() <= BLOCK {
            return self.exact(lon, lat);
        }
        let mut features = Array2::zeros((lon.len(), self.features()));
        progress.begin("encoding", Some(lon.len() as u64));
        let rows = features.axis_chunks_iter_mut(Axis(0), BLOCK);
        for (mut rows, (lon, lat)) in rows.zip(lon.chunks(BLOCK).zip(lat.chunks(BLOCK))) {
            progress.check()?;
            rows.assign(&self.exact(lon, lat)?);
            progress.advance(lon.len() as u64);
        }
        progress.finish();
        Ok(features)
    }

    fn exact(&self, lon: &[f64], lat: &[f64]) -> Result<Array2<f32>> {
        let local = self.basis.evaluate(lon, lat)?;
        if self.global_l == 0 {
            return Ok(local);
        }
        Ok(beside(&[sh_features(self.global_l, lon, lat)?, local], lon.len()))
    }

    // Half a wave has to span two cells at least, or its shape is lost.
    fn coarse_raster(&self) -> Option<String> {
        let step = self.raster?.step_deg;
        let half_wave = self.basis.resolution_km() / KM_PER_DEGREE;
        (2.0 * step > half_wave).then(|| {
            format!(
                "a grid of {step} degrees is too coarse for L = {}, whose details span \
                 {half_wave:.2} degrees: take a step of {:.2} or less",
                self.basis.bandwidth(),
                0.5 * half_wave
            )
        })
    }

    /// The names of the features: `sh_l2_m-1`, then `slep_m3c_k0`.
    pub fn feature_names(&self) -> Vec<String> {
        let mut names = sh_names(self.global_l);
        names.extend(self.basis.names());
        names
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        self.global_l * self.global_l + self.basis.len()
    }

    /// The functions of the region.
    pub fn basis(&self) -> &SlepianBasis {
        &self.basis
    }

    /// The region, which a fit has made of the points.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// How many of the points lie outside the region.
    ///
    /// # Errors
    /// Points that are none.
    pub fn outside(&self, lon: &[f64], lat: &[f64]) -> Result<usize> {
        check_points(lon, lat)?;
        Ok(self.region.contains(lon, lat)?.into_iter().filter(|inside| !inside).count())
    }

    /// What a user should know: mended outlines, a region too small for L, many points outside.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
