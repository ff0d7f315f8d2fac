//! The part of the earth that the functions are concentrated in.

use super::cap::Cap;
use super::polygon::Polygons;
use super::shape::Shape;
use crate::sphere::{ToPole, angle, smallest_cap};
use geo_types::MultiPolygon;
use metier_core::{Error, Result};
use metier_data::geo::Outlines;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::str::FromStr;

/// A region of the sphere, in degrees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Shape", into = "Shape")]
pub enum Region {
    /// A spherical cap.
    Cap(Cap),
    /// Several caps; each keeps functions of its own.
    Caps(Vec<Cap>),
    /// The rectangle from west to east and from south to north; west above east crosses the date
    /// line.
    Box {
        /// Western edge.
        w: f64,
        /// Southern edge.
        s: f64,
        /// Eastern edge.
        e: f64,
        /// Northern edge.
        n: f64,
    },
    /// Polygons with holes, whose edges are straight in longitude and latitude. What is inside is
    /// decided by the even–odd rule, so the direction of a ring does not matter; rings may cross the
    /// date line, and a ring around a pole takes in the pole that it is nearer to.
    Polygon(MultiPolygon<f64>),
}

impl Region {
    /// A cap, by its centre and radius in degrees.
    pub fn cap(lon: f64, lat: f64, radius_deg: f64) -> Self {
        Self::Cap(Cap { lon, lat, radius_deg })
    }

    /// The smallest cap around the points, with a radius a tenth larger.
    ///
    /// # Errors
    /// No points, a point that is none, or points on more than half of the earth.
    pub fn fit(lon: &[f64], lat: &[f64]) -> Result<Self> {
        crate::sphere::check_points(lon, lat)?;
        if lon.is_empty() {
            return Err(Error::input("no points are given to fit a region to"));
        }
        let (clon, clat, radius) = smallest_cap(lon, lat).ok_or_else(|| {
            Error::input("the points lie on more than half of the earth: no cap fits them")
                .in_field("region")
                .help("name a region, such as cap:10,50,20, or use the global harmonics alone")
        })?;
        // One place, however often, still gets a cap of some ten kilometres.
        Ok(Self::cap(clon, clat, (1.1 * radius).max(0.1)))
    }

