//! The event streams of calls. A stream is a record, its head, which says who writes it and which events there are;
//! each event is a message of a stream of its own, which no node follows.
//!
//! The head of a stream is written after its events: a reader asks for the events up to there by their numbers, and a
//! repeated write finds what is there.

use std::time::Duration;

use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use percent_encoding::utf8_percent_encode;
use universe_store::adapter::keys::session_key;
use universe_store::adapter::lease::millis;
use universe_store::adapter::table::path;
use universe_store::clients::nodes::Unavailable;
use universe_store::clients::records::{Events, Fate, Kind, PAGE, Stream, Write};

use super::events::{ABREAST, drop_events, life, put_event, read_event};
use super::names::ESCAPED;
use super::records::{Label, Records, Row, TRIES};
use super::sweep::drop_stream;

pub(super) async fn write(
    records: &Records,
    writes: &[Write<'_>],
    keep: Duration,
) -> Result<(), Unavailable> {
    // All sessions must be known.
    records.catch_up().await?;
    let mut written: Vec<BoxFuture<'_, _>> = Vec::new();
    for write in writes {
        written.push(Box::pin(write_one(records, write, keep)));
    }
    let written = stream::iter(written).buffer_unordered(ABREAST);
    written.try_for_each(async |()| Ok(())).await
}

async fn write_one(
    records: &Records,
    write: &Write<'_>,
    keep: Duration,
) -> Result<(), Unavailable> {
    let session = session_key(write.session);
    let (session, place) =
        (path(Kind::Session.id(session)), place(Stream { session, name: write.stream }));
    let path = format!("head.{place}");
    for _ in 0..TRIES {
        let got = records.get(&path).await?;
        if write.fate == Fate::Forgotten {
            match got.filter(|got| !got.row.label.gone) {
                Some(got) if !drop_stream(records, &place, &got.row).await? => continue,
                _ => return Ok(()),
            }
        }
        let is_there = records.table().get(&session).is_some();
        if !is_there || advance(records, write, &place, keep, got.map(|got| got.row)).await? {
            return Ok(());
        }
    }
    Err(Unavailable)
}

/// Writes the events of a stream and then its head, replacing the given one. Returns `false` if another node has
/// written the head meanwhile.
async fn advance(
    records: &Records,
    write: &Write<'_>,
    place: &str,
    keep: Duration,
    head: Option<Row>,
) -> Result<bool, Unavailable> {
    let path = format!("head.{place}");
    let sequence = head.as_ref().map_or(0, |head| head.sequence);
    let before = head.map(|head| head.label).filter(|label| !label.gone);
    if let Some(before) = &before
        && before.ended
        && before.node != records.id
    {
        return Ok(true);
    }
    let (first, last) = before.as_ref().map_or((0, 0), |it| (it.first, it.last));
    let (mut newest, mut put) = (last, Vec::<BoxFuture<'_, _>>::new());
    for (number, text) in &write.events {
        if *number > last {
            newest = newest.max(*number);
            put.push(Box::pin(put_event(records, place, *number, text)));
        }
    }
    let put = stream::iter(put).buffered(ABREAST);
    put.try_for_each(async |()| Ok(())).await?;
    let (body, inline) = records.keep(write.about, life(place)).await?;
    let label = Label {
        first: first.max(write.first),
        last: newest,
        ended: write.fate == Fate::Ended,
        body,
        lives: millis(keep),
        ..records.label()
    };
    let put = records.put(&path, &label, inline, Some(sequence)).await?;
    if put.is_none() {
        records.forget(&label).await;
        return Ok(false);
    }
    if let Some(before) = &before {
        records.forget(before).await;
    }
    // The oldest event that is kept is known from the second write on.
    if first > 0 {
        drop_events(records, place, first..label.first.min(last + 1)).await?;
    }
    Ok(true)
}

/// A stream with its next events.
pub(super) async fn read(
    records: &Records,
    place: String,
    after: u64,
) -> Result<Option<Events>, Unavailable> {
    let Some((row, about)) = records.read(&format!("head.{place}")).await? else {
        return Ok(None);
    };
    let Label { first, last, .. } = row.label;
    let numbers = after.saturating_add(1).max(first)..=last;
    let read = |number| read_event(records, &place, number);
    let mut read = stream::iter(numbers).map(read).buffered(ABREAST);
    let (mut events, mut size) = (Vec::new(), 0);
    while events.len() < PAGE.0 && size <= PAGE.1 {
        match read.try_next().await? {
            Some(Some(event)) => {
                size += event.text.len();
                events.push(event);
            }
            // The event was removed.
            Some(None) => {}
            None => break,
        }
    }
    Ok(Some(Events { node: row.label.node, about, ended: row.label.ended, events }))
}

/// The path of a stream among all streams: the hash of its session, and its name.
pub(super) fn place(stream: Stream<'_>) -> String {
    format!("{}.{}", HEXLOWER.encode(&stream.session), utf8_percent_encode(stream.name, ESCAPED))
}
