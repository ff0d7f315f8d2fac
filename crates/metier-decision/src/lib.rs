//! metier-decision
