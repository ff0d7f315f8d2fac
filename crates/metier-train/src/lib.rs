//! metier-train
