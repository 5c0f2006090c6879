//! The jobs of a writer, and their answers.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Processed, Replacement, Request, Result, ServiceError, Universe};
use crate::store::Revision;

type Reply<T> = oneshot::Sender<Result<T>>;

/// A job for the writer.
pub(super) enum Job {
    Read { reply: Reply<Universe> },
    Process { request: Arc<Request>, reply: Reply<Done> },
    Replace { replacement: Box<Replacement>, expected: Option<Revision>, reply: Reply<Universe> },
    Delete { expected: Option<Revision>, reply: Reply<()> },
}

/// The result of a processed request.
pub(super) enum Done {
    Now(Box<Processed>),
    /// Processed before under the same key, up to this revision.
    Before(Revision),
}

impl Job {
    pub(super) fn fail(self, error: ServiceError) {
        // A client that disconnected does not receive its answer.
        match self {
            Self::Read { reply } | Self::Replace { reply, .. } => drop(reply.send(Err(error))),
            Self::Process { reply, .. } => drop(reply.send(Err(error))),
            Self::Delete { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}

pub(super) fn answer_all(jobs: impl Iterator<Item = Job>, error: &ServiceError) {
    jobs.for_each(|job| job.fail(error.clone()));
}