    /// Checks the numbers of the region.
    ///
    /// # Errors
    /// A radius that is not above 0 and at most 180, an edge that is no longitude or latitude, a box
    /// without height or width, no caps, a polygon without area.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Cap(cap) => check_cap(cap),
            Self::Caps(caps) if caps.is_empty() => Err(wrong("no cap is given".into())),
            Self::Caps(caps) => caps.iter().try_for_each(check_cap),
            Self::Box { w, s, e, n } => {
                check_place(*w, *s)?;
                check_place(*e, *n)?;
                if s >= n {
                    return Err(wrong(format!("the box reaches from latitude {s} to {n}"))
                        .help("write box:w,s,e,n with the south below the north"));
                }
                if w == e {
                    return Err(wrong(format!("the box has no width: both edges lie at {w}")));
                }
                Ok(())
            }
            Self::Polygon(polygons) => Polygons::new(polygons).map(|_| ()),
        }
    }

    /// The share of the sphere that the region covers.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    pub fn share(&self) -> Result<f64> {
        self.validate()?;
        Ok(match self {
            Self::Cap(cap) => cap.share(),
            Self::Caps(caps) => caps.iter().map(Cap::share).sum(),
            Self::Box { w, s, e, n } => {
                let height = n.to_radians().sin() - s.to_radians().sin();
                width(*w, *e) / 360.0 * 0.5 * height
            }
            Self::Polygon(polygons) => {
                Polygons::new(polygons)?.area() / (4.0 * std::f64::consts::PI)
            }
        })
    }

    /// What was mended or needs saying about the region, such as a ring that crosses itself.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    pub fn notes(&self) -> Result<Vec<String>> {
        match self {
            Self::Polygon(polygons) => Ok(Polygons::new(polygons)?.notes()),
            _ => self.validate().map(|()| Vec::new()),
        }
    }

    /// Whether each place lies inside.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    pub fn contains(&self, lon: &[f64], lat: &[f64]) -> Result<Vec<bool>> {
        self.validate()?;
        let places = lon.iter().zip(lat);
        Ok(match self {
            Self::Cap(cap) => {
                let cap = InCap::new(cap);
                places.map(|(lon, lat)| cap.holds(*lon, *lat)).collect()
            }
            Self::Caps(caps) => {
                let caps: Vec<InCap> = caps.iter().map(InCap::new).collect();
                places.map(|(lon, lat)| caps.iter().any(|cap| cap.holds(*lon, *lat))).collect()
            }
            Self::Box { w, s, e, n } => {
                let width = width(*w, *e);
                places
                    .map(|(lon, lat)| {
                        (s..=n).contains(&lat) && (lon - w).rem_euclid(360.0) <= width
                    })
                    .collect()
            }
            Self::Polygon(polygons) => {
                let polygons = Polygons::new(polygons)?;
                let inside = |(lon, lat): (&f64, &f64)| polygons.contains(*lon, *lat);
                lon.par_iter().zip(lat).map(inside).collect()
            }
        })
    }

    /// The outline as lines of `(longitude, latitude)`, for drawing.
    pub fn outline(&self) -> Vec<Vec<(f64, f64)>> {
        match self {
            Self::Cap(cap) => vec![rim(cap)],
            Self::Caps(caps) => caps.iter().map(rim).collect(),
            Self::Box { w, s, e, n } => {
                let east = w + width(*w, *e);
                vec![vec![(*w, *s), (east, *s), (east, *n), (*w, *n), (*w, *s)]]
            }
            Self::Polygon(polygons) => polygons
                .iter()
                .flat_map(|polygon| std::iter::once(polygon.exterior()).chain(polygon.interiors()))
                .map(|ring| ring.coords().map(|place| (place.x, place.y)).collect())
                .collect(),
        }
    }
}

/// The width of a box in degrees, at most 360.
pub(super) fn width(w: f64, e: f64) -> f64 {
    if (e - w).abs() >= 360.0 { 360.0 } else { (e - w).rem_euclid(360.0) }
}

struct InCap {
    frame: ToPole,
    radius: f64,
}

impl InCap {
    fn new(cap: &Cap) -> Self {
        Self { frame: ToPole::new(cap.lon, cap.lat), radius: cap.radius_deg }
    }

    fn holds(&self, lon: f64, lat: f64) -> bool {
        angle(self.frame.apply(lon, lat), [0.0, 0.0, 1.0]) <= self.radius
    }
}

// The rim of a cap, in steps of three degrees.
fn rim(cap: &Cap) -> Vec<(f64, f64)> {
    let (sin_r, cos_r) = cap.radius_deg.to_radians().sin_cos();
    let (sin_lat, cos_lat) = cap.lat.to_radians().sin_cos();
    (0..=120)
        .map(|i| {
            let (sin_a, cos_a) = (3.0 * i as f64).to_radians().sin_cos();
            let lat = (sin_lat * cos_r + cos_lat * sin_r * cos_a).clamp(-1.0, 1.0).asin();
            let turn = (sin_a * sin_r * cos_lat).atan2(cos_r - sin_lat * lat.sin());
            (cap.lon + turn.to_degrees(), lat.to_degrees())
        })
        .collect()
}

fn wrong(message: String) -> Error {
    Error::usage(message).in_field("region")
}

fn check_place(lon: f64, lat: f64) -> Result<()> {
    crate::sphere::first_bad_point(&[lon], &[lat])
        .map_or(Ok(()), |bad| Err(wrong(bad.message).help(bad.help)))
}

fn check_cap(cap: &Cap) -> Result<()> {
    check_place(cap.lon, cap.lat)?;
    if cap.radius_deg > 0.0 && cap.radius_deg <= 180.0 {
        return Ok(());
    }
    Err(wrong(format!("the cap's radius is {} degrees", cap.radius_deg))
        .help("a radius is above 0 and at most 180 degrees; one degree is 111 km"))
}

