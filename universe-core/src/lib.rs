//! The pure domain.
