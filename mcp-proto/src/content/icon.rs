//! Icons, and their allowed sources.

use serde::{Deserialize, Serialize};

use crate::json;

/// An icon (schema: `Icon`, since 2025-11-25).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// Media type, if the source does not specify it.
    #[serde(default, deserialize_with = "json::lenient", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Sizes such as `48x48`, or `any`.
    #[serde(default, deserialize_with = "json::lenient", skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The background it is made for; any when absent.
    #[serde(default, deserialize_with = "json::lenient", skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

/// The background that an icon is made for (schema: `Icon.theme`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IconTheme {
    /// A light background.
    Light,
    /// A dark background.
    Dark,
}

impl Icon {
    /// An icon by its source.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }
}

/// Icons come from `https:` or `data:` (2025-11-25, "Icons"): clients refuse other schemes, which could run or read
/// something.
pub(crate) fn check_icons(icons: &[Icon]) -> Result<(), String> {
    let is = |src: &str, scheme: &str| {
        src.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    match icons.iter().find(|icon| !is(&icon.src, "https:") && !is(&icon.src, "data:")) {
        None => Ok(()),
        Some(icon) => Err(format!(
            "the icon {:?} must be an https: or data: URI",
            icon.src.chars().take(100).collect::<String>()
        )),
    }
}
