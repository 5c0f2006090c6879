//! Writes answers as JSON, for programs.

use std::io;

use serde::Serialize;

/// Prints a value on stdout as one line of JSON.
pub(super) fn json(value: &impl Serialize) -> io::Result<()> {
    service_host::print_json(&serde_json::to_string(value)?)
}
