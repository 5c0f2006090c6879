//! Limits on what clients make a server hold: counted for each client and for all together, and released on drop.
//!
//! A client is the authenticated [`Principal`](crate::Principal), or without one the address that it calls from. Each
//! [`Kind`] of thing has a total and a share of it that one client may have, so that a client that takes all it can get
//! leaves enough for the others. The last tenth of a total is reserved for clients that hold almost nothing, so many
//! greedy clients still leave room for a new one.
//!
//! An endpoint beside MCP shares the account: [`StreamableHttpService::client`](crate::StreamableHttpService::client)
//! finds it, [`Client::hold`] takes from it, and [`Client::keep`] counts an answer until it is written.
//!
//! A client that has its share is refused, and nothing in use is taken from another for it: otherwise the first client
//! that wants a whole total would get it. Only what is not in use is closed to make space: idle connections, and
//! sessions without a request for two minutes.
//!
//! An answer larger than the bounds is given while almost nothing else waits, because a universe may be larger than a
//! client's share and would be unreadable otherwise.

mod bound;
mod over;
mod turns;
mod usage;

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use bytes::Bytes;

use crate::locked::Locked as _;
use turns::Turns;

pub use bound::{Bound, BudgetConfig};
pub use over::Over;
pub use turns::Turn;
pub(crate) use turns::processors;
pub use usage::Usage;

/// Unused accounts are only searched for above this number of accounts.
const FEW: usize = 64;

/// The amounts that all clients of one server hold. Cheap to clone; clones count together.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bounds: [Bound; KINDS],
    held: [AtomicUsize; KINDS],
    /// How often each bound was met.
    refused: [AtomicUsize; KINDS],
    accounts: Mutex<Accounts>,
}

/// The accounts of clients that hold something, or are connected.
#[derive(Debug, Default)]
struct Accounts {
    by_client: HashMap<ClientName, Weak<Account>>,
    /// The number of accounts at which unused ones are removed.
    sweep_at: usize,
}

/// The identity of a client for budgets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum ClientName {
    /// The authenticated caller.
    Principal(Arc<str>),
    /// The address that it calls from; for IPv6 its /64 prefix.
    Address(IpAddr),
    /// A client that is not identified: a request without a [`Peer`](crate::http::Peer). All such clients count as one,
    /// whose share is the whole total.
    Unknown,
}

/// The account of one client. Cheap to clone; clones are one account.
#[derive(Debug, Clone)]
pub struct Client(Arc<Account>);

#[derive(Debug)]
struct Account {
    name: ClientName,
    /// The name as text, once it was asked for.
    text: OnceLock<Option<Arc<str>>>,
    turns: Turns,
    held: [AtomicUsize; KINDS],
    budget: Arc<Shared>,
}

/// An amount that is held. Dropping it releases the amount.
#[derive(Debug)]
pub struct Held {
    account: Arc<Account>,
    kind: Kind,
    amount: usize,
}

/// A kind of thing that clients make a server hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Calls that run, or whose answers are not yet fully written. Unit: one call.
    Calls,
    /// `subscriptions/listen` requests, and streams of sessions. Unit: one stream.
    Listeners,
    /// Request bodies and the data parsed from them. Unit: bytes of memory.
    RequestBytes,
    /// Answers that are not written yet. Unit: bytes of memory.
    AnswerBytes,
    /// Open connections. Unit: one connection.
    Connections,
    /// Tasks. Unit: one task.
    Tasks,
    /// Arguments, answers and results of tasks. Unit: bytes of memory.
    TaskBytes,
    /// Calls that continue without their client. Unit: one call.
    DetachedCalls,
    /// Events that are kept for clients that come back. Unit: bytes of memory.
    KeptBytes,
}

const KINDS: usize = 9;

/// A bound that is never reached.
const UNBOUNDED: Bound = Bound { total: usize::MAX, share: usize::MAX };

impl Budget {
    /// An unused budget. Kinds without a bound are not bounded.
    pub(crate) fn new(bounds: &[(Kind, Bound)]) -> Self {
        let mut of_kinds = [UNBOUNDED; KINDS];
        for (kind, bound) in bounds {
            if let Some(of_kind) = of_kinds.get_mut(kind.index()) {
                *of_kind = *bound;
            }
        }
        Self(Arc::new(Shared {
            bounds: of_kinds,
            held: Default::default(),
            refused: Default::default(),
            accounts: Mutex::default(),
        }))
    }

    /// The account of a client.
    pub(crate) fn client(&self, name: ClientName) -> Client {
        let mut accounts = self.0.accounts.locked();
        let known = accounts.by_client.get(&name).and_then(Weak::upgrade);
        if let Some(account) = known {
            return Client(account);
        }
        accounts.sweep();
        let account = Arc::new(Account {
            name: name.clone(),
            text: OnceLock::new(),
            turns: Turns::default(),
            held: Default::default(),
            budget: Arc::clone(&self.0),
        });
        accounts.by_client.insert(name, Arc::downgrade(&account));
        Client(account)
    }
}

