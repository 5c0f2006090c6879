//! A standalone stream that no connection reads: a task continues to write it.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use super::stream::Stream;

/// Runs the speaker of a stream while no connection reads it, until this is dropped.
struct Alone(Arc<Stream>);

/// Continues without a connection until there is one; for a stream that has a speaker.
pub(super) fn go_on(stream: &Arc<Stream>) {
    if let Some(speaker) = stream.speaker() {
        let alone = Alone(Arc::clone(stream));
        speaker.runtime().spawn(async move { alone.run().await });
    }
}

impl Alone {
    async fn run(&self) {
        let stream = &self.0;
        loop {
            // A new connection is reported as news.
            let mut news = pin!(stream.said());
            news.as_mut().enable();
            if stream.is_read() {
                return;
            }
            let step = std::future::poll_fn(|context| match stream.speak(None, context) {
                Poll::Ready(()) => Poll::Ready(true),
                Poll::Pending => news.as_mut().poll(context).map(|()| false),
            });
            if step.await {
                return;
            }
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // The runtime ends: the speaker holds the stream, and the stream holds the speaker.
        if !self.0.is_read()
            && let Some(speaker) = self.0.speaker()
        {
            speaker.end();
        }
    }
}
