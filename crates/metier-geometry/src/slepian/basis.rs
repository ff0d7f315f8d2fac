//! The Slepian functions of a region: what they are, how many, and their values anywhere.

use super::cap::{Cap, CapBasis, CapMode, Parity};
use super::dual::DualBasis;
use super::harmonics::{Harmonics, MAX_DEGREE};
use super::nodes::Nodes;
use super::region::Region;
use crate::quadrature::gauss_legendre;
use crate::sphere::check_points;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use metier_core::error::Kind;
use metier_core::{Error, Progress, Result, Silent};
use ndarray::{Array2, ArrayView2};
use std::f64::consts::PI;

/// The band-limited functions of degrees 0 to L that are most concentrated in a region, each of
/// unit norm on the sphere and orthogonal to the others, by falling concentration.
///
/// ```
/// use metier_geometry::slepian::{Region, SlepianBasis};
/// let basis = SlepianBasis::new(&Region::cap(-119.5, 37.0, 7.5), 40, 0.05, 800)?;
/// assert_eq!(basis.len(), 12);
/// assert!((basis.lambda()[0] - 0.9975607457).abs() < 1e-9);
/// let features = basis.evaluate(&[-122.4], &[37.77])?;
/// assert_eq!(features.dim(), (1, 12));
/// # Ok::<(), metier_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SlepianBasis {
    l: usize,
    shannon: f64,
    lambda: Vec<f64>,
    pub(super) parts: Vec<Part>,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Cap(CapBasis),
    Dual(Box<DualBasis>),
}

impl Part {
    fn evaluate<T: Copy + Send + Sync + Default>(
        &self,
        lon: &[f64],
        lat: &[f64],
        convert: impl Fn(f64) -> T + Sync,
    ) -> Array2<T> {
        match self {
            Part::Cap(basis) => basis.evaluate(lon, lat, convert),
            Part::Dual(basis) => basis.evaluate(lon, lat, convert),
        }
    }
}

impl SlepianBasis {
    /// The functions of degrees up to `l` with more than the share `thresh` of their energy inside
    /// the region. A cap is solved exactly, a box or polygon by quadrature nodes; several caps keep
    /// functions of their own, one cap after the other.
    ///
    /// # Errors
    /// A region that does not validate; `l` of 0 or above [`MAX_DEGREE`]; a threshold outside
    /// [0, 1); no function above the threshold; more than `max_modes` functions.
    pub fn new(region: &Region, l: usize, thresh: f64, max_modes: usize) -> Result<Self> {
        Self::new_with_progress(region, l, thresh, max_modes, &Silent)
    }

    /// [`new`](Self::new), for regions and degrees that take long.
    ///
    /// # Errors
    /// As there, or a request to stop.
    pub fn new_with_progress(
        region: &Region,
        l: usize,
        thresh: f64,
        max_modes: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        region.validate()?;
        check_bandwidth(l, region.share()?)?;
        check_threshold(thresh)?;
        let caps = match region {
            Region::Cap(cap) => std::slice::from_ref(cap),
            Region::Caps(caps) => caps.as_slice(),
            Region::Box { .. } => {
                let nodes = Nodes::inside(region, l)?;
                return Self::of_nodes(&nodes, l, thresh, max_modes, progress);
            }
            Region::Polygon(_) => return Self::of_outline(region, l, thresh, max_modes, progress),
        };
        let mut parts = Vec::with_capacity(caps.len());
        let mut found = 0;
        for cap in caps {
            let basis = CapBasis::new(*cap, l, thresh, (found, max_modes), progress)?;
            found += basis.modes.len();
            parts.push(Part::Cap(basis));
        }
        let shannon = caps.iter().map(|cap| shannon_number(l, cap.share())).sum();
        Ok(Self::of_parts(l, shannon, parts))
    }

