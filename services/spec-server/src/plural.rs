//! Words that agree with a number.

/// A number of things: `1 spec`, `2 specs`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{end}")
}
