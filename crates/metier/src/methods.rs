//! The methods that the program knows.

use metier_core::Method;
use metier_decision::agentscore::AgentScore;
use metier_geometry::slepian::Slepian;
use metier_train::olion::OlionMethod;

/// Every method, in the order of the page.
pub fn methods() -> Vec<&'static dyn Method> {
    vec![&Slepian, &AgentScore, &OlionMethod]
}
