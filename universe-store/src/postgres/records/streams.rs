//! Streams: events that one node writes in order, and others read on.
//!
//! A stream notifies only while it is read elsewhere, since a commit that notifies takes a lock of the whole database.
//! A reader notes that it reads, then looks; the writer notifies as long as that note is fresh.

use std::time::Duration;

use tokio_postgres::types::Type;

use super::{Records, whole};
use crate::adapter::keys::{Key, hash, session_key};
use crate::clients::nodes::Result;
use crate::clients::records::{Event, Events, Fate, PAGE, Stream, WATCHED, Write};
use crate::postgres::connect::Link;
use crate::postgres::nodes::{CHANNEL, Parameters, get, query};

/// Writes of several streams, a column for each of their parts, and their events.
#[derive(Default)]
struct Columns<'a> {
    key: Vec<Vec<u8>>,
    name: Vec<&'a str>,
    about: Vec<&'a [u8]>,
    ended: Vec<bool>,
    first: Vec<i64>,
    note: Vec<String>,
    /// Of which write an event is, from 1.
    of: Vec<i64>,
    number: Vec<i64>,
    text: Vec<&'a [u8]>,
}

pub(super) async fn write(records: &Records, writes: &[Write<'_>], keep: Duration) -> Result<()> {
    let mut columns = Columns::default();
    let (mut gone_key, mut gone_name) = (Vec::new(), Vec::new());
    for write in writes {
        let key = session_key(write.session);
        match write.fate {
            Fate::Forgotten => {
                gone_key.push(key.to_vec());
                gone_name.push(write.stream);
            }
            fate => {
                let stream = Stream { session: key, name: write.stream };
                columns.add(&key, write, fate, records.nodes.note(&stream_key(stream)));
            }
        }
    }
    if !columns.key.is_empty() {
        put(records, &columns, keep).await?;
    }
    if !gone_key.is_empty() {
        let sql = "DELETE FROM session_stream s USING unnest($1, $2) AS g(key, name) \
                   WHERE s.key = g.key AND s.name = g.name";
        let parameters: Parameters<'_> =
            &[(&gone_key, Type::BYTEA_ARRAY), (&gone_name, Type::TEXT_ARRAY)];
        query(&records.wide, sql, parameters).await?;
    }
    Ok(())
}

async fn put(records: &Records, columns: &Columns<'_>, keep: Duration) -> Result<()> {
    // Sessions are locked in one order, so that nodes do not wait for each other in a circle. A notification takes
    // a lock of the whole database, so only readers that there are get one.
    let sql = "WITH given AS MATERIALIZED ( \
                 SELECT * FROM unnest($1, $2, $3, $4, $5, $6) \
                   WITH ORDINALITY AS g(key, name, about, ended, first, note, n)), \
               held AS MATERIALIZED ( \
                 SELECT key FROM client_record WHERE key = ANY($1) AND ends > now() ORDER BY key FOR KEY SHARE), \
               put AS ( \
                 INSERT INTO session_stream (key, name, node, about, ended, ends) \
                 SELECT g.key, g.name, $7, g.about, g.ended, now() + make_interval(secs => $12) FROM given g JOIN held USING (key) \
                 ORDER BY g.key, g.name \
                 ON CONFLICT (key, name) DO UPDATE \
                   SET node = excluded.node, about = excluded.about, ended = excluded.ended, ends = excluded.ends \
                   WHERE session_stream.node = excluded.node OR NOT session_stream.ended \
                 RETURNING id, key, name, watched > now() AS watched), \
               said AS ( \
                 INSERT INTO session_event (stream, n, body) \
                 SELECT put.id, e.number, e.body FROM unnest($8, $9, $10) AS e(n, number, body) \
                   JOIN given g USING (n) JOIN put USING (key, name) \
                 ON CONFLICT DO NOTHING), \
               forgotten AS ( \
                 DELETE FROM session_event e USING given g JOIN put USING (key, name) \
                 WHERE e.stream = put.id AND e.n < g.first) \
               SELECT pg_notify($11, g.note)::text FROM given g JOIN put USING (key, name) WHERE put.watched";
    let parameters: Parameters<'_> = &[
        (&columns.key, Type::BYTEA_ARRAY),
        (&columns.name, Type::TEXT_ARRAY),
        (&columns.about, Type::BYTEA_ARRAY),
        (&columns.ended, Type::BOOL_ARRAY),
        (&columns.first, Type::INT8_ARRAY),
        (&columns.note, Type::TEXT_ARRAY),
        (&records.nodes.id(), Type::UUID),
        (&columns.of, Type::INT8_ARRAY),
        (&columns.number, Type::INT8_ARRAY),
        (&columns.text, Type::BYTEA_ARRAY),
        (&CHANNEL, Type::TEXT),
        (&keep.as_secs_f64(), Type::FLOAT8),
    ];
    query(&records.wide, sql, parameters).await?;
    Ok(())
}

