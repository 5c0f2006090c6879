//! What clients may make a server hold: counted for each client and for all together, given back by being dropped.
//!
//! A client is the authenticated [`Principal`](crate::Principal), or without one the address that it calls from. Each
//! kind of thing has a total and a share of it that one client may have, so that a client that takes all it can get
//! leaves enough for the others. The last tenth of a total is kept for clients that hold next to nothing: many greedy
//! clients leave a newcomer a way in.

mod bound;

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use bound::{Bound, BudgetConfig};

/// Below how many accounts those that are not used any more are not looked for.
const FEW: usize = 64;

/// What all clients hold of one server. Cheap to clone; clones count together.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bounds: [Bound; KINDS],
    held: [AtomicUsize; KINDS],
    accounts: Mutex<Accounts>,
}

/// The accounts of clients that hold something, or are connected.
#[derive(Debug, Default)]
struct Accounts {
    by_client: HashMap<ClientName, Weak<Account>>,
    /// At how many entries those that are gone are taken out.
    sweep_at: usize,
}

/// Who a client is, as far as budgets go.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum ClientName {
    /// The authenticated caller.
    Principal(Arc<str>),
    /// The address that it calls from; of IPv6 the /64 that it belongs to.
    Address(IpAddr),
    /// A client of which nothing is known: a request without a [`Peer`](crate::http::Peer). All such clients are one, and
    /// its share is the whole.
    Unknown,
}

/// What one client holds.
#[derive(Debug, Clone)]
pub(crate) struct Client(Arc<Account>);

#[derive(Debug)]
struct Account {
    name: ClientName,
    held: [AtomicUsize; KINDS],
    budget: Arc<Shared>,
}

/// Something that is held. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Held {
    account: Arc<Account>,
    kind: Kind,
    amount: usize,
}

/// A kind of thing that clients make a server hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Calls that run, or whose answers are not wholly written; places.
    Calls,
    /// Listens, and streams of sessions; places.
    Listeners,
    /// Bodies of requests and what was read from them; bytes of memory.
    RequestBytes,
    /// Answers that are not written yet; bytes of memory.
    AnswerBytes,
}

const KINDS: usize = 4;

/// Why something cannot be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Over {
    pub(crate) kind: Kind,
    /// Whether this client holds its share; otherwise all clients together hold all there is.
    pub(crate) is_share: bool,
    /// The bound that was met.
    pub(crate) max: usize,
}

impl Budget {
    /// A budget of which nothing is held.
    pub(crate) fn new(config: &BudgetConfig) -> Self {
        Self::with_bounds([
            config.calls,
            config.listeners,
            config.request_bytes,
            config.answer_bytes,
        ])
    }

    /// A budget of connections, which a listener has and not a service.
    pub(crate) fn of_connections(bound: Bound) -> Self {
        Self::with_bounds([bound; KINDS])
    }

    fn with_bounds(bounds: [Bound; KINDS]) -> Self {
        Self(Arc::new(Shared {
            bounds,
            held: Default::default(),
            accounts: Mutex::default(),
        }))
    }

    /// The account of a client.
    pub(crate) fn client(&self, name: ClientName) -> Client {
        let mut accounts = self.0.accounts();
        let known = accounts.by_client.get(&name).and_then(Weak::upgrade);
        if let Some(account) = known {
            return Client(account);
        }
        accounts.sweep();
        let account = Arc::new(Account {
            name: name.clone(),
            held: Default::default(),
            budget: Arc::clone(&self.0),
        });
        accounts.by_client.insert(name, Arc::downgrade(&account));
        Client(account)
    }

    /// How much of a kind is held by all clients together.
    #[cfg(test)]
    pub(crate) fn held(&self, kind: Kind) -> usize {
        self.0
            .held
            .get(kind.index())
            .map_or(0, |held| held.load(Ordering::Relaxed))
    }
}

impl Client {
    /// Holds so much more, or says which bound is in the way.
    pub(crate) fn hold(&self, kind: Kind, amount: usize) -> Result<Held, Over> {
        self.0.take(kind, amount)?;
        Ok(Held {
            account: Arc::clone(&self.0),
            kind,
            amount,
        })
    }

