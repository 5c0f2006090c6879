//! Bringing a universe into memory: its newest snapshot or its genesis, and the entries since.

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use universe_core::{Applied, Command, Findings, State};

use super::texts::TextPlace;
use super::{LogEntry, Processed, Result, ServiceError, Universe};
use crate::offload;
use crate::store::{
    Base, CommandId, Entry, ReadError, Record, Revision, Snapshot, TailError, UniverseId,
    UniverseLog,
};

/// The number of replayed entries after which other tasks get their turn.
const YIELD_ENTRIES: u64 = 64;

/// How often a load is tried when the beginning of the log was moved during it.
const ATTEMPTS: usize = 3;

/// A universe, and how much of its log lies after the body it was read from.
pub(super) struct Loaded {
    pub(super) universe: Universe,
    /// The size of the snapshot or genesis in bytes.
    pub(super) base_bytes: usize,
    /// The number of entries applied on top of it, and their bytes.
    pub(super) entries: u64,
    pub(super) entry_bytes: usize,
    /// The command of the last of them.
    pub(super) last: Option<CommandId>,
}

/// Reads a universe at the head of its log.
pub(super) async fn load(store: &dyn UniverseLog, id: &UniverseId) -> Result<Loaded> {
    load_until(store, id, None).await
}

/// Reads a universe at a revision, by default at the head of its log. The name is always the present one.
// Boxed, so that its code is not in each of its callers.
pub(super) fn load_until<'a>(
    store: &'a dyn UniverseLog,
    id: &'a UniverseId,
    until: Option<Revision>,
) -> BoxFuture<'a, Result<Loaded>> {
    Box::pin(async move {
        for _attempt in 1..ATTEMPTS {
            match try_load(store, id, until).await {
                // Either this reader asks for a revision that was trimmed, or the log was trimmed while it was read.
                Err(ServiceError::Trimmed { .. }) => {}
                loaded => return loaded,
            }
        }
        try_load(store, id, until).await
    })
}

async fn try_load(
    store: &dyn UniverseLog,
    id: &UniverseId,
    until: Option<Revision>,
) -> Result<Loaded> {
    let reading = |error| ServiceError::reading(id, &error);
    let trimmed = |revision, oldest| ServiceError::Trimmed { id: id.clone(), revision, oldest };
    let Record { meta, head, oldest } = store.record(id).await.map_err(reading)?;
    let until = until.unwrap_or(head.revision);
    if until < oldest {
        return Err(trimmed(until, oldest));
    }
    if until > head.revision {
        return Err(ServiceError::NoRevision {
            id: id.clone(),
            revision: until,
            head: head.revision,
        });
    }
    // The time of an earlier revision is in its entry, so that entry has to be read too.
    let fits = |revision| {
        oldest <= revision && (revision < until || (revision == until && until == head.revision))
    };
    let snapshot = store.snapshot(id).await.map_err(reading)?;
    let snapshot = snapshot.filter(|snapshot| fits(snapshot.revision));
    let mut base = None;
    if let Some(Snapshot { revision, body }) = snapshot {
        let base_bytes = body.len();
        match offloaded_state(id, body).await {
            Ok(state) => base = Some((revision, head.updated_at, state, base_bytes)),
            // A snapshot only saves time: everything in it is also in the log.
            Err(_) => {
                tracing::error!(universe = %id, %revision, "a damaged snapshot is ignored: the log is read instead");
            }
        }
    }
    let (base, updated_at, state, base_bytes) = match base {
        Some(base) => base,
        None => {
            let damaged = |revision| ServiceError::Damaged {
                id: id.clone(),
                revision,
                problem: "the state that its history begins with cannot be read".to_owned(),
            };
            let base = store.base(id).await.map_err(|error| match error {
                ReadError::Damaged => damaged(oldest),
                error => reading(error),
            });
            let Base { revision, at, body } = base?;
            if revision > until {
                return Err(trimmed(until, revision));
            }
            let base_bytes = body.len();
            let state = offloaded_state(id, body).await;
            let state = state.map_err(|_| damaged(revision))?;
            (revision, at, state, base_bytes)
        }
    };
    let universe = Universe {
        id: meta.id,
        name: meta.name,
        created_at: meta.created_at,
        updated_at,
        revision: base,
        state,
        text: TextPlace::default(),
    };
    let mut loaded = Loaded { universe, base_bytes, entries: 0, entry_bytes: 0, last: None };
    let missing = until.0.saturating_sub(base.0);
    let mut entries = store.tail(id, base).take(usize::try_from(missing).unwrap_or(usize::MAX));
    while let Some(entry) = entries.next().await {
        let entry = entry.map_err(|error| match error {
            TailError::Deleted | TailError::NotFound => ServiceError::NotFound(id.clone()),
            TailError::Trimmed { oldest, .. } => trimmed(base, oldest),
            TailError::Damaged { first, .. } => ServiceError::Damaged {
                id: id.clone(),
                revision: first,
                problem: "its entry is missing or not what was written".to_owned(),
            },
            error => {
                tracing::warn!(universe = %id, %error, "a universe could not be read");
                ServiceError::Unavailable
            }
        })?;
        loaded.add(&entry)?;
        if loaded.entries.is_multiple_of(YIELD_ENTRIES) {
            // A long log must not block other tasks of this thread.
            tokio::task::yield_now().await;
        }
    }
    Ok(loaded)
}

