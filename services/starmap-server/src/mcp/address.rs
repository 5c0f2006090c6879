//! The URIs of the resources.

use std::fmt::Write as _;

/// A system by its name or id.
pub(crate) const SYSTEM: &str = "starmap://system/{name}";
/// A constellation by its name.
pub(crate) const CONSTELLATION: &str = "starmap://constellation/{name}";
/// A region by its name.
pub(crate) const REGION: &str = "starmap://region/{name}";
/// A picture of the way between two systems.
pub(crate) const PICTURE_ROUTE: &str = "starmap://picture/route/{origin}/{destination}{?mode}";
/// A picture of a region.
pub(crate) const PICTURE_REGION: &str = "starmap://picture/region/{name}";

/// The scheme of all of them.
pub(crate) const SCHEME: &str = "starmap://";

/// `starmap://KIND/NAME`, with characters percent-encoded where a URI requires it.
pub(crate) fn of(kind: &str, name: &str) -> String {
    let mut uri = format!("{SCHEME}{kind}/");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