    /// How much of a kind this client holds.
    #[cfg(test)]
    pub(crate) fn held(&self, kind: Kind) -> usize {
        self.0
            .held
            .get(kind.index())
            .map_or(0, |held| held.load(Ordering::Relaxed))
    }

    /// The client as a text; `None` where nothing is known of it.
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        match &self.0.name {
            ClientName::Unknown => None,
            name => Some(format!("{name:?}").into()),
        }
    }

    /// Whether it belongs to that budget.
    pub(crate) fn is_of(&self, budget: &Budget) -> bool {
        Arc::ptr_eq(&self.0.budget, &budget.0)
    }
}

impl Account {
    fn take(&self, kind: Kind, amount: usize) -> Result<(), Over> {
        let (Some(bound), Some(all), Some(own)) = (
            self.budget.bounds.get(kind.index()),
            self.budget.held.get(kind.index()),
            self.held.get(kind.index()),
        ) else {
            return Ok(());
        };
        let share = match self.name {
            ClientName::Unknown => bound.total,
            _ => bound.share,
        };
        let held = own
            .fetch_add(amount, Ordering::Relaxed)
            .saturating_add(amount);
        if held > share {
            own.fetch_sub(amount, Ordering::Relaxed);
            let (is_share, max) = (share < bound.total, share);
            return Err(Over {
                kind,
                is_share,
                max,
            });
        }
        // The last tenth is for those that hold next to nothing, unless one client may have all.
        let total = match held <= bound.little() || share >= bound.total {
            true => bound.total,
            false => bound.total - bound.total / 10,
        };
        let together = all
            .fetch_add(amount, Ordering::Relaxed)
            .saturating_add(amount);
        if together > total {
            self.give(kind, amount);
            let (is_share, max) = (false, bound.total);
            return Err(Over {
                kind,
                is_share,
                max,
            });
        }
        Ok(())
    }

    fn give(&self, kind: Kind, amount: usize) {
        let counts = [&self.held, &self.budget.held];
        for count in counts.iter().filter_map(|held| held.get(kind.index())) {
            count.fetch_sub(amount, Ordering::Relaxed);
        }
    }
}

impl Held {
    /// The client that holds it.
    pub(crate) fn client(&self) -> Client {
        Client(Arc::clone(&self.account))
    }

    /// Holds so much, which may be more or less than before.
    pub(crate) fn set(&mut self, amount: usize) -> Result<(), Over> {
        if let Some(more) = amount.checked_sub(self.amount) {
            return self.grow(more);
        }
        self.account.give(self.kind, self.amount - amount);
        self.amount = amount;
        Ok(())
    }

    /// Holds so much more of the same.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), Over> {
        self.account.take(self.kind, more)?;
        self.amount += more;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.give(self.kind, self.amount);
    }
}

impl Accounts {
    /// Takes out the accounts of clients that are gone, now and then.
    fn sweep(&mut self) {
        if self.by_client.len() < self.sweep_at.max(FEW) {
            return;
        }
        self.by_client
            .retain(|_, account| account.strong_count() > 0);
        self.sweep_at = 2 * self.by_client.len();
    }
}

impl Shared {
    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        // Nothing panics while it holds the accounts.
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientName {
    /// The client at an address: IPv4 as it is, also where it is mapped into IPv6; of IPv6 the /64.
    pub(crate) fn of_address(address: IpAddr) -> Self {
        const NETWORK: u128 = !0 << 64;
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
            address @ IpAddr::V4(_) => address,
        })
    }
}

impl fmt::Debug for ClientName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Principal(name) => write!(formatter, "principal {name:?}"),
            Self::Address(IpAddr::V6(network)) => write!(formatter, "{network}/64"),
            Self::Address(address) => write!(formatter, "{address}"),
            Self::Unknown => formatter.write_str("unknown"),
        }
    }
}

