//! Transcripts.

mod client;
mod error;
mod pattern;
mod replay;
mod report;
mod sse;
mod target;
mod template;
mod transcript;
mod wire;

pub use error::{Problem, TranscriptError};
pub use pattern::{Mismatch, Pattern};
pub use replay::Replay;
pub use report::{Event, Failure, Summary, TextReporter};
pub use sse::{DecodeError, Decoder, Event as SseEvent, Frame, MAX_EVENT_BYTES};
pub use target::{Body, BoxError, Target, TargetError};
pub use template::Vars;
pub use transcript::{Era, MAX_FILE_BYTES, MAX_STEPS, Transcript};
