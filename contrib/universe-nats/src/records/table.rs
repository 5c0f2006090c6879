//! The records that a node knows of, by their paths and by what counts together.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::{Label, Row};

/// Records by their paths, and in groups that are counted together.
#[derive(Default)]
pub(crate) struct Table {
    rows: BTreeMap<Arc<str>, Row>,
    groups: HashMap<String, BTreeSet<Arc<str>>>,
}

impl Table {
    pub(crate) fn get(&self, path: &str) -> Option<&Row> {
        self.rows.get(path)
    }

    /// All records at or below a path that ends with a dot.
    pub(crate) fn below<'t>(
        &'t self,
        path: &str,
    ) -> impl Iterator<Item = (&'t Arc<str>, &'t Row)> + use<'t> {
        let from: Arc<str> = path.into();
        let rows = self.rows.range(Arc::clone(&from)..);
        rows.take_while(move |(path, _)| path.starts_with(&*from))
    }

    /// The records of a kind, optionally only those with one share or one owner: see [`share`] and [`owner`].
    pub(crate) fn group<'t>(
        &'t self,
        group: &str,
    ) -> impl Iterator<Item = (&'t Arc<str>, &'t Row)> + use<'t> {
        let paths = self.groups.get(group).into_iter().flatten();
        paths.filter_map(|path| Some((path, self.rows.get(path)?)))
    }

    /// The number of records in a group.
    pub(crate) fn count(&self, group: &str) -> usize {
        self.groups.get(group).map_or(0, BTreeSet::len)
    }

    /// Removes the records that have expired, which the servers have removed too.
    pub(crate) fn prune(&mut self, now: i64) {
        let over = |row: &Row| row.label.until != 0 && row.label.until < now;
        let over = self.rows.iter().filter(|(_, row)| over(row));
        let over: Vec<_> = over.map(|(path, _)| Arc::clone(path)).collect();
        for path in over {
            self.remove(&path);
        }
    }

    /// Stores a record if it is newer than the one known for its path.
    pub(crate) fn take(&mut self, path: &Arc<str>, row: Row) {
        let before = self.rows.get(path);
        if before.is_some_and(|before| before.sequence >= row.sequence) {
            return;
        }
        self.remove(path);
        if row.label.gone {
            // The data of a session is removed with it.
            if let Some(session) = path.strip_prefix("session.") {
                for kind in ["letter", "head"] {
                    let below: Vec<_> = self
                        .below(&format!("{kind}.{session}."))
                        .map(|(path, _)| Arc::clone(path))
                        .collect();
                    for path in below {
                        self.remove(&path);
                    }
                }
            }
            return;
        }
        for group in groups(path, &row.label) {
            self.groups.entry(group).or_default().insert(Arc::clone(path));
        }
        self.rows.insert(Arc::clone(path), row);
    }

    /// Removes the records that are not in `there`, unless they are newer than message `sequence`.
    pub(crate) fn retain(&mut self, there: &HashSet<Arc<str>>, sequence: u64) {
        let gone = |path: &Arc<str>, row: &Row| !there.contains(path) && row.sequence <= sequence;
        let gone = self.rows.iter().filter(|(path, row)| gone(path, row));
        let gone: Vec<_> = gone.map(|(path, _)| Arc::clone(path)).collect();
        for path in gone {
            self.remove(&path);
        }
    }

    fn remove(&mut self, path: &str) {
        let Some(gone) = self.rows.remove(path) else {
            return;
        };
        for group in groups(path, &gone.label) {
            if let Some(paths) = self.groups.get_mut(&group) {
                paths.remove(path);
                if paths.is_empty() {
                    self.groups.remove(&group);
                }
            }
        }
    }
}

/// The name of the group of records of a kind that count for a share.
pub(crate) fn share(kind: &str, share: &str) -> String {
    format!("{kind}/{share}")
}

/// The name of the group of records of a kind with one owner.
pub(crate) fn owner(kind: &str, owner: &str) -> String {
    format!("{kind}={owner}")
}

fn groups(path: &str, label: &Label) -> impl Iterator<Item = String> {
    let kind = path.split('.').next().unwrap_or_default();
    let shared = label.share.as_ref().map(|name| share(kind, name));
    let owned = label.owner.as_ref().map(|name| owner(kind, name));
    [Some(kind.to_owned()), shared, owned].into_iter().flatten()
}
