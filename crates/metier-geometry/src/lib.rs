//! metier-geometry
