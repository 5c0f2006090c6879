//! A queued write, and the caller that waits for it.

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::ledger::{Landed, Ledger};
use crate::adapter::failure::Failure;
use crate::adapter::live::Channels;
use crate::{
    Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, Meta, Revision,
    Snapshot, SnapshotError, TrimError, UniverseId,
};

/// A write in the queue.
pub(super) struct Job {
    pub(super) work: Work,
    /// What it weighs, in bytes.
    pub(super) size: usize,
    /// Its share of the bytes that may be queued.
    pub(super) _share: OwnedSemaphorePermit,
}

pub(super) enum Work {
    Create {
        meta: Meta,
        base: Base,
        reply: Reply<(), CreateError>,
    },
    Append {
        id: UniverseId,
        append: Append,
        landed: Option<Landed>,
        reply: Reply<Appended, AppendError>,
    },
    Delete {
        id: UniverseId,
        expected: Option<Revision>,
        gone: Option<i64>,
        reply: Reply<(), DeleteError>,
    },
    PutSnapshot {
        id: UniverseId,
        snapshot: Snapshot,
        reply: Reply<(), SnapshotError>,
    },
    Trim {
        id: UniverseId,
        last: CommandId,
        base: Base,
        reply: Reply<(), TrimError>,
    },
    /// Gives whether the file can shrink.
    Shrink {
        reply: Reply<bool, Failure>,
    },
}

/// The answer to a write: first found, then, once the transaction has ended, given.
pub(super) struct Reply<T, E> {
    to: oneshot::Sender<Result<T, E>>,
    answer: Option<Result<T, E>>,
}

impl Work {
    /// Does the work within the open transaction and keeps the answer.
    pub(super) fn apply(&mut self, ledger: &mut Ledger) -> rusqlite::Result<()> {
        match self {
            Self::Create { meta, base, reply } => {
                reply.answer = Some(ledger.create(meta, base)?);
            }
            Self::Append { id, append, landed, reply } => {
                reply.answer = Some(ledger.append(id, append)?.map(|done| {
                    let appended = Appended { revision: done.after, stored: done.stored };
                    *landed = Some(done);
                    appended
                }));
            }
            Self::Delete { id, expected, gone, reply } => {
                reply.answer = Some(ledger.delete(id, *expected)?.map(|uni| *gone = Some(uni)));
            }
            Self::PutSnapshot { id, snapshot, reply } => {
                reply.answer = Some(ledger.put_snapshot(id, snapshot)?);
            }
            Self::Trim { id, last, base, reply } => {
                reply.answer = Some(ledger.trim(id, *last, base)?);
            }
            Self::Shrink { reply } => reply.answer = Some(Ok(ledger.shrink())),
        }
        Ok(())
    }

    /// Tells readers and the caller that it is committed.
    pub(super) fn settle(self, channels: &mut Channels) {
        match self {
            Self::Create { reply, .. } => reply.give(),
            Self::Append { append, landed, reply, .. } => {
                if let Some(landed) = landed
                    && landed.before != landed.after
                {
                    channels.appended(landed.uni, landed.before, &append.entries);
                }
                reply.give();
            }
            Self::Delete { gone, reply, .. } => {
                if let Some(uni) = gone {
                    channels.deleted(uni);
                }
                reply.give();
            }
            Self::PutSnapshot { reply, .. } => reply.give(),
            Self::Trim { reply, .. } => reply.give(),
            Self::Shrink { reply } => reply.give(),
        }
    }

    /// Tells the caller that it failed.
    pub(super) fn fail(self, failure: Failure) {
        match self {
            Self::Create { reply, .. } => reply.fail(failure),
            Self::Append { reply, .. } => reply.fail(failure),
            Self::Delete { reply, .. } => reply.fail(failure),
            Self::PutSnapshot { reply, .. } => reply.fail(failure),
            Self::Trim { reply, .. } => reply.fail(failure),
            Self::Shrink { reply } => reply.fail(failure),
        }
    }
}

impl<T, E: From<Failure>> Reply<T, E> {
    /// A reply and where it will arrive.
    pub(super) fn new() -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (to, from) = oneshot::channel();
        (Self { to, answer: None }, from)
    }

    fn give(self) {
        if let Some(answer) = self.answer {
            // A caller who has gone does not want to know.
            let _gone = self.to.send(answer);
        }
    }

    fn fail(self, failure: Failure) {
        let _gone = self.to.send(Err(failure.into()));
    }
}
