//! Finding what somebody means by a name that is not quite right.

/// How many names are offered instead of one that is not there.
const OFFERED: usize = 3;

/// How much of a name is compared; longer ones are no names that anybody has typed.
const MAX_COMPARED: usize = 200;

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

/// The three names that are most like `asked`, the likest first.
#[must_use]
pub fn nearest<'n>(asked: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let cut = |name: &str| -> String { fold(name).chars().take(MAX_COMPARED).collect() };
    let asked = cut(asked);
    let likeness = |name: &str| {
        let name = cut(name);
        let holds = !asked.is_empty() && (name.contains(&asked) || asked.contains(&name));
        strsim::jaro_winkler(&asked, &name) + if holds { 1.0 } else { 0.0 }
    };
    let mut ranked: Vec<_> = names
        .into_iter()
        .map(|name| (likeness(name), name))
        .collect();
    ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
    let best = ranked.into_iter().take(OFFERED);
    best.map(|(_, name)| name.to_owned()).collect()
}
