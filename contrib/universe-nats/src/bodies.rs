//! Bodies that are too large for one message, in pieces.
use std::collections::{BTreeMap, HashMap};
use std::future::ready;

use async_nats::HeaderMap;
use async_nats::jetstream::stream::InfoError;
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use universe_store::ReadError;
use universe_store::adapter::failure::Failure;
use uuid::Uuid;

use super::card::{self, Body, Pieces};
use super::error::{Away, Refusal};
use super::link::Link;
use super::names::Names;

/// The largest body in bytes that is stored in its message, and the size of the pieces of a larger one. A message has
/// at least as much space again for its other data.
pub(super) const PIECE: usize = 128 << 10;

/// The number of pieces that are sent at a time.
const ABREAST: usize = 16;

/// The number of pieces that are requested at once, and their bytes.
const SERIES: (usize, usize) = (64, 8 << 20);

/// The most bytes of a body in a message or in a piece.
fn piece_size(link: &Link) -> usize {
    PIECE.min(link.client().max_payload() / 2)
}

/// Stores a body in a message, or in pieces if it is too large. The pieces get a name that is used only once.
pub(super) async fn keep(
    link: &Link,
    names: &Names,
    (uni, kind): (i64, Kind<'_>),
    body: Bytes,
) -> Result<(Body, Bytes), Failure> {
    if body.len() <= piece_size(link) {
        let crc = crc32fast::hash(&body);
        return Ok((Body { crc, pieces: None }, body));
    }
    let place = keep_apart(link, names, (uni, kind), body).await?;
    Ok((place, Bytes::new()))
}

/// Stores a body in pieces, even if it is small.
pub(super) async fn keep_apart(
    link: &Link,
    names: &Names,
    (uni, kind): (i64, Kind<'_>),
    body: Bytes,
) -> Result<Body, Failure> {
    let (crc, size) = (crc32fast::hash(&body), piece_size(link));
    let name = kind.name();
    let put = |number: u32| {
        let start = size.saturating_mul(number as usize).min(body.len());
        let piece = body.slice(start..start.saturating_add(size).min(body.len()));
        let subject = names.piece(uni, &name, Some(number));
        let mut headers = HeaderMap::new();
        card::expire(&mut headers, kind.left());
        async move { link.put(&subject, headers, piece, None).await }
    };
    let count = u32::try_from(body.len().div_ceil(size)).map_err(|_| Failure::Full)?;
    let written = async {
        // Stored before all others, so that reading can begin with it.
        let first = put(0).await?.sequence;
        let others = stream::iter(1..count).map(&put).buffer_unordered(ABREAST);
        others.try_for_each(|_| ready(Ok(()))).await?;
        Ok(first)
    };
    match written.await {
        Ok(first) => {
            let size = body.len() as u64;
            let pieces = Some(Pieces { name, first, count, size });
            Ok(Body { crc, pieces })
        }
        Err(refusal) => {
            drop_named(link, names, uni, &name).await;
            // The pieces are not referenced, so the write had no effect.
            match refusal {
                Refusal::Failed(Failure::Full) => Err(Failure::Full),
                _ => Err(Failure::Unavailable),
            }
        }
    }
}

/// The purpose of a body in pieces, and its revision.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind<'a> {
    Entries(u64),
    Base(u64),
    Snapshot(u64),
    /// A record of clients that lasts for this number of milliseconds.
    Record(i64),
    /// A session with this hash, or a record that belongs to it.
    Session(&'a str),
}

impl Kind<'_> {
    fn name(self) -> String {
        let unique = Uuid::new_v4().simple();
        match self {
            Self::Entries(revision) => format!("e{revision}-{unique}"),
            Self::Base(revision) => format!("b{revision}-{unique}"),
            Self::Snapshot(revision) => format!("s{revision}-{unique}"),
            Self::Record(_) => format!("r0-{unique}"),
            Self::Session(place) => format!("c{place}-{unique}"),
        }
    }

    /// The number of milliseconds after which the servers remove the pieces, if they do.
    fn left(self) -> Option<i64> {
        match self {
            Self::Record(left) => Some(left),
            Self::Entries(_) | Self::Base(_) | Self::Snapshot(_) | Self::Session(_) => None,
        }
    }

    /// The hash of the session that the body with this name belongs to.
    pub(super) fn session_in(name: &str) -> Option<&str> {
        let (begin, _) = name.split_once('-')?;
        begin.strip_prefix('c')
    }

    /// Whether a log no longer needs the body with this name. The log begins after revision `oldest`, and its base is
    /// the body `base` if that is in pieces.
    pub(super) fn is_past(name: &str, oldest: u64, base: Option<&str>) -> bool {
        let Some((begin, _)) = name.split_once('-') else {
            return false;
        };
        let revision = |digits: &str| digits.parse::<u64>().ok();
        match begin.split_at_checked(1) {
            Some(("e", digits)) => revision(digits).is_some_and(|revision| revision <= oldest),
            // A body of a later revision may be about to become the base.
            Some(("b", digits)) => {
                revision(digits).is_some_and(|revision| revision <= oldest) && base != Some(name)
            }
            _ => false,
        }
    }
}

/// Reads the body of a message.
pub(super) async fn load(
    link: &Link,
    names: &Names,
    uni: i64,
    (place, inline): (&Body, Bytes),
) -> Result<Bytes, ReadError> {
    let body = match &place.pieces {
        None => inline,
        Some(pieces) => join(link, names, uni, pieces).await?,
    };
    if crc32fast::hash(&body) == place.crc { Ok(body) } else { Err(ReadError::Damaged) }
}

async fn join(link: &Link, names: &Names, uni: i64, pieces: &Pieces) -> Result<Bytes, ReadError> {
    let (stream, subject) = (names.bodies(), names.piece(uni, &pieces.name, None));
    let mut found: BTreeMap<u32, Bytes> = BTreeMap::new();
    let mut from = pieces.first;
    while found.len() < pieces.count as usize {
        let mut series = link.series(&stream, &subject, from, SERIES).await;
        if series.is_empty() {
            // The replica is behind, or the message was lost on the way. The leader has it.
            let next = link.next(&stream, &subject, from).await?;
            series.push(next.ok_or(ReadError::Damaged)?);
        }
        for message in series {
            from = from.max(message.sequence.saturating_add(1));
            let number = message.subject.rsplit('.').next().and_then(|text| text.parse().ok());
            found.insert(number.ok_or(ReadError::Damaged)?, message.payload);
        }
    }
    let size = usize::try_from(pieces.size).map_err(|_| ReadError::Damaged)?;
    let mut body = BytesMut::with_capacity(size.min(universe_store::MAX_WRITE));
    for piece in found.values() {
        body.extend_from_slice(piece);
    }
    if body.len() == size { Ok(body.freeze()) } else { Err(ReadError::Damaged) }
}

/// The names of all bodies of a universe that are in pieces, with the number of pieces of each.
pub(super) async fn named(
    link: &Link,
    names: &Names,
    uni: i64,
) -> Result<HashMap<String, usize>, Away> {
    let stream = &link.stream(&names.bodies()).await?;
    let pieces = &names.pieces_in(uni);
    let named = || async move {
        let mut subjects = stream.info_with_subjects(pieces).await?;
        let mut names: HashMap<String, usize> = HashMap::new();
        while let Some((subject, _)) = subjects.try_next().await? {
            if let Some(name) = Names::body_in(&subject) {
                *names.entry(name.to_owned()).or_default() += 1;
            }
        }
        Ok::<_, InfoError>(names)
    };
    link.ask(named).await
}

/// Removes the pieces of an unreferenced body. Pieces that remain are removed with their universe.
pub(super) async fn drop_body(link: &Link, names: &Names, uni: i64, body: &Body) {
    if let Some(pieces) = &body.pieces {
        drop_named(link, names, uni, &pieces.name).await;
    }
}

pub(super) async fn drop_named(link: &Link, names: &Names, uni: i64, name: &str) {
    let gone = link.purge(&names.bodies(), &names.piece(uni, name, None), None).await;
    if let Err(Away) = gone {
        tracing::warn!(uni, name, "the pieces of a body were not taken away");
    }
}
