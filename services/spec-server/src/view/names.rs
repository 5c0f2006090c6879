//! Finding what somebody means by a name that is not quite right.

/// A name without the differences that people overlook: case, and how wide a blank is.
#[must_use]
pub fn fold(name: &str) -> String {
    let words: Vec<_> = name.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// The item that is called `asked`: exactly if there is one, else the first whose name is the same when [`fold`]ed.
pub fn named<'i, T>(items: &'i [T], name: impl Fn(&T) -> &str, asked: &str) -> Option<&'i T> {
    let exact = items.iter().find(|item| name(item) == asked);
    exact.or_else(|| {
        let asked = fold(asked);
        items.iter().find(|item| fold(name(item)) == asked)
    })
}
