//! Connections between `accept` and their tasks: in each turn of the runtime, each client starts one.
//!
//! The kernel's queue is one line for all clients, so whatever stands in it is accepted at once. If all of it started
//! at once, the tasks of one client that connects ten thousand times a second would fill the runtime's queue, and those
//! of all others would come after them.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::net::{TcpListener, TcpStream};

use super::table::{Admitted, Table};
use crate::budget::ClientName;

/// An accepted connection.
type Accepted = (TcpStream, Admitted);

/// A listener and what it accepted. What waits to start has its place in the [`Table`], which bounds it.
pub(super) struct Starts {
    listener: TcpListener,
    table: Arc<Table>,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    by_client: HashMap<ClientName, VecDeque<Accepted>>,
    /// The clients of which a connection waits, each once, in turn.
    clients: VecDeque<ClientName>,
    /// How many connections may still start in this turn.
    left: usize,
    /// Whether this turn has started any.
    has_started: bool,
}

impl Starts {
    pub(super) fn new(listener: TcpListener, table: Arc<Table>) -> Self {
        Self { listener, table, waiting: Mutex::default() }
    }

    /// The next connection that is to start. Nothing is lost where the future that polls this is dropped.
    ///
    /// # Errors
    /// Those of the system: for example, no file descriptors are left.
    pub(super) fn poll_next(&self, context: &mut Context<'_>) -> Poll<io::Result<Accepted>> {
        // Nothing panics while it holds what waits.
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = loop {
            match self.listener.poll_accept(context) {
                Poll::Ready(Ok((stream, address))) => match self.table.admit(address.ip()) {
                    Some(admitted) => waiting.push(stream, admitted),
                    None => tracing::debug!(
                        %address,
                        "a connection was closed: its client, or all, have as many as they may"
                    ),
                },
                Poll::Ready(Err(error)) => break Some(error),
                Poll::Pending => break None,
            }
        };
        // What was accepted starts also where no more can be: only then does it end, and frees its file descriptor.
        let (stream, admitted) = match (waiting.poll_start(context), failed) {
            (Poll::Ready(next), _) => next,
            (Poll::Pending, Some(error)) if waiting.clients.is_empty() => {
                // The file descriptors of idle connections are soon free again.
                self.table.make_room();
                return Poll::Ready(Err(error));
            }
            (Poll::Pending, _) => return Poll::Pending,
        };
        // Small answers must not wait for the acknowledgement of the one before.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays without TCP_NODELAY");
        }
        Poll::Ready(Ok((stream, admitted)))
    }
}

impl Waiting {
    fn push(&mut self, stream: TcpStream, admitted: Admitted) {
        let client = &admitted.connection.client;
        if let Some(waiting) = self.by_client.get_mut(client) {
            waiting.push_back((stream, admitted));
        } else {
            self.clients.push_back(client.clone());
            self.by_client.insert(client.clone(), VecDeque::from([(stream, admitted)]));
        }
    }

    fn poll_start(&mut self, context: &Context<'_>) -> Poll<Accepted> {
        if self.left == 0 {
            if std::mem::take(&mut self.has_started) && !self.clients.is_empty() {
                // The others' turn. (The runtime's own `yield_now` comes back when all tasks are done.)
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.left = self.clients.len();
        }
        while let Some(client) = self.clients.pop_front() {
            let Some(waiting) = self.by_client.get_mut(&client) else {
                continue;
            };
            // Connections that gave way to others meanwhile are closed: the oldest do first.
            let next = std::iter::from_fn(|| waiting.pop_front())
                .find(|(_, admitted)| admitted.connection.has_place());
            if waiting.is_empty() {
                self.by_client.remove(&client);
            } else {
                self.clients.push_back(client);
            }
            if let Some(next) = next {
                self.left = self.left.saturating_sub(1);
                self.has_started = true;
                return Poll::Ready(next);
            }
        }
        (self.left, self.has_started) = (0, false);
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::{Ipv4Addr, SocketAddr};

    use tokio::net::TcpSocket;

    use super::*;
    use crate::budget::Bound;
    use crate::http::forwarded::Proxies;

    async fn connect(to: SocketAddr, last: u8) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).unwrap();
        socket.connect(to).await.unwrap()
    }

    /// Only Linux has all addresses of 127.0.0.0/8.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn clients_start_in_turn() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let table = Table::new(Bound::of(200), Proxies::default(), 2);
        let starts = Starts::new(listener, table);
        let mut open = Vec::new();
        for last in [2; 60].into_iter().chain([3, 4, 3]) {
            open.push(connect(at, last).await);
        }
        let mut order = Vec::new();
        let mut kept = Vec::new();
        for _ in &open {
            let (stream, admitted) = poll_fn(|context| starts.poll_next(context)).await.unwrap();
            order.push(admitted.connection.client.clone());
            kept.push((stream, admitted));
        }
        let place = |last: u8| {
            let client = ClientName::of_address([127, 0, 0, last].into());
            order.iter().position(|other| *other == client)
        };
        assert_eq!((order.len(), place(2), place(3), place(4)), (63, Some(0), Some(1), Some(2)));
        let waiting = starts.waiting.lock().unwrap();
        assert!(waiting.by_client.is_empty() && waiting.clients.is_empty());
    }
}
