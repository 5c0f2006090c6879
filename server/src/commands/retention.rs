//! How much of the history is kept. Logs are trimmed in the background.
//!
//! To trim a log, its oldest entries are replayed, and the resulting state becomes the new beginning of the log.
//! Replay reads each entry again, so a damaged entry is not removed. The entries of requests under keys also stay for
//! as long as a retry is answered ([`KEY_TIME`]).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::Notify;
use uuid::{Uuid, Version};

use super::load::{Loaded, load_until};
use super::{Change, CommandService, MAX_COMMANDS, Result, ServiceError};
use crate::offload;
use crate::store::{
    Base, KEY_TIME, Page, Record, Revision, Timestamp, TrimError, UniverseId, UniverseLog,
};

/// The fewest entries that are trimmed at once. A log may keep this many more entries than asked for.
pub const TRIMMED_AT_ONCE: u64 = 1_024;

/// How often all universes are checked, including those that no client changes.
const ROUND: Duration = Duration::from_secs(600);

/// The most universes noted as changed. When there are more, all universes are checked.
const MAX_NOTED: usize = 10_000;

/// The approximate size of a small entry on disk, in bytes.
const ENTRY_BYTES: u64 = 88;

/// How much of each universe's history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// All of it.
    #[default]
    All,
    /// The latest revisions, as many as this number; at least one.
    Revisions(u64),
    /// The entries that are younger than this.
    Age(Duration),
}

/// A text that is not a [`Keep`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "all, a number of revisions from 1 such as 100000, or a time such as 90m, 12h, 30d or 1y was expected"
)]
pub struct InvalidKeep;

impl FromStr for Keep {
    type Err = InvalidKeep;

    fn from_str(text: &str) -> Result<Self, InvalidKeep> {
        if text == "all" {
            return Ok(Self::All);
        }
        let digits = text.trim_end_matches(|unit: char| unit.is_ascii_lowercase());
        let unit = known_range::text(text, digits.len()..);
        let number: u64 = digits.parse().map_err(|_| InvalidKeep)?;
        let seconds: u64 = match unit {
            "" => {
                return (number > 0).then_some(Self::Revisions(number)).ok_or(InvalidKeep);
            }
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 604_800,
            "y" => 31_536_000,
            _ => return Err(InvalidKeep),
        };
        let time = number.checked_mul(seconds).filter(|time| *time > 0);
        time.map(|time| Self::Age(Duration::from_secs(time))).ok_or(InvalidKeep)
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Revisions(number) => write!(f, "{number}"),
            Self::Age(time) => write!(f, "{}s", time.as_secs()),
        }
    }
}

/// Universes whose logs may have become too long.
#[derive(Default)]
struct Noted {
    universes: Mutex<HashSet<UniverseId>>,
    some: Notify,
}

struct Retention {
    service: CommandService,
    keep: Keep,
    noted: Arc<Noted>,
    /// The revision that the log of a large universe must reach before it is trimmed again, because trimming costs as
    /// much as writing its state. Bounded by [`MAX_NOTED`].
    not_before: HashMap<UniverseId, Revision>,
}

impl CommandService {
    /// Trims the histories of this service's universes to what is to be kept, now and as they grow. Never returns; drop
    /// it before the service is closed.
    pub async fn keep_history(&self, keep: Keep) {
        if keep == Keep::All {
            return std::future::pending().await;
        }
        let noted = Arc::<Noted>::default();
        let notes = Arc::clone(&noted);
        self.watch(move |change| notes.note(change));
        let retention =
            Retention { service: self.clone(), keep, noted, not_before: HashMap::new() };
        retention.run().await;
    }
}

impl Noted {
    fn note(&self, change: Change<'_>) {
        let Change::Changed { before, after, .. } = change else {
            return;
        };
        let step = |revision: Revision| revision.0 / TRIMMED_AT_ONCE;
        if step(before.revision) == step(after.revision) {
            return;
        }
        let mut universes = self.universes();
        if universes.len() < MAX_NOTED {
            universes.insert(after.id.clone());
        }
        drop(universes);
        self.some.notify_one();
    }

