//! Locks that a panic does not close: nothing panics while it holds one of this crate, or what it leaves is whole.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) trait Locked<T> {
    fn locked(&self) -> MutexGuard<'_, T>;
}

impl<T> Locked<T> for Mutex<T> {
    fn locked(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
