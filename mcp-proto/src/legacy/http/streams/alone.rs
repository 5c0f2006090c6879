//! A standalone stream that no connection reads: a task continues to write it.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::stream::Stream;

/// Runs the speaker of a stream while no connection reads it, until this is dropped.
struct Alone {
    stream: Arc<Stream>,
    /// Its turn ends when a connection comes.
    key: u64,
}

/// Continues without a connection until there is one; for a stream that has a speaker.
pub(super) fn go_on(stream: &Arc<Stream>, key: u64) {
    if let Some(speaker) = stream.speaker() {
        let stream = Arc::clone(stream);
        let alone = Alone { stream, key };
        speaker.runtime().spawn(async move { alone.run().await });
    }
}

impl Alone {
    async fn run(&self) {
        poll_fn(|context| {
            if self.stream.poll_turn_over(self.key, context).is_ready() {
                return Poll::Ready(());
            }
            self.stream.speak(self.key, context)
        })
        .await;
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // The runtime ends: the speaker holds the stream, and the stream holds the speaker.
        if self.stream.is_turn(self.key)
            && let Some(speaker) = self.stream.speaker()
        {
            speaker.end();
        }
    }
}