/// The result of commands that were processed before, up to `revision`. It is the same as in the first answer.
///
/// # Errors
/// [`ServiceError::KeyReused`] if other commands are recorded there.
pub(super) async fn again(
    store: &dyn UniverseLog,
    id: &UniverseId,
    revision: Revision,
    commands: &[Command],
) -> Result<Processed> {
    let reused = || ServiceError::KeyReused(id.clone());
    let first = revision.0.checked_sub(commands.len() as u64);
    let first = Revision(first.ok_or_else(reused)?);
    let before = load_until(store, id, Some(first)).await?.universe;
    let (mut state, mut events) = (before.state.clone(), Vec::new());
    let mut warnings = Findings::default();
    let mut entries = store.tail(id, first).take(commands.len());
    let mut together = 1;
    for (index, command) in commands.iter().enumerate() {
        let Some(Ok(entry)) = entries.next().await else {
            return Err(ServiceError::Unavailable);
        };
        let recorded = LogEntry::read(&entry.body).map_err(|_| ServiceError::Internal)?;
        together = recorded.together.unwrap_or(1);
        let recorded: Option<Value> =
            recorded.command.and_then(|command| serde_json::from_str(command.get()).ok());
        if recorded != serde_json::to_value(command).ok() {
            return Err(reused());
        }
        let applied = state.apply(command).map_err(|_refused| ServiceError::Internal)?;
        let place = (commands.len() > 1).then_some(index);
        warnings.extend(place, command.warnings(&state, &applied.state));
        state = applied.state;
        events.extend(applied.events);
    }
    // The earlier request had as many commands, and these are not just the last ones of a longer one.
    if together != commands.len() {
        return Err(reused());
    }
    Ok(Processed { revision, before: before.state, state, events, warnings })
}

impl Loaded {
    /// Applies the next entry.
    pub(super) fn add(&mut self, entry: &Entry) -> Result<()> {
        apply(&mut self.universe, entry)?;
        self.entries += 1;
        self.entry_bytes += entry.body.len();
        self.last = Some(entry.command_id);
        Ok(())
    }

    /// The upper bound of the universe's size in bytes of JSON, as far as it is known without writing the universe.
    pub(super) fn bytes(&self) -> usize {
        self.base_bytes + self.entry_bytes
    }
}

async fn offloaded_state(id: &UniverseId, body: Bytes) -> Result<State> {
    let owner = id.clone();
    let small = body.len() <= offload::INLINE_BYTES;
    let read = offload::run(small, None, move || state(&owner, body)).await;
    read.unwrap_or(Err(ServiceError::Internal))
}

/// Replays one entry. An entry that was accepted once must be accepted again; otherwise another program wrote the log.
fn apply(universe: &mut Universe, entry: &Entry) -> Result<()> {
    let damaged = |problem: &dyn std::fmt::Display| {
        tracing::error!(universe = %universe.id, revision = %entry.revision, %problem, "an entry cannot be replayed");
        ServiceError::Damaged {
            id: universe.id.clone(),
            revision: entry.revision,
            problem: problem.to_string(),
        }
    };
    let body = LogEntry::read(&entry.body).map_err(|problem| damaged(&problem))?;
    universe.state = replay(&universe.state, &body).map_err(|problem| damaged(&problem))?.state;
    if let Some(name) = body.name {
        universe.name = name;
    }
    universe.revision = entry.revision;
    universe.updated_at = entry.at;
    Ok(())
}

fn state(id: &UniverseId, body: Bytes) -> Result<State> {
    read_state(body).map_err(|problem| {
        tracing::error!(universe = %id, problem, "a stored state cannot be read");
        ServiceError::Internal
    })
}

/// Applies an entry to a state.
///
/// # Errors
/// A description of what is wrong with the entry.
pub(crate) fn replay(before: &State, entry: &LogEntry<'_>) -> Result<Applied, String> {
    let wrong = |problem: &dyn std::fmt::Display| problem.to_string();
    let mut applied = Applied { state: before.clone(), events: Vec::new() };
    if let Some(command) = entry.command {
        let command = serde_json::from_str(command.get()).map_err(|problem| wrong(&problem))?;
        let command = Command::from_value(command).map_err(|problem| wrong(&problem))?;
        applied = before.apply(&command).map_err(|problem| wrong(&problem))?;
    }
    if let Some(replaced) = entry.state {
        applied.state = read_state(Bytes::copy_from_slice(replaced.get().as_bytes()))?;
    }
    Ok(applied)
}

/// A state as it is stored. A body without other owners is not copied.
pub(crate) fn read_state(body: Bytes) -> Result<State, String> {
    let text = String::from_utf8(body.into()).map_err(|problem| problem.to_string())?;
    State::from_text(text).map_err(|problem| problem.to_string())
}
