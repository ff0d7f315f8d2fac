//! Checklists learnt from tables.

use crate::error::OrRaise;
use crate::watch::watched;
use metier_core::Error;
use metier_data::{Column, Frame, Values};
use metier_decision::agentscore::{
    Checklist, Config, Dictionary, Source, by_items as by_items_of, cross_validate, fit_with,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::Path;

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Score>()
}

/// The values of a column as they come from Python: float64, or text with None.
#[derive(FromPyObject)]
enum Cells<'py> {
    Number(PyReadonlyArray1<'py, f64>),
    Text(Vec<Option<String>>),
}

type Columns<'py> = Vec<(String, Cells<'py>)>;

fn frame(columns: Columns<'_>) -> PyResult<Frame> {
    let column = |(name, cells)| {
        let values = match cells {
            Cells::Number(values) => Values::Number(values.as_slice()?.to_vec()),
            Cells::Text(values) => Values::Text(values),
        };
        Ok(Column { name, values })
    };
    Frame::new(columns.into_iter().map(column).collect::<PyResult<_>>()?).or_raise()
}

/// A learnt checklist.
#[pyclass(frozen, module = "metier._metier")]
struct Score(Checklist);

#[pymethods]
impl Score {
    /// Learns a checklist. `config` and `source` are JSON; keys that are left out have their usual
    /// values.
    #[staticmethod]
    #[pyo3(signature = (columns, y, *, config, source, dictionary, folds, by_items, verbose))]
    #[allow(clippy::too_many_arguments)]
    fn fit(
        py: Python<'_>,
        columns: Columns<'_>,
        y: PyReadonlyArray1<'_, u8>,
        config: &str,
        source: &str,
        dictionary: Option<&str>,
        folds: usize,
        by_items: Option<usize>,
        verbose: Option<bool>,
    ) -> PyResult<Self> {
        let table = frame(columns)?;
        let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
        let mut config: Config = serde_json::from_str(config).map_err(wrong)?;
        let source: Source = serde_json::from_str(source).map_err(wrong)?;
        if let Some(path) = dictionary {
            config.dictionary = Dictionary::read(Path::new(path)).or_raise()?;
            if table.column(&config.outcome).is_err() {
                config.dictionary.forget([config.outcome.as_str()]);
            }
            config.dictionary.check(&table).or_raise()?;
        }
        let y = y.as_slice()?;
        watched(py, verbose, |watch| {
            if by_items.is_some() && folds == 0 {
                return Err(Error::usage("there are no folds to compare numbers of items on")
                    .in_field("by_items")
                    .help("set folds to 2 or more"));
            }
            if folds > 0 && source.asks_a_model() {
                return Err(Error::usage("the model would be asked anew for every fold")
                    .in_field("folds")
                    .help("leave folds at 0 where rules come from a language model"));
            }
            let mut proposer = source.open(config.depth)?;
            let mut checklist = fit_with(&table, y, &mut *proposer, &config, watch)?;
            if folds > 0 {
                let mut fresh = |_| source.open(config.depth);
                let mut honest = cross_validate(&table, y, &mut fresh, &config, folds, watch)?;
                if let Some(most) = by_items {
                    honest.by_items =
                        by_items_of(&table, y, &mut fresh, &config, most, folds, watch)?;
                }
                checklist.honest = Some(honest);
            }
            Ok(Self(checklist))
        })
    }

    /// The points of each row.
    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: Columns<'py>,
    ) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let table = frame(columns)?;
        Ok(py.detach(|| self.0.score(&table)).or_raise()?.into_pyarray(py))
    }

    /// The columns that the items ask about.
    fn features(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.0.items.iter().flat_map(|item| item.rule.features()) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// The items in words.
    fn items(&self) -> Vec<String> {
        self.0.items.iter().map(|item| item.text.clone()).collect()
    }

    /// The number of points to act at.
    fn theta(&self) -> usize {
        self.0.theta
    }

    /// The risk at each number of points, from 0 up, with its interval.
    fn risks(&self) -> Vec<(f64, f64, f64)> {
        self.0.risk.rows.iter().map(|row| (row.risk, row.low, row.high)).collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }

    /// How the checklist does on other rows, as JSON.
    fn validate(
        &self,
        py: Python<'_>,
        columns: Columns<'_>,
        y: PyReadonlyArray1<'_, u8>,
    ) -> PyResult<String> {
        let (table, y) = (frame(columns)?, y.as_slice()?);
        let validation = py.detach(|| self.0.validate(&table, y)).or_raise()?;
        serde_json::to_string(&validation).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn to_json(&self) -> PyResult<String> {
        self.0.to_json().or_raise()
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Checklist::from_json(text).or_raise().map(Self)
    }

    fn to_markdown(&self) -> String {
        self.0.to_markdown()
    }

    fn to_html(&self) -> String {
        self.0.to_html()
    }

    fn to_svg(&self) -> String {
        self.0.to_svg()
    }

    fn to_pdf<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_pdf().or_raise()?))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (slf.get().to_json()?,)))
    }
}
