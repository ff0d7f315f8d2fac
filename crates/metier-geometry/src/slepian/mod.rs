//! Slepian location features: what a place looks like at kilometre scale inside a region.
//!
//! A table of points says where in two numbers, which few models can use. Spherical harmonics turn
//! them into many features that behave at the poles and across the date line, but spend them on the
//! whole earth. Slepian functions are the combinations of those harmonics that keep most of their
//! energy inside one region: as few features as the region has room for, at a resolution of
//! 20,015 km / L. Any model takes them as columns, alone or beside the global harmonics.
//!
//! [`SlepianEncoder`] goes from points to features; [`SlepianBasis`] holds the functions themselves;
//! [`baselines`] are the encoders that people use instead. What learns from the features is in
//! [`learn`](crate::learn).
//!
//! Rao, Crasto, Ooms, Rolnick, Klemmer & Rußwurm, "Localized, High-resolution Geographic
//! Representations with Slepian Functions", ICML 2026, arXiv 2602.00392; theory: Simons, Dahlen &
//! Wieczorek, SIAM Review 48 (2006).

pub mod baselines;
mod basis;
mod cap;
mod chebyshev;
mod dual;
mod encoder;
mod evidence;
mod figures;
mod harmonics;
mod nodes;
mod polygon;
mod radial;
mod raster;
mod region;
mod shape;
mod store;
mod tapers;
#[cfg(test)]
mod tests;

pub use basis::{SlepianBasis, bandwidth_for, resolution_km, shannon_number};
pub use cap::{Cap, CapMode, Parity, cap_spectrum};
pub use dual::kernel_sum;
pub use encoder::{SlepianConfig, SlepianEncoder};
pub use evidence::Slepian;
pub use figures::{eigenvalue_curve, field_map, map_reach_km, mode_map, prediction_map, window_of};
pub use harmonics::{MAX_DEGREE, legendre, sh_features, sh_names};
pub use nodes::Nodes;
pub use raster::Raster;
pub use region::{Region, RegionSpec};
pub use tapers::{Tapers, tapers};
