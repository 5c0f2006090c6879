//! A page for a repository: the matrix of cases by targets, and each finding.

use std::io::{self, Write};

use super::matrix::{LEGEND, groups, rows};
use super::{Outcome, Results, Tool};

/// Writes the page.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write(results: &Results, mut out: impl Write) -> io::Result<()> {
    let what = match results.tool {
        Tool::Check => "Servers checked against the rules",
        Tool::Replay => "Servers checked against transcripts",
        Tool::Client => "Clients checked against the rules",
    };
    let day = results.at.split('T').next().unwrap_or_default();
    writeln!(out, "# {what}\n")?;
    writeln!(out, "Written by `mcp-conformance` {} on {day}.\n", results.version)?;
    writeln!(out, "| | target | server | revisions | holds | findings | not judged |")?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for (number, target) in (1..).zip(&results.targets) {
        let revisions = match &target.unreachable {
            Some(why) => format!("not reached: {why}"),
            None => target.revisions.join(", "),
        };
        writeln!(
            out,
            "| {number} | {} | {} | {} | {} | {} | {} |",
            cell(&target.name),
            cell(target.server.as_deref().unwrap_or_default()),
            cell(&revisions),
            target.count(Outcome::Holds),
            target.by_level(|it| matches!(it, Outcome::Finding | Outcome::Known)),
            target.count(Outcome::Unclear),
        )?;
    }
    writeln!(
        out,
        "\nA rule counts once among the findings, and elsewhere once for each revision in which it was checked.\n\n## Matrix\n\n{LEGEND}\n"
    )?;
    write!(out, "| | |")?;
    for number in 1..=results.targets.len() {
        write!(out, " {number} |")?;
    }
    writeln!(out, "\n|---|---|{}", "---|".repeat(results.targets.len()))?;
    for row in rows(results) {
        let level = row.case.level.map(|it| it.to_string()).unwrap_or_default();
        write!(out, "| `{}` | {level} |", cell(&row.case.name))?;
        for it in &row.cells {
            write!(out, " {} |", it.text())?;
        }
        writeln!(out)?;
    }
    for (number, target) in (1..).zip(&results.targets) {
        let groups = groups(&target.cases);
        if groups.is_empty() && target.calls.is_none() {
            continue;
        }
        writeln!(out, "\n## {number}. {}\n", line(&target.name))?;
        if let Some(calls) = &target.calls {
            writeln!(out, "{}.\n", line(&calls.to_string()))?;
        }
        for group in groups {
            let case = group.case;
            let level = match case.verdict {
                Outcome::Unclear => "not judged".to_owned(),
                _ => case.level.map(|it| it.to_string()).unwrap_or_default(),
            };
            writeln!(
                out,
                "- **{level} `{}`**{}: {}. Seen: {}. Section: {}.",
                case.name,
                group.within(),
                line(&case.title),
                code(case.seen.as_deref().unwrap_or_default()),
                line(case.section.as_deref().unwrap_or("none")),
            )?;
        }
    }
    Ok(())
}

/// A text inside a table.
fn cell(text: &str) -> String {
    line(text).replace('|', "\\|")
}

/// A text on one line, in which nothing is markup.
fn line(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => safe.push(' '),
            '<' | '*' | '[' | '`' | '_' | '\\' => {
                safe.push('\\');
                safe.push(c);
            }
            _ => safe.push(c),
        }
    }
    safe
}

/// A text as it was, on one line.
fn code(text: &str) -> String {
    format!("`{}`", text.replace(['\n', '\r'], " ").replace('`', "'"))
}
