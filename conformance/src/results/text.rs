//! The report for people: each finding with its exchange and what to change, and the counts.

use std::io::{self, Write};

use super::{Case, Outcome, Results, Subject};
use crate::check::Level;

/// Writes the report.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write(results: &Results, mut out: impl Write) -> io::Result<()> {
    for target in &results.targets {
        write_target(target, results.targets.len() > 1, &mut out)?;
    }
    Ok(())
}

fn write_target(target: &Subject, several: bool, out: &mut impl Write) -> io::Result<()> {
    if several {
        writeln!(out, "== {}", target.name)?;
    }
    if let Some(why) = &target.unreachable {
        return writeln!(out, "{why}");
    }
    for case in &target.cases {
        match case.verdict {
            Outcome::Finding => finding(case, out)?,
            Outcome::Fixed => fixed(case, out)?,
            _ => {}
        }
    }
    for case in &target.cases {
        let why = case.seen.as_deref().unwrap_or_default();
        match case.verdict {
            Outcome::Known => writeln!(out, "known {}: {why}", case.label())?,
            Outcome::Unclear => writeln!(out, "unclear {}: {why}", case.label())?,
            _ => {}
        }
    }
    summary(target, out)
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

fn finding(case: &Case, out: &mut impl Write) -> io::Result<()> {
    let level = case.level.map(|it| it.to_string()).unwrap_or_default();
    let section = case.section.as_deref().unwrap_or("none");
    writeln!(out, "{level} {} ({}, {section})", case.name, case.revision)?;
    writeln!(out, "  rule: {}", case.title)?;
    writeln!(out, "  seen: {}", case.seen.as_deref().unwrap_or_default())?;
    writeln!(out, "  change: {}", case.fix.as_deref().unwrap_or_default())?;
    let exchange = case.exchange.as_deref().unwrap_or_default();
    exchange.lines().try_for_each(|line| writeln!(out, "    {line}"))
}

fn summary(target: &Subject, out: &mut impl Write) -> io::Result<()> {
    let at = |level| {
        let found = target
            .cases
            .iter()
            .filter(|case| case.verdict == Outcome::Finding && case.level == Some(level));
        found.count()
    };
    let known = match (target.count(Outcome::Known), target.count(Outcome::Fixed)) {
        (0, 0) => String::new(),
        (known, fixed) => {
            format!(", {known} in the baseline, {fixed} in the baseline that hold now")
        }
    };
    let spoken = match target.revisions.as_slice() {
        [] => "no known revision".to_owned(),
        revisions => revisions.join(", "),
    };
    writeln!(
        out,
        "{}: supports {spoken}; {} hold, findings: {} MUST, {} SHOULD, {} practice{known}; {} do not apply, {} unclear",
        target.name,
        target.count(Outcome::Holds),
        at(Level::Must),
        at(Level::Should),
        at(Level::Practice),
        target.count(Outcome::Inapplicable),
        target.count(Outcome::Unclear),
    )?;
    match &target.calls {
        Some(calls) => writeln!(out, "{}: {calls}", target.name),
        None => Ok(()),
    }
}
