//! The connections of a listener: how many a client may have, and which give way when there are too many.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::lane::Lane;
use crate::budget::{Bound, Budget, ClientName, Held, Kind};
use crate::http::forwarded::Proxies;
use crate::http::peer::Peer;
use crate::locked::Locked as _;

/// How many of a client's oldest connections are looked at for one without a request.
const LOOK_AT: usize = 64;

/// The open connections by client.
#[derive(Debug)]
pub(super) struct Table {
    budget: Budget,
    proxies: Proxies,
    /// How many tasks of one client are polled at once.
    at_once: usize,
    /// How many connections were admitted so far.
    admitted: AtomicU64,
    open: Mutex<HashMap<ClientName, ClientConnections>>,
}

/// The open connections of one client.
#[derive(Debug)]
struct ClientConnections {
    /// By number: the oldest first. One of ten thousand that end together must be found at once, under the lock.
    connections: BTreeMap<u64, Arc<Connection>>,
    lane: Lane,
}

/// One connection and its requests.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) peer: Peer,
    /// The queue where its tasks wait.
    pub(super) lane: Lane,
    pub(super) client: ClientName,
    /// Its number among all connections.
    number: u64,
    begun: AtomicUsize,
    running: AtomicUsize,
    /// Whether the latest answer is an event stream.
    lasts: AtomicBool,
    /// It has to end to free its slot for another connection.
    gives_way: Notify,
    place: Mutex<Option<Held>>,
}

/// A connection in the table; dropping it removes it.
#[derive(Debug)]
pub(super) struct Admitted {
    table: Arc<Table>,
    pub(super) connection: Arc<Connection>,
}

/// A request whose answer is not completely written.
#[derive(Debug)]
pub(super) struct RunningRequest(Arc<Connection>);

impl Table {
    /// A table for a runtime with this many workers.
    pub(super) fn new(bound: Bound, proxies: Proxies, workers: usize) -> Arc<Self> {
        Arc::new(Self {
            budget: Budget::new(&[(Kind::Connections, bound)]),
            proxies,
            at_once: workers,
            admitted: AtomicU64::new(0),
            open: Mutex::default(),
        })
    }

    /// Admits a connection. If its client has its share, or the table is full, a connection without a request is
    /// closed: the client's own, or one of the client that has most. `None` if there is no such connection.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Admitted> {
        let client = if self.proxies.has(address) {
            // All clients behind the proxy connect through it.
            ClientName::Unknown
        } else {
            ClientName::of_address(address)
        };
        let account = self.budget.client(client.clone());
        let mut open = self.open.locked();
        let place = match account.hold(Kind::Connections, 1) {
            Ok(place) => place,
            Err(over) => {
                let own = give_way(&mut open, &client);
                if own.is_none() && over.is_share {
                    return None;
                }
                drop(own.or_else(|| most(&open).and_then(|most| give_way(&mut open, &most)))?);
                account.hold(Kind::Connections, 1).ok()?
            }
        };
        let at_once = match client {
            // The client behind a proxy is known only when a request is read.
            ClientName::Unknown => usize::MAX,
            _ => self.at_once,
        };
        let own = open.entry(client.clone()).or_insert_with(|| ClientConnections {
            connections: BTreeMap::new(),
            lane: Lane::new(at_once),
        });
        let connection = Arc::new(Connection {
            peer: Peer::accepted(address),
            lane: own.lane.clone(),
            client,
            number: self.admitted.fetch_add(1, Ordering::Relaxed),
            begun: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            lasts: AtomicBool::new(false),
            gives_way: Notify::new(),
            place: Mutex::new(Some(place)),
        });
        own.connections.insert(connection.number, Arc::clone(&connection));
        drop(open);
        Some(Admitted { table: Arc::clone(self), connection })
    }

    /// Ends a connection without a request, of the client with the most connections. Returns whether one was found.
    pub(super) fn make_room(&self) -> bool {
        let mut open = self.open.locked();
        let place = most(&open).and_then(|most| give_way(&mut open, &most));
        place.is_some()
    }
}

/// Ends a client's oldest connection without a request, and takes its slot.
fn give_way(
    open: &mut HashMap<ClientName, ClientConnections>,
    client: &ClientName,
) -> Option<Held> {
    let connections = &mut open.get_mut(client)?.connections;
    let mut oldest = connections.iter().take(LOOK_AT);
    let (&number, _) = oldest.find(|(_, connection)| connection.running() == 0)?;
    let connection = connections.remove(&number)?;
    connection.gives_way.notify_one();
    connection.take_permit()
}

/// The client with the most connections.
fn most(open: &HashMap<ClientName, ClientConnections>) -> Option<ClientName> {
    let most = open.iter().max_by_key(|(_, own)| own.connections.len());
    most.map(|(client, _)| client.clone())
}

impl Connection {
    /// How many requests have begun so far.
    pub(super) fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    /// How many requests have no answer, or an answer that is not completely written.
    pub(super) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Whether the latest answer is an event stream.
    pub(super) fn lasts(&self) -> bool {
        self.lasts.load(Ordering::Relaxed)
    }

    /// Counts a request until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> RunningRequest {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        self.lasts.store(false, Ordering::Relaxed);
        RunningRequest(Arc::clone(self))
    }

    /// Waits until it has to end.
    pub(super) async fn gives_way(&self) {
        self.gives_way.notified().await;
    }

    /// Whether it has not given way to another one.
    pub(super) fn has_place(&self) -> bool {
        self.place.locked().is_some()
    }

    fn take_permit(&self) -> Option<Held> {
        self.place.locked().take()
    }
}

impl RunningRequest {
    /// Notes whether its answer is an event stream.
    pub(super) fn answers_by_events(&self, lasts: bool) {
        self.0.lasts.store(lasts, Ordering::Relaxed);
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut open = self.table.open.locked();
        let client = &self.connection.client;
        if let Some(own) = open.get_mut(client) {
            own.connections.remove(&self.connection.number);
            if own.connections.is_empty() {
                open.remove(client);
            }
        }
        drop(open);
        drop(self.connection.take_permit());
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [127, 0, 0, last].into()
    }

    #[test]
    fn a_client_over_its_share_gives_way_to_itself() {
        let bound = Bound { total: 10, share: 2 };
        let table = Table::new(bound, Proxies::default(), 2);
        let first = table.admit(address(2)).unwrap();
        let second = table.admit(address(2)).unwrap();
        let busy = second.connection.begin();
        let third = table.admit(address(2)).unwrap();
        let _busy = third.connection.begin();
        // The first is out already; both that are left have a request.
        assert!(table.admit(address(2)).is_none());
        drop(first);
        assert!(table.admit(address(2)).is_none());
        drop(busy);
        assert!(table.admit(address(2)).is_some());
        assert!(table.admit(address(1)).is_some());
    }

    #[test]
    fn where_all_places_are_taken_the_client_that_has_most_gives_way() {
        let bound = Bound { total: 10, share: 9 };
        let table = Table::new(bound, Proxies::default(), 2);
        let many: Vec<_> = (0..9).map(|_| table.admit(address(2)).unwrap()).collect();
        let _one = table.admit(address(3)).unwrap();
        let newcomer = table.admit(address(1));
        assert!(newcomer.is_some());
        let open = table.open.locked();
        assert_eq!(open[&ClientName::of_address(address(2))].connections.len(), 8);
        drop(open);
        drop((many, newcomer));
        assert_eq!(table.open.locked().len(), 1);
    }
}
