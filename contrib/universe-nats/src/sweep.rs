//! Ends records with what is below them, and takes away what is over.
use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;
use universe_store::clients::nodes::Unavailable;
use universe_store::clients::records::LOOK;

use super::bodies::{self, Kind};
use super::events::drop_events;
use super::records::{BELOW, Records, Row, SESSIONS};

/// The number of longest message times after which pieces without a session are removed. It is more than one because a
/// node may be suspended for a moment between two messages.
const ABANDONED: u32 = 4;

/// Ends a record if it has not changed, and what is below it. Returns whether it did.
pub(super) async fn end(records: &Records, path: &str, row: &Row) -> Result<bool, Unavailable> {
    let Some(session) = path.strip_prefix("session.") else {
        return records.end(path, row).await;
    };
    let below: Vec<(Arc<str>, Row)> = {
        let table = records.table();
        let below = BELOW.map(|kind| format!("{kind}.{session}."));
        let below = below.iter().flat_map(|path| table.below(path));
        below.map(|(path, row)| (Arc::clone(path), row.clone())).collect()
    };
    if !records.end(path, row).await? {
        return Ok(false);
    }
    if below.is_empty() {
        return Ok(true);
    }
    for (path, row) in &below {
        records.forget(&row.label).await;
        if let Some(place) = path.strip_prefix("head.") {
            drop_events(records, place, row.events()).await?;
        }
    }
    let (link, names) = (records.link(), &records.engine.names);
    let stream = names.records();
    for kind in BELOW {
        let subject = names.record(&format!("{kind}.{session}.*"));
        link.purge(&stream, &subject, None).await?;
    }
    let events = names.event(session, None);
    link.purge(&names.events(), &events, None).await?;
    Ok(true)
}

/// Removes a stream if its head is still the given one. Returns whether it was.
pub(super) async fn drop_stream(
    records: &Records,
    place: &str,
    head: &Row,
) -> Result<bool, Unavailable> {
    if !records.end(&format!("head.{place}"), head).await? {
        return Ok(false);
    }
    drop_events(records, place, head.events()).await?;
    Ok(true)
}

/// Regularly removes ended sessions, streams that are over or have no session, and leftover pieces.
pub(super) async fn run(records: Arc<Records>) {
    let mut left = HashMap::new();
    loop {
        // A failed removal is repeated by another node or later.
        let _ = records.catch_up().await;
        for (path, row) in over(&records) {
            let gone = match path.strip_prefix("head.") {
                Some(place) => drop_stream(&records, place, &row).await,
                None => end(&records, &path, &row).await,
            };
            if gone.is_err() {
                break;
            }
        }
        let _ = drop_left(&records, &mut left).await;
        tokio::time::sleep(LOOK.min(records.link().latest() * ABANDONED)).await;
    }
}

/// What is over, apart from what the servers remove, which is forgotten here.
fn over(records: &Records) -> Vec<(Arc<str>, Row)> {
    let (now, mut table) = (records.now(), records.table());
    for path in table.filtered(|_, row| row.label.until != 0 && row.label.until < now) {
        table.remove(&path);
    }
    let sessions = table.group("session").filter(|(_, row)| row.ends() < now);
    let heads = table.group("head").filter(|(path, row)| {
        let session = path.split('.').nth(1).unwrap_or_default();
        let is_over = row.label.ended || records.has_ended_in(&table, row.label.node);
        row.ends() < now && is_over || table.get(&format!("session.{session}")).is_none()
    });
    sessions.chain(heads).map(|(path, row)| (Arc::clone(path), row.clone())).collect()
}

/// Removes pieces whose sessions do not exist, because a node died while it stored them or while it ended the session.
/// A session that is being stored will soon have more pieces or exist. So pieces are only removed if their number has
/// not changed for a while: `left` has the number of pieces of each body and the time since when it is the same.
async fn drop_left(
    records: &Records,
    left: &mut HashMap<String, (usize, Instant)>,
) -> Result<(), Unavailable> {
    let (link, names) = (records.link(), &records.engine.names);
    let mut found = bodies::named(link, names, SESSIONS).await?;
    // Data that was stored before the pieces were counted must be known.
    records.catch_up().await?;
    {
        let table = records.table();
        found.retain(|name, _| {
            let place = Kind::session_in(name).unwrap_or_default();
            table.get(&format!("session.{place}")).is_none()
        });
    }
    left.retain(|name, (count, _)| found.get(name) == Some(count));
    for (name, count) in found {
        let (_, since) = left.entry(name.clone()).or_insert_with(|| (count, Instant::now()));
        if since.elapsed() >= link.latest() * ABANDONED {
            bodies::drop_named(link, names, SESSIONS, &name).await;
        }
    }
    Ok(())
}
