//! Bodies that are too large for one message, in pieces.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;

use async_nats::HeaderMap;
use async_nats::jetstream::stream::InfoError;
use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use uuid::Uuid;

use super::card::{self, Body, Pieces};
use super::error::{Away, Refusal};
use super::link::Link;
use super::names::Names;
use crate::ReadError;
use crate::failure::Failure;

/// Up to this many bytes a body is in its message, and each piece of a larger one has this many. A message has as much
/// at least beside it for what else it says.
pub(super) const PIECE: usize = 128 << 10;

/// How many pieces are on their way at a time.
const ABREAST: usize = 16;

/// How many pieces are asked for at once, and how many bytes.
const SERIES: (usize, usize) = (64, 8 << 20);

/// How many bytes of a body are in a message, or in a piece, at the most.
fn piece_size(link: &Link) -> usize {
    PIECE.min(link.client().max_payload() / 2)
}

/// Puts a body into a message, or in pieces where it is too large; what becomes of it is called `name`, which is used
/// once.
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

/// Puts a body in pieces, however small it is.
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
        // Before all others, so that reading can begin with it.
        let first = put(0).await?.sequence;
        let others = stream::iter(1..count).map(&put).buffer_unordered(ABREAST);
        others.try_for_each(|_| ready(Ok(()))).await?;
        Ok(first)
    };
    match written.await {
        Ok(first) => {
            let size = body.len() as u64;
            let pieces = Some(Pieces {
                name,
                first,
                count,
                size,
            });
            Ok(Body { crc, pieces })
        }
        Err(refusal) => {
            drop_named(link, names, uni, &name).await;
            // Nothing refers to the pieces, so nothing was done.
            match refusal {
                Refusal::Failed(Failure::Full) => Err(Failure::Full),
                _ => Err(Failure::Unavailable),
            }
        }
    }
}

/// What a body in pieces is for, and as of which revision.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind<'a> {
    Entries(u64),
    Base(u64),
    Snapshot(u64),
    /// Of a record of clients that lasts for so many milliseconds.
    Record(i64),
    /// Of the session at this place, or of what it has.
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

    /// After how many milliseconds the servers take its pieces away, if they do.
    fn left(self) -> Option<i64> {
        match self {
            Self::Record(left) => Some(left),
            Self::Entries(_) | Self::Base(_) | Self::Snapshot(_) | Self::Session(_) => None,
        }
    }

    /// The place of the session that a body of this name is of.
    pub(super) fn session_in(name: &str) -> Option<&str> {
        let (begin, _) = name.split_once('-')?;
        begin.strip_prefix('c')
    }

    /// Whether a log that begins with that base, called `base` if it is in pieces, needs no body of this name.
    pub(super) fn is_past(name: &str, oldest: u64, base: Option<&str>) -> bool {
        let Some((begin, _)) = name.split_once('-') else {
            return false;
        };
        let revision = |digits: &str| digits.parse::<u64>().ok();
        match begin.split_at_checked(1) {
            Some(("e", digits)) => revision(digits).is_some_and(|revision| revision <= oldest),
            // One of a later revision may be about to become the base.
            Some(("b", digits)) => {
                revision(digits).is_some_and(|revision| revision <= oldest) && base != Some(name)
            }
            _ => false,
        }
    }
}

/// The body of a message.
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
    match crc32fast::hash(&body) == place.crc {
        true => Ok(body),
        false => Err(ReadError::Damaged),
    }
}

async fn join(link: &Link, names: &Names, uni: i64, pieces: &Pieces) -> Result<Bytes, ReadError> {
    let (stream, subject) = (names.bodies(), names.piece(uni, &pieces.name, None));
    let mut found: BTreeMap<u32, Bytes> = BTreeMap::new();
    let mut from = pieces.first;
    while found.len() < pieces.count as usize {
        let mut series = link.series(&stream, &subject, from, SERIES).await;
        if series.is_empty() {
            // A copy that is behind, or lost on the way: the leader knows.
            let next = link.next(&stream, &subject, from).await?;
            series.push(next.ok_or(ReadError::Damaged)?);
        }
        for message in series {
            from = from.max(message.sequence.saturating_add(1));
            let number = message
                .subject
                .rsplit('.')
                .next()
                .and_then(|text| text.parse().ok());
            found.insert(number.ok_or(ReadError::Damaged)?, message.payload);
        }
    }
    let size = usize::try_from(pieces.size).map_err(|_| ReadError::Damaged)?;
    let mut body = BytesMut::with_capacity(size.min(crate::MAX_WRITE));
    for piece in found.values() {
        body.extend_from_slice(piece);
    }
    match body.len() == size {
        true => Ok(body.freeze()),
        false => Err(ReadError::Damaged),
    }
}

/// The names of all bodies of a universe that are in pieces, and how many pieces there are of each.
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

/// Takes the pieces of a body away that nothing refers to; what stays goes with its universe.
pub(super) async fn drop_body(link: &Link, names: &Names, uni: i64, body: &Body) {
    if let Some(pieces) = &body.pieces {
        drop_named(link, names, uni, &pieces.name).await;
    }
}

pub(super) async fn drop_named(link: &Link, names: &Names, uni: i64, name: &str) {
    let gone = link
        .purge(&names.bodies(), &names.piece(uni, name, None), None)
        .await;
    if let Err(Away) = gone {
        tracing::warn!(uni, name, "the pieces of a body were not taken away");
    }
}
