//! `check`: the file, every entry of every log, and every snapshot against the log.

use std::path::Path;
use std::process::ExitCode;

use super::replay::{Replay, ReplayStep};
use super::{CareError, DAMAGED, Inspector, OpenError, Result, counted, present, say};
use crate::commands::read_state;
use crate::store::sqlite::{View, care};
use crate::store::{Finding, Page, Record, Revision};

/// The advice for a damaged snapshot.
const PASSED_OVER: &str = "what to do: nothing; it is ignored, and the next one replaces it";

/// The advice for a loss that cannot be repaired.
const RESTORE: &str = "what to do: `universe-server restore FILE --replace` goes back to a backup";

/// The advice for what does not fit together.
pub(super) const REPAIR: &str = "what to do: `universe-server check --repair`, while no server runs, puts right what the rest \
                      of the store proves; `universe-server restore FILE --replace` goes back to a backup";

/// The results of the check.
#[derive(Default)]
struct Tally {
    universes: u64,
    entries: u64,
    snapshots: u64,
    problems: u64,
    /// Whether the file itself is damaged.
    is_file: bool,
}

pub(super) fn check(dir: &Path, repair: bool) -> Result<ExitCode> {
    if repair {
        for done in care::repair(dir)? {
            say(&format!("repaired: {done}"))?;
        }
    }
    let inspector = match Inspector::open(dir) {
        Err(OpenError::Damaged { reason, .. }) => {
            say(&format!("the file is damaged: {reason}"))?;
            say(RESTORE)?;
            say("it cannot be read at all: 1 problem")?;
            return Ok(ExitCode::from(DAMAGED));
        }
        opened => opened?,
    };
    let mut tally = Tally::default();
    if let Err(error) = tally.all(&inspector) {
        // Damage that SQLite itself finds is returned as an error of a read.
        let CareError::Unreadable(error) = error else {
            return Err(error);
        };
        tally.report(&format!("the file is damaged: {error}"))?;
        tally.is_file = true;
    }
    if tally.is_file {
        say(&format!(
            "{RESTORE}; without one, `universe-server export ID FILE` saves what can still be read of each universe"
        ))?;
    }
    tally.sum_up(&inspector)
}

/// Says what does not fit together, and what to do. Gives the exit code.
pub(super) fn tell(findings: &[Finding]) -> Result<ExitCode> {
    for Finding { universe, problem } in findings {
        say(&format!("universe {universe}: {problem}"))?;
    }
    if findings.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    say(REPAIR)?;
    Ok(ExitCode::from(DAMAGED))
}

/// What a check comes to: in words, and the exit code.
pub(super) fn verdict(problems: u64) -> (String, ExitCode) {
    match problems {
        0 => ("sound".to_owned(), ExitCode::SUCCESS),
        1 => ("1 problem".to_owned(), ExitCode::from(DAMAGED)),
        many => (format!("{many} problems"), ExitCode::from(DAMAGED)),
    }
}

impl Tally {
    fn all(&mut self, inspector: &Inspector) -> Result<()> {
        for finding in inspector.integrity()? {
            self.is_file = true;
            self.report(&format!("the file is damaged: {finding}"))?;
        }
        present(inspector)?;
        let findings = inspector.view()?.findings()?;
        tell(&findings)?;
        self.problems += findings.len() as u64;
        let mut next = Some(Page::FIRST);
        while let Some(page) = next {
            let records = inspector.view()?.list(&page)?;
            for record in &records {
                self.universes += 1;
                // A new view for each universe, so that the server's write-ahead log does not grow for long.
                let view = inspector.view()?;
                // It may have been deleted or changed meanwhile.
                match view.record(&record.meta.id) {
                    Ok(Some(record)) => self.universe(&view, &record)?,
                    Ok(None) => {}
                    // What does not fit was reported above.
                    Err(error) if error.is_of_one() => {}
                    Err(error) => return Err(error.into()),
                }
            }
            next = Page::following(&records);
        }
        Ok(())
    }

