//! Jobs worked through together, to be made durable in one go.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use universe_core::{Command, CommandKind};

use super::writer::Job;
use super::{Processed, Reducer, Replacement, ServiceError, Universe, entry};
use crate::store::{CommandId, NewEntry, Revision, Timestamp};

/// The bytes after which a batch takes no more entries.
const BATCH_BYTES: usize = 16 << 20;

/// How a job went, until it is durable and may be told.
pub(super) enum Outcome {
    Read,
    Processed(Processed),
    Replaced(Universe),
    Failed(ServiceError),
}

/// Jobs worked through, not durable yet.
pub(super) struct Batch {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) entries: Vec<NewEntry>,
    pub(super) bytes: usize,
    pub(super) name: Option<String>,
    /// Whether one of them replaced the state as a whole.
    pub(super) replaced: bool,
    pub(super) universe: Universe,
}

/// What the jobs of a batch are judged by.
pub(super) struct Rules {
    pub(super) reducer: Reducer,
    /// The limit in bytes, if the universe has outgrown it.
    pub(super) full: Option<usize>,
}

/// Works through jobs until the batch is full, each on the state that the ones before it left.
pub(super) fn reduce(universe: Universe, jobs: &[Job], rules: &Rules) -> Batch {
    let mut batch = Batch {
        outcomes: Vec::new(),
        entries: Vec::new(),
        bytes: 0,
        name: None,
        replaced: false,
        universe,
    };
    for job in jobs {
        if batch.bytes >= BATCH_BYTES {
            break;
        }
        let outcome = match job {
            // Everything before it is made durable first.
            Job::Delete { .. } => break,
            Job::Read { .. } => Ok(Outcome::Read),
            Job::Process {
                command, expected, ..
            } => batch.process(command, *expected, rules),
            Job::Replace {
                replacement,
                expected,
                ..
            } => batch.replace(replacement, *expected),
        };
        batch.outcomes.push(outcome.unwrap_or_else(Outcome::Failed));
    }
    batch
}

impl Batch {
    fn process(
        &mut self,
        command: &Command,
        expected: Option<Revision>,
        rules: &Rules,
    ) -> Result<Outcome, ServiceError> {
        self.expect(expected)?;
        if let Some(max) = rules.full
            && !removes(command.kind())
        {
            return Err(ServiceError::Grown {
                id: self.universe.id.clone(),
                max,
            });
        }
        let reduced = || (rules.reducer)(&self.universe.state, command);
        let applied = catch_unwind(AssertUnwindSafe(reduced));
        let applied = applied.map_err(|_panic| {
            tracing::error!(universe = %self.universe.id, command = command.kind().name(), "the reducer panicked");
            ServiceError::Internal
        })?;
        let applied = applied.map_err(|refusal| ServiceError::Refused {
            id: self.universe.id.clone(),
            refusal,
        })?;
        self.record(entry::of_command(command, &applied.events)?);
        let before = std::mem::replace(&mut self.universe.state, applied.state.clone());
        self.replaced |= command.kind() == CommandKind::ReplaceSnapshot;
        let revision = self.universe.revision;
        Ok(Outcome::Processed(Processed {
            revision,
            before,
            state: applied.state,
            events: applied.events,
        }))
    }

    fn replace(
        &mut self,
        replacement: &Replacement,
        expected: Option<Revision>,
    ) -> Result<Outcome, ServiceError> {
        self.expect(expected)?;
        self.record(entry::of_replacement(replacement)?);
        if let Some(name) = &replacement.name {
            self.universe.name.clone_from(name);
            self.name = Some(name.clone());
        }
        if let Some(state) = &replacement.state {
            self.universe.state = state.clone();
            self.replaced = true;
        }
        Ok(Outcome::Replaced(self.universe.clone()))
    }

    fn expect(&self, expected: Option<Revision>) -> Result<(), ServiceError> {
        let revision = self.universe.revision;
        if expected.is_some_and(|expected| expected != revision) {
            return Err(ServiceError::Conflict {
                id: self.universe.id.clone(),
                revision,
            });
        }
        Ok(())
    }

    fn record(&mut self, body: Bytes) {
        let at = Timestamp::now();
        self.bytes += body.len();
        self.entries.push(NewEntry {
            command_id: CommandId::random(),
            at,
            body,
        });
        self.universe.revision = Revision(self.universe.revision.0 + 1);
        self.universe.updated_at = at;
    }
}

/// Whether commands of this kind can only make a universe smaller, or leave its size as it is.
fn removes(kind: CommandKind) -> bool {
    kind == CommandKind::Tick || kind.name().starts_with("remove")
}
