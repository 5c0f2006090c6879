//! The log level: set by the contract's variable, with the level names of Python.

use std::env;

/// The variable that sets the log level.
pub const LOG_LEVEL_VARIABLE: &str = "ARIA_UNIVERSE_LOG_LEVEL";

/// The log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// Completed work.
    Info,
    /// Unexpected events.
    #[default]
    Warning,
    /// Failures.
    Error,
    /// The same as `Error`: no message here is more severe.
    Critical,
}

impl LogLevel {
    /// The level for a word, ignoring case; `None` for any other word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Some(match word.trim().to_ascii_uppercase().as_str() {
            "DEBUG" => Self::Debug,
            "INFO" => Self::Info,
            "WARNING" | "WARN" => Self::Warning,
            "ERROR" => Self::Error,
            "CRITICAL" | "FATAL" => Self::Critical,
            _ => return None,
        })
    }

    /// The level that the environment sets, and a warning if it sets an unknown one.
    pub(super) fn of_process() -> (Self, Option<String>) {
        let Some(word) = env::var_os(LOG_LEVEL_VARIABLE).filter(|word| !word.is_empty()) else {
            return (Self::default(), None);
        };
        let word = word.to_string_lossy();
        match Self::of(&word) {
            Some(level) => (level, None),
            None => {
                let word = crate::errors::shown(&word);
                let warning = format!(
                    "{LOG_LEVEL_VARIABLE} is {word:?}, which is not one of DEBUG, INFO, WARNING, ERROR, CRITICAL: WARNING is used"
                );
                (Self::default(), Some(warning))
            }
        }
    }

    /// The filter directive for the log.
    pub(super) fn directive(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warn",
            Self::Error | Self::Critical => "error",
        }
    }
}
