//! Which revisions a server supports.

use std::time::Duration;

use super::bench::{Bench, Endpoint};
use super::exchange::Exchange;
use super::revision::Revision;
use crate::target::TargetError;

/// What a server says of each revision.
#[derive(Debug, Default)]
pub(crate) struct Revisions {
    /// Those that it says it uses.
    pub(crate) spoken: Vec<Revision>,
    /// Those in which it answered a greeting although it does not list them, or in which a handshake was lost, and what
    /// came.
    pub(crate) unlisted: Vec<(Revision, Exchange)>,
}

/// Asks for each revision. A request for an unsupported one is answered with another, or refused.
///
/// # Errors
/// The server cannot be reached: it says nothing at all to any of them.
pub(crate) async fn revisions(
    endpoint: &Endpoint,
    patience: Duration,
) -> Result<Revisions, TargetError> {
    let mut all = Revisions::default();
    let mut greetings = Vec::new();
    for revision in Revision::ALL {
        // A server that answered neither of two handshakes in time answers none, and each takes the whole timeout.
        let is_mute = greetings.len() > 1 && greetings.iter().all(|it: &Exchange| it.is_late);
        if is_mute && !revision.is_modern() {
            continue;
        }
        let mut bench = Bench::new(endpoint.clone(), revision, patience);
        if bench.agrees().await {
            all.spoken.push(revision);
        } else if revision.is_modern() && bench.greeting.result().is_some()
            || !revision.is_modern() && bench.greeting.is_lost()
        {
            all.unlisted.push((revision, bench.greeting.clone()));
        }
        greetings.push(std::mem::take(&mut bench.greeting));
        bench.end().await;
    }
    reached(endpoint, greetings)?;
    Ok(all)
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
    let mut greetings = Vec::new();
    for revision in revisions.into_iter().rev() {
        let mut bench = Bench::new(endpoint.clone(), revision, patience);
        if bench.agrees().await {
            return Ok(Some(bench));
        }
        greetings.push(std::mem::take(&mut bench.greeting));
        bench.end().await;
    }
    reached(endpoint, greetings)?;
    Ok(None)
}

/// Whether one of these was answered with anything but the wish for a login. The reason for a failed connection already
/// names the place.
fn reached(endpoint: &Endpoint, greetings: Vec<Exchange>) -> Result<(), TargetError> {
    if greetings.iter().all(|it| it.status == Some(401)) {
        let why = if endpoint.shows_a_token() {
            "every request gets status 401: the server does not accept the token that was sent"
        } else {
            "every request gets status 401; give a token with --token-env"
        };
        return Err(TargetError::Unreachable { source: why.into(), target: endpoint.to_string() });
    }
    // What a program writes while it answers nothing shows that it runs, and not that it is a server.
    let is_heard = |it: &Exchange| !it.received.is_empty() && !it.is_late;
    if greetings.iter().any(|it| it.status.is_some() || is_heard(it)) {
        return Ok(());
    }
    let problem = greetings.into_iter().rev().find_map(|it| {
        let line = it.received.lines().next().map(|line| format!("; what came first is {line:?}"));
        let late =
            if it.is_late { "; one that starts slowly needs a longer --timeout" } else { "" };
        Some(it.broken? + &line.unwrap_or_default() + late)
    });
    let Some(problem) = problem else { return Ok(()) };
    let target = endpoint.to_string();
    let named = format!("{target} cannot be reached: ");
    let problem = problem.strip_prefix(&named).unwrap_or(&problem).to_owned();
    Err(TargetError::Unreachable { source: problem.into(), target })
}