impl Client {
    /// Holds this amount, until the returned value is dropped.
    ///
    /// # Errors
    /// The bound that was reached.
    pub fn hold(&self, kind: Kind, amount: usize) -> Result<Held, Over> {
        self.0.take(kind, amount, false)?;
        Ok(self.held(kind, amount))
    }

    /// Counts a text among the answers of this client, until the last part of it is dropped.
    ///
    /// # Errors
    /// As [`Client::hold_answer`].
    pub fn keep(&self, text: Bytes) -> Result<Bytes, Over> {
        let held = self.hold_answer(text.len())?;
        Ok(held.keep(text))
    }

    /// Holds the bytes of an answer. One that is larger than the bounds is allowed while almost nothing else waits.
    ///
    /// # Errors
    /// The bound that was reached.
    pub fn hold_answer(&self, bytes: usize) -> Result<Held, Over> {
        self.hold_alone(Kind::AnswerBytes, bytes)
    }

    /// Holds this amount, which may exceed the bounds while almost nothing of its kind is held.
    pub(crate) fn hold_alone(&self, kind: Kind, amount: usize) -> Result<Held, Over> {
        self.0.take(kind, amount, true)?;
        Ok(self.held(kind, amount))
    }

    /// Refuses a call before it runs if unread answers use half of its client's share, so that there is room for the
    /// new answer.
    ///
    /// # Errors
    /// Which bound is near.
    pub fn may_answer(&self) -> Result<(), Over> {
        self.0.has_room(Kind::AnswerBytes)
    }

    /// Holds this amount even beyond the bounds. The caller then checks the bounds.
    pub(crate) fn overdraw(&self, kind: Kind, amount: usize) -> Held {
        let mut held = self.held(kind, 0);
        held.overdraw(amount);
        held
    }

    fn held(&self, kind: Kind, amount: usize) -> Held {
        Held { account: Arc::clone(&self.0), kind, amount }
    }

    /// The amount of a kind that this client holds.
    #[cfg(test)]
    pub(crate) fn amount(&self, kind: Kind) -> usize {
        let counts = self.0.counts(kind);
        counts.map_or(0, |(_, own, _)| own.load(Ordering::Relaxed))
    }

    /// The client's identity.
    pub(crate) fn name(&self) -> &ClientName {
        &self.0.name
    }

    /// The client as text; `None` if it is not identified. Clones share it.
    pub(crate) fn text(&self) -> Option<Arc<str>> {
        let text = self.0.text.get_or_init(|| self.0.name.text());
        text.clone()
    }

    /// The share of a bound that it may hold: a client that is not identified may hold all of it.
    pub(crate) fn share(&self, bound: &Bound) -> usize {
        self.0.share(bound)
    }

    /// Whether this account belongs to that budget.
    pub(crate) fn is_of(&self, budget: &Budget) -> bool {
        Arc::ptr_eq(&self.0.budget, &budget.0)
    }
}

impl Account {
    /// `alone`: whether the bounds may be exceeded while almost nothing is held yet.
    fn take(&self, kind: Kind, amount: usize, alone: bool) -> Result<(), Over> {
        let Some((bound, own, all)) = self.counts(kind) else {
            return Ok(());
        };
        let share = self.share(bound);
        let before = own.fetch_add(amount, Ordering::Relaxed);
        let held = before.saturating_add(amount);
        let is_alone = |before| alone && before <= bound.little();
        if held > share && !is_alone(before) {
            own.fetch_sub(amount, Ordering::Relaxed);
            return Err(self.over(kind, share < bound.total, share));
        }
        // The last tenth is for those that hold next to nothing, unless one client may have all.
        let total = if held <= bound.little() || share >= bound.total {
            bound.total
        } else {
            bound.total - bound.total / 10
        };
        let before = all.fetch_add(amount, Ordering::Relaxed);
        if before.saturating_add(amount) > total && !is_alone(before) {
            self.give(kind, amount);
            return Err(self.over(kind, false, bound.total));
        }
        Ok(())
    }

    /// Refuses when half of the share or nine tenths of the total are held.
    fn has_room(&self, kind: Kind) -> Result<(), Over> {
        let Some((bound, own, all)) = self.counts(kind) else {
            return Ok(());
        };
        let share = self.share(bound);
        let own = own.load(Ordering::Relaxed);
        if own > share / 2 {
            return Err(self.over(kind, share < bound.total, share));
        }
        if own > bound.little() && all.load(Ordering::Relaxed) > bound.total - bound.total / 10 {
            return Err(self.over(kind, false, bound.total));
        }
        Ok(())
    }

