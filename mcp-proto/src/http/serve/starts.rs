//! Connections between `accept` and their tasks: in each turn of the runtime, a client starts as many as its lane polls
//! at once.
//!
//! The kernel's queue is one line for all clients, so whatever stands in it is accepted at once. If all of it started
//! at once, the tasks of one client that connects ten thousand times a second would fill the runtime's queue, and those
//! of all others would come after them.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::net::{TcpListener, TcpStream};

use super::table::{Admitted, Table};
use crate::budget::ClientName;

/// An accepted connection.
type Accepted = (TcpStream, Admitted);

/// A listener and what it accepted. What waits to start has its place in the [`Table`], which bounds it.
pub(super) struct Starts {
    listener: TcpListener,
    table: Arc<Table>,
    waiting: HashMap<ClientName, VecDeque<Accepted>>,
    /// What starts in this turn.
    turn: VecDeque<Accepted>,
    /// Whether this turn has started any.
    has_started: bool,
}

impl Starts {
    pub(super) fn new(listener: TcpListener, table: Arc<Table>) -> Self {
        let (waiting, turn) = (HashMap::new(), VecDeque::new());
        Self { listener, table, waiting, turn, has_started: false }
    }

    /// The next connection that is to start. Nothing is lost where the future that polls this is dropped.
    ///
    /// # Errors
    /// Those of the system, once nothing waits to start: for example, no file descriptors are left.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Accepted>> {
        let accepted = self.poll_accept(context);
        loop {
            if let Some((stream, admitted)) = self.turn.pop_front() {
                self.has_started = true;
                // Small answers must not wait for the acknowledgement of the one before.
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::debug!(%error, "a connection stays without TCP_NODELAY");
                }
                return Poll::Ready(Ok((stream, admitted)));
            }
            let others_turn = std::mem::take(&mut self.has_started);
            if self.waiting.is_empty() {
                // What was accepted starts before a failure is returned: only then does it end, and frees its file
                // descriptor.
                return accepted.map(|error| {
                    // The file descriptors of idle connections are soon free again.
                    self.table.make_room();
                    Err(error)
                });
            }
            if others_turn {
                // The runtime's own `yield_now` would come back when all tasks are done.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.begin_turn();
        }
    }

    /// Accepts what stands in the kernel's queue, until there is no more or the system fails.
    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        loop {
            let (stream, address) = match ready!(self.listener.poll_accept(context)) {
                Ok(accepted) => accepted,
                Err(error) => return Poll::Ready(error),
            };
            if let Some(admitted) = self.table.admit(address.ip()) {
                let client = admitted.connection.client.clone();
                self.waiting.entry(client).or_default().push_back((stream, admitted));
            } else {
                tracing::debug!(
                    %address,
                    "a connection was closed: its client, or all, have as many as they may"
                );
            }
        }
    }

    fn begin_turn(&mut self) {
        let Self { waiting, turn, .. } = self;
        waiting.retain(|_, waiting| {
            let at_once = waiting.front().map_or(0, |(_, first)| first.connection.lane.at_once());
            // Connections that gave way to others meanwhile are closed: the oldest do first.
            let next = std::iter::from_fn(|| waiting.pop_front());
            let next = next.filter(|(_, admitted)| admitted.connection.has_place());
            turn.extend(next.take(at_once));
            !waiting.is_empty()
        });
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
        let proxy = Proxies::from_names(&["127.0.0.9".to_owned()]).unwrap();
        let table = Table::new(Bound::of(200), proxy, 2);
        let mut starts = Starts::new(listener, table);
        let mut open = Vec::new();
        for last in [2; 50].into_iter().chain([3, 4, 3, 3]).chain([9; 10]) {
            open.push(connect(at, last).await);
        }
        let mut order = Vec::new();
        let mut kept = Vec::new();
        for _ in &open {
            let (stream, admitted) = poll_fn(|context| starts.poll_next(context)).await.unwrap();
            order.push(admitted.connection.client.clone());
            kept.push((stream, admitted));
        }
        let direct = |last: u8| ClientName::of_address([127, 0, 0, last].into());
        // Those of a proxy are of many clients.
        let wanted = [(direct(2), 2), (direct(3), 2), (direct(4), 1), (ClientName::Unknown, 10)];
        for (client, first) in wanted {
            let started = order.iter().take(15).filter(|other| **other == client);
            assert_eq!(started.count(), first, "{client:?}");
        }
        assert!(order[15..18].contains(&direct(3)));
        assert!(starts.waiting.is_empty() && starts.turn.is_empty());
    }
}