    // The usual nodes are enough for nearly every outline. What shows that they are not is a function
    // that would keep more than all of its energy, or fewer than four nodes per function; then finer
    // ones are taken.
    fn of_outline(
        region: &Region,
        l: usize,
        thresh: f64,
        max_modes: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let usual = Nodes::inside(region, l)?;
        let found = Self::of_nodes(&usual, l, thresh, max_modes, progress);
        let enough = match &found {
            Ok(basis) => usual.len() >= 4 * basis.len(),
            Err(error) => error.kind() != Kind::Numeric,
        };
        if enough {
            return found;
        }
        Self::of_nodes(&Nodes::inside(region, 2 * l)?, l, thresh, max_modes, progress)
    }

    /// The functions of the region that these quadrature nodes stand for, by the dual problem.
    ///
    /// # Errors
    /// As [`new`](Self::new); nodes that differ in number or hold a weight that is not positive; too
    /// few nodes for `l`.
    pub fn from_nodes(nodes: &Nodes, l: usize, thresh: f64, max_modes: usize) -> Result<Self> {
        Self::of_nodes(nodes, l, thresh, max_modes, &Silent)
    }

    fn of_nodes(
        nodes: &Nodes,
        l: usize,
        thresh: f64,
        max_modes: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        check_points(&nodes.lon, &nodes.lat)?;
        let area: f64 = nodes.weights.iter().sum();
        if nodes.len() != nodes.lon.len()
            || !nodes.weights.iter().all(|w| *w > 0.0 && w.is_finite())
        {
            return Err(Error::input("every quadrature node needs one positive weight"));
        }
        check_bandwidth(l, area / (4.0 * PI))?;
        check_threshold(thresh)?;
        let basis = DualBasis::new(nodes, l, thresh, max_modes, progress)?;
        Ok(Self::of_parts(l, basis.shannon, vec![Part::Dual(Box::new(basis))]))
    }

    pub(super) fn of_parts(l: usize, shannon: f64, parts: Vec<Part>) -> Self {
        let lambda = parts
            .iter()
            .flat_map(|part| match part {
                Part::Cap(basis) => basis.modes.iter().map(|mode| mode.lambda).collect(),
                Part::Dual(basis) => basis.lambda.clone(),
            })
            .collect();
        Self { l, shannon, lambda, parts }
    }

    /// The number of functions.
    pub fn len(&self) -> usize {
        self.lambda.len()
    }

    /// Whether there are none; a basis always has one.
    pub fn is_empty(&self) -> bool {
        self.lambda.is_empty()
    }

    /// The largest degree, L.
    pub fn bandwidth(&self) -> usize {
        self.l
    }

    /// The share of each function's energy that lies inside the region. Falling, except that
    /// several caps follow each other.
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// The Shannon number `(L + 1)^2 A / (4 pi)`: the sum of all lambdas, and about how many
    /// functions are well concentrated.
    pub fn shannon(&self) -> f64 {
        self.shannon
    }

    /// Half the wavelength of the highest degree, in kilometres.
    pub fn resolution_km(&self) -> f64 {
        resolution_km(self.l)
    }

