//! The pure domain of a star-system simulator: a universe is a value, 25 commands change it.
//!
//! No I/O, no clock, no randomness, no async: the same universe and command always give the same
//! result.
//!
//! ```
//! use serde_json::json;
//! use universe_core::{Command, State};
//!
//! let empty = State::default();
//! let add = Command::from_value(json!({
//!     "type": "addStar",
//!     "id": "sol",
//!     "payload": {
//!         "name": "Sol", "mass": 333000, "radius": 10, "color": "#FFDD44",
//!         "parentId": null, "orbitalDistance": 0, "orbitalSpeed": 0,
//!     },
//! }))?;
//!
//! let applied = empty.apply(&add)?;
//! assert_eq!(serde_json::to_value(&applied.events)?, json!([{ "type": "starAdded", "id": "sol" }]));
//! assert_eq!(applied.state.star_count(), 1);
//! assert_eq!(empty.star_count(), 0, "a universe never changes; it has successors");
//!
//! let refusal = applied.state.apply(&add).unwrap_err();
//! assert_eq!(refusal.code(), "STAR_ALREADY_EXISTS");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`State`] is the universe: persistent, so that clones and snapshots are free and a change costs
//!   what it touches. It always satisfies the invariants listed at [`State::check`].
//! - [`Command::from_value`] reads and checks a command, [`State::apply`] applies it: the result is
//!   a new universe and [`Event`]s, or a [`Refusal`] that changed nothing.
//! - [`generate`] creates universes from a seed, [`orbit`] computes where their bodies are at a time.
//! - [`catalog`] describes the commands for people, language models and JSON Schema validators.
//!
//! Ids are any text. Numbers and unknown members survive exactly. Nothing recurses along a
//! hierarchy, so it may be as deep as memory allows.

pub mod catalog;
mod check;
mod command;
mod date;
mod entity;
mod event;
mod family;
mod finding;
pub mod generate;
mod invariants;
mod kepler;
pub mod member;
pub mod nearest;
mod no_effect;
pub mod orbit;
mod reduce;
mod refusal;
mod rotation;
mod schema;
mod state;
mod warning;

pub use command::{Command, CommandError, CommandKind, Given};
pub use date::{Instant, NO_EPOCH};
pub use entity::{ChildKind, Group, GroupChild, Id, Members, Record, Star};
pub use event::{Event, Reason};
pub use family::{Entity, Family};
pub use finding::{Finding, Findings};
pub use reduce::Applied;
pub use refusal::Refusal;
pub use state::{EscapedPart, ReadValue, State, StateText, TextError, TextPart, six_digits};
pub use warning::Strictness;