    fn universes(&self) -> MutexGuard<'_, HashSet<UniverseId>> {
        self.universes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Retention {
    async fn run(mut self) {
        loop {
            self.look_at_all().await;
            let round = tokio::time::sleep(ROUND);
            tokio::pin!(round);
            loop {
                tokio::select! {
                    () = &mut round => break,
                    () = self.noted.some.notified() => {}
                }
                let noted = std::mem::take(&mut *self.noted.universes());
                let many = noted.len() >= MAX_NOTED;
                for id in noted {
                    self.look_at(&id).await;
                }
                if many {
                    break;
                }
            }
        }
    }

    async fn look_at_all(&mut self) {
        let mut next = Some(Page::FIRST);
        while let Some(page) = next {
            let Ok(records) = self.service.list(page).await else {
                return;
            };
            for record in &records {
                if self.is_long(record) {
                    self.look_at(&record.meta.id).await;
                }
            }
            next = Page::following(&records);
        }
    }

    /// Whether the log may be long enough to trim.
    fn is_long(&self, record: &Record) -> bool {
        let not_before = self.not_before.get(&record.meta.id).copied();
        let length = record.head.revision.0 - record.oldest.0;
        length > TRIMMED_AT_ONCE
            && not_before.is_none_or(|revision| record.head.revision >= revision)
    }

    async fn look_at(&mut self, id: &UniverseId) {
        match self.trim(id).await {
            Ok(()) | Err(ServiceError::NotFound(_)) => {}
            Err(error) => tracing::warn!(universe = %id, %error, "a history was not trimmed"),
        }
    }

    async fn trim(&mut self, id: &UniverseId) -> Result<()> {
        let store = self.service.store();
        let reading = |error| ServiceError::reading(id, &error);
        let record = store.record(id).await.map_err(reading)?;
        if !self.is_long(&record) {
            return Ok(());
        }
        let Some(target) = target(store, self.keep, &record).await? else {
            return Ok(());
        };
        let Loaded { universe, last, .. } = load_until(store, id, Some(target)).await?;
        let Some(last) = last else {
            return Ok(());
        };
        let small = offload::is_small(&universe.state);
        let state = universe.state;
        let body = offload::run(small, None, move || state.to_stored_json(0)).await;
        let Ok(Ok(body)) = body else {
            return Err(ServiceError::Internal);
        };
        let pause = body.len() as u64 / ENTRY_BYTES;
        let base = Base { revision: target, at: universe.updated_at, body: Bytes::from(body) };
        match store.trim(id, last, base).await {
            Ok(()) => {}
            // The universe was deleted, or deleted and created again, meanwhile.
            Err(TrimError::NotFound | TrimError::NotThere) => return Ok(()),
            Err(TrimError::TooLarge { max }) => {
                let id = id.clone();
                return Err(ServiceError::TooLarge { id, max });
            }
            Err(TrimError::Unavailable) => return Err(ServiceError::Unavailable),
        }
        tracing::debug!(universe = %id, oldest = %target, "a history was trimmed");
        if self.not_before.len() >= MAX_NOTED {
            self.not_before.clear();
        }
        if pause > TRIMMED_AT_ONCE {
            let revision = Revision(record.head.revision.0.saturating_add(pause));
            self.not_before.insert(id.clone(), revision);
        } else {
            self.not_before.remove(id);
        }
        Ok(())
    }
}

/// The revision that a log is to begin with, if trimming is worth the cost.
async fn target(store: &dyn UniverseLog, keep: Keep, record: &Record) -> Result<Option<Revision>> {
    let id = &record.meta.id;
    let reading = |error| ServiceError::reading(id, &error);
    let now = Timestamp::now();
    // A universe that was created under a key keeps its genesis, because a retry is compared with it.
    let by_key =
        Uuid::parse_str(id.as_str()).is_ok_and(|id| id.get_version() == Some(Version::Custom));
    if by_key && record.meta.created_at > now.before(KEY_TIME) {
        return Ok(None);
    }
    let head = record.head.revision.0;
    let mut target = match keep {
        Keep::All => return Ok(None),
        Keep::Revisions(number) => head.saturating_sub(number.max(1)),
        Keep::Age(time) => last_before(store, record, now.before(time)).await?.0,
    };
    // A keyed entry is the last entry of its request.
    if let Some(keyed) = store.oldest_keyed(id).await.map_err(reading)? {
        target = target.min(keyed.0.saturating_sub(MAX_COMMANDS as u64));
    }
    let worth = target.saturating_sub(record.oldest.0) >= TRIMMED_AT_ONCE;
    Ok(worth.then_some(Revision(target)))
}

/// The last revision before the head whose entry is older than `time`, assuming that times are in order.
async fn last_before(
    store: &dyn UniverseLog,
    record: &Record,
    time: Timestamp,
) -> Result<Revision> {
    let (mut low, mut high) = (record.oldest.0, record.head.revision.0);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let mut entries = store.tail(&record.meta.id, Revision(middle - 1));
        let Some(Ok(entry)) = entries.next().await else {
            return Err(ServiceError::Unavailable);
        };
        if entry.at < time {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(Revision(low))
}