    /// A refusal, counted.
    fn over(&self, kind: Kind, is_share: bool, max: usize) -> Over {
        if let Some(refused) = self.budget.refused.get(kind.index()) {
            refused.fetch_add(1, Ordering::Relaxed);
        }
        Over { kind, is_share, max }
    }

    fn is_over(&self, kind: Kind) -> bool {
        self.counts(kind).is_some_and(|(bound, own, all)| {
            own.load(Ordering::Relaxed) > self.share(bound)
                || all.load(Ordering::Relaxed) > bound.total
        })
    }

    fn share(&self, bound: &Bound) -> usize {
        match self.name {
            ClientName::Unknown => bound.total,
            _ => bound.share,
        }
    }

    /// The bound of a kind, and how much of it this client and all together hold.
    fn counts(&self, kind: Kind) -> Option<(&Bound, &AtomicUsize, &AtomicUsize)> {
        let (budget, at) = (&self.budget, kind.index());
        Some((budget.bounds.get(at)?, self.held.get(at)?, budget.held.get(at)?))
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
    pub fn client(&self) -> Client {
        Client(Arc::clone(&self.account))
    }

    /// The largest amount of this kind that its client may hold.
    pub(crate) fn most(&self) -> usize {
        let counts = self.account.counts(self.kind);
        counts.map_or(usize::MAX, |(bound, ..)| self.account.share(bound))
    }

    /// The amount held.
    pub fn amount(&self) -> usize {
        self.amount
    }

    /// Changes the amount held, up or down.
    ///
    /// # Errors
    /// The bound that would be exceeded; the amount held stays as it was.
    pub fn set(&mut self, amount: usize) -> Result<(), Over> {
        if let Some(more) = amount.checked_sub(self.amount) {
            return self.grow(more);
        }
        self.account.give(self.kind, self.amount - amount);
        self.amount = amount;
        Ok(())
    }

    /// Increases the amount held.
    ///
    /// # Errors
    /// As [`Held::set`].
    pub fn grow(&mut self, more: usize) -> Result<(), Over> {
        self.account.take(self.kind, more, false)?;
        self.amount += more;
        Ok(())
    }

    /// Holds this much more, even beyond the bounds.
    pub(crate) fn overdraw(&mut self, more: usize) {
        if let Some((_, own, all)) = self.account.counts(self.kind) {
            own.fetch_add(more, Ordering::Relaxed);
            all.fetch_add(more, Ordering::Relaxed);
            self.amount += more;
        }
    }

    /// Reduces what is held to at most this amount.
    pub(crate) fn shrink_to(&mut self, amount: usize) {
        self.shrink(self.amount.saturating_sub(amount));
    }

    /// Decreases the amount held.
    pub(crate) fn shrink(&mut self, less: usize) {
        let less = less.min(self.amount);
        self.account.give(self.kind, less);
        self.amount -= less;
    }

    /// Whether the amount held of this kind exceeds the bounds.
    pub(crate) fn is_over(&self) -> bool {
        self.account.is_over(self.kind)
    }

    /// Attaches the amount to a text: it is released when the last part of the text is dropped.
    #[must_use]
    pub fn keep(self, text: Bytes) -> Bytes {
        Bytes::from_owner(CountedText { text, _held: self })
    }

    /// The parts of the text that the amount is held for. Dropping the last piece of the last part releases it.
    #[must_use]
    pub fn keep_parts(self, mut parts: Vec<Bytes>) -> Vec<Bytes> {
        if parts.len() <= 1 {
            return parts.pop().map(|text| self.keep(text)).into_iter().collect();
        }
        let held = Arc::new(self);
        let counted = |text| {
            let _held = Arc::clone(&held);
            Bytes::from_owner(CountedText { text, _held })
        };
        parts.into_iter().map(counted).collect()
    }
}

/// A text that is counted until the last part of it is dropped, alone or with others.
struct CountedText<H> {
    text: Bytes,
    _held: H,
}

impl<H> AsRef<[u8]> for CountedText<H> {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.give(self.kind, self.amount);
    }
}

impl Accounts {
    /// Removes the accounts of clients that are gone, from time to time.
    fn sweep(&mut self) {
        if self.by_client.len() < self.sweep_at.max(FEW) {
            return;
        }
        self.by_client.retain(|_, account| account.strong_count() > 0);
        self.sweep_at = 2 * self.by_client.len();
    }
}

impl ClientName {
    /// The client at an address: the whole address for IPv4, also if mapped into IPv6; the /64 for IPv6.
    pub(crate) fn of_address(address: IpAddr) -> Self {
        const NETWORK: u128 = !0 << 64;
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
            address @ IpAddr::V4(_) => address,
        })
    }

    /// The client as text; `None` if it is not identified.
    pub(crate) fn text(&self) -> Option<Arc<str>> {
        match self {
            Self::Unknown => None,
            name => Some(format!("{name:?}").into()),
        }
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

#[cfg(test)]
mod tests;
