//! Finding the item that an inexact name means.

/// A name without the differences that people overlook: case, and how wide a blank is.
#[must_use]
pub fn fold(name: &str) -> String {
    let words: Vec<_> = name.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// The items that are called `asked`: exactly if there are such, else those whose names are the same when [`fold`]ed,
/// else the one on the line `asked`.
pub(super) fn all_named<'i, T>(
    items: &'i [T],
    name: impl Fn(&T) -> &str,
    line: impl Fn(&T) -> u32,
    asked: &str,
) -> Vec<&'i T> {
    let of = |wanted: &dyn Fn(&T) -> bool| items.iter().filter(|item| wanted(item)).collect();
    let exact: Vec<&T> = of(&|item| name(item) == asked);
    if !exact.is_empty() {
        return exact;
    }
    let folded = fold(asked);
    let alike: Vec<&T> = of(&|item| fold(name(item)) == folded);
    match asked.trim().parse::<u32>() {
        Ok(asked) if alike.is_empty() => of(&|item| line(item) == asked),
        _ => alike,
    }
}

/// A number of things: `1 spec`, `2 specs`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{end}")
}
