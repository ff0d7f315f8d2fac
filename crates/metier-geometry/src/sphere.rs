//! Places on the unit sphere: checks, unit vectors, rotations, the smallest cap around points.

use metier_core::{Error, Result, rng};
use rand::seq::SliceRandom;

/// The length of one degree of a great circle, in kilometres.
pub const KM_PER_DEGREE: f64 = 20015.0 / 180.0;

/// A longitude or latitude that is none.
#[derive(Clone, Debug, PartialEq)]
pub struct BadPoint {
    /// The index of the point, from 0.
    pub index: usize,
    /// `lon` or `lat`.
    pub field: &'static str,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: &'static str,
}

impl BadPoint {
    /// The error of an array, where rows count from 1.
    pub fn into_error(self) -> Error {
        Error::input(self.message)
            .at_row(self.index as u64 + 1)
            .in_field(self.field)
            .help(self.help)
    }
}

/// The first point that is no place on the earth: a missing value, a latitude outside [-90, 90], a
/// longitude outside [-360, 360].
pub fn first_bad_point(lon: &[f64], lat: &[f64]) -> Option<BadPoint> {
    let index =
        lon.iter().zip(lat).position(|(lon, lat)| !(lon.abs() <= 360.0 && lat.abs() <= 90.0))?;
    let (lon, lat) = (lon[index], lat[index]);
    let swapped = "are the longitude and latitude columns swapped?";
    let finite = lon.is_finite() && lat.is_finite();
    let (field, message, help) = if finite && lat.abs() > 90.0 {
        let help = if lat.abs() <= 360.0 && lon.abs() <= 90.0 {
            swapped
        } else {
            "latitudes are degrees north, from -90 to 90"
        };
        ("lat", format!("latitude {lat} is outside [-90, 90]"), help)
    } else if finite {
        let help = "longitudes are degrees east, from -360 to 360";
        ("lon", format!("longitude {lon} is outside [-360, 360]"), help)
    } else {
        let field = if lon.is_finite() { "lat" } else { "lon" };
        (
            field,
            "the value is missing or not finite".into(),
            "leave the row out, or fill the value in",
        )
    };
    Some(BadPoint { index, field, message, help })
}

/// Checks that as many longitudes as latitudes are given and that each pair is a place.
///
/// # Errors
/// An input error that names the first row at fault.
pub fn check_points(lon: &[f64], lat: &[f64]) -> Result<()> {
    if lon.len() != lat.len() {
        return Err(Error::input(format!(
            "{} longitudes are given for {} latitudes",
            lon.len(),
            lat.len()
        )));
    }
    first_bad_point(lon, lat).map_or(Ok(()), |bad| Err(bad.into_error()))
}

/// The unit vector of a place in degrees: x towards (0, 0), y towards (90 E, 0), z to the north.
pub fn unit(lon: f64, lat: f64) -> [f64; 3] {
    let (sin_lon, cos_lon) = lon.to_radians().sin_cos();
    let (sin_lat, cos_lat) = lat.to_radians().sin_cos();
    [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat]
}

/// Longitude and latitude, in degrees, of a vector of any length but zero.
pub fn lon_lat(v: [f64; 3]) -> (f64, f64) {
    let lon = v[1].atan2(v[0]).to_degrees();
    (lon, v[2].atan2(v[0].hypot(v[1])).to_degrees())
}