    fn sum_up(&self, inspector: &Inspector) -> Result<ExitCode> {
        let Self { universes, entries, snapshots, problems, .. } = self;
        let (verdict, code) = verdict(*problems);
        let size = match inspector.size() {
            Ok(size) => format!(
                "{} bytes, {} of them free, and {} of write-ahead log",
                size.file, size.free, size.log
            ),
            Err(error) => error.to_string(),
        };
        say(&format!(
            "{}, {entries} entries, {snapshots} snapshots, {size}: {verdict}",
            counted(*universes)
        ))?;
        Ok(code)
    }

    fn report(&mut self, problem: &str) -> Result<()> {
        self.problems += 1;
        say(problem).map(drop)
    }

    fn universe(&mut self, view: &View<'_>, record: &Record) -> Result<()> {
        let id = &record.meta.id;
        let (mut replay, problem) = Replay::of(view, record)?;
        // The first damage that cannot be repaired.
        let mut lost = problem.is_some().then_some(record.oldest);
        if let Some(problem) = problem {
            let at = record.oldest;
            self.report(&format!(
                "universe {id}: the state at its beginning, revision {at}, is damaged: {problem}"
            ))?;
        }
        if let Some(problem) = replay.no_snapshot.take() {
            self.report(&format!("universe {id}: its snapshot is damaged: {problem}"))?;
            if lost.is_none() {
                say(PASSED_OVER)?;
            }
        }
        loop {
            self.snapshot(&mut replay, record, &mut lost)?;
            match replay.step()? {
                ReplayStep::Entry => self.entries += 1,
                ReplayStep::End => break,
                ReplayStep::Damaged(first, last, problem) => {
                    lost = lost.or(Some(first));
                    let entries = if first == last {
                        format!("the entry of revision {first} is damaged")
                    } else {
                        format!("the entries of the revisions {first} to {last} are damaged")
                    };
                    self.report(&format!("universe {id}: {entries}: {problem}"))?;
                }
            }
        }
        match lost {
            None => Ok(()),
            Some(_) if replay.state.is_some() => say(&format!(
                "what to do: nothing for its present state, which a snapshot after the damage has; \
                 `universe-server export {id} FILE` and `import` make a universe without that history"
            ))
            .map(drop),
            Some(first) => {
                let before = first.0.saturating_sub(1);
                let export = if first > record.oldest {
                    format!(
                        ", or `universe-server export {id} FILE --revision {before}` and `import` make a new universe \
                         of what was before"
                    )
                } else {
                    String::new()
                };
                say(&format!(
                    "{RESTORE}{export}"
                ))
                .map(drop)
            }
        }
    }

    /// Checks the snapshot when the replay has reached its revision. After damage, the replay continues from it.
    fn snapshot(
        &mut self,
        replay: &mut Replay<'_>,
        record: &Record,
        lost: &mut Option<Revision>,
    ) -> Result<()> {
        let reached = |snapshot: &mut crate::store::Snapshot| snapshot.revision <= replay.revision;
        let Some(snapshot) = replay.snapshot.take_if(reached) else {
            return Ok(());
        };
        self.snapshots += 1;
        let (id, at) = (&record.meta.id, snapshot.revision);
        match (read_state(snapshot.body), &replay.state) {
            (Err(problem), _) => {
                self.report(&format!(
                    "universe {id}: its snapshot of revision {at} is damaged: {problem}"
                ))?;
                if lost.is_none() {
                    say(PASSED_OVER)?;
                }
            }
            (Ok(state), Some(replayed)) if state != *replayed => {
                self.report(&format!(
                    "universe {id}: its snapshot of revision {at} is not what its log comes to"
                ))?;
                say(RESTORE)?;
            }
            (Ok(_), Some(_)) => {}
            // A snapshot in the middle of a damaged range would not fit the entries that follow.
            (Ok(state), None) if at == replay.revision => replay.state = Some(state),
            (Ok(_), None) => {}
        }
        Ok(())
    }
}
