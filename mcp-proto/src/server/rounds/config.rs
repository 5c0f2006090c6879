//! The configuration of questions to clients, set by the program that builds the server, and the state that enforces
//! it.

use std::time::Duration;

use crate::seal::{DEFAULT_MAX_USED, Keys, UsedOnce};

/// The most rounds of questions of one legacy call or one task: a handler that asks again every time would never end.
pub(crate) const MAX_ROUNDS: usize = 32;

/// How clients are asked for input.
///
/// ```
/// let mut config = mcp_proto::InputConfig::default();
/// config.single_use = true;
/// # let server = mcp_proto::Server::builder("shop", "1.0.0", ())
/// #     .input(config)
/// #     .build()?;
/// # Ok::<_, mcp_proto::BuildError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InputConfig {
    /// How long a modern client may take to come back with its answers, in whole seconds. 10 minutes by default.
    ///
    /// The answers travel in the state from the first question to the last. A sealed state has at most 48 KiB. A
    /// request with longer answers, not counting those to its last questions, gets −32602.
    pub state_lifetime: Duration,
    /// Whether a `requestState` is accepted only once: a request that was answered cannot be repeated with the same
    /// answers. Only this process remembers used states. Implies [`InputConfig::require_state`]. Off by default.
    pub single_use: bool,
    /// The most used states that are remembered until they expire; while this many are remembered, no other is accepted
    /// (−32603), so that a caller cannot evict one. A single [`Principal`](crate::Principal) gets a tenth of them.
    /// 100,000 by default.
    pub max_used_states: usize,
    /// Whether answers are accepted only with the `requestState` of the question; without it the client is asked again.
    /// Off by default: answers to the first questions need no state, as the revision allows.
    pub require_state: bool,
    /// How long a legacy client may take to answer the questions that a handler asks together. 5 minutes by default.
    pub answer_timeout: Duration,
    /// The largest total size of the answers to one legacy call, in bytes of JSON; beyond it the call fails. 4 MiB by
    /// default.
    pub max_answer_bytes: usize,
}

/// [`InputConfig`] and the state that enforces it.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub(crate) config: InputConfig,
    pub(crate) keys: Keys,
    pub(in crate::server) used: UsedOnce,
}

impl Rounds {
    pub(in crate::server) fn new(config: InputConfig, keys: Keys) -> Self {
        Self { used: UsedOnce::new(config.max_used_states), config, keys }
    }
}

impl Default for InputConfig {
    fn default() -> Self {
        Self {
            state_lifetime: Duration::from_secs(10 * 60),
            single_use: false,
            max_used_states: DEFAULT_MAX_USED,
            require_state: false,
            answer_timeout: Duration::from_secs(5 * 60),
            max_answer_bytes: 4 * 1024 * 1024,
        }
    }
}
