//! GET: the messages of a legacy session outside of its calls, and the resumption of a stream that lost its connection.
//!
//! A `Last-Event-ID` of a call that is not kept gets 400, that of a GET stream a new stream. 404 would say that the
//! session is gone. A lost call must be reported, or its client waits in vain; a GET stream carries news, and clients
//! in use give it up after a few refusals.
//!
//! The stream asks the session store what to send whenever its session changed, and sends nothing until it knows: of
//! two subscriptions made at once, the store alone knows the order.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::time::Duration;

use futures_util::future::OptionFuture;
use futures_util::stream::{BoxStream, Fuse};
use futures_util::{FutureExt as _, StreamExt as _};
use http::{Response, request};
use tokio::time::{Instant, Sleep};

use super::events::CONNECTED;
use super::followed::Followed;
use super::head::{last_event_id, session_id};
use super::sessions::Lease;
use super::streams::{Audience, Opened, Reader, Standalone};
use super::{Legacy, events};
use crate::budget::{self, Client, Kind};
use crate::http::answer::event_stream;
use crate::http::body::ResponseBody;
use crate::http::rejection::{Refused, Rejection, Result};
use crate::http::sse::text_after;
use crate::legacy::session::Session;
use crate::server::{Listener, SharedNotification};

/// How long a GET without an event id waits for the connection that reads the stream. One that was closed has ended by
/// then; one that is still there is put aside, since its client may be gone without an end.
const TAKE_OVER_AFTER: Duration = Duration::from_millis(100);

/// How long a client whose server ends is asked to wait before it reconnects.
const COME_BACK: Duration = Duration::from_secs(1);

/// Listens for a session, whether its client is connected or may reconnect.
struct Listening {
    listener: Listener,
    /// Yields whenever another process may have changed the session.
    elsewhere: Fuse<BoxStream<'static, ()>>,
    /// Another process has changed it, perhaps long before that was known here.
    is_late: bool,
    followed: Followed,
    /// It has changed, and the store has not returned its new state yet. Changes wait until then.
    is_stale: bool,
    stream: Opened,
    lease: Lease,
    keep_alive: Duration,
    /// How long it continues without a connection.
    keep_listening: Duration,
    primes: bool,
    /// The end of that time; `None` while there is a connection.
    away: Option<Pin<Box<Sleep>>>,
    /// Its place among the listeners of its client.
    _place: budget::Held,
}

impl Legacy {
    /// GET: continues the stream that `Last-Event-ID` names, or opens the standalone stream.
    pub(crate) async fn open_stream(
        &self,
        head: &request::Parts,
        client: &Client,
    ) -> Result<Response<ResponseBody>, Refused> {
        let id = session_id(&head.headers)?;
        let mut has_missed = false;
        if let Some(last) = last_event_id(&head.headers)? {
            let session = self.load(head, &id).await?;
            match self.0.streams.find(&id, last.stream) {
                Some(stream) => {
                    let reader = Reader::resume(stream, last.number)?;
                    // What it subscribes to may have changed elsewhere.
                    self.0.streams.session_changed(&id);
                    return Ok(opened(reader, true));
                }
                // A client whose standalone stream is gone is best served by a new one, which carries new changes.
                // Which ones it has missed is not known here.
                None if last.stream.is_standalone() => {
                    tracing::info!("a GET stream that is not kept here is opened again");
                    has_missed = true;
                }
                None => return Ok(self.resume_elsewhere(session, last, client).await?),
            }
        }
        let mut has_waited = false;
        loop {
            // In the table before the session is looked up, so that code that ends it afterwards finds the stream.
            let standalone = self.0.streams.standalone(&id, client);
            // Only the owner of a session may learn about its existing streams.
            let session = self.load(head, &id).await?;
            let stream = match standalone? {
                Standalone::Existing(stream) => stream,
                Standalone::New(stream, reader) => {
                    let followed = Followed {
                        server: self.0.endpoint.server.clone(),
                        extensions: head.extensions.clone(),
                        patience: self.0.endpoint.config.legacy.store_timeout,
                    };
                    let mut listening = self.listen(&session, client, stream, followed)?;
                    let primes = listening.primes;
                    let has_missed = self.0.sessions.take_missed(&id) || has_missed;
                    listening.begin(&session, has_missed).await;
                    // Captured here: an `async fn` that takes it would keep it twice.
                    tokio::spawn(async move { listening.run().await });
                    return Ok(opened(reader, !primes));
                }
            };
            if has_waited || !stream.is_read() {
                let reader = Reader::take_up(stream)?;
                self.0.streams.session_changed(&id);
                return Ok(opened(reader, !session.protocol_version.has_polling()));
            }
            stream.vacated(TAKE_OVER_AFTER).await;
            has_waited = true;
        }
    }

    fn listen(
        &self,
        session: &Session,
        client: &Client,
        stream: Opened,
        followed: Followed,
    ) -> Result<Listening> {
        let place = client.hold(Kind::Listeners, 1)?;
        let mut interest = self.0.endpoint.server.all_announced();
        interest.resources = session.subscriptions.clone();
        let listener = self.0.endpoint.server.0.changes.listen(interest);
        let listener = listener.ok_or(Rejection::TooManyListeners)?;
        let config = &self.0.endpoint.config;
        let primes = session.protocol_version.has_polling();
        if primes {
            stream.prime();
        }
        Ok(Listening {
            listener,
            elsewhere: self.0.sessions.hints(&session.id),
            is_late: false,
            followed,
            is_stale: false,
            stream,
            lease: self.0.sessions.lease(&session.id, config.keep_alive),
            keep_alive: config.keep_alive,
            keep_listening: config.legacy.keep_listening,
            primes,
            away: None,
            _place: place,
        })
    }
}

