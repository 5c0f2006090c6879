//! Checks that refuse a map as a whole.

use super::{Kind, MAX_NAME_BYTES, Parts, Warning};

/// Why a map is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// It is empty.
    #[error("there is no system in it")]
    Empty,
    /// There were systems, but all had to be left out.
    #[error("none of its entries can be used ({warnings} are left out; the first: {first})")]
    NothingLeft {
        /// How many entries were left out.
        warnings: usize,
        /// The first.
        first: Warning,
    },
    /// More than the limit for a map.
    #[error("there are more than the {most} {kind}s that a map may have", most = .0.most(), kind = .0)]
    TooMany(Kind),
    /// Two entries with the same id.
    #[error("two {kind}s have the id {id}")]
    SameId {
        /// What they are.
        kind: Kind,
        /// The id.
        id: u32,
    },
    /// Two entries with the same name that cannot be told apart by adding the id of the second: the name with the id is
    /// too long or already taken.
    #[error("two {kind}s have the name {name:?}; the id {id} of one cannot tell them apart")]
    SameName {
        /// What they are.
        kind: Kind,
        /// The id of the second.
        id: u32,
        /// The name.
        name: String,
    },
    /// An invalid name.
    #[error(
        "the name {name:?} of {kind} {id} is empty, longer than {MAX_NAME_BYTES} bytes, or not one line of text"
    )]
    Name {
        /// What has the name.
        kind: Kind,
        /// Its id.
        id: u32,
        /// Its first characters.
        name: String,
    },
    /// An invalid security status.
    #[error("the security status {security} of system {id} is not between -1 and 1")]
    Security {
        /// The system.
        id: u32,
        /// The status.
        security: f64,
    },
    /// A position that is not a number.
    #[error("the position of system {id} is not made of finite numbers")]
    Position {
        /// The system.
        id: u32,
    },
}

/// Checks every entry on its own. Duplicate ids are found later, once the entries are sorted.
pub(super) fn judge(parts: &Parts) -> Result<(), MapError> {
    let Parts { regions, constellations, systems, gates, .. } = parts;
    within(Kind::System, systems.len())?;
    within(Kind::Constellation, constellations.len())?;
    within(Kind::Region, regions.len())?;
    within(Kind::Gate, gates.len())?;
    for it in regions {
        named(Kind::Region, it.id, &it.name)?;
    }
    for it in constellations {
        named(Kind::Constellation, it.id, &it.name)?;
    }
    for it in systems {
        named(Kind::System, it.id, &it.name)?;
        let (id, security) = (it.id, it.security);
        if !(-1.0..=1.0).contains(&security) {
            return Err(MapError::Security { id, security });
        }
        let finite = |position: &[f64; 3]| position.iter().all(|metres| metres.is_finite());
        if !it.position.as_ref().is_none_or(finite) {
            return Err(MapError::Position { id });
        }
    }
    Ok(())
}

/// Whether this is one line of text within the length limit of a name.
pub(super) fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&text.len()) && !text.contains(char::is_control)
}

/// Finds duplicates in these sorted ids.
pub(super) fn distinct(kind: Kind, ids: impl Iterator<Item = u32> + Clone) -> Result<(), MapError> {
    match ids.clone().zip(ids.skip(1)).find(|(a, b)| a == b) {
        Some((id, _)) => Err(MapError::SameId { kind, id }),
        None => Ok(()),
    }
}

/// Checks how many entries of a kind there are.
pub(crate) fn within(kind: Kind, count: usize) -> Result<(), MapError> {
    if count <= kind.most() { Ok(()) } else { Err(MapError::TooMany(kind)) }
}

fn named(kind: Kind, id: u32, name: &str) -> Result<(), MapError> {
    if is_name(name.trim()) {
        return Ok(());
    }
    let name = name.chars().take(40).collect();
    Err(MapError::Name { kind, id, name })
}
