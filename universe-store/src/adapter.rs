//! What adapters share: for those who write one of their own, as those of this crate are written.
//!
//! An adapter implements [`UniverseLog`](crate::UniverseLog). If many nodes use it, it implements
//! [`Records`](crate::clients::records::Records), too, and has it as [`SharedStore`](crate::clients::SharedStore).
//! [`Head::admit`](crate::Head::admit) is the rule of appending. [`tail`] makes a tail of an adapter's reads
//! ([`History`](tail::History)) and of what its writer passes on ([`Live`](live::Live)). The tests in
//! `universe-store/tests/it/` are put to every adapter.

pub mod failure;
pub mod hints;
pub mod keys;
pub mod lease;
pub mod live;
pub mod table;
pub mod tail;
#[cfg(feature = "tls")]
pub mod tls;
pub mod watched;

pub use crate::model::Admission;