pub(super) async fn watch(link: &Link, stream: Stream<'_>) -> Result<()> {
    let sql = "UPDATE session_stream SET watched = now() + make_interval(secs => $3) \
               WHERE key = $1 AND name = $2 AND NOT ended";
    let parameters: Parameters<'_> = &[
        (&&stream.session[..], Type::BYTEA),
        (&stream.name, Type::TEXT),
        (&WATCHED.as_secs_f64(), Type::FLOAT8),
    ];
    query(link, sql, parameters).await.map(drop)
}

pub(super) async fn read(link: &Link, stream: Stream<'_>, after: u64) -> Result<Option<Events>> {
    // One statement: one view of the stream and its events. The length of a text is known without reading it.
    let sql = "SELECT s.node, s.about, s.ended, e.n, e.body FROM session_stream s LEFT JOIN LATERAL ( \
                 SELECT n, body FROM ( \
                   SELECT *, sum(octet_length(body)) OVER (ORDER BY n) - octet_length(body) AS before FROM ( \
                     SELECT * FROM session_event e WHERE e.stream = s.id AND e.n > $3 ORDER BY n LIMIT $4) page) sized \
                 WHERE before <= $5) e ON true \
               WHERE s.key = $1 AND s.name = $2 ORDER BY e.n";
    let parameters: Parameters<'_> = &[
        (&&stream.session[..], Type::BYTEA),
        (&stream.name, Type::TEXT),
        (&after.cast_signed(), Type::INT8),
        (&whole(PAGE.0), Type::INT8),
        (&whole(PAGE.1), Type::INT8),
    ];
    let rows = query(link, sql, parameters).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let mut found = Events {
        node: get(row, 0)?,
        about: get::<Vec<u8>>(row, 1)?.into(),
        ended: get(row, 2)?,
        events: Vec::new(),
    };
    for row in &rows {
        if let Some(number) = get::<Option<i64>>(row, 3)? {
            found.events.push(Event {
                number: number.cast_unsigned(),
                text: get::<Vec<u8>>(row, 4)?.into(),
            });
        }
    }
    Ok(Some(found))
}

impl<'a> Columns<'a> {
    fn add(&mut self, key: &Key, write: &Write<'a>, fate: Fate, note: String) {
        self.key.push(key.to_vec());
        self.name.push(write.stream);
        self.about.push(write.about);
        self.ended.push(fate == Fate::Ended);
        self.first.push(write.first.cast_signed());
        self.note.push(note);
        for (number, text) in &write.events {
            self.of.push(whole(self.key.len()));
            self.number.push(number.cast_signed());
            self.text.push(text);
        }
    }
}

/// The record by which nodes are notified of a stream.
pub(super) fn stream_key(stream: Stream<'_>) -> Key {
    hash(&[b"stream", &stream.session, stream.name.as_bytes()])
}
