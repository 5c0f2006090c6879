//! The errors of writes whose transaction fails, for all adapters that have transactions.

use crate::{AppendError, CreateError, DeleteError, SnapshotError, TrimError};

/// How a transaction failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The disk is full; nothing has changed.
    Full,
    /// Nothing has changed.
    Unavailable,
    /// It may or may not have been committed.
    Unknown,
}

impl From<Failure> for CreateError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Full => Self::Full,
            Failure::Unavailable => Self::Unavailable,
            Failure::Unknown => Self::Unknown,
        }
    }
}

impl From<Failure> for AppendError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Full => Self::Full,
            Failure::Unavailable => Self::Unavailable,
            Failure::Unknown => Self::Unknown,
        }
    }
}

impl From<Failure> for DeleteError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Full => Self::Full,
            Failure::Unavailable => Self::Unavailable,
            Failure::Unknown => Self::Unknown,
        }
    }
}

impl From<Failure> for TrimError {
    fn from(_: Failure) -> Self {
        Self::Unavailable
    }
}

impl From<Failure> for SnapshotError {
    fn from(_: Failure) -> Self {
        Self::Unavailable
    }
}
