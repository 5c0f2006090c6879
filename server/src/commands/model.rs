//! The inputs and results of the command service.

use universe_core::{Applied, Command, Event, Findings, Refusal, State, Strictness};

use super::texts::TextPlace;
use crate::store::{CommandId, Revision, Timestamp, UniverseId};

/// The domain's step function. Tests can replace it to see how a service handles one that fails.
pub type Reducer = fn(&State, &Command) -> Result<Applied, Refusal>;

/// Bounds of a [`CommandService`](super::CommandService).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceLimits {
    /// The most universes kept in memory. When there are more, the least recently used one is removed. 4,096 by
    /// default.
    pub max_loaded: usize,
    /// The most bytes of JSON that the universes in memory stand for; in memory they take about four times as much.
    /// When one is loaded or grows beyond this, the least recently used one is removed. Another quarter is for the JSON
    /// texts of large universes that were read, which are kept for the next reader. 256 MiB by default.
    pub max_loaded_bytes: usize,
    /// The largest universe in bytes of JSON. A larger one accepts only commands that make it smaller, and ticks. 40
    /// MiB by default: about 100,000 bodies.
    pub max_universe_bytes: usize,
    /// The most jobs waiting for the writer of one universe; further ones wait to be queued. 1,024 by default.
    pub max_queue: usize,
    /// The most jobs made durable together. 512 by default.
    pub max_batch: usize,
    /// The largest state in bytes of JSON that a model is answered with unasked; of a larger one it gets an outline. 96
    /// KiB by default: clients refuse answers of more than 25,000 tokens.
    pub max_unasked_bytes: usize,
    /// Whether unusual commands and states are refused or accepted with warnings. Accepted by default.
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
    /// Process the commands only if the universe is at this revision.
    pub expected: Option<Revision>,
    /// The client's key for this request. A request that was processed under the key within
    /// [`KEY_TIME`](crate::store::KEY_TIME) is not processed again. It gets the same answer as the first time.
    pub key: Option<CommandId>,
}

/// The most commands in one request.
pub const MAX_COMMANDS: usize = 1_000;

/// What accepted commands did.
#[derive(Debug, Clone)]
pub struct Processed {
    /// The revision of the last command.
    pub revision: Revision,
    /// The state before the first one. Cheap to clone.
    pub before: State,
    /// The state after the last one. Cheap to clone.
    pub state: State,
    /// The events that the commands caused.
    pub events: Vec<Event>,
    /// What had no effect, and what other members hide.
    pub warnings: Findings,
}

impl Replacement {
    /// The longest name of a universe, in characters.
    pub const MAX_NAME: usize = 200;

    /// Returns a name in the form that is stored: without leading and trailing blanks.
    ///
    /// # Errors
    /// A sentence that says why, when the name is blank or too long.
    pub fn check_name(name: &str) -> Result<String, String> {
        let name = name.trim();
        if name.is_empty() {
            return Err("name must be a string that is not blank".to_owned());
        }
        if name.chars().count() > Self::MAX_NAME {
            return Err(format!("name must have at most {} characters", Self::MAX_NAME));
        }
        Ok(name.to_owned())
    }
}

impl From<Command> for Request {
    fn from(command: Command) -> Self {
        Self { commands: vec![command], ..Self::default() }
    }
}

/// The values that `PUT` sets. An absent value is not changed.
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
            max_unasked_bytes: 96 << 10,
            strictness: Strictness::default(),
        }
    }
}
