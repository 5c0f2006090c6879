//! How far universes come, for those who look into the log themselves.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use tokio::sync::broadcast::error::RecvError;

use super::reader::Reader;
use crate::live::{Hint, Live, Subscription};
use crate::tail::History as _;
use crate::{Entry, Revision, UniverseId};

enum At {
    Begin(Arc<Reader>, Arc<Live>, UniverseId),
    Listening(Subscription),
    End,
}

/// The revisions that a universe comes to, as [`UniverseLog::hints`](crate::UniverseLog::hints) has it.
pub(super) fn hints(
    reader: Arc<Reader>,
    live: Arc<Live>,
    id: UniverseId,
) -> BoxStream<'static, Revision> {
    let begin = At::Begin(reader, live, id);
    stream::unfold(begin, |at| async {
        match at {
            At::Begin(reader, live, id) => {
                let (uni, _) = reader.locate(&id).await.ok()?;
                let listening = live.subscribe(uni)?;
                // What came before it listened is looked at now.
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
