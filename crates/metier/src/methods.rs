//! The methods that the program knows.

use metier_core::Method;

/// Every method, in the order of the page.
pub fn methods() -> Vec<&'static dyn Method> {
    [metier_geometry::METHODS, metier_decision::METHODS, metier_train::METHODS].concat()
}
