//! The encoders that people use instead, each usable by itself: plain coordinates, sines and
//! cosines of many frequencies, random features, global harmonics.
//!
//! Nearest neighbours on the coordinates, which need no encoder, are
//! [`Neighbors`](crate::learn::Neighbors).

use super::harmonics::{MAX_DEGREE, sh_features};
use crate::quadrature::legendre_pair;
use crate::sphere::{check_points, dot, unit};
use metier_core::{Error, Result, rng};
use ndarray::Array2;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The wavelengths of the encoders with many frequencies: from `max` down to `min` in geometric
/// steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scales {
    /// The number of frequencies.
    pub count: usize,
    /// The shortest wavelength divisor, `r_min`.
    pub min: f64,
    /// The longest, `r_max`.
    pub max: f64,
}

impl Default for Scales {
    /// The paper's: 16 frequencies, 360 down to 0.05.
    fn default() -> Self {
        Self { count: 16, min: 0.05, max: 360.0 }
    }
}

impl Scales {
    // The factors 1 / (r_min (r_max / r_min)^{s / (S - 1)}).
    fn factors(self) -> Result<Vec<f64>> {
        if self.count == 0 || !(self.min > 0.0 && self.max >= self.min && self.max.is_finite()) {
            return Err(Error::usage(format!(
                "{} scales from {} to {} are asked for",
                self.count, self.min, self.max
            ))
            .help("take at least one scale, with 0 < min <= max"));
        }
        let steps = self.count.saturating_sub(1).max(1) as f64;
        let ratio = self.max / self.min;
        Ok((0..self.count).map(|s| 1.0 / (self.min * ratio.powf(s as f64 / steps))).collect())
    }
}

/// An encoder of places that knows nothing of a region.
///
/// ```
/// use metier_geometry::slepian::baselines::Baseline;
/// let features = Baseline::Cartesian.encode(&[0.0, 90.0], &[0.0, 0.0], 0)?;
/// assert_eq!(features.dim(), (2, 3));
/// assert_eq!(features[[0, 0]], 1.0);
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// Longitude and latitude, over 180 and 90 (2 features).
    LonLat,
    /// The unit vector in space (3).
    Cartesian,
    /// Sine and cosine of pi times longitude / 180 and of pi times latitude / 90 (4; Mac Aodha and
    /// others 2019).
    Wrap,
    /// Sine and cosine of each coordinate at every scale (4 per scale; Space2Vec).
    Grid(Scales),
    /// Sine and cosine along three directions, 120 degrees apart, at every scale (6 per scale;
    /// Space2Vec).
    Theory(Scales),
    /// The unit vector of the scaled angles (3 per scale; Sphere2Vec).
    SphereC(Scales),
    /// `SphereC` beside `Grid` (7 per scale).
    SphereCPlus(Scales),
    /// Products of scaled with unscaled angles (5 per scale; Sphere2Vec).
    SphereM(Scales),
    /// `SphereM` beside `Grid` (9 per scale).
    SphereMPlus(Scales),
    /// Random Fourier features of a Gaussian kernel in the plane of the coordinates.
    PlanarRff {
        /// The number of features.
        features: usize,
        /// The length of the kernel, in degrees.
        length_deg: f64,
    },
    /// Random zonal features of a Matérn kernel on the sphere, with the spectrum
    /// `(2l + 1) / (kappa^2 + l (l + 1))^{nu + 1}`.
    SphericalRff {
        /// The number of features.
        features: usize,
        /// The inverse length kappa, per radian.
        kappa: f64,
        /// The smoothness nu.
        nu: f64,
        /// The largest degree.
        max_degree: usize,
    },
    /// Zonal Gaussian-shaped wavelets at evenly spread centres.
    Wavelets {
        /// The number of centres.
        centres: usize,
        /// The width of each, in degrees.
        width_deg: f64,
    },
    /// Every spherical harmonic of the degrees below this (`L^2`).
    Sh(usize),
}

