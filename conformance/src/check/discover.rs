//! Which revisions a server speaks.

use std::time::Duration;

use super::bench::{Bench, Place};
use super::rule::Revision;
use crate::target::TargetError;

/// The revisions that it answers in. Asking for one that it does not speak is answered with another, or refused.
///
/// # Errors
/// Nobody is there.
pub(super) async fn revisions(
    place: &Place,
    patience: Duration,
) -> Result<Vec<Revision>, TargetError> {
    let mut spoken = Vec::new();
    let mut last = None;
    for revision in Revision::ALL {
        let mut bench = Bench::new(place.clone(), revision, patience);
        let opened = bench.open().await;
        let result = bench.greeting.result();
        let agreed = match revision.is_modern() {
            true => opened,
            false => {
                let version = result.and_then(|it| it.get("protocolVersion"));
                version.and_then(|it| it.as_str()) == Some(revision.as_str())
            }
        };
        if agreed {
            spoken.push(revision);
        }
        if bench.greeting.status.is_none() && bench.greeting.received.is_empty() {
            last = bench.greeting.broken.clone();
        }
        bench.end().await;
    }
    match last {
        Some(problem) if spoken.is_empty() => Err(TargetError::Unreachable {
            target: place.to_string(),
            source: problem.into(),
        }),
        _ => Ok(spoken),
    }
}
