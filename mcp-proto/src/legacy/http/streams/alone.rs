//! A standalone stream that no connection reads: a task goes on with what is said on it.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use super::stream::Stream;

/// Runs what is said on a stream while no connection reads it. Dropping it ends that.
struct Alone(Arc<Stream>);

/// Goes on without a connection, until there is one; for a stream that says something by itself.
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
            // A connection that comes is news.
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
        // The runtime ends: what is said holds the stream, and the stream what is said.
        if !self.0.is_read()
            && let Some(speaker) = self.0.speaker()
        {
            speaker.end();
        }
    }
}
