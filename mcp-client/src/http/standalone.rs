//! The stream on which a legacy server sends messages that belong to no request (2025-11-25, "Listening for Messages
//! from the Server"): opened by GET, and again whenever it ends.

use std::sync::{Arc, Weak};
use std::time::Duration;

use http::StatusCode;
use mcp_proto::Era;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::HttpLink;
use super::reading::{End, StreamPosition, is_stream};
use crate::answering::Answering;
use crate::backoff::pause;
use crate::hub::Own;
use crate::speaking::Speaking;
use crate::{Client, ClientError, Inner};

/// How often in a row a server may refuse the stream before the client concludes that it has none.
const MAX_REFUSALS: u32 = 5;

/// How long a session must have lasted for its loss not to count with the ones before it.
const LASTING: Duration = Duration::from_secs(60);

/// The outcome of one attempt.
enum Attempt {
    /// A stream was open and has ended.
    Over,
    /// The server has none for this session, or not for this caller.
    Never,
    /// The session is lost.
    Lost,
    /// It may work another time.
    Failed,
    /// The server refused, perhaps temporarily.
    Refused,
}

/// Keeps the stream open as long as the client exists and uses the legacy era. `opened` resolves when the first attempt
/// succeeded or failed.
pub(crate) async fn listen(
    link: Arc<HttpLink>,
    client: Weak<Inner>,
    mut speaking: watch::Receiver<Arc<Speaking>>,
    opened: oneshot::Sender<()>,
) {
    let mut opened = Some(opened);
    let mut losses = 0;
    // The session that had a stream.
    let mut known = None;
    loop {
        let now = Arc::clone(&speaking.borrow_and_update());
        if now.era() == Era::Modern {
            if speaking.changed().await.is_err() {
                return;
            }
            continue;
        }
        // Until the server says otherwise.
        link.hub.set_stream(true);
        let begun = Instant::now();
        let is_lost = tokio::select! {
            is_lost = keep(&link, &now, &mut known, &mut opened) => is_lost,
            _ = speaking.wait_for(|other| other.generation != now.generation) => continue,
        };
        if !is_lost {
            if speaking.changed().await.is_err() {
                return;
            }
            continue;
        }
        if begun.elapsed() >= LASTING {
            losses = 0;
        }
        // The first loss is made good at once. A server that loses every session is not asked for them without end.
        if losses > 0 {
            tokio::time::sleep(pause(None, losses)).await;
        }
        losses += 1;
        let Some(client) = client.upgrade().map(Client) else {
            return;
        };
        let settled = client.settle_again(now.generation).await;
        drop(client);
        if let Err(error) = settled {
            tracing::debug!(%error, "a lost session was not replaced");
            // Only a waiting caller can do something about it.
            let is_final = is_for_the_caller(&error) || error == ClientError::Closed;
            if is_final && speaking.changed().await.is_err() {
                return;
            }
        }
    }
}

/// Keeps the stream of one session open; returns whether the session is lost, or else the server has no stream.
async fn keep(
    link: &Arc<HttpLink>,
    speaking: &Speaking,
    known: &mut Option<u64>,
    opened: &mut Option<oneshot::Sender<()>>,
) -> bool {
    let mut position = StreamPosition::default();
    let mut refusals = 0;
    loop {
        position.failures += 1;
        let attempt = attempt(link, speaking, &mut position, known, opened).await;
        if matches!(attempt, Attempt::Never) {
            link.hub.set_stream(false);
        }
        // The caller that waits for the first attempt may be gone.
        let _ = opened.take().map(|opened| opened.send(()));
        match attempt {
            Attempt::Never => return false,
            Attempt::Lost => return true,
            Attempt::Refused => {
                refusals += 1;
                if refusals > MAX_REFUSALS {
                    link.hub.set_stream(false);
                    return false;
                }
            }
            Attempt::Over => refusals = 0,
            Attempt::Failed => {}
        }
        if position.id.is_none() {
            // What was sent meanwhile is not sent again.
            link.hub.missed();
        }
        tokio::time::sleep(pause(position.retry, position.failures)).await;
    }
}

async fn attempt(
    link: &Arc<HttpLink>,
    speaking: &Speaking,
    position: &mut StreamPosition,
    known: &mut Option<u64>,
    opened: &mut Option<oneshot::Sender<()>>,
) -> Attempt {
    let response = match link.open(position.id.as_deref(), speaking).await {
        Ok(response) => response,
        Err(error) => {
            tracing::debug!(%error, "the stream of a session could not be opened");
            return if is_for_the_caller(&error) { Attempt::Never } else { Attempt::Failed };
        }
    };
    match response.status() {
        StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => return Attempt::Never,
        // A server without the stream may have no route for GET: that says nothing about the session.
        StatusCode::NOT_FOUND if *known == Some(speaking.generation) => return Attempt::Lost,
        StatusCode::NOT_FOUND => return Attempt::Never,
        StatusCode::BAD_REQUEST if position.id.take().is_some() => return Attempt::Refused,
        _ if !is_stream(&response) => return Attempt::Refused,
        _ => {}
    }
    *known = speaking.session.as_ref().map(|_| speaking.generation);
    let _ = opened.take().map(|opened| opened.send(()));
    // No question names the call that it belongs to.
    let (answers, clock) = (link.config.answers.clone(), link.hub.clock.clone());
    let mut answering =
        Answering::new(answers, clock, |response| Box::pin(link.respond(response, speaking)));
    let body = response.into_body();
    match link.read(body, position, &mut answering, &Own::default(), speaking).await {
        Ok(End::Over) => Attempt::Over,
        Ok(End::Answer(_)) => {
            tracing::warn!(
                "the stream of a session carried an answer that does not belong to a request"
            );
            Attempt::Over
        }
        Err(error) => {
            tracing::warn!(%error, "the stream of a session cannot be read");
            Attempt::Refused
        }
    }
}

/// Whether another try in the background would fail too, or would ask the user to log in although no call needs it.
fn is_for_the_caller(error: &ClientError) -> bool {
    matches!(error, ClientError::Unauthorized(_))
}
