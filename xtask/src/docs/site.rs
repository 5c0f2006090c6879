//! Builds the site with mdBook, and checks its links.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::process::Command;

use serde_json::Value;

use super::PAGES;
use crate::pypi;
use xtask::install::mirror;
use xtask::programs::cargo;
use xtask::{Result, root, say, target};

/// The path of the library's documentation below the root of the site.
const API: &str = "api/mcp_proto/index.html";

/// Builds the site, with the documentation of the library.
///
/// # Errors
/// When a tool cannot be installed or run.
pub(super) fn build() -> Result<bool> {
    if !book()? {
        return Ok(false);
    }
    let mut api = cargo(&["doc", "--locked", "--no-deps", "-p", "mcp-proto"]);
    if !api.status()?.success() {
        return Ok(false);
    }
    let to = target().join("book");
    mirror(&target().join("doc"), &to.join("api"))?;
    say(&format!("the site begins at {}", to.join("index.html").display()))?;
    Ok(true)
}

/// Builds the pages of the site, and checks that links lead somewhere in it. `false` when they do not.
///
/// # Errors
/// When a tool cannot be installed or run.
pub(super) fn book() -> Result<bool> {
    let to = target().join("book");
    let mut book = Command::new(pypi::program("mdbook")?);
    book.arg("build").arg(root().join("docs")).arg("--dest-dir").arg(&to);
    if !book.status()?.success() {
        return Ok(false);
    }
    // Files that pages link to.
    mirror(&root().join("server/deploy"), &to.join("deploy"))?;
    let mut links = Command::new(pypi::program("lychee")?);
    links.args(["--offline", "--no-progress", "--exclude", "/api/mcp_proto/", "--root-dir"]);
    links.arg(&to).arg("--exclude-path").arg(to.join("api")).arg(&to);
    Ok(links.status()?.success())
}

/// The mdBook preprocessor, which runs before the book is rendered. It turns links to items of the library into links
/// to the library's documentation.
///
/// # Errors
/// When mdBook sends unexpected input.
pub(super) fn preprocess(question: &[String]) -> Result<bool> {
    if let [supports, renderer] = question
        && supports == "supports"
    {
        return Ok(renderer == "html");
    }
    let mut sent = String::new();
    io::stdin().read_to_string(&mut sent)?;
    let sent: Value = serde_json::from_str(&sent)?;
    let mut book = sent.get(1).cloned().ok_or("mdBook sent no book")?;
    link(&mut book);
    say(&book.to_string())?;
    Ok(true)
}

/// Changes every `content` in a book, including those of nested chapters.
fn link(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(link),
        Value::Object(members) => {
            let path = members.get("path").and_then(Value::as_str).unwrap_or_default();
            let up = "../".repeat(path.matches('/').count());
            for (name, member) in members.iter_mut() {
                match member {
                    Value::String(text) if name == "content" => *text = linked(text, &up),
                    other => link(other),
                }
            }
        }
        _ => {}
    }
}

/// The text with its links to `crate::…` turned into searches of the documentation for the last two names.
fn linked(text: &str, up: &str) -> String {
    let mut parts = text.split("](crate::");
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (item, rest) = part.split_once(')').unwrap_or((part, ""));
        let names: Vec<&str> = item.split("::").collect();
        let last = names.len().saturating_sub(2);
        let wanted = known_range::items(&names, last..).join("::");
        changed.push_str(&format!("]({up}{API}?search={wanted}){rest}"));
    }
    changed
}

/// Pages of the site that are missing from its table of contents, so that nothing links to them.
pub(super) fn unlisted(pages: &BTreeMap<String, String>) -> Vec<String> {
    let table = pages.get(&format!("{PAGES}/SUMMARY.md")).map_or("", String::as_str);
    pages
        .keys()
        .filter_map(|path| path.strip_prefix(PAGES)?.strip_prefix('/'))
        .filter(|path| *path != "SUMMARY.md" && !table.contains(&format!("({path})")))
        .map(|path| format!("{PAGES}/SUMMARY.md: does not list {path}"))
        .chain(included(pages))
        .collect()
}

/// Files that pages include but that do not exist.
fn included(pages: &BTreeMap<String, String>) -> Vec<String> {
    let mut missing = Vec::new();
    for (path, text) in pages.iter().filter(|(path, _)| path.starts_with(PAGES)) {
        for part in text.split("{{#include ").skip(1) {
            let file = part.split("}}").next().unwrap_or_default();
            let folder = root().join(path);
            let file = folder.parent().map(|folder| folder.join(file));
            if !file.is_some_and(|file| fs::exists(file).unwrap_or_default()) {
                missing.push(format!("{path}: includes {part}, which does not exist"));
            }
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_to_items_lead_into_the_documentation() {
        let mut book = json!({"items": [{"Chapter": {
            "path": "how-to/axum.md",
            "content": "[`A`](crate::A), [b](crate::http::B::c) and [d](e.md)",
            "sub_items": [],
        }}]});
        link(&mut book);
        assert_eq!(
            book["items"][0]["Chapter"]["content"],
            "[`A`](../api/mcp_proto/index.html?search=A), [b](../api/mcp_proto/index.html?search=B::c) and [d](e.md)"
        );
    }

    #[test]
    fn a_page_that_nothing_leads_to_is_found() {
        let pages =
            [("docs/src/SUMMARY.md", "- [A](a.md)"), ("docs/src/a.md", ""), ("docs/src/b.md", "")];
        let pages = pages.map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert_eq!(unlisted(&pages.into()), ["docs/src/SUMMARY.md: does not list b.md"]);
    }
}
