//! `chat-server import`

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use service_host::{complain, log_to_stderr, stop_signal};
use tokio_util::sync::CancellationToken;

use super::document::Document;
use super::error::{Asked, CliError};
use super::output::Output;
use super::paths::{Paths, close};
use crate::chat_service::{ChatService, Mode};
use crate::config::SourceKind;
use crate::import::{self, Format};
use crate::index::IndexError;
use crate::live::export::{Export, Progress};

/// How many cells the progress bar has.
const CELLS: u64 = 30;

/// The exit code of an import that has left something out.
const LEFT_OUT: u8 = 3;

/// The most warnings and doubts that are printed for a source.
const MAX_LISTED: usize = 20;

#[derive(Debug, Clone, Args)]
pub(super) struct ImportArgs {
    /// The ids of sources that are exports; or files, zips and folders, which become sources of the configuration. All
    /// exports of the configuration if none is named.
    #[arg(value_name = "SOURCE|FILE")]
    sources: Vec<String>,
    /// Reads exports again that have not changed.
    #[arg(long)]
    again: bool,
}

impl ImportArgs {
    /// One source, if it has changed.
    pub(super) fn of(source: String) -> Self {
        Self { sources: vec![source], again: false }
    }

    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        log_to_stderr("error");
        if self.sources.is_empty() {
            // Without sources the configuration decides: its errors are reported here.
            paths.config()?;
        }
        let mut document = Document::open(paths)?;
        let (meant, added) = self.meant(&mut document)?;
        let service = paths.open_with(&document.config()?, Mode::Reads).await?;
        let stop = stop_signal()?;
        let imported = self.import(&service, &stop, meant).await;
        close(&service).await;
        let (code, failed) = imported?;
        document.remove(&failed);
        let kept = added.iter().filter(|id| !failed.contains(id));
        let kept: Vec<&str> = kept.map(String::as_str).collect();
        if !kept.is_empty() {
            document.write()?;
            let file = document.file.display();
            complain(&format!("added to {file}: {}", kept.join(", ")));
        }
        Ok(code)
    }

    /// The ids of the named exports, and those of them that are new. A file or folder without a source becomes one
    /// source for each kind of export in it.
    fn meant(&self, document: &mut Document) -> Result<(Vec<String>, Vec<String>), CliError> {
        let config = document.config()?;
        let exports: Vec<(&str, Format, &Path)> = config
            .sources
            .iter()
            .filter_map(|source| match &source.kind {
                SourceKind::Export { format, path, .. } => Some((&*source.id, *format, &**path)),
                _ => None,
            })
            .collect();
        if self.sources.is_empty() {
            let all = exports.iter().map(|(id, ..)| (*id).to_owned());
            return Ok((all.collect(), Vec::new()));
        }
        let (mut meant, mut added) = (Vec::new(), Vec::new());
        for asked in &self.sources {
            let id = asked.to_lowercase();
            if exports.iter().any(|(known, ..)| *known == id) {
                meant.push(id);
                continue;
            }
            let Ok(path) = Path::new(asked).canonicalize() else {
                let known: Vec<&str> = exports.iter().map(|(id, ..)| *id).collect();
                let known = match known.as_slice() {
                    [] => "has no exports yet".to_owned(),
                    known => format!("has {}", known.join(", ")),
                };
                return Err(format!(
                    "{asked:?} is not an export of the configuration, which {known}, and there is no such file or folder"
                )
                .into());
            };
            for format in import::formats(&path)? {
                let is_in = |(_, known, at): &&(&str, Format, &Path)| {
                    *known == format && at.canonicalize().is_ok_and(|at| path.starts_with(at))
                };
                let is_around = |(_, known, at): &&(&str, Format, &Path)| {
                    *known == format && at.canonicalize().is_ok_and(|at| at.starts_with(&path))
                };
                match (exports.iter().find(is_in), exports.iter().find(is_around)) {
                    (Some((id, ..)), _) => meant.push((*id).to_owned()),
                    (None, Some((id, _, at))) => {
                        let (at, path, file) =
                            (at.display(), path.display(), document.file.display());
                        return Err(format!(
                            "{path} has {at} in it, which is the source {id} already, and would count twice: to read \
                             all of {path}, change the path of {id} to it in {file}"
                        )
                        .into());
                    }
                    (None, None) => {
                        let id = document.add(format, &path)?;
                        meant.push(id.clone());
                        added.push(id);
                    }
                }
            }
        }
        Ok((meant, added))
    }

    /// The exit code, and the sources that could not be read.
    async fn import(
        &self,
        service: &ChatService,
        stop: &CancellationToken,
        exports: Vec<String>,
    ) -> Result<(ExitCode, Vec<String>), CliError> {
        if !service.index().is_writer() {
            let dir = service.index().dir().to_owned();
            return Err(IndexError::ReadOnly { dir }.into());
        }
        let (mut failed, mut left_out) = (Vec::new(), 0);
        let mut output = Output::new();
        for id in exports {
            let Some(export) = service.registry().get(&id).and_then(|entry| entry.export.clone())
            else {
                continue;
            };
            let sink = service.registry().sink(&id, service.index());
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
                return Err(format!(
                    "stopped while {id} was read: what was read is kept, and import continues with the rest"
                )
                .into());
            }
            match read {
                Ok(()) => {
                    left_out += report(&id, &export, &mut output)?;
                    for twice in service.twice(&id).await.map_err(Asked)? {
                        complain(&format!("{id}: {twice}"));
                    }
                }
                Err(error) => {
                    complain(&format!("{id}: {error}"));
                    failed.push(id);
                }
            }
        }
        output.finish()?;
        let code = match (failed.is_empty(), left_out) {
            (false, _) => ExitCode::FAILURE,
            (true, 0) => ExitCode::SUCCESS,
            (true, _) => ExitCode::from(LEFT_OUT),
        };
        Ok((code, failed))
    }
}

/// Says what was read. Returns how many entries were left out.
fn report(id: &str, export: &Export, output: &mut Output) -> io::Result<u64> {
    let progress = export.progress().borrow().clone();
    let Some(summary) = progress.summary else {
        return output.line(&format!("{id}: nothing new")).map(|()| 0);
    };
    output.line(&format!(
        "{id}: {} chats, {} messages, {} left out",
        summary.chats, summary.messages, summary.skipped
    ))?;
    list(id, summary.doubts.iter(), "doubts");
    if !summary.doubts.is_empty() {
        complain(&format!(
            "{id}: if that is wrong: chat-server day-order {id} day-first|month-first|year-first"
        ));
    }
    list(id, summary.warnings.iter(), "warnings");
    Ok(summary.skipped)
}

/// The first warnings and doubts.
fn list(id: &str, odd: impl ExactSizeIterator<Item = impl Display>, what: &str) {
    let more = odd.len().saturating_sub(MAX_LISTED);
    for one in odd.take(MAX_LISTED) {
        complain(&format!("{id}: {one}"));
    }
    if more > 0 {
        complain(&format!("{id}: and {more} {what} more"));
    }
}

/// A progress bar on stderr, if that is a terminal.
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
        let cells: String = (0..CELLS).map(|n| if n < filled { '█' } else { '░' }).collect();
        let mut stderr = io::stderr().lock();
        // A closed stderr is ignored.
        let _ = write!(stderr, "\r{} {cells} {:3} %", self.id, of(100));
        let _ = stderr.flush();
    }

    fn clear(&self) {
        if self.is_seen {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r\u{1b}[K");
            let _ = stderr.flush();
        }
    }
}
