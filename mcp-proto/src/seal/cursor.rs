//! Cursors of lists: "after this key". Such a cursor stays valid when the list grows or shrinks between two pages.

use super::{Keys, SealError, principal_parts};

/// The first part of the associated data of a cursor.
const PURPOSE: &[u8] = b"cursor";

/// The cursor of the page after the key `after`, valid only for the list of that method (`tools/list`) and that caller.
/// It does not expire. `after` has at most [`MAX_PLAINTEXT_BYTES`](super::MAX_PLAINTEXT_BYTES) bytes.
pub(crate) fn cursor(
    keys: &Keys,
    list: &str,
    principal: Option<&str>,
    after: &str,
) -> Result<String, SealError> {
    keys.seal(&parts(list, principal), after.as_bytes())
}

/// The key after which the page begins; `None` for a text that [`cursor()`] did not make for this list and caller. An
/// empty text is such a forgery, not the beginning of the list (2026-07-28, pagination).
pub(crate) fn open_cursor(
    keys: &Keys,
    list: &str,
    principal: Option<&str>,
    text: &str,
) -> Option<String> {
    let opened = keys.open(&parts(list, principal), text)?;
    String::from_utf8(opened.plaintext).ok()
}

fn parts<'a>(list: &'a str, principal: Option<&'a str>) -> [&'a [u8]; 4] {
    let [kind, name] = principal_parts(principal);
    [PURPOSE, list.as_bytes(), kind, name]
}
