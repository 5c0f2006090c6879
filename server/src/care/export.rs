//! `export`: a universe as JSON, as REST returns it.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use universe_core::State;

use super::replay::{Replay, ReplayStep};
use super::{CareError, Inspector, Result, UniverseId, present, say, write_new};
use crate::commands::{ServiceError, TextPlace, Universe};
use crate::store::sqlite::View;
use crate::store::{Finding, Meta, Page, Record, Revision, Timestamp};
use crate::view::NearbyUniverses;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Exported<'a> {
    id: &'a str,
    name: &'a str,
    state: &'a State,
    created_at: Timestamp,
    updated_at: Timestamp,
    revision: u64,
}

pub(super) fn export(
    dir: &Path,
    id: &UniverseId,
    file: Option<&Path>,
    revision: Option<u64>,
) -> Result<ExitCode> {
    let inspector = Inspector::open(dir)?;
    present(&inspector)?;
    let view = inspector.view()?;
    if let Some(problem) = view.problem(id)? {
        return Err(CareError::Unsound(Finding { universe: id.to_string(), problem }));
    }
    let record = view.record(id)?;
    let Some(record) = record else {
        let known = view.list(&Page::FIRST)?;
        let NearbyUniverses { hint, .. } = NearbyUniverses::among(&known, id.as_str());
        let id = id.clone();
        return Err(CareError::NotFound { id, hint });
    };
    let (state, updated_at, revision) = state(&view, &record, revision.map(Revision))?;
    let Meta { id, name, created_at } = record.meta;
    let universe =
        Universe { id, name, created_at, updated_at, revision, state, text: TextPlace::default() };
    write(&universe, file)
}

/// Writes a universe to a file or to stdout.
pub(super) fn write(universe: &Universe, file: Option<&Path>) -> Result<ExitCode> {
    let (id, revision) = (&universe.id, universe.revision);
    let exported = Exported {
        id: id.as_str(),
        name: &universe.name,
        state: &universe.state,
        created_at: universe.created_at,
        updated_at: universe.updated_at,
        revision: revision.0,
    };
    let Some(file) = file else {
        let mut out = BufWriter::new(io::stdout().lock());
        serde_json::to_writer(&mut out, &exported).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    write_new(file, |partial| {
        let failed = |error| CareError::File { file: file.to_owned(), error };
        let mut out = BufWriter::new(File::create(partial).map_err(failed)?);
        serde_json::to_writer(&mut out, &exported).map_err(|error| failed(error.into()))?;
        out.flush().map_err(failed)
    })?;
    say(&format!("universe {id} at revision {revision}, in {}", file.display()))
}

/// The state at a revision and the time of that revision. By default those of the head.
pub(super) fn state(
    view: &View<'_>,
    record: &Record,
    until: Option<Revision>,
) -> Result<(State, Timestamp, Revision)> {
    let (id, head, oldest) = (record.meta.id.clone(), record.head, record.oldest);
    let revision = until.unwrap_or(head.revision);
    if revision > head.revision {
        let head = head.revision;
        return Err(ServiceError::NoRevision { id, revision, head }.into());
    }
    if revision < oldest {
        return Err(ServiceError::Trimmed { id, revision, oldest }.into());
    }
    let (mut replay, problem) = Replay::of(view, record)?;
    replay.skip(record, revision);
    let problem = problem.filter(|_| replay.state.is_none());
    let mut damage = problem.map(|problem| (oldest, problem));
    while replay.revision < revision {
        match replay.step()? {
            ReplayStep::Entry => {}
            ReplayStep::End => break,
            ReplayStep::Damaged(first, _, problem) => damage = damage.or(Some((first, problem))),
        }
    }
    if let Some(state) = replay.state.filter(|_| replay.revision == revision) {
        return Ok((state, replay.at, revision));
    }
    let (revision, problem) = damage.unwrap_or((revision, "it cannot be reached".to_owned()));
    Err(ServiceError::Damaged { id, revision, problem }.into())
}
