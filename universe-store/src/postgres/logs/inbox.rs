//! Inboxes: letters to those nodes that have something of a session at work.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use sha2::{Digest as _, Sha256};
use tokio_postgres::types::Type;

use super::{LogError, Logs, whole};
use crate::postgres::connect::Link;
use crate::postgres::nodes::{CHANNEL, Key, Nodes, Parameters, Unavailable, get, query};
use crate::postgres::sessions;

/// How much longer ago than it was opened an inbox looks back: about the time that a question takes to the database.
const SLACK: Duration = Duration::from_millis(500);

/// How long a database that failed is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// An inbox that is read.
struct Inbox {
    inbox: InboxRef,
    /// Keeps the notifications coming.
    _nodes: Arc<Nodes>,
    /// Whenever there may be a letter, or the session has changed or ended.
    hints: BoxStream<'static, ()>,
    /// The number of the last letter that was read.
    last: i64,
    ready: VecDeque<Bytes>,
}

/// An inbox in the database.
struct InboxRef {
    link: Arc<Link>,
    key: Key,
    opened: Instant,
}

impl Logs {
    /// Puts a letter into the inbox of a session; one of a session that there is not is dropped.
    ///
    /// # Errors
    /// [`LogError`].
    pub async fn send(&self, session: &str, letter: &[u8]) -> Result<(), LogError> {
        let of_all = self.bytes.load(Ordering::Relaxed);
        if of_all.saturating_add(letter.len()) > self.bounds.bytes {
            return Err(LogError::Full);
        }
        // Under the lock of the session, so that its letters are to be seen in the order of their numbers.
        let sql = "WITH here AS MATERIALIZED ( \
                     SELECT key, coalesce(owner, '') AS owner FROM session WHERE key = $1 FOR NO KEY UPDATE), \
                   of_owner AS ( \
                     SELECT count(*) AS n, coalesce(sum(size), 0) AS size FROM ( \
                       SELECT octet_length(body) AS size FROM session_letter l JOIN here USING (owner) LIMIT $3) l), \
                   of_session AS ( \
                     SELECT count(*) AS n, coalesce(sum(octet_length(body)), 0) AS size \
                     FROM session_letter JOIN here USING (key)), \
                   made AS ( \
                     INSERT INTO session_letter (key, owner, body, at) \
                     SELECT here.key, here.owner, $2, clock_timestamp() FROM here, of_owner o, of_session s \
                     WHERE o.n < $3 AND o.size + octet_length($2) <= $4 AND s.n < $5 AND s.size + octet_length($2) <= $6 \
                     RETURNING 1), \
                   told AS (SELECT pg_notify($7, $8)::text AS sent FROM made) \
                   SELECT EXISTS (SELECT 1 FROM here), EXISTS (SELECT 1 FROM made), (SELECT max(sent) FROM told)";
        let (of_session, of_owner) = (self.bounds.of_session, self.bounds.of_owner);
        let key = sessions::key(session);
        let parameters: Parameters<'_> = &[
            (&&key[..], Type::BYTEA),
            (&letter, Type::BYTEA),
            (&whole(of_owner.letters), Type::INT8),
            (&whole(of_owner.bytes), Type::INT8),
            (&whole(of_session.letters), Type::INT8),
            (&whole(of_session.bytes), Type::INT8),
            (&CHANNEL, Type::TEXT),
            (&self.nodes.note(&news(&key)), Type::TEXT),
        ];
        let rows = query(&self.link, sql, parameters).await?;
        let row = rows.first().ok_or(LogError::Unavailable)?;
        match (get(row, 0)?, get(row, 1)?) {
            (true, false) => Err(LogError::Full),
            (_, made) => {
                if made {
                    self.bytes.fetch_add(letter.len(), Ordering::Relaxed);
                }
                Ok(())
            }
        }
    }

    /// The letters that other nodes put into the inbox of a session from now on, in order; ends when the session does. The
    /// database is asked only when it has notified of something, or had been away.
    #[must_use]
    pub fn inbox(&self, session: &str) -> BoxStream<'static, Bytes> {
        let key = sessions::key(session);
        let hints = [self.nodes.hints(news(&key)), self.nodes.hints(key)];
        let inbox = Inbox {
            inbox: InboxRef {
                link: Arc::clone(&self.link),
                key,
                opened: Instant::now(),
            },
            _nodes: Arc::clone(&self.nodes),
            hints: Box::pin(stream::select_all(hints)),
            last: 0,
            ready: VecDeque::new(),
        };
        Box::pin(stream::unfold(inbox, |mut inbox| async move {
            let letter = inbox.next().await?;
            Some((letter, inbox))
        }))
    }
}

impl Inbox {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(letter) = self.ready.pop_front() {
                return Some(letter);
            }
            self.hints.next().await?;
            loop {
                match self.inbox.read(self.last).await {
                    Ok(Some(letters)) => {
                        for (number, letter) in letters {
                            self.last = number;
                            self.ready.push_back(letter);
                        }
                        break;
                    }
                    Ok(None) => return None,
                    Err(Unavailable) => tokio::time::sleep(PAUSE).await,
                }
            }
        }
    }
}

impl InboxRef {
    /// The letters after the one of this number, each with its own; `None` when the session has ended.
    async fn read(&self, after: i64) -> Result<Option<Vec<(i64, Bytes)>>, Unavailable> {
        let sql = "SELECT l.n, l.body FROM session s LEFT JOIN session_letter l ON l.key = s.key AND l.n > $2 \
                     AND l.at > now() - make_interval(secs => $3) \
                   WHERE s.key = $1 ORDER BY l.n";
        let age = self.opened.elapsed() + SLACK;
        let parameters: Parameters<'_> = &[
            (&&self.key[..], Type::BYTEA),
            (&after, Type::INT8),
            (&age.as_secs_f64(), Type::FLOAT8),
        ];
        let rows = query(&self.link, sql, parameters).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let mut letters = Vec::new();
        for row in &rows {
            // Without a letter there is a row for the session.
            if let Some(number) = get::<Option<i64>>(row, 0)? {
                letters.push((number, Bytes::from(get::<Vec<u8>>(row, 1)?)));
            }
        }
        Ok(Some(letters))
    }
}

/// The record by which nodes are notified of letters, apart from other changes of their session.
fn news(key: &Key) -> Key {
    Sha256::new()
        .chain_update(b"letters")
        .chain_update(key)
        .finalize()
        .into()
}
