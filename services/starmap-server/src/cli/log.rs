//! The log level: set by the contract's variable, with the level names of Python.

use std::env;

/// The variable that sets the log level.
const VARIABLE: &str = "ARIA_UNIVERSE_LOG_LEVEL";

/// The names of the levels, in any case, and the directives of the log's filter that they stand for.
const LEVELS: [(&str, &str); 7] = [
    ("DEBUG", "debug"),
    ("INFO", "info"),
    ("WARNING", "warn"),
    ("WARN", "warn"),
    ("ERROR", "error"),
    ("CRITICAL", "error"),
    ("FATAL", "error"),
];

/// The filter directive that the environment sets, and a warning if it sets an unknown level.
pub(super) fn directive() -> (&'static str, Option<String>) {
    let Some(word) = env::var_os(VARIABLE).filter(|word| !word.is_empty()) else {
        return ("warn", None);
    };
    let word = word.to_string_lossy();
    let known = LEVELS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word.trim()));
    if let Some((_, directive)) = known {
        return (directive, None);
    }
    let word = crate::errors::shown(&word);
    let warning = format!(
        "{VARIABLE} is {word:?}, which is not one of DEBUG, INFO, WARNING, ERROR, CRITICAL: WARNING is used"
    );
    ("warn", Some(warning))
}
