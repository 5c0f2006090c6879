//! The streams of all sessions, and which of them are dropped for others.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::stream::Stream;
use crate::budget::{Bound, Client};
use crate::legacy::http::event_id::StreamName;
use crate::legacy::session::SessionId;

#[derive(Debug, Default)]
pub(super) struct Table {
    /// A session is listed as long as it has a stream.
    sessions: HashMap<SessionId, OfSession>,
    /// The streams that are kept for clients that may reconnect, by age.
    kept: BTreeMap<u64, KeptStream>,
    next_age: u64,
}

#[derive(Debug, Default)]
struct OfSession {
    streams: HashMap<StreamName, StreamEntry>,
    /// The standalone stream.
    standalone: Option<StreamName>,
    /// The ages of those that are kept.
    kept: BTreeSet<u64>,
}

/// A stream that is kept.
#[derive(Debug)]
struct KeptStream {
    session: SessionId,
    name: StreamName,
    client: Client,
}

#[derive(Debug)]
struct StreamEntry {
    stream: Arc<Stream>,
    /// Its age among those that are kept.
    kept: Option<u64>,
}

impl Table {
    pub(super) fn insert(&mut self, session: &SessionId, stream: &Arc<Stream>) {
        let name = stream.name();
        let of_session = self.sessions.entry(session.clone()).or_default();
        let entry = StreamEntry { stream: Arc::clone(stream), kept: None };
        of_session.streams.insert(name, entry);
    }

    /// Enters the standalone stream of a session.
    pub(super) fn insert_standalone(&mut self, session: &SessionId, stream: &Arc<Stream>) {
        self.insert(session, stream);
        let of_session = self.sessions.entry(session.clone()).or_default();
        of_session.standalone = Some(stream.name());
    }

    pub(super) fn find(&self, session: &SessionId, name: StreamName) -> Option<&Arc<Stream>> {
        let entry = self.sessions.get(session)?.streams.get(&name)?;
        Some(&entry.stream)
    }

    pub(super) fn standalone(&self, session: &SessionId) -> Option<&Arc<Stream>> {
        let name = self.sessions.get(session)?.standalone?;
        self.find(session, name)
    }

    /// Takes every stream of a session out.
    pub(super) fn end(&mut self, session: &SessionId) -> Vec<Arc<Stream>> {
        let ended = self.sessions.remove(session).unwrap_or_default();
        for age in &ended.kept {
            self.kept.remove(age);
        }
        let entries = ended.streams.into_values();
        entries.map(|entry| entry.stream).collect()
    }

    /// Adds a stream to those that are kept, and removes those that exceed the bounds because of it.
    pub(super) fn keep(
        &mut self,
        session: &SessionId,
        stream: &Stream,
        bound: Bound,
        max_per_session: usize,
    ) -> Vec<Arc<Stream>> {
        let (age, name, client) = (self.next_age, stream.name(), stream.client());
        let Some(of_session) = self.sessions.get_mut(session) else {
            return Vec::new();
        };
        let Some(entry) = of_session.streams.get_mut(&name) else {
            return Vec::new();
        };
        entry.kept = Some(age);
        of_session.kept.insert(age);
        let too_many = of_session.kept.len() > max_per_session;
        let oldest = of_session.kept.first().copied().filter(|_| too_many);
        self.next_age += 1;
        let kept = KeptStream { session: session.clone(), name, client: client.clone() };
        self.kept.insert(age, kept);
        let mut forgotten = Vec::new();
        forgotten.extend(oldest.and_then(|age| self.forget(age)));
        let share = client.share(&bound);
        let is_one_too_many = self.kept.len() > bound.total
            || self.kept.len() > share && self.of(&client).count() > share;
        if is_one_too_many {
            forgotten.extend(self.forget_oldest_of(&client));
        }
        forgotten
    }

    /// Called when its client has reconnected.
    pub(super) fn unkeep(&mut self, session: &SessionId, name: StreamName) {
        let of_session = self.sessions.get_mut(session);
        let kept = of_session.and_then(|of_session| {
            let age = of_session.streams.get_mut(&name)?.kept.take()?;
            of_session.kept.remove(&age);
            Some(age)
        });
        if let Some(age) = kept {
            self.kept.remove(&age);
        }
    }

    /// Removes the stream that has been kept longest.
    pub(super) fn forget_oldest(&mut self) -> Option<Arc<Stream>> {
        let age = *self.kept.first_key_value()?.0;
        self.forget(age)
    }

    /// The same for the streams of one client.
    pub(super) fn forget_oldest_of(&mut self, client: &Client) -> Option<Arc<Stream>> {
        let age = self.of(client).next()?;
        self.forget(age)
    }

    /// The ages of a client's streams.
    fn of(&self, client: &Client) -> impl Iterator<Item = u64> {
        let kept = self.kept.iter();
        let own = kept.filter(|(_, kept)| kept.client.name() == client.name());
        own.map(|(age, _)| *age)
    }

    fn forget(&mut self, age: u64) -> Option<Arc<Stream>> {
        let KeptStream { session, name, .. } = self.kept.remove(&age)?;
        self.remove(&session, name)
    }

    /// Takes a stream out.
    pub(super) fn remove(&mut self, session: &SessionId, name: StreamName) -> Option<Arc<Stream>> {
        let of_session = self.sessions.get_mut(session)?;
        let removed = of_session.streams.remove(&name);
        if let Some(age) = removed.as_ref().and_then(|entry| entry.kept) {
            of_session.kept.remove(&age);
            self.kept.remove(&age);
        }
        if of_session.standalone == Some(name) {
            of_session.standalone = None;
        }
        if of_session.streams.is_empty() {
            self.sessions.remove(session);
        }
        removed.map(|entry| entry.stream)
    }

    /// How many sessions are listed, and how many streams are kept.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.sessions.len(), self.kept.len())
    }
}
