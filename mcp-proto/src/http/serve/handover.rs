//! A response that goes on for long leaves hyper: when its head is written, the connection's task writes the body.
//!
//! hyper keeps 16 KiB of buffers for each connection, and a call needs them. An open event stream would hold them for
//! hours to send a few hundred bytes now and then.

pub(super) mod chunked;

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONNECTION, HeaderValue};
use http::{HeaderMap, Response};
use http_body::{Body, Frame, SizeHint};

use super::tracked::{BodyError, Tracked};

/// Marks a response whose body goes on until its client or the server ends it, such as an open event stream. It is an
/// extension of the response.
///
/// In HTTP/1.1, [`serve`](super::serve) writes such a body without hyper and its buffers. It closes the connection
/// after the body, and says so in the head (RFC 9112 §9.6).
#[derive(Debug, Clone, Copy)]
pub struct LongStream;

/// Where the one response of a connection that leaves hyper is kept until its head is written.
pub(super) struct Handover<B> {
    head: Arc<Head>,
    body: Mutex<Option<Box<Tracked<B>>>>,
}

/// How far the head of the response is that leaves hyper.
#[derive(Debug, Default)]
pub(super) struct Head(AtomicU8);

/// No response leaves hyper.
const NONE: u8 = 0;
/// hyper has put the head into its buffer, and asked for the body.
const BUFFERED: u8 = 1;
/// hyper's buffer is empty: the head is written.
const WRITTEN: u8 = 2;

impl Head {
    /// hyper flushes the connection, which it does when its buffer is empty.
    pub(super) fn flushed(&self) {
        // All of this happens in the connection's task.
        if self.0.load(Ordering::Relaxed) == BUFFERED {
            self.0.store(WRITTEN, Ordering::Relaxed);
        }
    }
}

impl<B> Handover<B> {
    /// For the connection with this head.
    pub(super) fn new(head: Arc<Head>) -> Arc<Self> {
        debug_assert_eq!(head.0.load(Ordering::Relaxed), NONE, "it is new");
        Arc::new(Self { head, body: Mutex::default() })
    }

    /// The body for hyper, which announces in the head that the connection ends with this response.
    pub(super) fn begin(
        self: &Arc<Self>,
        body: Tracked<B>,
        headers: &mut HeaderMap,
    ) -> ForHyper<B> {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        ForHyper::Leaves(Some(Box::new(body)), Arc::clone(self))
    }

    /// The body to write, once hyper has written the head of its response.
    pub(super) fn taken(&self) -> Option<Box<Tracked<B>>> {
        if self.head.0.load(Ordering::Relaxed) != WRITTEN {
            return None;
        }
        self.body.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Whether a response is [marked](LongStream).
pub(super) fn is_long<B>(response: &Response<B>) -> bool {
    response.extensions().get::<LongStream>().is_some()
}

/// The body of a response as hyper has it.
pub(super) enum ForHyper<B> {
    /// hyper writes it.
    Stays(Tracked<B>),
    /// hyper writes the head alone. Its first question for the body takes the body out.
    Leaves(Option<Box<Tracked<B>>>, Arc<Handover<B>>),
}

impl<B> Body for ForHyper<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut *self {
            Self::Stays(body) => Pin::new(body).poll_frame(context),
            Self::Leaves(body, handover) => {
                if let Some(body) = body.take() {
                    let mut kept = handover.body.lock().unwrap_or_else(PoisonError::into_inner);
                    *kept = Some(body);
                    handover.head.0.store(BUFFERED, Ordering::Relaxed);
                }
                // The connection's task, which polls this, takes the connection from hyper.
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Stays(body) => body.is_end_stream(),
            Self::Leaves(..) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Stays(body) => body.size_hint(),
            Self::Leaves(..) => SizeHint::default(),
        }
    }
}