/// The scalar product.
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The angle between two vectors, in degrees; exact for near and for opposite ones.
pub fn angle(a: [f64; 3], b: [f64; 3]) -> f64 {
    let c = cross(a, b);
    dot(c, c).sqrt().atan2(dot(a, b)).to_degrees()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The rotation that takes a centre to the north pole: about the axis by its longitude, then by its
/// colatitude.
#[derive(Clone, Copy, Debug)]
pub struct ToPole {
    lon: f64,
    sin: f64,
    cos: f64,
}

impl ToPole {
    /// The rotation that takes this place, in degrees, to the pole.
    pub fn new(lon: f64, lat: f64) -> Self {
        // The sine and cosine of the colatitude.
        let (cos, sin) = lat.to_radians().sin_cos();
        Self { lon, sin, cos }
    }

    /// No rotation.
    pub fn identity() -> Self {
        Self { lon: 0.0, sin: 0.0, cos: 1.0 }
    }

    /// The rotated unit vector of a place in degrees.
    pub fn apply(&self, lon: f64, lat: f64) -> [f64; 3] {
        let [x, y, z] = unit(lon - self.lon, lat);
        [x * self.cos - z * self.sin, y, x * self.sin + z * self.cos]
    }
}

/// The smallest cap that holds all points: longitude and latitude of its centre and its radius, in
/// degrees. `None` without points, or when no half of the sphere holds them all.
///
/// Welzl's randomized incremental construction, linear in the number of points.
pub fn smallest_cap(lon: &[f64], lat: &[f64]) -> Option<(f64, f64, f64)> {
    let mut points: Vec<[f64; 3]> =
        lon.iter().zip(lat).map(|(lon, lat)| unit(*lon, *lat)).collect();
    points.shuffle(&mut rng::stream(0, "smallest cap"));
    let mut cap = Ball::around(&[*points.first()?]);
    for i in 1..points.len() {
        if cap.holds(points[i]) {
            continue;
        }
        cap = Ball::around(&[points[i]]);
        for j in 0..i {
            if cap.holds(points[j]) {
                continue;
            }
            cap = Ball::around(&[points[i], points[j]]);
            for k in 0..j {
                if !cap.holds(points[k]) {
                    cap = Ball::around(&[points[i], points[j], points[k]]);
                }
            }
        }
    }
    let length = dot(cap.centre, cap.centre).sqrt();
    // Points spread over more than a half have their smallest ball around the sphere's centre.
    let outside = |point: &[f64; 3]| {
        squared_distance(*point, cap.centre) > cap.squared_radius * (1.0 + 1e-6) + 1e-20
    };
    if length < 1e-9 || points.iter().any(outside) {
        return None;
    }
    let centre = cap.centre.map(|c| c / length);
    let radius = points.iter().map(|point| angle(centre, *point)).fold(0.0, f64::max);
    let (lon, lat) = lon_lat(centre);
    Some((lon, lat, radius))
}

// The smallest ball in space with the given points of the sphere on its border. Its cut with the
// sphere is the smallest cap, as long as that is smaller than a half.
struct Ball {
    centre: [f64; 3],
    squared_radius: f64,
}

impl Ball {
    fn around(border: &[[f64; 3]]) -> Self {
        let centre = match border {
            [a] => *a,
            [a, b] => [0, 1, 2].map(|i| 0.5 * (a[i] + b[i])),
            [a, b, c, ..] => circumcentre(*a, *b, *c),
            [] => [0.0; 3],
        };
        let squared_radius = border.first().map_or(0.0, |a| squared_distance(*a, centre));
        Self { centre, squared_radius }
    }

    fn holds(&self, point: [f64; 3]) -> bool {
        squared_distance(point, self.centre) <= self.squared_radius * (1.0 + 1e-12) + 1e-24
    }
}

// The point of the plane through three points of the sphere that is nearest to the sphere's centre.
fn circumcentre(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> [f64; 3] {
    let minus = |p: [f64; 3]| [0, 1, 2].map(|i| p[i] - a[i]);
    let normal = cross(minus(b), minus(c));
    let square = dot(normal, normal);
    if square < 1e-300 {
        return Ball::around(&[a, b]).centre;
    }
    let scale = dot(normal, a) / square;
    normal.map(|n| n * scale)
}

fn squared_distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| (a[i] - b[i]).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bad_points_are_named_with_their_row() {
        let message = |lon: &[f64], lat: &[f64]| {
            let error = check_points(lon, lat).unwrap_err();
            (error.to_string(), error.help_text().unwrap_or_default().to_owned())
        };
        let (text, help) = message(&[10.0, 37.0], &[10.0, -122.4]);
        assert_eq!(text, "row 2, lat: latitude -122.4 is outside [-90, 90]");
        assert_eq!(help, "are the longitude and latitude columns swapped?");
        let (text, help) = message(&[200.0], &[95.0]);
        assert_eq!(text, "row 1, lat: latitude 95 is outside [-90, 90]");
        assert_eq!(help, "latitudes are degrees north, from -90 to 90");
        let (text, _) = message(&[361.0], &[0.0]);
        assert_eq!(text, "row 1, lon: longitude 361 is outside [-360, 360]");
        let (text, _) = message(&[0.0, 1.0, 2.0], &[0.0, 1.0, f64::NAN]);
        assert_eq!(text, "row 3, lat: the value is missing or not finite");
        let error = check_points(&[0.0], &[]).unwrap_err();
        assert_eq!(error.to_string(), "1 longitudes are given for 0 latitudes");
    }

    #[test]
    fn points_all_over_have_no_smallest_cap() {
        let lon = [0.0, 90.0, 180.0, -90.0, 0.0, 0.0];
        let lat = [0.0, 0.0, 0.0, 0.0, 90.0, -90.0];
        assert_eq!(smallest_cap(&lon, &lat), None);
        assert_eq!(smallest_cap(&[], &[]), None);
    }

    #[test]
    fn a_cap_spans_the_date_line() {
        let (lon, lat, radius) = smallest_cap(&[179.0, -179.0], &[0.0, 0.0]).unwrap();
        assert!(
            (lon.abs() - 180.0).abs() < 1e-9 && lat.abs() < 1e-9 && (radius - 1.0).abs() < 1e-9
        );
    }

    proptest! {
        #[test]
        fn the_smallest_cap_holds_all_and_is_no_larger_than_the_one_they_came_from(
            lon in -180.0..180.0f64, lat in -90.0..90.0f64, radius in 0.5..80.0f64, seed in 0..1000u64,
        ) {
            use rand::RngExt;
            let mut rng = rng::stream(seed, "points");
            let north = ToPole::new(lon, lat);
            let (mut lons, mut lats) = (Vec::new(), Vec::new());
            while lons.len() < 60 {
                let (x, y) = (rng.random_range(-180.0..180.0), rng.random_range(-90.0..90.0));
                if angle(north.apply(x, y), [0.0, 0.0, 1.0]) < radius {
                    lons.push(x);
                    lats.push(y);
                } else if radius < 10.0 {
                    let near = |v: f64, rng: &mut rng::Rng| v + rng.random_range(-0.3..0.3) * radius;
                    let (x, y) = (near(lon, &mut rng), near(lat, &mut rng).clamp(-90.0, 90.0));
                    if angle(north.apply(x, y), [0.0, 0.0, 1.0]) < radius {
                        lons.push(x);
                        lats.push(y);
                    }
                }
            }
            let (clon, clat, found) = smallest_cap(&lons, &lats).unwrap();
            prop_assert!(found <= radius + 1e-6);
            let back = ToPole::new(clon, clat);
            for (x, y) in lons.iter().zip(&lats) {
                prop_assert!(angle(back.apply(*x, *y), [0.0, 0.0, 1.0]) <= found + 1e-6);
            }
        }
    }
}
