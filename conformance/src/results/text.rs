//! The report for people: each finding with its exchange and what to change, and the counts.

use std::io::{self, Write};

use super::matrix::{Group, groups};
use super::{Case, Outcome, Results, Subject, Tool};

/// Writes the report.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write(results: &Results, mut out: impl Write) -> io::Result<()> {
    for target in &results.targets {
        if results.targets.len() > 1 {
            writeln!(out, "== {}", target.name)?;
        }
        write_target(target, results.tool, &mut out)?;
    }
    Ok(())
}

fn write_target(target: &Subject, tool: Tool, out: &mut impl Write) -> io::Result<()> {
    if let Some(why) = &target.unreachable {
        return writeln!(out, "{why}");
    }
    let mut groups = groups(&target.cases);
    groups.sort_by_key(|group| group.case.level);
    let of = |outcome| groups.iter().filter(move |group| group.case.verdict == outcome);
    of(Outcome::Finding).try_for_each(|group| finding(group, out))?;
    of(Outcome::Fixed).try_for_each(|group| fixed(group.case, out))?;
    for (outcome, word) in [(Outcome::Known, "known"), (Outcome::Unclear, "not judged")] {
        for group in of(outcome) {
            let why = group.case.seen.as_deref().unwrap_or_default();
            writeln!(out, "{word} {}{}: {why}", group.case.name, group.within())?;
        }
    }
    // Servers declare what they do not have; what a client did not do, its author reads here.
    let left = target.cases.iter().filter(|it| it.verdict == Outcome::Inapplicable);
    for case in left.filter(|_| tool == Tool::Client) {
        let why = case.seen.as_deref().unwrap_or_default();
        writeln!(out, "does not apply {}: {why}", case.name)?;
    }
    summary(target, tool, out)
}

/// Writes what a baseline changes, for people who have read how each case went.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write_changes(results: &Results, mut out: impl Write) -> io::Result<()> {
    for (_, case) in results.cases() {
        match case.verdict {
            Outcome::Known => {
                writeln!(out, "known: {} fails, as listed in the baseline", case.label())?
            }
            Outcome::Fixed => fixed(case, &mut out)?,
            _ => {}
        }
    }
    Ok(())
}

fn fixed(case: &Case, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{}: listed in the baseline as failing, but holds now; remove it from the baseline",
        case.label()
    )
}

fn finding(group: &Group<'_>, out: &mut impl Write) -> io::Result<()> {
    let Group { case, revisions } = group;
    let level = case.level.map(|it| it.to_string()).unwrap_or_default();
    let section = case.section.as_deref().unwrap_or("none");
    let mut place = revisions.join(", ");
    if !place.is_empty() {
        place.push_str("; ");
    }
    writeln!(out, "{level} {} ({place}{section})", case.name)?;
    writeln!(out, "  rule: {}", case.title)?;
    writeln!(out, "  seen: {}", case.seen.as_deref().unwrap_or_default())?;
    writeln!(out, "  change: {}", case.fix.as_deref().unwrap_or_default())?;
    let exchange = case.exchange.as_deref().unwrap_or_default();
    exchange.lines().try_for_each(|line| writeln!(out, "    {line}"))
}

fn summary(target: &Subject, tool: Tool, out: &mut impl Write) -> io::Result<()> {
    let known = match (target.count(Outcome::Known), target.count(Outcome::Fixed)) {
        (0, 0) => String::new(),
        (known, fixed) => {
            format!(", {known} in the baseline, {fixed} in the baseline that hold now")
        }
    };
    let spoken = match target.revisions.as_slice() {
        [] if tool == Tool::Client => String::new(),
        [] => "supports no known revision; ".to_owned(),
        revisions => format!("supports {}; ", revisions.join(", ")),
    };
    writeln!(
        out,
        "{}: {spoken}{} hold, findings: {}{known}; {} do not apply, {} not judged",
        target.name,
        target.count(Outcome::Holds),
        target.by_level(|outcome| outcome == Outcome::Finding),
        target.count(Outcome::Inapplicable),
        target.count(Outcome::Unclear),
    )?;
    match &target.calls {
        Some(calls) => writeln!(out, "{}: {calls}", target.name),
        None => Ok(()),
    }
}
