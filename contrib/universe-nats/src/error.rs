//! What can go wrong when streams of NATS are opened, and what an answer of the server means for a write.
use std::path::PathBuf;

use universe_store::adapter::failure::Failure;
use universe_store::{ReadError, TailError};

/// The reason why the streams could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsError {
    /// The URL is not a valid NATS URL.
    #[error(
        "the URL of the servers cannot be read ({0}); it must look like nats://user:password@host:4222,host2:4222/prefix?replicas=3"
    )]
    Url(String),
    /// The file of certificates cannot be used.
    #[error("{}: the certificates cannot be used: {problem}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// No server was reached.
    #[error("no server of NATS can be reached: {0}")]
    Unreachable(String),
    /// The server is too old.
    #[error("the server of NATS has version {0}, and 2.12 or newer is needed")]
    TooOld(String),
    /// The server only accepts messages that are too small.
    #[error(
        "the server takes messages of {found} bytes at most; set its max_payload to {least} or more"
    )]
    Payload {
        /// Its limit in bytes.
        found: usize,
        /// The smallest limit that is needed.
        least: usize,
    },
    /// A stream was made by a newer program.
    #[error(
        "the stream {stream} has format {found}, and this program knows format {known}; use a newer one"
    )]
    Newer {
        /// Its name.
        stream: String,
        /// Its format.
        found: String,
        /// The known format.
        known: u32,
    },
    /// A stream of that name has other contents, or limits by which entries would be lost.
    #[error("the stream {stream} cannot be used: {problem}")]
    Other {
        /// Its name.
        stream: String,
        /// What is wrong, and what would be valid.
        problem: String,
    },
    /// A stream has fewer replicas than requested.
    #[error(
        "the stream {stream} has {found} replicas, and {wanted} were asked for; raise them with `nats stream edit {stream} --replicas {wanted}`, or ask for less with ?replicas={found}"
    )]
    Replicas {
        /// Its name.
        stream: String,
        /// The number of its replicas.
        found: usize,
        /// The fewest replicas that it must have.
        wanted: usize,
    },
    /// A stream could not be created.
    #[error("the stream {stream} cannot be made: {problem}")]
    Streams {
        /// Its name.
        stream: String,
        /// The server's message.
        problem: String,
    },
}

/// The reason why a message was not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The subject's last sequence is not the expected one. This is its actual last sequence, or 0 if another message
    /// to it is being stored.
    WrongSequence(u64),
    /// Any other failure.
    Failed(Failure),
}

/// The servers did not answer in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Away;

impl From<Away> for Failure {
    fn from(_: Away) -> Self {
        Self::Unavailable
    }
}

impl From<Away> for ReadError {
    fn from(_: Away) -> Self {
        Self::Unavailable
    }
}

impl From<Away> for TailError {
    fn from(_: Away) -> Self {
        Self::Unavailable
    }
}

/// The meaning of an error code from the server: either another try may help, or the operation has failed.
pub(super) fn judge(code: u64, description: &str) -> Verdict {
    match code {
        // Wrong last sequence, with or without the actual one.
        10_071 | 10_164 => {
            let last = description.rsplit_once(": ").map(|(_, last)| last.parse());
            Verdict::Failed(Refusal::WrongSequence(match last {
                Some(Ok(last)) => last,
                Some(Err(_)) | None => 0,
            }))
        }
        // No leader at the moment, not enabled yet, no such stream yet, or offline.
        10_008 | 10_039 | 10_059 | 10_076 | 10_118 => Verdict::Again,
        10_023 | 10_047 => Verdict::Failed(Refusal::Failed(Failure::Full)),
        10_077 if description.contains("maximum") => {
            Verdict::Failed(Refusal::Failed(Failure::Full))
        }
        // Storing failed in progress, or the same message is already being stored.
        10_077 | 10_158 => Verdict::Failed(Refusal::Failed(Failure::Unknown)),
        _ => Verdict::Failed(Refusal::Failed(Failure::Unavailable)),
    }
}

/// The result of [`judge`].
pub(super) enum Verdict {
    Again,
    Failed(Refusal),
}
