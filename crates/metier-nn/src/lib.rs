//! metier-nn
