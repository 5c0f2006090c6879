//! The documentation: generated pages, snippets for clients, every block of commands, and the site.

mod block;
mod reference;
mod session;
mod site;
mod snippet;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Instant;

use clap::{Args, Subcommand};

use crate::pypi;
use xtask::install::{self, on_path};
use xtask::{Result, is_ci, programs, root, say};

/// The folder of the site's pages.
const PAGES: &str = "docs/src";

/// Markdown files that are data: their blocks are not for readers.
const DATA: [&str; 6] = [
    "CHANGELOG.md",
    "conformance/transcripts/",
    "services/spec-server/corpus/",
    "services/spec-server/tests/",
    "lab/fuzz/corpus/",
    "xtask/",
];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Writes the reference pages from the programs: REST, commands, tools, options, figures.
    Write,
    /// Checks that these pages are up to date, that the site's links lead somewhere and that snippets fit their
    /// clients, and runs every block of commands in README files and guides.
    Check {
        /// Checks the pages whose path contains this, and nothing else.
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
    },
    /// Builds the site into `target/book`.
    Site,
    /// Reads a book from mdBook and writes it with links into the documentation of the library.
    #[command(hide = true)]
    Preprocess {
        /// What mdBook asks: `supports RENDERER`.
        question: Vec<String>,
    },
}

/// Runs the subcommand. `true` when nothing was wrong.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    match &arguments.verb {
        Verb::Write => {
            programs::build_judged()?;
            for (path, text) in reference::pages()? {
                fs::write(root().join(&path), text)?;
                say(&path)?;
            }
            Ok(true)
        }
        Verb::Check { only } => {
            let missing = PROGRAMS.iter().find(|name| on_path(name).is_none());
            let found = match missing {
                Some(name) => Err(format!("{name} not found")),
                None => pypi::program("mdbook").map(drop),
            };
            if install::or_report("the documentation", found)?.is_none() {
                return Ok(!is_ci());
            }
            programs::build_judged()?;
            let passed = only.is_some() || site::book()?;
            Ok(check(only.as_deref())? && passed)
        }
        Verb::Site => site::build(),
        Verb::Preprocess { question } => site::preprocess(question),
    }
}

/// The programs that the checks and the blocks of commands use.
const PROGRAMS: [&str; 4] = ["git", "bash", "curl", "jq"];

fn check(only: Option<&str>) -> Result<bool> {
    let pages = pages()?;
    let mut findings = match only {
        Some(_) => Vec::new(),
        None => written(&pages),
    };
    if only.is_none() {
        for (path, text) in reference::pages()? {
            if pages.get(&path) != Some(&text) {
                findings.push(format!("{path}: out of date; `cargo xtask docs write` writes it"));
            }
        }
    }
    for (path, text) in &pages {
        if only.is_some_and(|part| !path.contains(part)) {
            continue;
        }
        match session::script(path, text) {
            // The findings about the text already include these.
            Err(wrong) if only.is_some() => findings.extend(wrong),
            Err(_) | Ok(None) => {}
            Ok(Some(_)) if cfg!(not(unix)) => {
                say(&format!("{path}: not run: it needs a Unix shell"))?;
            }
            Ok(Some(script)) => {
                let begun = Instant::now();
                let failure = session::run(path, &script)?;
                let verdict = if failure.is_none() { "ran" } else { "FAILED" };
                say(&format!("{path}: {verdict} in {:.1} s", begun.elapsed().as_secs_f32()))?;
                findings.extend(failure);
            }
        }
    }
    for finding in &findings {
        say(finding)?;
    }
    say(&format!("docs: {} findings in {} pages", findings.len(), pages.len()))?;
    Ok(findings.is_empty())
}

/// Findings about the text of pages, without running a program: pages of the site, snippets, comments above blocks.
fn written(pages: &BTreeMap<String, String>) -> Vec<String> {
    let mut findings = site::unlisted(pages);
    for (path, text) in pages {
        findings.extend(snippet::check(path, text));
        findings.extend(session::script(path, text).err().into_iter().flatten());
    }
    findings
}

/// The Markdown files under version control and the new ones, by path.
pub(crate) fn pages() -> Result<BTreeMap<String, String>> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"])
        .current_dir(root())
        .output()?;
    let listed = String::from_utf8(listed.stdout)?;
    let mut pages = BTreeMap::new();
    for path in listed.lines() {
        if DATA.iter().any(|data| path.starts_with(data)) {
            continue;
        }
        // A file whose deletion is not committed yet is listed, but cannot be read.
        if let Ok(text) = fs::read_to_string(root().join(path)) {
            pages.insert(path.to_owned(), text);
        }
    }
    if pages.is_empty() { Err("git lists no pages".into()) } else { Ok(pages) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_pages_of_this_repository_are_well_written() {
        if !crate::tidy::has_git("the_pages_of_this_repository_are_well_written") {
            return;
        }
        let pages = super::pages().expect("git lists them");
        let findings = super::written(&pages);
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }
}