    /// The functions of a cap with their orders; empty for other regions.
    pub fn cap_modes(&self) -> Vec<(Cap, CapMode)> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Cap(basis) => basis.modes.iter().map(|mode| (basis.cap, *mode)).collect(),
                Part::Dual(_) => Vec::new(),
            })
            .collect()
    }

    /// The names of the functions: `slep_m3c_k0` for a cap (order 3, cosine, most concentrated),
    /// `slep_k0` for other regions, with the cap's number in front where there are several.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.len());
        for (number, part) in self.parts.iter().enumerate() {
            let prefix =
                if self.parts.len() > 1 { format!("slep{number}") } else { "slep".to_owned() };
            match part {
                Part::Cap(basis) => names.extend(basis.modes.iter().map(|mode| {
                    let parity = match mode.parity {
                        _ if mode.order == 0 => "",
                        Parity::Cos => "c",
                        Parity::Sin => "s",
                    };
                    format!("{prefix}_m{}{parity}_k{}", mode.order, mode.index)
                })),
                Part::Dual(basis) => {
                    names.extend((0..basis.lambda.len()).map(|k| format!("{prefix}_k{k}")));
                }
            }
        }
        names
    }

    /// Every function at every place in degrees, one row per place.
    ///
    /// # Errors
    /// Unequal numbers of longitudes and latitudes, or a point that is none.
    pub fn evaluate(&self, lon: &[f64], lat: &[f64]) -> Result<Array2<f32>> {
        self.evaluate_as(lon, lat, |value| value as f32)
    }

    /// [`evaluate`](Self::evaluate) with all digits.
    ///
    /// # Errors
    /// As there.
    pub fn evaluate_f64(&self, lon: &[f64], lat: &[f64]) -> Result<Array2<f64>> {
        self.evaluate_as(lon, lat, |value| value)
    }

    fn evaluate_as<T: Copy + Send + Sync + Default>(
        &self,
        lon: &[f64],
        lat: &[f64],
        convert: impl Fn(f64) -> T + Sync,
    ) -> Result<Array2<T>> {
        check_points(lon, lat)?;
        if let [part] = self.parts.as_slice() {
            return Ok(part.evaluate(lon, lat, convert));
        }
        let parts: Vec<Array2<T>> =
            self.parts.iter().map(|part| part.evaluate(lon, lat, &convert)).collect();
        Ok(beside(&parts, lon.len()))
    }

    /// The coefficients of each function over the harmonics of the geographic frame, one row per
    /// harmonic in the order `l^2 + l + m`, for use in other programs.
    ///
    /// # Errors
    /// More coefficients than fit into 8 GB.
    pub fn coefficients(&self) -> Result<Array2<f64>> {
        self.coefficients_with_progress(&Silent)
    }

    /// [`coefficients`](Self::coefficients), which take long at high degrees.
    ///
    /// # Errors
    /// As there, or a request to stop.
    pub fn coefficients_with_progress(&self, progress: &dyn Progress) -> Result<Array2<f64>> {
        let rows = (self.l + 1) * (self.l + 1);
        let bytes = 8.0 * rows as f64 * self.len() as f64;
        // Values on a grid, their Fourier sums and the result are about five times the result.
        if bytes > 1.6e9 {
            return Err(Error::usage(format!(
                "{rows} coefficients of {} functions need {:.1} GB of memory",
                self.len(),
                5e-9 * bytes
            ))
            .help("lower L, or export the basis in the frame of its region"));
        }
        match self.parts.as_slice() {
            [Part::Dual(basis)] => basis.expand(progress),
            _ => self.analyse(progress),
        }
    }

    // Integrates each function against the harmonics: exact on a Gauss grid of L + 1 latitudes and
    // 2L + 2 longitudes.
    fn analyse(&self, progress: &dyn Progress) -> Result<Array2<f64>> {
        let (l, modes) = (self.l, self.len());
        let (mu, weights) = gauss_legendre(l + 1, -1.0, 1.0);
        let turns = 2 * l + 2;
        let lon: Vec<f64> = (0..turns).map(|j| 360.0 * j as f64 / turns as f64 - 180.0).collect();
        let orders = Harmonics::new(l + 1)?;
        // cos m phi for m = 0..=L, then sin m phi for m = 1..=L.
        let waves = Mat::from_fn(turns, 2 * l + 1, |j, column| {
            let m = if column <= l { column } else { column - l };
            let (sin, cos) = (lon[j].to_radians() * m as f64).sin_cos();
            2.0 * PI / turns as f64 * if column <= l { cos } else { sin }
        });
        let mut result = Array2::zeros(((l + 1) * (l + 1), modes));
        progress.begin("coefficients", Some(mu.len() as u64));
        for (mu, weight) in mu.iter().zip(&weights) {
            progress.check()?;
            let lat = vec![mu.asin().to_degrees(); turns];
            let values = self.evaluate_f64(&lon, &lat)?;
            let mut sums = Mat::<f64>::zeros(modes, 2 * l + 1);
            let view = matrix(values.view())?;
            matmul(&mut sums, Accum::Replace, view.transpose(), &waves, *weight, Par::rayon(0));
            // The harmonics on the meridian of longitude 0 are X_lm, with the sqrt2 of m > 0.
            let legendre = orders.evaluate(&[0.0], &lat[..1], |value| value);
            for degree in 0..=l {
                for m in 0..=degree {
                    let x = legendre[[0, degree * degree + degree + m]];
                    let mut row = result.row_mut(degree * degree + degree + m);
                    row.iter_mut().enumerate().for_each(|(k, value)| *value += x * sums[(k, m)]);
                    if m > 0 {
                        let mut row = result.row_mut(degree * degree + degree - m);
                        row.iter_mut()
                            .enumerate()
                            .for_each(|(k, value)| *value += x * sums[(k, l + m)]);
                    }
                }
            }
            progress.advance(1);
        }
        progress.finish();
        Ok(result)
    }

    /// What a user should know about the basis, such as a region smaller than one function.
    pub fn warnings(&self) -> Vec<String> {
        if self.shannon >= 1.0 {
            return Vec::new();
        }
        let share = self.shannon / ((self.l + 1) * (self.l + 1)) as f64;
        vec![format!(
            "the region is smaller than one function (Shannon number {:.3}): L = {} would give 10",
            self.shannon,
            bandwidth_for(10.0, share)
        )]
    }
}

