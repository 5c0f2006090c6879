//! Locks that a panic elsewhere does not spoil: what they hold is whole at any time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Holds a mutex.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
