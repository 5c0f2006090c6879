//! Items whose verdict may differ from the tool's, each with its reason. One that does not differ any more is a failure.

/// An item, such as `spec/auth`, and why.
pub(crate) const EXCUSED: [(&str, &str); 0] = [];