impl Baseline {
    /// The features of each place in degrees, one row per place. The seed matters to the random
    /// features alone.
    ///
    /// # Errors
    /// A point that is none, or a parameter out of range.
    pub fn encode(&self, lon: &[f64], lat: &[f64], seed: u64) -> Result<Array2<f32>> {
        check_points(lon, lat)?;
        match *self {
            Self::LonLat => per_place(lon, lat, |x, y, out| out.extend([x / PI, 2.0 * y / PI])),
            Self::Cartesian => per_place(lon, lat, |x, y, out| {
                out.extend([y.cos() * x.cos(), y.cos() * x.sin(), y.sin()]);
            }),
            Self::Wrap => per_place(lon, lat, |x, y, out| {
                out.extend([x.sin(), x.cos(), (2.0 * y).sin(), (2.0 * y).cos()]);
            }),
            Self::Grid(scales) => {
                let factors = scales.factors()?;
                per_place(lon, lat, |x, y, out| grid(&factors, x, y, out))
            }
            Self::Theory(scales) => {
                let factors = scales.factors()?;
                let half = 3f64.sqrt() / 2.0;
                per_place(lon, lat, |x, y, out| {
                    for along in [x, -0.5 * x + half * y, -0.5 * x - half * y] {
                        out.extend(
                            factors.iter().flat_map(|f| [(f * along).sin(), (f * along).cos()]),
                        );
                    }
                })
            }
            Self::SphereC(scales) => {
                let factors = scales.factors()?;
                per_place(lon, lat, |x, y, out| sphere_c(&factors, x, y, out))
            }
            Self::SphereCPlus(scales) => {
                let factors = scales.factors()?;
                per_place(lon, lat, |x, y, out| {
                    sphere_c(&factors, x, y, out);
                    grid(&factors, x, y, out);
                })
            }
            Self::SphereM(scales) => {
                let factors = scales.factors()?;
                per_place(lon, lat, |x, y, out| sphere_m(&factors, x, y, out))
            }
            Self::SphereMPlus(scales) => {
                let factors = scales.factors()?;
                per_place(lon, lat, |x, y, out| {
                    sphere_m(&factors, x, y, out);
                    grid(&factors, x, y, out);
                })
            }
            Self::PlanarRff { features, length_deg } => {
                positive("length_deg", length_deg)?;
                let waves = planar_waves(features, length_deg.to_radians(), seed);
                let scale = (2.0 / features.max(1) as f64).sqrt();
                per_place(lon, lat, |x, y, out| {
                    out.extend(waves.iter().map(|[a, b, c]| scale * (a * x + b * y + c).cos()));
                })
            }
            Self::SphericalRff { features, kappa, nu, max_degree } => {
                positive("kappa", kappa)?;
                positive("nu", nu)?;
                if max_degree > MAX_DEGREE {
                    return Err(Error::usage(format!("degree {max_degree} is above {MAX_DEGREE}")));
                }
                let zones = zones(features, kappa, nu, max_degree, seed);
                per_place(lon, lat, |x, y, out| {
                    let place = unit(x.to_degrees(), y.to_degrees());
                    out.extend(zones.iter().map(|(pole, l)| {
                        let amplitude = ((2 * l + 1) as f64 / features as f64).sqrt();
                        amplitude * legendre_pair(*l, dot(*pole, place)).1
                    }));
                })
            }
            Self::Wavelets { centres, width_deg } => {
                positive("width_deg", width_deg)?;
                let centres = spread(centres);
                let sharpness = width_deg.to_radians().powi(-2);
                per_place(lon, lat, |x, y, out| {
                    let place = unit(x.to_degrees(), y.to_degrees());
                    out.extend(centres.iter().map(|c| (sharpness * (dot(*c, place) - 1.0)).exp()));
                })
            }
            Self::Sh(degrees) => sh_features(degrees, lon, lat),
        }
    }

    /// The name that tables use.
    pub fn name(&self) -> String {
        match self {
            Self::LonLat => "lon/lat".into(),
            Self::Cartesian => "Cartesian".into(),
            Self::Wrap => "wrap".into(),
            Self::Grid(scales) => format!("grid {}", scales.min),
            Self::Theory(scales) => format!("theory {}", scales.min),
            Self::SphereC(scales) => format!("SphereC {}", scales.min),
            Self::SphereCPlus(scales) => format!("SphereC+ {}", scales.min),
            Self::SphereM(scales) => format!("SphereM {}", scales.min),
            Self::SphereMPlus(scales) => format!("SphereM+ {}", scales.min),
            Self::PlanarRff { features, .. } => format!("planar RFF {features}"),
            Self::SphericalRff { features, .. } => format!("spherical RFF {features}"),
            Self::Wavelets { centres, .. } => format!("wavelets {centres}"),
            Self::Sh(degrees) => format!("SH {degrees}"),
        }
    }
}

fn positive(name: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::usage(format!("{name} is {value}, where a number above 0 is wanted")).in_field(name))
}

// Rows of equal length, made from radians.
fn per_place(
    lon: &[f64],
    lat: &[f64],
    encode: impl Fn(f64, f64, &mut Vec<f64>) + Sync,
) -> Result<Array2<f32>> {
    let rows: Vec<Vec<f64>> = lon
        .par_iter()
        .zip(lat)
        .map(|(lon, lat)| {
            let mut row = Vec::new();
            encode(lon.to_radians(), lat.to_radians(), &mut row);
            row
        })
        .collect();
    let columns = rows.first().map_or(0, Vec::len);
    let values = rows.into_iter().flatten().map(|value| value as f32).collect();
    Array2::from_shape_vec((lon.len(), columns), values)
        .map_err(|error| Error::internal(error.to_string()))
}

fn grid(factors: &[f64], x: f64, y: f64, out: &mut Vec<f64>) {
    for f in factors {
        out.extend([(f * x).sin(), (f * x).cos(), (f * y).sin(), (f * y).cos()]);
    }
}

fn sphere_c(factors: &[f64], x: f64, y: f64, out: &mut Vec<f64>) {
    for f in factors {
        let (x, y) = (f * x, f * y);
        out.extend([y.sin(), y.cos() * x.cos(), y.cos() * x.sin()]);
    }
}

