//! Hints about the revisions of universes, for callers that read the log themselves.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use tokio::sync::broadcast::error::RecvError;

use super::live::{Hint, Live, Subscription};
use super::tail::History;
use crate::{Entry, Revision, UniverseId};

enum At<H> {
    Begin(H, Arc<Live>, UniverseId),
    Listening(Subscription),
    End,
}

/// The revisions that a universe reaches, as described at [`UniverseLog::hints`](crate::UniverseLog::hints).
pub fn hints<H: History>(
    history: H,
    live: Arc<Live>,
    id: UniverseId,
) -> BoxStream<'static, Revision> {
    let begin = At::Begin(history, live, id);
    stream::unfold(begin, |at| async {
        match at {
            At::Begin(history, live, id) => {
                let (uni, _) = history.locate(&id).await.ok()?;
                let listening = live.subscribe(uni)?;
                // The caller now reads the entries from before the subscription.
                Some((Revision::MAX, At::Listening(listening)))
            }
            At::Listening(mut listening) => match listening.next().await {
                Ok(Hint::Entry(Entry { revision, .. }) | Hint::At(revision)) => {
                    Some((revision, At::Listening(listening)))
                }
                Ok(Hint::Deleted) => Some((Revision::MAX, At::End)),
                Err(RecvError::Lagged(_)) => Some((Revision::MAX, At::Listening(listening))),
                Err(RecvError::Closed) => None,
            },
            At::End => None,
        }
    })
    .boxed()
}
