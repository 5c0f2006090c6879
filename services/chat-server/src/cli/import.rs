//! `chat-server import`

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::Args;
use service_host::{log_to_stderr, stop_signal};
use tokio_util::sync::CancellationToken;

use super::CliError;
use super::output::{Output, visible};
use super::place::{Place, close};
use crate::desk::{Desk, Mode};
use crate::index::IndexError;
use crate::live::export::{Export, Progress};

/// How many cells the bar of progress has.
const CELLS: u64 = 30;

/// The exit code of an import that has left something out.
const LEFT_OUT: u8 = 3;

/// The most warnings that are told of a source.
const WARNINGS: usize = 20;

#[derive(Debug, Clone, Args)]
pub(super) struct Arguments {
    /// The ids of sources that are exports; all of them if none is named.
    sources: Vec<String>,
    /// Reads exports again that have not changed.
    #[arg(long)]
    again: bool,
}

impl Arguments {
    /// One source, if it has changed.
    pub(super) fn of(source: String) -> Self {
        Self {
            sources: vec![source],
            again: false,
        }
    }

    pub(super) async fn run(self, place: &Place) -> Result<ExitCode, CliError> {
        log_to_stderr("error");
        let desk = place.desk(Mode::Reads).await?;
        let stop = stop_signal()?;
        let imported = self.import(&desk, &stop).await;
        close(&desk).await;
        imported
    }

    async fn import(&self, desk: &Desk, stop: &CancellationToken) -> Result<ExitCode, CliError> {
        let exports = self.exports(desk)?;
        if !desk.index().is_writer() {
            let dir = desk.index().dir().to_owned();
            return Err(IndexError::ReadOnly { dir }.into());
        }
        let (mut failed, mut left_out) = (false, 0);
        let mut output = Output::new();
        for id in exports {
            let Some(export) = desk
                .registry()
                .get(&id)
                .and_then(|entry| entry.export.clone())
            else {
                continue;
            };
            let sink = desk.registry().sink(&id, desk.index());
            let mut progress = export.progress();
            let bar = Bar::new(&id);
            let read = {
                let importing = export.import(&*sink, self.again, stop);
                tokio::pin!(importing);
                loop {
                    tokio::select! {
                        read = &mut importing => break read,
                        Ok(()) = progress.changed() => bar.show(&progress.borrow_and_update()),
                    }
                }
            };
            bar.clear();
            if stop.is_cancelled() {
                return Err(CliError::Other(format!(
                    "stopped while {id} was read: what was read is kept, and import goes on with the rest"
                )));
            }
            match read {
                Ok(()) => {
                    left_out += left_out_of(&export);
                    tell(&id, &export, &mut output)?;
                }
                Err(error) => {
                    failed = true;
                    eprintln!("{id}: {}", visible(&error.to_string()));
                }
            }
        }
        output.finish()?;
        Ok(match (failed, left_out) {
            (true, _) => ExitCode::FAILURE,
            (false, 0) => ExitCode::SUCCESS,
            (false, _) => ExitCode::from(LEFT_OUT),
        })
    }

    /// The ids of the exports that are meant.
    fn exports(&self, desk: &Desk) -> Result<Vec<String>, CliError> {
        let all = || {
            desk.registry()
                .iter()
                .filter(|entry| entry.export.is_some())
        };
        let ids: Vec<String> = all().map(|entry| entry.source.id().to_owned()).collect();
        let wrong = self.sources.iter().find(|id| !ids.contains(id));
        if let Some(wrong) = wrong {
            return Err(CliError::Other(format!(
                "{wrong:?} is no export of the configuration; there is {}",
                ids.join(", ")
            )));
        }
        Ok(match self.sources.is_empty() {
            true => ids,
            false => self.sources.clone(),
        })
    }
}

/// How many entries the last reading has left out.
fn left_out_of(export: &Export) -> u64 {
    export
        .progress()
        .borrow()
        .summary
        .as_ref()
        .map_or(0, |summary| summary.skipped)
}

/// What was read.
fn tell(id: &str, export: &Export, output: &mut Output) -> io::Result<()> {
    let progress = export.progress().borrow().clone();
    let Some(summary) = progress.summary else {
        return output.line(&format!("{id}: nothing new"));
    };
    output.line(&format!(
        "{id}: {} chats, {} messages, {} left out",
        summary.chats, summary.messages, summary.skipped
    ))?;
    for doubt in &summary.doubts {
        eprintln!("{id}: {}", visible(&doubt.to_string()));
    }
    if !summary.doubts.is_empty() {
        eprintln!(
            "{id}: if that is wrong: chat-server day-order {id} day-first|month-first|year-first"
        );
    }
    for warning in summary.warnings.iter().take(WARNINGS) {
        eprintln!("{id}: {}", visible(warning));
    }
    let more = summary.warnings.len().saturating_sub(WARNINGS);
    if more > 0 {
        eprintln!("{id}: and {more} warnings more");
    }
    Ok(())
}

/// A bar of progress on stderr, if somebody looks.
struct Bar<'i> {
    id: &'i str,
    is_seen: bool,
}

impl<'i> Bar<'i> {
    fn new(id: &'i str) -> Self {
        let is_seen = io::stderr().is_terminal();
        Self { id, is_seen }
    }

    fn show(&self, progress: &Progress) {
        if !self.is_seen {
            return;
        }
        let of = |most: u64| {
            let share = u128::from(progress.done) * u128::from(most);
            let share = share.checked_div(u128::from(progress.total)).unwrap_or(0);
            u64::try_from(share).unwrap_or(most).min(most)
        };
        let filled = of(CELLS);
        let cells: String = (0..CELLS)
            .map(|n| if n < filled { '█' } else { '░' })
            .collect();
        let mut stderr = io::stderr().lock();
        // Whoever looked has gone: nothing is lost.
        let _shown = write!(stderr, "\r{} {cells} {:3} %", self.id, of(100));
        let _shown = stderr.flush();
    }

    fn clear(&self) {
        if self.is_seen {
            let mut stderr = io::stderr().lock();
            let _shown = write!(stderr, "\r\u{1b}[K");
            let _shown = stderr.flush();
        }
    }
}
