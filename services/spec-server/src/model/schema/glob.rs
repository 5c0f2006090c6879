//! Matching files against a pattern.

/// The paths that match a schema's pattern, in their order. `*`, `?` and `**` are supported, and match no name that
/// begins with a dot. A pattern with brackets or braces matches nothing here.
pub(crate) fn matching<'p>(paths: impl Iterator<Item = &'p str>, pattern: &str) -> Vec<&'p str> {
    if !pattern.contains(['*', '?', '[', '{']) {
        let literal = pattern.strip_prefix("./").unwrap_or(pattern);
        return paths.filter(|path| *path == literal).collect();
    }
    if pattern.contains(['[', '{']) {
        return Vec::new();
    }
    let wanted: Vec<&str> = pattern.split('/').collect();
    let fits = |path: &&str| {
        let parts: Vec<&str> = path.split('/').collect();
        parts.last().is_none_or(|name| !name.starts_with('.')) && parts_match(&wanted, &parts)
    };
    paths.filter(fits).collect()
}

/// Whether a path matches a pattern, part by part, with one row of a table for each part of the pattern.
fn parts_match(pattern: &[&str], path: &[&str]) -> bool {
    let mut reached: Vec<bool> = vec![false; path.len() + 1];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    for wanted in pattern {
        let mut next = vec![false; path.len() + 1];
        let mut any = false;
        for (index, place) in next.iter_mut().enumerate() {
            let here = reached.get(index).copied().unwrap_or(false);
            if *wanted == "**" {
                any |= here;
                *place = any;
            } else if let Some(before) = index.checked_sub(1) {
                let part = path.get(before).copied().unwrap_or_default();
                *place =
                    reached.get(before).copied().unwrap_or(false) && part_matches(wanted, part);
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

/// Whether one part matches, with `*` for any text and `?` for one character.
fn part_matches(pattern: &str, part: &str) -> bool {
    let mut left = pattern.chars().peekable();
    let mut rest = part.chars();
    // Where to continue if the last `*` takes one more character.
    let mut again: Option<(std::iter::Peekable<std::str::Chars<'_>>, std::str::Chars<'_>)> = None;
    loop {
        if left.peek() == Some(&'*') {
            left.next();
            again = Some((left.clone(), rest.clone()));
            continue;
        }
        let fits = match (left.next(), rest.next()) {
            (None, None) => return true,
            (Some('?'), Some(_)) => true,
            (Some(wanted), Some(found)) => wanted == found,
            _ => false,
        };
        if !fits {
            let Some((pattern, mut text)) = again.take() else {
                return false;
            };
            if text.next().is_none() {
                return false;
            }
            left = pattern.clone();
            rest = text.clone();
            again = Some((pattern, text));
        }
    }
}