/// A region as a user writes it: one that is given, or the one that fits the points.
///
/// `cap:lon,lat,radius` · `caps:lon,lat,radius;…` · `box:w,s,e,n` · `country:JP` ·
/// `file:outline.geojson` · `fit`
///
/// ```
/// use metier_geometry::slepian::{Region, RegionSpec};
/// let spec: RegionSpec = "cap:-119.5,37,7.5".parse()?;
/// assert_eq!(spec, RegionSpec::Given(Region::cap(-119.5, 37.0, 7.5)));
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum RegionSpec {
    /// The smallest cap around the points, a tenth wider.
    #[default]
    Fit,
    /// This region.
    Given(Region),
    /// This region, in whose outline something was mended when it was read.
    Mended {
        /// The region as it is now.
        region: Region,
        /// What was mended, for the user to know.
        notes: Vec<String>,
    },
}

impl RegionSpec {
    /// The region itself, for these points.
    ///
    /// # Errors
    /// As [`Region::fit`] or [`Region::validate`].
    pub fn resolve(&self, lon: &[f64], lat: &[f64]) -> Result<Region> {
        match self {
            Self::Fit => Region::fit(lon, lat),
            Self::Given(region) | Self::Mended { region, .. } => {
                region.validate().map(|()| region.clone())
            }
        }
    }

    /// What was mended when the region was read, such as a ring that was not closed.
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Mended { notes, .. } => notes,
            Self::Fit | Self::Given(_) => &[],
        }
    }
}

impl From<Outlines> for RegionSpec {
    fn from(outlines: Outlines) -> Self {
        let region = Region::Polygon(outlines.polygons);
        match outlines.notes {
            notes if notes.is_empty() => Self::Given(region),
            notes => Self::Mended { region, notes },
        }
    }
}

impl From<Region> for RegionSpec {
    fn from(region: Region) -> Self {
        Self::Given(region)
    }
}

const FORMS: &str = "write cap:lon,lat,radius, caps:lon,lat,radius;…, box:w,s,e,n, country:JP, \
                     file:outline.geojson or fit";

impl FromStr for RegionSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "fit" {
            return Ok(Self::Fit);
        }
        let (kind, rest) = text
            .split_once(':')
            .ok_or_else(|| wrong(format!("`{text}` is no region")).help(FORMS))?;
        let region = match kind.trim() {
            "cap" => Region::Cap(cap_of(rest)?),
            "caps" => Region::Caps(rest.split(';').map(cap_of).collect::<Result<_>>()?),
            "box" => {
                let [w, s, e, n] = numbers(rest, "box:w,s,e,n")?;
                Region::Box { w, s, e, n }
            }
            "country" => Region::Polygon(metier_data::geo::country(rest.trim())?),
            "file" => {
                let spec = Self::from(metier_data::geo::outlines(Path::new(rest))?);
                return spec.resolve(&[], &[]).map(|_| spec);
            }
            other => return Err(wrong(format!("`{other}` is no kind of region")).help(FORMS)),
        };
        region.validate()?;
        Ok(Self::Given(region))
    }
}

fn cap_of(text: &str) -> Result<Cap> {
    let [lon, lat, radius_deg] = numbers(text, "cap:lon,lat,radius")?;
    Ok(Cap { lon, lat, radius_deg })
}

fn numbers<const N: usize>(text: &str, form: &str) -> Result<[f64; N]> {
    let parsed: Vec<f64> = text
        .split(',')
        .map(|part| {
            let part = part.trim();
            part.parse().map_err(|_| wrong(format!("`{part}` is not a number")).help(form))
        })
        .collect::<Result<_>>()?;
    parsed
        .try_into()
        .map_err(|all: Vec<f64>| wrong(format!("{} numbers are given for {form}", all.len())))
}
