//! Errors of the toolkit as Python's own.

use metier_core::error::Kind;
use metier_core::{Error, Result};
use pyo3::exceptions::{
    PyArithmeticError, PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyRuntimeError,
    PyValueError,
};
use pyo3::{PyErr, PyResult};

/// The Python exception of the kind that a Python user expects, with the help on a line of its own.
pub(crate) fn to_python(error: &Error) -> PyErr {
    let text = match error.help_text() {
        Some(help) => format!("{error}\n{help}"),
        None => error.to_string(),
    };
    match error.kind() {
        Kind::Usage | Kind::Input => PyValueError::new_err(text),
        Kind::Missing => PyFileNotFoundError::new_err(text),
        Kind::Io => PyOSError::new_err(text),
        Kind::Numeric => PyArithmeticError::new_err(text),
        Kind::Interrupted => PyKeyboardInterrupt::new_err(()),
        Kind::Internal => PyRuntimeError::new_err(text),
    }
}

/// Turns the error of a result into a Python exception.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| to_python(&error))
    }
}
