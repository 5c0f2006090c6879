//! Finds the known names nearest to an unknown name.

/// A text longer than this is near to no name; it also bounds the work. Bytes.
const MAX_GIVEN: usize = 40;
/// A name longer than this is near to no text, however many of its letters do not count. Bytes.
const MAX_NAME: usize = 2 * MAX_GIVEN;
/// The most edits between names that count as near.
const MAX_EDITS: usize = 3;

/// The names nearest to `given`: at most three edits away, and at most half of the name. Case, `_`, `-` and blanks do
/// not count. Empty if no name is near or `given` is longer than 40 bytes. Names of more than 80 bytes are left out.
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    if given.len() > MAX_GIVEN {
        return Vec::new();
    }
    let given = plain(given);
    let mut least = MAX_EDITS;
    let mut near = Vec::new();
    let letters = given.chars().count();
    for name in names.into_iter().filter(|name| name.len() <= MAX_NAME) {
        let other = plain(name);
        // So many edits it takes at least, which is found out sooner.
        if other.chars().count().abs_diff(letters) > least {
            continue;
        }
        let edits = strsim::osa_distance(&given, &other);
        if edits > least || edits * 2 > name.chars().count() {
            continue;
        }
        if edits < least {
            near.clear();
            least = edits;
        }
        if !near.contains(&name) {
            near.push(name);
        }
    }
    near
}

/// A hint to append to an error about `given`: `; did you mean A or B?`, or nothing if no name is near.
pub fn hint<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    match nearest(given, names).as_slice() {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}

fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}
