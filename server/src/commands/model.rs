//! The inputs and results of the command service.

use universe_core::{Applied, Command, Event, Refusal, State, Strictness};

use super::texts::TextPlace;
use crate::store::{CommandId, Revision, Timestamp, UniverseId};

/// The domain's step. A service can be given another one, to see how it copes with one that fails.
pub type Reducer = fn(&State, &Command) -> Result<Applied, Refusal>;

/// Bounds of a [`CommandService`](super::CommandService).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceLimits {
    /// The most universes kept in memory; the one unused longest makes room. 4,096 by default.
    pub max_loaded: usize,
    /// The most bytes of JSON that the universes in memory stand for; in memory they take some four times as much. The
    /// one unused longest makes room, when another one is loaded or one grows. A quarter as much in addition is for
    /// the JSON texts of large ones that were read, which are kept for the next reader. 256 MiB by default.
    pub max_loaded_bytes: usize,
    /// The largest universe in bytes of JSON. A larger one takes only commands that make it smaller, and ticks. 40 MiB
    /// by default: some 100,000 bodies.
    pub max_universe_bytes: usize,
    /// The most jobs waiting for the writer of one universe; further ones wait to be queued. 1,024 by default.
    pub max_queue: usize,
    /// The most jobs made durable together. 512 by default.
    pub max_batch: usize,
    /// Whether what is odd about commands and states is refused or taken with warnings. Taken by default.
    pub strictness: Strictness,
}

/// A universe as it was at a revision.
#[derive(Debug, Clone)]
pub struct Universe {
    /// Its id.
    pub id: UniverseId,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// How many changes it has had.
    pub revision: Revision,
    /// Its state. Cheap to clone.
    pub state: State,
    pub(crate) text: TextPlace,
}

/// Commands to be processed together: all of them or none.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The commands, in order; each gets a revision of its own. At most [`MAX_COMMANDS`].
    pub commands: Vec<Command>,
    /// Only if the universe is at this revision.
    pub expected: Option<Revision>,
    /// The client's name for this request. One that was processed under it within
    /// [`KEY_TIME`](crate::store::KEY_TIME) is not processed again, but answered as it was.
    pub key: Option<CommandId>,
}

/// Most commands of one request.
pub const MAX_COMMANDS: usize = 1_000;

/// What accepted commands did.
#[derive(Debug, Clone)]
pub struct Processed {
    /// The place of the last command in the universe's history.
    pub revision: Revision,
    /// The state before the first one. Cheap to clone.
    pub before: State,
    /// The state after the last one. Cheap to clone.
    pub state: State,
    /// What happened.
    pub events: Vec<Event>,
}

impl Replacement {
    /// The longest name of a universe, in characters.
    pub const MAX_NAME: usize = 200;

    /// A name as it is kept: without blanks around it.
    ///
    /// # Errors
    /// A sentence, when it is blank or too long.
    pub fn check_name(name: &str) -> Result<String, String> {
        let name = name.trim();
        if name.is_empty() {
            return Err("name must be a string that is not blank".to_owned());
        }
        if name.chars().count() > Self::MAX_NAME {
            return Err(format!(
                "name must have at most {} characters",
                Self::MAX_NAME
            ));
        }
        Ok(name.to_owned())
    }
}

impl From<Command> for Request {
    fn from(command: Command) -> Self {
        Self {
            commands: vec![command],
            ..Self::default()
        }
    }
}

/// What `PUT` sets; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct Replacement {
    /// The new name.
    pub name: Option<String>,
    /// The new state.
    pub state: Option<State>,
}

impl Default for ServiceLimits {
    fn default() -> Self {
        Self {
            max_loaded: 4_096,
            max_loaded_bytes: 256 << 20,
            max_universe_bytes: 40 << 20,
            max_queue: 1_024,
            max_batch: 512,
            strictness: Strictness::default(),
        }
    }
}