/// The Shannon number of a region that covers `share` of the sphere: `(L + 1)^2 share`.
pub fn shannon_number(l: usize, share: f64) -> f64 {
    (l as f64 + 1.0).powi(2) * share
}

/// The smallest L with a Shannon number of at least `wanted`.
pub fn bandwidth_for(wanted: f64, share: f64) -> usize {
    ((wanted / share).sqrt() - 1.0).ceil().max(1.0) as usize
}

/// Half the wavelength of degree L, in kilometres.
pub fn resolution_km(l: usize) -> f64 {
    20015.0 / l as f64
}

fn matrix(view: ArrayView2<'_, f64>) -> Result<MatRef<'_, f64>> {
    let (rows, columns) = view.dim();
    // Every array of this crate is in row-major order.
    let slice =
        view.to_slice().ok_or_else(|| Error::internal("an array is not in row-major order"))?;
    Ok(MatRef::from_row_major_slice(slice, rows, columns))
}

/// Arrays with the same number of rows, side by side.
pub(super) fn beside<T: Copy + Default>(parts: &[Array2<T>], rows: usize) -> Array2<T> {
    let columns: usize = parts.iter().map(Array2::ncols).sum();
    let mut all = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        parts.iter().for_each(|part| all.extend(part.row(row)));
    }
    Array2::from_shape_vec((rows, columns), all).unwrap_or_default()
}

pub(super) fn too_many(shannon: f64, counted: usize, max_modes: usize) -> Error {
    let expected = (counted as f64).max(shannon);
    Error::usage(format!(
        "the basis has more than {max_modes} functions (about {expected:.0}): a million places \
         would take {:.1} GB of memory",
        4e-3 * expected
    ))
    .in_field("max_modes")
    .help("raise max_modes if you mean it, lower L, or raise thresh")
}

fn check_bandwidth(l: usize, share: f64) -> Result<()> {
    if (1..=MAX_DEGREE).contains(&l) {
        return Ok(());
    }
    let error = Error::usage(if l == 0 {
        "L is 0, which leaves one constant function".into()
    } else {
        let functions = shannon_number(l, share);
        format!(
            "L is {l}, where at most {MAX_DEGREE} can be had; its {functions:.0} functions would \
             take {:.1} GB of memory for a million places",
            4e-3 * functions
        )
    });
    Err(error.in_field("L").help(format!("take 1 to {MAX_DEGREE}, which resolves 10 km")))
}

fn check_threshold(thresh: f64) -> Result<()> {
    if (0.0..1.0).contains(&thresh) {
        return Ok(());
    }
    Err(Error::usage(format!("thresh is {thresh}, where a share from 0 to below 1 is wanted"))
        .in_field("thresh"))
}
