//! The report for people: each finding with its exchange and what to change, and the counts.

use std::io::{self, Write};

use super::matrix::{Group, groups};
use super::{Case, Outcome, Results, Subject};

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
    let mut groups = groups(&target.cases);
    groups.sort_by_key(|group| group.case.level);
    let of = |outcome| groups.iter().filter(move |group| group.case.verdict == outcome);
    of(Outcome::Finding).try_for_each(|group| finding(group, out))?;
    of(Outcome::Fixed).try_for_each(|group| fixed(group.case, out))?;
    for (outcome, word) in [(Outcome::Known, "known"), (Outcome::Unclear, "not judged")] {
        for group in of(outcome) {
            let why = group.case.seen.as_deref().unwrap_or_default();
            let revisions = group.revisions.join(", ");
            writeln!(out, "{word} {} ({revisions}): {why}", group.case.name)?;
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

fn finding(group: &Group<'_>, out: &mut impl Write) -> io::Result<()> {
    let Group { case, revisions } = group;
    let level = case.level.map(|it| it.to_string()).unwrap_or_default();
    let section = case.section.as_deref().unwrap_or("none");
    writeln!(out, "{level} {} ({}; {section})", case.name, revisions.join(", "))?;
    writeln!(out, "  rule: {}", case.title)?;
    writeln!(out, "  seen: {}", case.seen.as_deref().unwrap_or_default())?;
    writeln!(out, "  change: {}", case.fix.as_deref().unwrap_or_default())?;
    let exchange = case.exchange.as_deref().unwrap_or_default();
    exchange.lines().try_for_each(|line| writeln!(out, "    {line}"))
}

fn summary(target: &Subject, out: &mut impl Write) -> io::Result<()> {
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
        "{}: supports {spoken}; {} hold, findings: {}{known}; {} do not apply, {} not judged",
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
