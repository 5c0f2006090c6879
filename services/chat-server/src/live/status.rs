//! The last known connection state of a source.

use std::sync::{Mutex, PoisonError};

use crate::source::Connection;

/// Set by the task that runs a source, read by others.
#[derive(Debug)]
pub(super) struct Status(Mutex<Connection>);

impl Status {
    pub(super) fn new(connection: Connection) -> Self {
        Self(Mutex::new(connection))
    }

    pub(super) fn set(&self, connection: Connection) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = connection;
    }

    pub(super) fn get(&self) -> Connection {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connection.clone()
    }
}
