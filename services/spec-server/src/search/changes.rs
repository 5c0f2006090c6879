//! Search in changes. Each file of a change is read like a spec, so that its requirements and the texts under its other
//! headings can be found. Changes are searched by words only.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::index::Index;
use crate::model::{Change, Source, Spec};
use crate::parse;

/// Separates the change and its file in the name under which the file is indexed. It occurs in no id or path.
const BETWEEN: char = '\n';

/// The indexed files of changes.
#[derive(Debug, Default)]
pub(super) struct Changes {
    read: HashMap<String, (Arc<Change>, Vec<Arc<Spec>>)>,
    pub(super) index: Index,
}

impl Changes {
    /// Updates the index to `changes`.
    pub(super) fn update(&mut self, changes: &[Arc<Change>]) {
        let mut before = std::mem::take(&mut self.read);
        for change in changes {
            let known = before.remove(&change.id);
            let known = known.filter(|(known, _)| Arc::ptr_eq(known, change));
            let read = known.unwrap_or_else(|| (Arc::clone(change), files(change)));
            self.read.insert(change.id.clone(), read);
        }
        let all = self.read.values().flat_map(|(_, files)| files);
        let all: Vec<Arc<Spec>> = all.cloned().collect();
        self.index.update(&all);
    }
}

/// Splits the name of an indexed file into the change and the file relative to its folder.
pub(super) fn split_id(id: &str) -> Option<(&str, &str)> {
    id.split_once(BETWEEN)
}

fn files(change: &Change) -> Vec<Arc<Spec>> {
    let read = |file: &Source| {
        let path = file.path.to_string_lossy().replace('\\', "/");
        let folder = format!("/{}/", change.id);
        let below = path.split_once(&folder).map_or(&*path, |(_, below)| below);
        let mut spec = parse::spec(&format!("{}{BETWEEN}{below}", change.id), file.clone());
        spec.title.clone_from(&change.title);
        // The title is that of another file, and is searched: with a new one this file is read again.
        spec.source.hash =
            Sha256::new_with_prefix(file.hash).chain_update(&change.title).finalize().into();
        Arc::new(spec)
    };
    change.sources().map(read).collect()
}