impl Kind {
    const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Over {
    /// A sentence for the client: which bound, whose, and what to do.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { max, .. } = self;
        let what = match self.kind {
            Kind::Calls => format!("{max} calls are running"),
            Kind::Listeners => format!("{max} listeners are open"),
            Kind::RequestBytes => format!("requests take {max} bytes of memory"),
            Kind::AnswerBytes => format!("answers of {max} bytes wait to be read"),
        };
        match self.is_share {
            true => write!(
                formatter,
                "{what} for this client, which is its share: wait for some to end"
            ),
            false => write!(
                formatter,
                "{what} for all clients together: try again later"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(total: usize, share: usize) -> Budget {
        Budget::new(&BudgetConfig {
            calls: Bound { total, share },
            ..BudgetConfig::default()
        })
    }

    fn address(last: u8) -> ClientName {
        ClientName::of_address([127, 0, 0, last].into())
    }

    #[test]
    fn what_is_dropped_is_given_back_to_both() {
        let budget = budget(100, 50);
        let client = budget.client(address(1));
        let mut held = client.hold(Kind::Calls, 30).unwrap();
        held.grow(20).unwrap();
        assert!(held.grow(1).unwrap_err().is_share);
        held.set(10).unwrap();
        assert_eq!(client.held(Kind::Calls), 10);
        held.set(50).unwrap();
        assert_eq!(
            (client.held(Kind::Calls), budget.held(Kind::Calls)),
            (50, 50)
        );
        drop(held);
        assert_eq!((client.held(Kind::Calls), budget.held(Kind::Calls)), (0, 0));
    }

    #[test]
    fn a_client_that_holds_its_share_leaves_the_rest_to_others() {
        let budget = budget(100, 50);
        let greedy = budget.client(address(2));
        let _all = greedy.hold(Kind::Calls, 50).unwrap();
        let over = greedy.hold(Kind::Calls, 1).unwrap_err();
        assert_eq!((over.is_share, over.max), (true, 50));
        let other = budget.client(address(1));
        assert!(other.hold(Kind::Calls, 40).is_ok());
    }

    #[test]
    fn the_last_tenth_is_for_those_that_hold_next_to_nothing() {
        let budget = budget(1_000, 500);
        let (one, two) = (budget.client(address(2)), budget.client(address(3)));
        let _one = one.hold(Kind::Calls, 500).unwrap();
        let mut held = two.hold(Kind::Calls, 400).unwrap();
        assert!(!held.grow(1).unwrap_err().is_share);
        let newcomer = budget.client(address(4));
        let _few = newcomer.hold(Kind::Calls, 10).unwrap();
        assert!(newcomer.hold(Kind::Calls, 1).is_err());
    }

    #[test]
    fn a_refusal_leaves_nothing_behind_and_accounts_that_are_gone_go() {
        let budget = budget(10, 5);
        let client = budget.client(address(1));
        client.hold(Kind::Calls, 6).unwrap_err();
        assert_eq!((client.held(Kind::Calls), budget.held(Kind::Calls)), (0, 0));
        for n in 0..10_000_u32 {
            drop(budget.client(ClientName::of_address(IpAddr::from(n.to_be_bytes()))));
        }
        assert!(budget.0.accounts().by_client.len() <= 2 * FEW);
    }

    #[test]
    fn a_network_of_ipv6_is_one_client_and_mapped_ipv4_is_ipv4() {
        let name = |text: &str| ClientName::of_address(text.parse().unwrap());
        assert_eq!(name("2001:db8::1"), name("2001:db8::ffff:1"));
        assert_ne!(name("2001:db8::1"), name("2001:db8:0:1::1"));
        assert_eq!(name("::ffff:127.0.0.1"), name("127.0.0.1"));
        assert_ne!(name("127.0.0.2"), name("127.0.0.1"));
    }

    #[test]
    fn clients_of_which_nothing_is_known_share_the_whole() {
        let budget = budget(100, 50);
        let unknown = budget.client(ClientName::Unknown);
        assert!(unknown.hold(Kind::Calls, 100).is_ok());
    }
}
