//! Long texts, cut for reports.

/// The first `most` characters of a text, with a mark and the length of the whole if there are more.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", known_range::text(text, ..end), text.len()),
    }
}
