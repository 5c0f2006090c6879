//! The public interface of the published libraries, as lists that are committed, so that each change of it is seen:
//! `public-api.txt` in the folder of each crate, one item per line.
//!
//! rustdoc writes the interface as JSON, and the crate `public-api` makes the list of it. Implementations that the
//! compiler derives or that hold for every type are left out.

use std::collections::HashSet;
use std::process::Command;
use std::{env, fs};

use clap::{Args, Subcommand};
use public_api::Builder;
use xtask::programs::cargo;
use xtask::{Result, install, is_ci, root, say, target};

/// The crates, and the folder of each.
const CRATES: [(&str, &str); 3] = [
    ("mcp-proto", "mcp-proto"),
    ("mcp-proto-client", "mcp-client"),
    ("universe-core", "universe-core"),
];

/// The file with the list, in the folder of its crate.
const LIST: &str = "public-api.txt";

/// The format of JSON that this version of `public-api` reads. A release of Rust may write another one.
const FORMAT: &str = "57";

/// Set when cargo runs this program in place of `rustdoc`.
const IN_PLACE: &str = "XTASK_IN_PLACE_OF_RUSTDOC";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Writes the lists, instead of comparing them.
    Write,
}

/// Compares or writes the lists. `true` when they are up to date.
///
/// # Errors
/// When the crates do not compile, or a list cannot be written.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    describe()?;
    let mut passed = true;
    for (name, folder) in CRATES {
        let Some(list) = install::or_report("the public interface", list(name)?)? else {
            return Ok(!is_ci());
        };
        let path = root().join(folder).join(LIST);
        if arguments.verb.is_some() {
            fs::write(path, list)?;
            continue;
        }
        let committed = fs::read_to_string(&path)
            .map_err(|error| format!("{folder}/{LIST}: {error}: cargo xtask public-api write"))?;
        let changes = changes(&committed, &list);
        passed &= changes.is_empty();
        for change in changes {
            say(&format!("{folder}/{LIST}: {change}"))?;
        }
    }
    if !passed {
        say("if this is what you want: cargo xtask public-api write, and a line in CHANGELOG.md")?;
    }
    Ok(passed)
}

/// Runs `rustdoc`, if cargo runs this program in its place. JSON is still unstable. Cargo and the build scripts of
/// dependencies do not see the variable that allows it: they would build everything again.
pub(crate) fn in_place_of_rustdoc() -> Option<Result<bool>> {
    env::var_os(IN_PLACE)?;
    let mut rustdoc = Command::new("rustdoc");
    rustdoc.args(env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1").env_remove(IN_PLACE);
    Some(rustdoc.status().map(|status| status.success()).map_err(Into::into))
}

/// Has rustdoc write the JSON of all crates.
fn describe() -> Result<()> {
    let mut doc = cargo(&["doc", "--locked", "--quiet", "--no-deps", "--lib", "--all-features"]);
    doc.args(CRATES.map(|(name, _)| format!("--package={name}")))
        .env("RUSTDOC", env::current_exe()?)
        .env("RUSTDOCFLAGS", "-Zunstable-options --output-format=json --cap-lints=allow")
        .env(IN_PLACE, "1");
    if doc.status()?.success() { Ok(()) } else { Err("cargo doc failed".into()) }
}

/// The list of a crate. The inner error is a format that is not known.
fn list(name: &str) -> Result<std::result::Result<String, String>> {
    let json = target().join("doc").join(format!("{}.json", name.replace('-', "_")));
    let text = fs::read_to_string(&json)?;
    let (_, format) = text.rsplit_once("\"format_version\":").ok_or("rustdoc wrote no format")?;
    let format = format.trim_end_matches('}').trim();
    if format != FORMAT {
        return Ok(Err(format!(
            "rustdoc writes format {format}, but public-api in xtask/Cargo.toml reads {FORMAT}"
        )));
    }
    let interface = Builder::from_rustdoc_json(json)
        .omit_auto_derived_impls(true)
        .omit_auto_trait_impls(true)
        .omit_blanket_impls(true)
        .build()?;
    // What two paths lead to is listed under both, but its implementations have one text.
    let mut seen = HashSet::new();
    let lines = interface.items().map(|item| format!("{item}\n"));
    Ok(Ok(lines.filter(|line| seen.insert(line.clone())).collect()))
}

/// Lines that are new, with `+`, and lines that are gone, with `-`.
fn changes(committed: &str, list: &str) -> Vec<String> {
    let lacks = |text: &str, line: &str| !text.lines().any(|other| other == line);
    let gone = committed.lines().filter(|line| lacks(list, line)).map(|line| format!("- {line}"));
    let new = list.lines().filter(|line| lacks(committed, line)).map(|line| format!("+ {line}"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_that_is_new_or_gone_is_told() {
        assert!(changes("a\nb\n", "a\nb\n").is_empty());
        assert_eq!(changes("a\nb\n", "a\nc\n"), ["- b", "+ c"]);
    }
}
