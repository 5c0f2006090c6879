//! The cause of an internal failure: for the log, never for the caller.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Why a tool or a request failed inside: an error or a sentence. The caller sees neither. [`Display`](fmt::Display)
/// shows it with the errors that it comes from.
#[derive(Debug, Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// Its error, such as for `downcast_ref`.
    pub fn error(&self) -> &(dyn Error + 'static) {
        &*self.0
    }

    pub(crate) fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)?;
        let mut next = self.0.source();
        while let Some(source) = next {
            write!(formatter, ": {source}")?;
            next = source.source();
        }
        Ok(())
    }
}

/// Two are equal if they are the same, as errors cannot be compared.
impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
