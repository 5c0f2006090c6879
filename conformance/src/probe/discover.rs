//! Which revisions a server supports.

use std::time::Duration;

use super::bench::{Bench, Endpoint};
use super::revision::Revision;
use crate::target::TargetError;

/// The revisions that it answers in. A request for an unsupported one is answered with another, or refused.
///
/// # Errors
/// The server cannot be reached.
pub(crate) async fn revisions(
    endpoint: &Endpoint,
    patience: Duration,
) -> Result<Vec<Revision>, TargetError> {
    let mut spoken = Vec::new();
    let mut last = None;
    for revision in Revision::ALL {
        let mut bench = Bench::new(endpoint.clone(), revision, patience);
        if bench.agrees().await {
            spoken.push(revision);
        }
        if bench.greeting.status.is_none() && bench.greeting.received.is_empty() {
            last = bench.greeting.broken.clone();
        }
        bench.end().await;
    }
    match last {
        Some(problem) if spoken.is_empty() => Err(unreachable(endpoint, &problem)),
        _ => Ok(spoken),
    }
}

/// A server opened in the newest of these revisions that it supports; `None` if it supports none.
///
/// # Errors
/// The server cannot be reached.
pub(crate) async fn newest(
    endpoint: &Endpoint,
    revisions: &[Revision],
    patience: Duration,
) -> Result<Option<Bench>, TargetError> {
    let mut revisions = revisions.to_vec();
    revisions.sort_unstable();
    let mut silent = None;
    let mut is_reachable = false;
    for revision in revisions.into_iter().rev() {
        let mut bench = Bench::new(endpoint.clone(), revision, patience);
        if bench.agrees().await {
            return Ok(Some(bench));
        }
        let greeting = std::mem::take(&mut bench.greeting);
        bench.end().await;
        is_reachable |= greeting.status.is_some() || !greeting.received.is_empty();
        silent = greeting.broken.or(silent);
    }
    match silent {
        Some(problem) if !is_reachable => Err(unreachable(endpoint, &problem)),
        _ => Ok(None),
    }
}

/// The error of an unreachable server; the reason for a failed connection already names the place.
fn unreachable(endpoint: &Endpoint, problem: &str) -> TargetError {
    let target = endpoint.to_string();
    let named = format!("{target} cannot be reached: ");
    let problem = problem.strip_prefix(&named).unwrap_or(problem);
    TargetError::Unreachable { source: problem.into(), target }
}
