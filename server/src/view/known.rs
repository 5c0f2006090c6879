//! Which universes exist, for a caller that named one that does not.

use universe_core::nearest;

use crate::commands::CommandService;
use crate::store::{MAX_PAGE, Page, Record};

/// How many ids the error for an unknown universe lists.
const TOLD_IDS: usize = 20;

/// Universes for a caller that named an unknown one.
pub(crate) struct NearbyUniverses {
    /// Ids, at most [`TOLD_IDS`]: those that are near, by id or by name, then the newest.
    pub(crate) ids: Vec<String>,
    /// `; did you mean A?`, or nothing. What is near by its name has it in brackets.
    pub(crate) hint: String,
}

impl NearbyUniverses {
    /// What exists, the nearest to `unknown` first. Looks at the newest [`MAX_PAGE`] universes.
    pub(crate) async fn near(service: &CommandService, unknown: &str) -> Self {
        let page = Page {
            after: None,
            limit: MAX_PAGE,
        };
        Self::among(&service.list(page).await.unwrap_or_default(), unknown)
    }

    /// The same of these universes.
    pub(crate) fn among(known: &[Record], unknown: &str) -> Self {
        let ids = || known.iter().map(|record| record.meta.id.as_str());
        let mut near = nearest::nearest(unknown, ids());
        near.truncate(TOLD_IDS);
        let mut told: Vec<_> = near.iter().map(|&id| id.to_owned()).collect();
        if near.is_empty() {
            let names = nearest::nearest(unknown, known.iter().map(|record| &*record.meta.name));
            let named = known.iter().map(|record| &record.meta);
            let named = named.filter(|meta| names.contains(&&*meta.name));
            for meta in named.take(TOLD_IDS) {
                near.push(meta.id.as_str());
                told.push(format!("{} ({})", meta.id, meta.name));
            }
        }
        let hint = match told.as_slice() {
            [] => String::new(),
            told => format!("; did you mean {}?", told.join(" or ")),
        };
        let others = ids().filter(|id| !near.contains(id));
        let ids = near.iter().copied().chain(others).take(TOLD_IDS);
        let ids = ids.map(str::to_owned).collect();
        Self { ids, hint }
    }
}
