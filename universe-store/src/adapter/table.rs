//! The records that an adapter has in memory: by their paths, and by what counts together; and whether there is room
//! for one more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use data_encoding::HEXLOWER;

use super::lease::millis;
use crate::clients::records::{Id, Kind, Limit, New};

/// A record in a [`Table`]. Its share and owner do not change.
pub trait Row {
    /// The client whose share it counts for.
    fn share(&self) -> Option<&str>;

    /// Its owner.
    fn owner(&self) -> Option<&str>;

    /// The time when it ends, in milliseconds.
    fn ends(&self) -> i64;

    /// Its bytes.
    fn bytes(&self) -> u64;
}

/// Records by their paths, and in groups that are counted together.
#[derive(Debug)]
pub struct Table<R> {
    rows: BTreeMap<Arc<str>, R>,
    groups: HashMap<String, BTreeSet<Arc<str>>>,
}

/// Whether there is room for a record, or what must be done first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Room {
    /// There is, and it counts for this share.
    Free(Option<String>),
    /// The record with this path has to be deleted first.
    Replaces(Arc<str>),
    /// There is not.
    Full {
        /// Whether the limit is that of its share.
        is_share: bool,
    },
    /// The session that it is to be below does not exist.
    Missing,
}

/// The path of a record. With the key of a session and the kind of letters: of the letters below it.
pub fn path(id: Id) -> String {
    format!("{}.{}", id.kind.name(), HEXLOWER.encode(&id.key))
}

/// The path of a new record.
pub fn path_of(new: &New<'_>) -> String {
    match &new.above {
        Some(above) => format!("{}.{}", path(new.id.kind.id(*above)), HEXLOWER.encode(&new.id.key)),
        None => path(new.id),
    }
}

/// The name of the group of the tasks of one owner.
pub fn owner(owner: &str) -> String {
    owned(Kind::Task.name(), owner)
}

impl<R: Row> Table<R> {
    /// The record with a path.
    pub fn get(&self, path: &str) -> Option<&R> {
        self.rows.get(path)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, path: &str) -> Option<&mut R> {
        self.rows.get_mut(path)
    }

    /// All records with their paths.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = (&Arc<str>, &mut R)> {
        self.rows.iter_mut()
    }

    /// All records whose path begins with a prefix.
    pub fn below<'t>(
        &'t self,
        prefix: &str,
    ) -> impl Iterator<Item = (&'t Arc<str>, &'t R)> + use<'t, R> {
        let from: Arc<str> = prefix.into();
        let rows = self.rows.range(Arc::clone(&from)..);
        rows.take_while(move |(path, _)| path.starts_with(&*from))
    }

    /// The records of a [group](owner), or of all of a kind by its name.
    pub fn group<'t>(
        &'t self,
        group: &str,
    ) -> impl Iterator<Item = (&'t Arc<str>, &'t R)> + use<'t, R> {
        let paths = self.groups.get(group).into_iter().flatten();
        paths.filter_map(|path| Some((path, self.rows.get(path)?)))
    }

    /// The number of records in a group.
    pub fn count(&self, group: &str) -> usize {
        self.groups.get(group).map_or(0, BTreeSet::len)
    }

    /// Stores a record in place of the one with its path.
    pub fn insert(&mut self, path: &Arc<str>, row: R) {
        self.remove(path);
        for group in groups(path, &row) {
            self.groups.entry(group).or_default().insert(Arc::clone(path));
        }
        self.rows.insert(Arc::clone(path), row);
    }

    /// Removes a record.
    pub fn remove(&mut self, path: &str) -> Option<R> {
        let gone = self.rows.remove(path)?;
        for group in groups(path, &gone) {
            if let Some(paths) = self.groups.get_mut(&group) {
                paths.remove(path);
                if paths.is_empty() {
                    self.groups.remove(&group);
                }
            }
        }
        Some(gone)
    }

    /// Removes the records whose path begins with a prefix.
    pub fn remove_below(&mut self, prefix: &str) {
        let below: Vec<_> = self.below(prefix).map(|(path, _)| Arc::clone(path)).collect();
        for path in below {
            self.remove(&path);
        }
    }

    /// The records of which `is_it` says that they are meant.
    pub fn filtered(&self, is_it: impl Fn(&Arc<str>, &R) -> bool) -> Vec<Arc<str>> {
        let rows = self.rows.iter().filter(|(path, row)| is_it(path, row));
        rows.map(|(path, _)| Arc::clone(path)).collect()
    }

    /// Whether a record may be stored at the time `now`.
    pub fn room(&self, new: &New<'_>, now: i64) -> Room {
        let (kind, limits) = (new.id.kind.name(), &new.limits);
        let mut share = new.share.map(str::to_owned);
        let mut is_full = is_full(self.group(kind), self.count(kind), limits.all, now);
        if let Some(above) = &new.above {
            let session = self.get(&path(Kind::Session.id(*above))).filter(|row| row.ends() > now);
            let Some(session) = session else {
                return Room::Missing;
            };
            share = Some(session.share().unwrap_or_default().to_owned());
            let below = self.below(&format!("{}.", path(new.id.kind.id(*above))));
            is_full |= self::is_full(below, usize::MAX, limits.above, now);
        }
        let own = share.as_deref().map(|share| shared(kind, share));
        let is_share = own
            .as_deref()
            .is_some_and(|own| self::is_full(self.group(own), self.count(own), limits.share, now));
        if !is_share && !is_full {
            return Room::Free(share);
        }
        let group = own.as_deref().filter(|_| is_share).unwrap_or(kind);
        let first = self.group(group).min_by_key(|(_, row)| row.ends());
        let until = new.replaces.map_or(i64::MIN, |within| now.saturating_add(millis(within)));
        match first.filter(|(_, row)| row.ends() < until) {
            Some((path, _)) => Room::Replaces(Arc::clone(path)),
            None => Room::Full { is_share },
        }
    }
}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), groups: HashMap::new() }
    }
}

/// Whether rows, at most so many, reach a limit.
fn is_full<'t, R: Row + 't>(
    rows: impl Iterator<Item = (&'t Arc<str>, &'t R)>,
    most: usize,
    limit: Limit,
    now: i64,
) -> bool {
    if limit.bytes == usize::MAX && most < limit.records || limit == Limit::default() {
        return false;
    }
    let (mut records, mut bytes) = (0, 0_u64);
    for (_, row) in rows.filter(|(_, row)| row.ends() > now) {
        records += 1;
        bytes = bytes.saturating_add(row.bytes());
    }
    limit.is_reached(records, usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn groups<R: Row>(path: &str, row: &R) -> impl Iterator<Item = String> {
    let kind = path.split('.').next().unwrap_or_default();
    let shared = row.share().map(|name| shared(kind, name));
    let owned = row.owner().map(|name| owned(kind, name));
    [Some(kind.to_owned()), shared, owned].into_iter().flatten()
}

fn shared(kind: &str, share: &str) -> String {
    format!("{kind}/{share}")
}

fn owned(kind: &str, owner: &str) -> String {
    format!("{kind}={owner}")
}
