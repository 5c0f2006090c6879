//! The errors of a query: the classes of the contract with their codes, messages and data.

use std::fmt::Display;
use std::ops::RangeInclusive;

use mcp_proto::ToolError;
use serde_json::{Value, json};

/// The most characters that an error quotes from the input.
const MAX_SHOWN: usize = 100;

/// Any failure of a query on the map.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UniverseError {
    /// Any other error. Code `UNIVERSE_ERROR`, without data.
    #[error("{0}")]
    Universe(String),
    /// A name that does not belong to any system.
    #[error(transparent)]
    SystemNotFound(#[from] SystemNotFoundError),
    /// Two systems with no route between them.
    #[error(transparent)]
    RouteNotFound(#[from] RouteNotFoundError),
    /// An invalid parameter.
    #[error(transparent)]
    InvalidParameter(#[from] InvalidParameterError),
    /// A round trip with too few border systems within reach.
    #[error(transparent)]
    InsufficientBorders(#[from] InsufficientBordersError),
}

/// A name that does not belong to any system. Code `SYSTEM_NOT_FOUND`, data `suggestions`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Unknown system: {name}{}", because(.hint.as_deref()))]
pub struct SystemNotFoundError {
    /// The name as it was given.
    pub name: String,
    /// What the name refers to instead, if that is known.
    pub hint: Option<String>,
    /// Names that may have been meant, the likeliest first.
    pub suggestions: Vec<String>,
}

/// Two systems with no route between them. Code `ROUTE_NOT_FOUND`, data `origin`, `destination`, `reason`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("No route from {origin} to {destination}{}", because(.reason.as_deref()))]
pub struct RouteNotFoundError {
    /// Where from.
    pub origin: String,
    /// Where to.
    pub destination: String,
    /// The reason, if it is known.
    pub reason: Option<String>,
}

/// An invalid parameter. Code `INVALID_PARAMETER`, data `parameter`, `value` (as text), `reason`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Invalid {parameter}: {reason}")]
pub struct InvalidParameterError {
    /// Its name.
    pub parameter: String,
    /// What was given, as text.
    pub value: String,
    /// What is wrong with it, and what would be right.
    pub reason: String,
}

/// Too few border systems for a round trip. Code `INSUFFICIENT_BORDERS`, data `found`, `required`, `search_radius`,
/// `suggestion`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Found {found} border systems within {search_radius} jumps, need at least {required}")]
pub struct InsufficientBordersError {
    /// How many were found.
    pub found: usize,
    /// How many are required.
    pub required: usize,
    /// The search radius in jumps.
    pub search_radius: u32,
    /// What would help.
    pub suggestion: String,
}

impl UniverseError {
    /// The code of its class.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Universe(_) => "UNIVERSE_ERROR",
            Self::SystemNotFound(_) => "SYSTEM_NOT_FOUND",
            Self::RouteNotFound(_) => "ROUTE_NOT_FOUND",
            Self::InvalidParameter(_) => "INVALID_PARAMETER",
            Self::InsufficientBorders(_) => "INSUFFICIENT_BORDERS",
        }
    }

    /// The details for programs; an empty object if the class has none.
    pub fn data(&self) -> Value {
        match self {
            Self::Universe(_) => json!({}),
            Self::SystemNotFound(error) => json!({ "suggestions": error.suggestions }),
            Self::RouteNotFound(error) => json!({
                "origin": error.origin,
                "destination": error.destination,
                "reason": error.reason,
            }),
            Self::InvalidParameter(error) => json!({
                "parameter": error.parameter,
                "value": error.value,
                "reason": error.reason,
            }),
            Self::InsufficientBorders(error) => json!({
                "found": error.found,
                "required": error.required,
                "search_radius": error.search_radius,
                "suggestion": error.suggestion,
            }),
        }
    }

    /// The error message with the suggestions.
    pub fn sentence(&self) -> String {
        match self {
            Self::SystemNotFound(unknown) if !unknown.suggestions.is_empty() => {
                format!("{self}; did you mean {}?", unknown.suggestions.join(", "))
            }
            error => error.to_string(),
        }
    }

    /// The body for clients: `{"error":{"code","message","data"}}`.
    pub fn to_mcp_error(&self) -> Value {
        json!({ "error": { "code": self.code(), "message": self.to_string(), "data": self.data() } })
    }
}

impl SystemNotFoundError {
    /// An unknown name with suggestions. A name that is longer than any valid name is cut.
    pub fn new<T: Into<String>>(name: &str, suggestions: impl IntoIterator<Item = T>) -> Self {
        Self {
            name: shown(name),
            hint: None,
            suggestions: suggestions.into_iter().map(Into::into).collect(),
        }
    }
}

impl RouteNotFoundError {
    /// No route from one system to another.
    pub fn new(origin: &str, destination: &str, reason: Option<&str>) -> Self {
        Self {
            origin: origin.to_owned(),
            destination: destination.to_owned(),
            reason: reason.map(str::to_owned),
        }
    }
}

impl InvalidParameterError {
    /// A parameter, the given value, and what is wrong with it. A long value is cut.
    pub fn new(parameter: &str, value: impl Display, reason: impl Into<String>) -> Self {
        let value = shown(&value.to_string());
        Self { parameter: shown(parameter), value, reason: reason.into() }
    }

    /// An error for a value that is not between the two bounds, both included.
    pub(crate) fn unless_within(
        parameter: &str,
        value: usize,
        bounds: RangeInclusive<usize>,
    ) -> Result<(), Self> {
        let reason = || format!("must be between {} and {}", bounds.start(), bounds.end());
        let within = bounds.contains(&value).then_some(());
        within.ok_or_else(|| Self::new(parameter, value, reason()))
    }
}

impl UniverseError {
    /// The failure of a tool.
    pub(crate) fn into_tool_error(self) -> ToolError {
        ToolError::new(self.code(), self.to_string()).with_data(self.data())
    }
}

/// The error for an invalid parameter.
pub(crate) fn invalid(
    parameter: &str,
    value: impl Display,
    reason: impl Into<String>,
) -> UniverseError {
    InvalidParameterError::new(parameter, value, reason).into()
}

fn because(reason: Option<&str>) -> String {
    reason.map_or_else(String::new, |reason| format!(": {reason}"))
}

/// Input text as an error quotes it: shortened, and without characters that would break a line.
pub(crate) fn shown(text: &str) -> String {
    service_host::quotable(text, MAX_SHOWN)
}
