//! Encoders of places on the earth.

use crate::error::OrRaise;
use crate::watch::watched;
use metier_core::{Progress, Result};
use metier_data::geo::parse_outlines;
use metier_geometry::slepian::{
    Raster, RegionSpec, SlepianConfig, SlepianEncoder, sh_features, sh_names,
};
use ndarray::{Array2, s};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Encoder>()?;
    module.add_function(wrap_pyfunction!(spherical_harmonics, module)?)?;
    module.add_function(wrap_pyfunction!(spherical_harmonics_names, module)?)
}

type Floats<'py> = PyReadonlyArray1<'py, f64>;

/// A fitted encoder.
#[pyclass(frozen, module = "metier._metier")]
struct Encoder(SlepianEncoder);

#[pymethods]
impl Encoder {
    /// Fits an encoder. `outline` is GeoJSON or TopoJSON text that takes the place of `region`.
    #[staticmethod]
    #[pyo3(signature = (
        lon, lat, *, region, outline, l, thresh, max_modes, global_l, scale, raster, verbose
    ))]
    #[allow(clippy::too_many_arguments)]
    fn fit(
        py: Python<'_>,
        lon: Floats<'_>,
        lat: Floats<'_>,
        region: &str,
        outline: Option<&str>,
        l: usize,
        thresh: f64,
        max_modes: usize,
        global_l: usize,
        scale: bool,
        raster: Option<f64>,
        verbose: Option<bool>,
    ) -> PyResult<Self> {
        let region = match outline {
            Some(text) => RegionSpec::from(parse_outlines(text.as_bytes(), None).or_raise()?),
            None => region.parse().or_raise()?,
        };
        let raster = raster.map(|step_deg| Raster { step_deg });
        let config = SlepianConfig { region, l, thresh, max_modes, global_l, scale, raster };
        let (lon, lat) = (lon.as_slice()?, lat.as_slice()?);
        watched(py, verbose, |watch| SlepianEncoder::fit_with_progress(&config, lon, lat, watch))
            .map(Self)
    }

    /// The features of each place, float32, one row per place.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        lon: Floats<'py>,
        lat: Floats<'py>,
        verbose: Option<bool>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (lon, lat) = (lon.as_slice()?, lat.as_slice()?);
        let features =
            watched(py, verbose, |watch| self.0.transform_with_progress(lon, lat, watch))?;
        Ok(features.into_pyarray(py))
    }

    fn names(&self) -> Vec<String> {
        self.0.feature_names()
    }

    /// The share of each local function's energy inside the region.
    fn concentrations(&self) -> Vec<f64> {
        self.0.basis().lambda().to_vec()
    }

    fn shannon_number(&self) -> f64 {
        self.0.basis().shannon()
    }

    /// Half the wavelength of the highest degree, in kilometres.
    fn resolution_km(&self) -> f64 {
        self.0.basis().resolution_km()
    }

    fn warnings(&self) -> Vec<String> {
        self.0.warnings().to_vec()
    }

    /// How many of the places lie outside the region.
    fn outside(&self, py: Python<'_>, lon: Floats<'_>, lat: Floats<'_>) -> PyResult<usize> {
        let (lon, lat) = (lon.as_slice()?, lat.as_slice()?);
        py.detach(|| self.0.outside(lon, lat)).or_raise()
    }

    /// The outline of the region as lines of (longitude, latitude).
    fn outline(&self) -> Vec<Vec<(f64, f64)>> {
        self.0.region().outline()
    }

    /// Writes the encoder as a safetensors file that the program reads too.
    fn save(&self, path: std::path::PathBuf) -> PyResult<()> {
        self.0.save(&path).or_raise()
    }

    #[staticmethod]
    fn load(path: std::path::PathBuf) -> PyResult<Self> {
        SlepianEncoder::load(&path).or_raise().map(Self)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().0.to_bytes().or_raise()?;
        let class = py.get_type::<Self>();
        Ok((class.getattr("from_bytes")?, (PyBytes::new(py, &bytes),)))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        SlepianEncoder::from_bytes(bytes).or_raise().map(Self)
    }
}

/// The real spherical harmonics of the degrees below `l`, float32, one row per place.
#[pyfunction]
fn spherical_harmonics<'py>(
    py: Python<'py>,
    l: usize,
    lon: Floats<'py>,
    lat: Floats<'py>,
    verbose: Option<bool>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let (lon, lat) = (lon.as_slice()?, lat.as_slice()?);
    // A degree that is out of range is refused before memory is set aside for its columns.
    sh_features(l, &[], &[]).or_raise()?;
    let features = watched(py, verbose, |watch| {
        in_blocks(lon, lat, l * l, watch, |lon, lat| sh_features(l, lon, lat))
    })?;
    Ok(features.into_pyarray(py))
}

#[pyfunction]
fn spherical_harmonics_names(l: usize) -> Vec<String> {
    sh_names(l)
}

// Blocks, so that a long call shows how far it is and stops when asked.
fn in_blocks(
    lon: &[f64],
    lat: &[f64],
    columns: usize,
    watch: &dyn Progress,
    encode: impl Fn(&[f64], &[f64]) -> Result<Array2<f32>>,
) -> Result<Array2<f32>> {
    const BLOCK: usize = 1 << 16;
    if lon.len() <= BLOCK || lon.len() != lat.len() {
        return encode(lon, lat);
    }
    let mut features = Array2::zeros((lon.len(), columns));
    watch.begin("encoding", Some(lon.len() as u64));
    for (block, (lon, lat)) in lon.chunks(BLOCK).zip(lat.chunks(BLOCK)).enumerate() {
        watch.check()?;
        let start = block * BLOCK;
        let part = encode(lon, lat).map_err(|error| match error.location().row {
            Some(row) => error.at_row(row + start as u64),
            None => error,
        })?;
        features.slice_mut(s![start..start + lon.len(), ..]).assign(&part);
        watch.advance(lon.len() as u64);
    }
    watch.finish();
    Ok(features)
}
