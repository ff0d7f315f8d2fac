//! metier-py