fn sphere_m(factors: &[f64], x: f64, y: f64, out: &mut Vec<f64>) {
    for f in factors {
        let (fine_x, fine_y) = (f * x, f * y);
        out.extend([
            fine_y.sin(),
            fine_y.cos() * x.cos(),
            y.cos() * fine_x.cos(),
            fine_y.cos() * x.sin(),
            y.cos() * fine_x.sin(),
        ]);
    }
}

// Two normal frequencies and a phase each.
fn planar_waves(features: usize, length: f64, seed: u64) -> Vec<[f64; 3]> {
    let mut rng = rng::stream(seed, "planar waves");
    (0..features)
        .map(|_| {
            let (u, v): (f64, f64) = (rng.random(), rng.random());
            let radius = (-2.0 * (1.0 - u).ln()).sqrt() / length;
            let (sin, cos) = (2.0 * PI * v).sin_cos();
            [radius * cos, radius * sin, 2.0 * PI * rng.random::<f64>()]
        })
        .collect()
}

// Poles spread at random, each with a degree drawn from the Matérn spectrum.
fn zones(
    features: usize,
    kappa: f64,
    nu: f64,
    max_degree: usize,
    seed: u64,
) -> Vec<([f64; 3], usize)> {
    let weight = |l: usize| {
        let l = l as f64;
        (2.0 * l + 1.0) / (kappa * kappa + l * (l + 1.0)).powf(nu + 1.0)
    };
    let mut sums = Vec::with_capacity(max_degree + 1);
    let mut total = 0.0;
    for l in 0..=max_degree {
        total += weight(l);
        sums.push(total);
    }
    let mut rng = rng::stream(seed, "zones");
    (0..features)
        .map(|_| {
            let z = rng.random_range(-1.0..1.0f64);
            let pole = unit(rng.random_range(-180.0..180.0), z.asin().to_degrees());
            let mark = total * rng.random::<f64>();
            (pole, sums.partition_point(|sum| *sum <= mark).min(max_degree))
        })
        .collect()
}

// Points of a Fibonacci lattice.
fn spread(n: usize) -> Vec<[f64; 3]> {
    let golden = 180.0 * (5f64.sqrt() - 1.0);
    (0..n)
        .map(|i| {
            let z = 1.0 - (2 * i + 1) as f64 / n as f64;
            unit((golden * i as f64).rem_euclid(360.0), z.asin().to_degrees())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_encoder_has_its_known_width_and_bounds() {
        let scales = Scales::default();
        let all = [
            (Baseline::LonLat, 2),
            (Baseline::Cartesian, 3),
            (Baseline::Wrap, 4),
            (Baseline::Grid(scales), 64),
            (Baseline::Theory(scales), 96),
            (Baseline::SphereC(scales), 48),
            (Baseline::SphereCPlus(scales), 112),
            (Baseline::SphereM(scales), 80),
            (Baseline::SphereMPlus(scales), 144),
            (Baseline::PlanarRff { features: 30, length_deg: 5.0 }, 30),
            (Baseline::SphericalRff { features: 30, kappa: 8.0, nu: 1.5, max_degree: 60 }, 30),
            (Baseline::Wavelets { centres: 30, width_deg: 20.0 }, 30),
            (Baseline::Sh(5), 25),
        ];
        let (lon, lat) = ([-122.4, 0.0, 139.7], [37.8, 0.0, 35.7]);
        for (baseline, width) in all {
            let features = baseline.encode(&lon, &lat, 1).unwrap();
            assert_eq!(features.dim(), (3, width), "{}", baseline.name());
            assert!(features.iter().all(|value| value.is_finite() && value.abs() < 4.0));
            assert_eq!(features, baseline.encode(&lon, &lat, 1).unwrap());
        }
    }

    #[test]
    fn the_frequencies_run_from_the_longest_to_the_shortest_wave() {
        let factors = Scales { count: 3, min: 0.1, max: 10.0 }.factors().unwrap();
        for (found, right) in factors.iter().zip([10.0, 1.0, 0.1]) {
            assert!((found - right).abs() < 1e-12);
        }
        let error = Baseline::Grid(Scales { min: 0.0, ..Scales::default() })
            .encode(&[0.0], &[0.0], 0)
            .unwrap_err();
        assert_eq!(error.to_string(), "16 scales from 0 to 360 are asked for");
    }

    #[test]
    fn products_of_random_zonal_features_approach_their_kernel() {
        let (lon, lat) = ([0.0, 20.0], [10.0, 25.0]);
        let baseline =
            Baseline::SphericalRff { features: 40_000, kappa: 4.0, nu: 1.5, max_degree: 40 };
        let features = baseline.encode(&lon, &lat, 5).unwrap();
        let product: f32 = features.row(0).dot(&features.row(1));
        let weight = |l: usize| (2 * l + 1) as f64 / ((16 + l * (l + 1)) as f64).powf(2.5);
        let total: f64 = (0..=40).map(weight).sum();
        let t = dot(unit(0.0, 10.0), unit(20.0, 25.0));
        let right: f64 = (0..=40).map(|l| weight(l) / total * legendre_pair(l, t).1).sum();
        assert!((f64::from(product) - right).abs() < 0.03, "{product} {right}");
    }
}
