//! Methods about shapes, places and distances.
//!
//! - [`gicdm`] scores generated data by neighbours, in distances that no hub distorts.
//! - [`hippo`] turns sequences into a few states that hold their past, and has the spectrum of the
//!   matrix that state-space layers begin with.
//! - [`slepian`] encodes places on the earth by functions that live inside a region.
//!
//! The numerics that they share: [`quadrature`], [`tridiagonal`] eigenpairs, places on the
//! [`sphere`], and small learners ([`learn`]).

#![forbid(unsafe_code)]

pub mod gicdm;
pub mod hippo;
pub mod learn;
pub mod quadrature;
mod simd;
pub mod slepian;
pub mod sphere;
pub mod tridiagonal;

/// The methods of this crate, in the order of the page.
///
/// ```
/// assert!(metier_geometry::METHODS.iter().any(|method| method.card().id == "slepian"));
/// ```
pub static METHODS: &[&dyn metier_core::Method] =
    &[&slepian::Slepian, &hippo::Hippo, &gicdm::GicdmMethod];

// The examples of the pages are compiled as this crate's own.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/methods/slepian.md")]
struct SlepianPage;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/methods/hippo.md")]
struct HippoPage;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/methods/gicdm.md")]
struct GicdmPage;
