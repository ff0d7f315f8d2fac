//! Fidelity and coverage of generated data, in distances that no hub distorts.
//!
//! In many dimensions a few points near the middle become nearest neighbours of everything, and
//! scores that count neighbours go wrong: a generator that returns the mean counts as perfect. [`Icdm`]
//! gives every point a factor that makes all neighbourhoods equally wide; [`hubness`] says how uneven
//! they were; [`fidelity`] has the scores themselves, in plain distances; [`Gicdm`] takes them in
//! corrected ones, with factors of generated points that depend on the real ones alone.
//!
//! Salvy, Talbot & Thirion, "GICDM: Mitigating Hubness for Reliable Distance-Based Generative Model
//! Evaluation", ICML 2026, arXiv 2602.16449.

mod correction;
mod evidence;
mod fidelity;
mod hubness;
mod icdm;
mod neighbours;
mod points;
#[cfg(test)]
mod tests;

pub use correction::{Gicdm, GicdmConfig, Sample, Scores};
pub use evidence::GicdmMethod;
pub use fidelity::{Fidelity, fidelity};
pub use hubness::{Hubness, hubness};
pub use icdm::{Icdm, IcdmConfig};
pub use points::{Metric, Number, Points};
