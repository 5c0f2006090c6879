//! Writing JSON up to a size: a larger value costs no more than that size.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

/// A buffer that refuses to grow beyond its bound.
struct Bounded {
    text: Vec<u8>,
    max: usize,
}

/// The value as JSON text, if the text has at most `max` bytes.
pub(super) fn within(value: &impl Serialize, max: usize) -> Option<Box<RawValue>> {
    let text = Vec::new();
    let mut bounded = Bounded { text, max };
    serde_json::to_writer(&mut bounded, value).ok()?;
    RawValue::from_string(String::from_utf8(bounded.text).ok()?).ok()
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.text.len() + bytes.len() > self.max {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
