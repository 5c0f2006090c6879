//! Checks that links between the files of the repository lead to existing files and headings.

use std::collections::BTreeMap;

use super::PAGES;

/// The targets of the links in a text, with their line numbers. Links in code are ignored.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let mut rest = line;
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, after)) = after.split_once(')') else {
                break;
            };
            found.push((number, target));
            rest = after;
        }
    }
    found
}

/// The anchor of a heading in a link: lower case, spaces as dashes, without punctuation.
fn anchor(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ => c.is_alphanumeric().then_some(c),
        })
        .collect()
}

fn has_heading(text: &str, wanted: &str) -> bool {
    text.lines()
        .filter_map(|line| {
            Some(line.trim_start_matches('#')).filter(|rest| rest.len() < line.len())
        })
        .any(|heading| anchor(heading) == wanted)
}

/// Resolves `path` relative to the folder of the file `from`, without `.` and `..`.
fn resolve(from: &str, path: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Broken links in `pages`. URLs of other sites and links to items of the library are not checked.
pub(super) fn check(
    pages: &BTreeMap<String, String>,
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut findings = Vec::new();
    for (page, text) in pages {
        for (line, target) in targets(text) {
            let elsewhere = ["http://", "https://", "mailto:", "crate::"];
            if elsewhere.iter().any(|start| target.starts_with(start)) {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = match path {
                "" => page.clone(),
                path => resolve(page, path),
            };
            if page.starts_with(PAGES) && !file.starts_with(PAGES) {
                findings.push(format!("{page}:{line}: {target} is not a page of the site"));
            } else if !exists(&file) {
                findings.push(format!("{page}:{line}: {target} does not exist"));
            } else if let Some(text) = pages.get(&file)
                && !heading.is_empty()
                && !has_heading(text, heading)
            {
                findings.push(format!("{page}:{line}: {target} has no such heading"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str, text: &str) -> Vec<String> {
        let pages = BTreeMap::from([
            (page.to_owned(), text.to_owned()),
            ("docs/src/a.md".to_owned(), "# Two words, `code`\n".to_owned()),
        ]);
        check(&pages, |path| path == "LICENSE" || pages.contains_key(path))
    }

    #[test]
    fn links_to_files_and_headings_are_followed() {
        let good = "[a](../LICENSE) [b](src/a.md#two-words-code)\n# Here\n[c](#here) [d](https://x) [e](crate::X)\n```\n[f](none)\n```\n";
        assert_eq!(found("docs/x.md", good), Vec::<String>::new());
    }

    #[test]
    fn what_leads_nowhere_is_found() {
        for (page, text) in [
            ("README.md", "[a](none.md)"),
            ("README.md", "[a](docs/src/a.md#three)"),
            ("README.md", "[a](#none)"),
            ("docs/src/b.md", "[a](../../LICENSE)"),
        ] {
            assert_eq!(found(page, text).len(), 1, "{text}");
        }
    }
}
