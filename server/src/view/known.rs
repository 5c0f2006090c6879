//! Which universes exist, for a caller that named one that does not.

use universe_core::nearest;

use crate::commands::CommandService;
use crate::store::{Page, Record};

/// The number of ids that the error for an unknown universe lists.
const TOLD_IDS: usize = 20;

/// Suggestions for a caller that named an unknown universe.
pub(crate) struct NearbyUniverses {
    /// At most [`TOLD_IDS`] ids: first those with a similar id or name, then the newest.
    pub(crate) ids: Vec<String>,
    /// `; did you mean A?`, or empty. If the name is similar, it follows in brackets.
    pub(crate) hint: String,
}

impl NearbyUniverses {
    /// The existing universes, the nearest to `unknown` first. Searches the newest
    /// [`MAX_PAGE`](crate::store::MAX_PAGE) universes.
    pub(crate) async fn near(service: &CommandService, unknown: &str) -> Self {
        Self::among(&service.list(Page::FIRST).await.unwrap_or_default(), unknown)
    }

    /// The same for the given universes.
    pub(crate) fn among(known: &[Record], unknown: &str) -> Self {
        let ids = || known.iter().map(|record| record.meta.id.as_str());
        let mut near = nearest::nearest(unknown, ids());
        near.truncate(TOLD_IDS);
        let mut suggested: Vec<_> = near.iter().map(|&id| id.to_owned()).collect();
        if near.is_empty() {
            let names = nearest::nearest(unknown, known.iter().map(|record| &*record.meta.name));
            let named = known.iter().map(|record| &record.meta);
            let named = named.filter(|meta| names.contains(&&*meta.name));
            for meta in named.take(TOLD_IDS) {
                near.push(meta.id.as_str());
                suggested.push(format!("{} ({})", meta.id, meta.name));
            }
        }
        let hint = match suggested.as_slice() {
            [] => String::new(),
            suggested => format!("; did you mean {}?", suggested.join(" or ")),
        };
        let others = ids().filter(|id| !near.contains(id));
        let ids = near.iter().copied().chain(others).take(TOLD_IDS);
        let ids = ids.map(str::to_owned).collect();
        Self { ids, hint }
    }
}
