//! The bytes of a file: fixed, or generated whenever the file is read.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// The bytes of a file of a skill. Generators are equal if they are the same one.
#[derive(Clone)]
pub(crate) enum Content {
    Fixed(Bytes),
    Generated(Arc<dyn Fn() -> Bytes + Send + Sync>),
}

impl Content {
    /// The bytes now.
    pub(crate) fn read(&self) -> Bytes {
        match self {
            Self::Fixed(bytes) => bytes.clone(),
            Self::Generated(generate) => generate(),
        }
    }

    /// The bytes, if they are always the same.
    pub(crate) fn fixed(&self) -> Option<&Bytes> {
        match self {
            Self::Fixed(bytes) => Some(bytes),
            Self::Generated(_) => None,
        }
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fixed(one), Self::Fixed(other)) => one == other,
            (Self::Generated(one), Self::Generated(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Content {}

impl fmt::Debug for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(bytes) => write!(formatter, "{} bytes", bytes.len()),
            Self::Generated(_) => formatter.write_str("generated"),
        }
    }
}
