//! Inboxes: letters to those nodes that have something of a session at work.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio_postgres::types::Type;

use super::{LogError, Logs, whole};
use crate::adapter::keys::{Key, hash, session_key};
use crate::adapter::logs::{self, Numbered, SLACK};
use crate::clients::nodes::Unavailable;
use crate::postgres::connect::Link;
use crate::postgres::nodes::{CHANNEL, Nodes, Parameters, get, query};

/// An inbox in the database.
struct InboxRef {
    link: Arc<Link>,
    /// Keeps the notifications coming.
    _nodes: Arc<Nodes>,
    key: Key,
    opened: Instant,
}

impl Logs {
    pub(super) async fn send(&self, session: &str, letter: &[u8]) -> Result<(), LogError> {
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
                   notified AS (SELECT pg_notify($7, $8)::text AS sent FROM made) \
                   SELECT EXISTS (SELECT 1 FROM here), EXISTS (SELECT 1 FROM made), (SELECT max(sent) FROM notified)";
        let (of_session, of_owner) = (self.bounds.of_session, self.bounds.of_owner);
        let key = session_key(session);
        let parameters: Parameters<'_> = &[
            (&&key[..], Type::BYTEA),
            (&letter, Type::BYTEA),
            (&whole(of_owner.letters), Type::INT8),
            (&whole(of_owner.bytes), Type::INT8),
            (&whole(of_session.letters), Type::INT8),
            (&whole(of_session.bytes), Type::INT8),
            (&CHANNEL, Type::TEXT),
            (&self.nodes.note(&letters_key(&key)), Type::TEXT),
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

    pub(super) fn inbox(&self, session: &str) -> BoxStream<'static, Bytes> {
        let key = session_key(session);
        let hints = [self.nodes.hints(letters_key(&key)), self.nodes.hints(key)];
        let inbox = InboxRef {
            link: Arc::clone(&self.link),
            _nodes: Arc::clone(&self.nodes),
            key,
            opened: Instant::now(),
        };
        logs::inbox(inbox, hints)
    }
}

impl logs::Letters for InboxRef {
    fn read(&self, after: u64) -> BoxFuture<'_, Result<Option<Numbered>, Unavailable>> {
        Box::pin(self.read(after))
    }
}

impl InboxRef {
    async fn read(&self, after: u64) -> Result<Option<Numbered>, Unavailable> {
        let sql = "SELECT l.n, l.body FROM session s LEFT JOIN session_letter l ON l.key = s.key AND l.n > $2 \
                     AND l.at > now() - make_interval(secs => $3) \
                   WHERE s.key = $1 ORDER BY l.n";
        let age = self.opened.elapsed() + SLACK;
        let parameters: Parameters<'_> = &[
            (&&self.key[..], Type::BYTEA),
            (&after.cast_signed(), Type::INT8),
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
                letters.push((number.cast_unsigned(), Bytes::from(get::<Vec<u8>>(row, 1)?)));
            }
        }
        Ok(Some(letters))
    }
}

/// The record by which nodes are notified of letters, apart from other changes of their session.
fn letters_key(session: &Key) -> Key {
    hash(&[b"letters", session])
}
