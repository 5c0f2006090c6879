//! Jobs worked through together, to be made durable in one go.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use universe_core::{Applied, Command, CommandKind, Findings, State};

use super::job::Job;
use super::{Processed, Reducer, Replacement, Request, Result, ServiceError, Universe, entry};
use crate::store::{CommandId, NewEntry, Revision, Timestamp};

/// The size in bytes at which a batch takes no more entries.
const BATCH_BYTES: usize = 16 << 20;

/// The result of a job, held back until it is durable and may be reported.
pub(super) enum Outcome {
    Read,
    Processed(Box<Processed>),
    /// The request was processed before, up to this revision.
    Landed(Revision),
    Replaced(Universe),
    Failed(ServiceError),
}

/// Jobs that were worked through and are not durable yet.
pub(super) struct Batch {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) entries: Vec<NewEntry>,
    pub(super) bytes: usize,
    pub(super) name: Option<String>,
    /// Whether a job of the batch replaced the state as a whole.
    pub(super) replaced: bool,
    pub(super) universe: Universe,
    /// The revisions of requests with keys, whether they are in this batch or were processed before.
    landed: HashMap<CommandId, Revision>,
}

/// What decides whether the jobs of a batch are accepted.
pub(super) struct Rules {
    pub(super) reducer: Reducer,
    /// The limit in bytes, if the universe has outgrown it.
    pub(super) full: Option<usize>,
    /// The keys of these jobs that were used before, with the revision that each request led to.
    pub(super) landed: HashMap<CommandId, Revision>,
}

/// Works through jobs until the batch is full, each on the state that the ones before it left.
pub(super) fn reduce(universe: Universe, jobs: &[Job], mut rules: Rules) -> Batch {
    let mut batch = Batch {
        outcomes: Vec::new(),
        entries: Vec::new(),
        bytes: 0,
        name: None,
        replaced: false,
        universe,
        landed: std::mem::take(&mut rules.landed),
    };
    for job in jobs {
        if batch.bytes >= BATCH_BYTES {
            break;
        }
        let outcome = match job {
            // The jobs before it are made durable first.
            Job::Delete { .. } => break,
            Job::Read { .. } => Ok(Outcome::Read),
            Job::Process { request, .. } => batch.process(request, &rules),
            Job::Replace { replacement, expected, .. } => batch.replace(replacement, *expected),
        };
        batch.outcomes.push(outcome.unwrap_or_else(Outcome::Failed));
    }
    batch
}

impl Batch {
    /// Applies the commands of a request, all of them or none.
    fn process(&mut self, request: &Request, rules: &Rules) -> Result<Outcome> {
        let landed = request.key.and_then(|key| self.landed.get(&key));
        if let Some(revision) = landed {
            return Ok(Outcome::Landed(*revision));
        }
        self.expect(request.expected)?;
        let before = self.universe.state.clone();
        let mut state = before.clone();
        let (mut events, mut bodies) = (Vec::new(), Vec::new());
        let mut warnings = Findings::default();
        let count = request.commands.len();
        for (index, command) in request.commands.iter().enumerate() {
            let place = (count > 1).then_some(index);
            let applied = self.apply(&state, command, place, rules)?;
            let together = place.filter(|index| index + 1 == count).map(|_| count);
            bodies.push(entry::of_command(command, &applied.events, together)?);
            warnings.extend(place, command.warnings(&state, &applied.state));
            state = applied.state;
            events.extend(applied.events);
        }
        let kinds = request.commands.iter().map(Command::kind);
        self.replaced |= kinds.into_iter().any(|kind| kind == CommandKind::ReplaceSnapshot);
        let last = bodies.len().saturating_sub(1);
        for (index, body) in bodies.into_iter().enumerate() {
            // The key goes to the last entry, so that a batch that has landed is recognized by its end.
            self.record(body, request.key.filter(|_| index == last));
        }
        self.universe.state = state.clone();
        let revision = self.universe.revision;
        if let Some(key) = request.key {
            self.landed.insert(key, revision);
        }
        let processed = Processed { revision, before, state, events, warnings };
        Ok(Outcome::Processed(Box::new(processed)))
    }

    fn apply(
        &self,
        state: &State,
        command: &Command,
        index: Option<usize>,
        rules: &Rules,
    ) -> Result<Applied> {
        let id = &self.universe.id;
        let reduced = || (rules.reducer)(state, command);
        let applied = catch_unwind(AssertUnwindSafe(reduced));
        let applied = applied.map_err(|_panic| {
            tracing::error!(universe = %id, command = command.kind().name(), "the reducer panicked");
            ServiceError::Internal
        })?;
        let applied = applied.map_err(|refusal| ServiceError::Refused {
            id: id.clone(),
            index,
            refusal,
            hint: String::new(),
        })?;
        match rules.full {
            Some(max) if !removes(command.kind()) && !shrinks(state, &applied.state) => {
                let id = id.clone();
                Err(ServiceError::Grown { id, max })
            }
            _ => Ok(applied),
        }
    }

    fn replace(
        &mut self,
        replacement: &Replacement,
        expected: Option<Revision>,
    ) -> Result<Outcome> {
        self.expect(expected)?;
        self.record(entry::of_replacement(replacement)?, None);
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

    fn expect(&self, expected: Option<Revision>) -> Result<()> {
        let revision = self.universe.revision;
        if expected.is_some_and(|expected| expected != revision) {
            return Err(ServiceError::Conflict { id: self.universe.id.clone(), revision });
        }
        Ok(())
    }

    fn record(&mut self, body: Bytes, key: Option<CommandId>) {
        let at = Timestamp::now();
        self.bytes += body.len();
        self.entries.push(NewEntry {
            command_id: key.unwrap_or_else(CommandId::random),
            at,
            body,
            keyed: key.is_some(),
        });
        self.universe.revision = Revision(self.universe.revision.0 + 1);
        self.universe.updated_at = at;
    }
}

/// Whether the entities that a command touched have become smaller, as JSON. The cost depends on these entities alone.
fn shrinks(before: &State, after: &State) -> bool {
    let size = |state: &State, family, id: &str| {
        let entity = state.entity(family, id);
        let written = entity.and_then(|entity| serde_json::to_vec(&entity).ok());
        written.map_or(0, |json| json.len())
    };
    let (mut was, mut is) = (0, 0);
    for (family, id) in after.changed_since(before) {
        was += size(before, family, id);
        is += size(after, family, id);
    }
    is < was
}

/// Whether commands of this kind can only make a universe smaller or leave its size unchanged.
fn removes(kind: CommandKind) -> bool {
    kind == CommandKind::Tick || kind.name().starts_with("remove")
}
