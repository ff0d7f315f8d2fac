//! metier-data