impl Listening {
    /// Begins with the session's existing subscriptions.
    async fn begin(&mut self, session: &Session, has_missed: bool) {
        if !session.subscriptions.is_empty() {
            self.followed.follow(session, session.subscriptions.iter()).await;
        }
        if has_missed {
            self.listener.queue_all();
        }
    }

    /// Follows the current subscriptions of the session.
    async fn follow_subscriptions(&mut self, session: &Session) {
        self.is_stale = false;
        let late = std::mem::take(&mut self.is_late);
        let before = self.listener.subscribe_to(session.subscriptions.clone());
        if late {
            let new: Vec<_> = session.subscriptions.difference(&before).collect();
            self.followed.follow(session, new.iter().copied()).await;
            self.listener.queue_updates(new.into_iter());
        }
    }

    /// Sends changes until the session or the server ends, or the client has been away for too long.
    async fn run(&mut self) {
        // Set again when it has elapsed, not with each event.
        let mut quiet = pin!(tokio::time::sleep(self.keep_alive));
        let mut last_sent = Instant::now();
        loop {
            let (here, room) = match self.stream.audience() {
                Audience::Gone => return,
                Audience::Here { room, wants_id } => {
                    if self.away.take().is_some() {
                        last_sent = Instant::now();
                        self.stream.unkeep();
                        if !self.listener.acquire_permit() {
                            tracing::warn!(
                                "a GET stream ends: all permits for listeners are taken"
                            );
                            self.send_the_rest().await;
                            return;
                        }
                    }
                    if wants_id && self.primes {
                        self.stream.prime();
                    }
                    if self.stream.was_taken_over() {
                        self.listener.queue_all();
                    }
                    (true, room)
                }
                Audience::Away { room } => {
                    if self.away.is_none() {
                        // There is no client for which to hold the session.
                        if !self.is_stale {
                            self.lease.rest();
                        }
                        self.stream.keep();
                        // Connected clients must not lack the permit.
                        self.listener.release_permit();
                        self.away = Some(Box::pin(tokio::time::sleep(self.keep_listening)));
                    }
                    (false, room)
                }
            };
            tokio::select! {
                biased;
                () = self.stream.changed() => {
                    if self.stream.has_session_changed() {
                        self.is_stale = true;
                        self.lease.ask(Instant::now());
                    }
                }
                Some(()) = self.elsewhere.next() => {
                    (self.is_stale, self.is_late) = (true, true);
                    self.lease.ask(Instant::now());
                }
                state = poll_fn(|context| self.lease.poll_state(context)) => match state {
                    Ok(None) => return,
                    // Another process may have changed it, too. Boxed: it is rare, and would otherwise be most of the
                    // memory of a stream.
                    Ok(Some(session)) => Box::pin(self.follow_subscriptions(&session)).await,
                    // What changed is not known yet: it is asked again in a while.
                    Err(_) => {}
                },
                // Without room the listener lags, and is notified later that everything may have changed.
                change = next_change(&mut self.listener, self.is_stale), if room => {
                    let Some(change) = change else {
                        // The server ends, and another one may be available.
                        if here && self.primes {
                            self.stream.push(|id| events::retry(id, COME_BACK));
                        }
                        return;
                    };
                    self.send(&change);
                    if here {
                        last_sent = Instant::now();
                        self.lease.touch(last_sent);
                    }
                }
                Some(()) = OptionFuture::from(self.away.as_mut()) => return,
                () = &mut quiet, if here => {
                    let now = Instant::now();
                    let is_quiet = now >= last_sent + self.keep_alive;
                    self.stream.keep_alive(is_quiet);
                    if is_quiet {
                        self.lease.touch(now);
                        last_sent = now;
                    }
                    quiet.as_mut().reset(last_sent + self.keep_alive);
                }
            }
        }
    }

    /// Sends the changes that came while there was no connection, as far as there is room.
    async fn send_the_rest(&mut self) {
        if self.is_stale
            && self.lease.is_asking()
            && let Ok(Some(session)) = poll_fn(|context| self.lease.poll_state(context)).await
        {
            Box::pin(self.follow_subscriptions(&session)).await;
        }
        while !self.is_stale
            && matches!(self.stream.audience(), Audience::Here { room: true, .. })
            && let Some(Some(change)) = self.listener.next().now_or_never()
        {
            self.send(&change);
        }
    }

    fn send(&self, change: &SharedNotification) {
        self.stream.push(|id| text_after(events::id_line(id), &change.text()));
    }
}

/// The next change. While the session's subscriptions are not known, only the end of the server.
async fn next_change(listener: &mut Listener, is_stale: bool) -> Option<SharedNotification> {
    if is_stale {
        listener.closed().await;
        return None;
    }
    listener.next().await
}

/// `comment`: sends a comment at once, so that the head of the response reaches the client.
fn opened(reader: Reader, comment: bool) -> Response<ResponseBody> {
    let reader = reader.opened_by(comment.then_some(CONNECTED));
    event_stream(reader.into_body())
}
