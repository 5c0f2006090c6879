//! The URIs of specs and changes: built from ids, and parsed where no template does it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::parse::fold;

/// A spec; its id may have slashes.
pub(super) const SPEC: &str = "spec://{+id}";
/// A change, active or archived.
pub(super) const CHANGE: &str = "change://{id}";

const SPEC_SCHEME: &str = "spec://";
const CHANGE_SCHEME: &str = "change://";

/// The characters that are encoded in an id (RFC 6570 §3.2.2).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The same, except for the slash between the folders of a spec.
const ENCODED_PATH: &AsciiSet = &ENCODED.remove(b'/');

/// The target of a URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// The spec with this id.
    Spec(String),
    /// The change with this id.
    Change(String),
}

impl Address {
    /// Parses a URI that one of the templates matches.
    pub(super) fn read(uri: &str) -> Option<Self> {
        let id = |encoded: &str| {
            let id = percent_decode_str(encoded).decode_utf8().ok()?;
            (!id.is_empty()).then(|| id.into_owned())
        };
        match uri.strip_prefix(SPEC_SCHEME) {
            Some(encoded) => id(encoded).map(Self::Spec),
            None => id(uri.strip_prefix(CHANGE_SCHEME)?).map(Self::Change),
        }
    }

    /// Whether both name the same thing. Case does not matter.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Spec(one), Self::Spec(other)) | (Self::Change(one), Self::Change(other)) => {
                fold(one) == fold(other)
            }
            _ => false,
        }
    }
}

/// The URI of a spec.
pub(super) fn spec(id: &str) -> String {
    format!("{SPEC_SCHEME}{}", utf8_percent_encode(id, ENCODED_PATH))
}

/// The URI of a change.
pub(super) fn change(id: &str) -> String {
    format!("{CHANGE_SCHEME}{}", utf8_percent_encode(id, ENCODED))
}
