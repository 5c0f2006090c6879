//! The entry point of search. It keeps the index, explicit or always up to date, and the embeddings, if any, and
//! answers queries.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use service_host::Stamp;

use super::changes::{self, Changes};
use super::explicit::read_if_changed;
use super::index::{Index, Match, Update};
use super::query::Query;
use super::semantic::{Near, Semantic};
use super::settings::{Freshness, Settings};
use super::{Hit, Outdated, Ranker, SearchError, SearchOutcome, folder, fusion, snippet};
use crate::model::{Change, Spec};

/// The most characters of a query.
pub const QUERY_CHARS: usize = 10_000;

/// How many results of each ranking are fused. Results after this rank in both rankings are left out.
const FUSED: usize = 200;

/// Searches the specs of one project. Methods block, and may be called from several threads.
#[derive(Debug)]
pub struct Searcher {
    /// The folder of the index files.
    folder: PathBuf,
    settings: Settings,
    state: RwLock<State>,
    semantic: Option<Semantic>,
    /// The active and the archived changes.
    changes: [Mutex<Changes>; 2],
}

#[derive(Debug, Default)]
struct State {
    index: Index,
    /// Explicit mode: the stamp of the index that was read, and how outdated it is.
    read: Option<Stamp>,
    outdated: Outdated,
}

impl Searcher {
    /// A searcher for the project at `root`, without specs until it is [updated](Self::update).
    ///
    /// # Errors
    /// [`SearchError::Model`] if a model is set and cannot be used.
    pub fn open(root: &Path, settings: Settings) -> Result<Self, SearchError> {
        let folder = folder::path(root);
        let model = settings.model.as_deref();
        let semantic = model.map(|model| Semantic::open(model, &folder)).transpose()?;
        let state = State { index: Index::new(settings.weights), ..State::default() };
        Ok(Self {
            folder,
            settings,
            state: RwLock::new(state),
            semantic,
            changes: Default::default(),
        })
    }

    /// Sets the current specs. An index that is always up to date reads those that have changed. An explicitly built
    /// index is read again if it was rebuilt, and compared with the specs. Embedding continues in the background.
    ///
    /// # Errors
    /// In explicit mode [`SearchError::NoIndex`] and [`SearchError::Index`].
    pub fn update(&self, specs: &[Arc<Spec>]) -> Result<(), SearchError> {
        match self.settings.freshness {
            Freshness::Always => {
                // Most updates change nothing, and should not delay searches.
                if self.read().index.differences(specs) == Outdated::default() {
                    return Ok(());
                }
                let update = self.write().index.update(specs);
                self.embed(&update);
            }
            Freshness::Explicit => {
                self.reread()?;
                let mut state = self.write();
                state.outdated = state.index.differences(specs);
            }
        }
        Ok(())
    }

    /// The best `top_k` answers to `query`. A query without any word has no answers.
    ///
    /// # Errors
    /// [`SearchError::LongQuery`], and in explicit mode [`SearchError::NoIndex`] and [`SearchError::Index`].
    pub fn search(&self, query: &str, top_k: usize) -> Result<SearchOutcome, SearchError> {
        let asked = checked(query)?;
        if self.settings.freshness == Freshness::Explicit {
            self.reread()?;
        }
        let ranker = match (&self.semantic, self.settings.ranker) {
            (None, _) => Ranker::Bm25,
            (Some(_), ranker) => ranker.unwrap_or(Ranker::Hybrid),
        };
        let thresholds = self.settings.thresholds;
        let depth = top_k.max(FUSED);
        // Embedding takes time, so it is done before the index is locked.
        let semantic = self.semantic.as_ref();
        let semantic = semantic.filter(|_| ranker != Ranker::Bm25 && !asked.is_empty());
        let sense = semantic.map(|semantic| (semantic, semantic.sense(query)));
        let state = self.read();
        let index = &state.index;
        let bm25 = match ranker {
            Ranker::Semantic => Vec::new(),
            _ => index.search(&asked, thresholds.bm25, depth),
        };
        let near = sense.map_or_else(Vec::new, |(semantic, sense)| {
            semantic.search(index, &sense, thresholds.semantic, depth)
        });
        let ranked = rank(ranker, &bm25, &near, index);
        let hits = ranked.into_iter().take(top_k).filter_map(|(found, by)| {
            let near = near.iter().find(|near| near.found.slot == found.slot);
            hit(index, &asked, found, by, near)
        });
        Ok(SearchOutcome {
            hits: hits.collect(),
            ranker,
            outdated: state.outdated,
            waiting: self.semantic.as_ref().map_or(0, Semantic::waiting),
        })
    }

    /// The best `top_k` answers to `query` in `changes`, by its words: the active changes, or the archived ones.
    ///
    /// # Errors
    /// [`SearchError::LongQuery`].
    pub fn search_changes(
        &self,
        changes: &[Arc<Change>],
        archived: bool,
        query: &str,
        top_k: usize,
    ) -> Result<SearchOutcome, SearchError> {
        let asked = checked(query)?;
        let [active, past] = &self.changes;
        let held = if archived { past } else { active }.lock();
        let mut held = held.unwrap_or_else(PoisonError::into_inner);
        held.update(changes, self.settings.weights);
        let found = held.search(&asked, self.settings.thresholds.bm25, top_k);
        let hits = found.into_iter().filter_map(|found| {
            let mut hit = hit(held.index(), &asked, found, Ranker::Bm25, None)?;
            let (change, file) = changes::split_id(&hit.spec_id)?;
            hit.change = Some((change.to_owned(), file.to_owned()));
            let capability =
                file.strip_prefix("specs/").and_then(|file| file.strip_suffix("/spec.md"));
            hit.spec_id = capability.unwrap_or_default().to_owned();
            Some(hit)
        });
        Ok(SearchOutcome {
            hits: hits.collect(),
            ranker: Ranker::Bm25,
            outdated: Outdated::default(),
            waiting: 0,
        })
    }

    /// Waits until every passage is embedded and saved, so that the next search includes all of them.
    pub fn finish(&self) {
        if let Some(semantic) = &self.semantic {
            semantic.finish();
        }
    }

    /// Explicit mode: reads the index if it was written after the last read.
    fn reread(&self) -> Result<(), SearchError> {
        let known = self.read().read.clone();
        let read = read_if_changed(&self.folder, known.as_ref(), self.settings.weights)?;
        let Some((stamp, index)) = read else {
            return Ok(());
        };
        let mut state = self.write();
        let update =
            Update { vacated: state.index.slots().collect(), occupied: index.slots().collect() };
        *state = State { index, read: Some(stamp), outdated: Outdated::default() };
        drop(state);
        self.embed(&update);
        Ok(())
    }

    /// Updates the passages to an update of the index. Other threads may search it in the meantime.
    fn embed(&self, update: &Update) {
        if let Some(semantic) = &self.semantic {
            semantic.apply(&self.read().index, update);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The parsed query, if it is not too long.
fn checked(query: &str) -> Result<Query, SearchError> {
    match query.chars().count() {
        chars if chars > QUERY_CHARS => Err(SearchError::LongQuery(chars)),
        _ => Ok(Query::new(query)),
    }
}

/// The final ranking, with the rankings that contain each result.
fn rank(ranker: Ranker, bm25: &[Match], near: &[Near], index: &Index) -> Vec<(Match, Ranker)> {
    let near: Vec<Match> = near.iter().map(|near| near.found).collect();
    let alone = |ranking: &[Match]| ranking.iter().map(|found| (*found, ranker)).collect();
    match ranker {
        Ranker::Bm25 => alone(bm25),
        Ranker::Semantic => alone(&near),
        Ranker::Hybrid => {
            let mut fused = fusion::fuse(bm25, &near);
            fused.sort_unstable_by(|(a, _), (b, _)| index.order(a, b));
            fused
        }
    }
}

fn hit(
    index: &Index,
    query: &Query,
    found: Match,
    ranker: Ranker,
    near: Option<&Near>,
) -> Option<Hit> {
    let document = index.document(found.slot)?;
    // For a document without any of the terms, the snippet is the passage that is nearest in meaning.
    let snippet = match near.filter(|_| ranker == Ranker::Semantic) {
        Some(near) => near.snippet(document),
        None => snippet::snippet(document, |term| index.weight(query, term)),
    };
    Some(Hit {
        spec_id: document.spec_id.clone(),
        requirement: document.requirement.clone(),
        section: document.section.clone(),
        change: None,
        score: found.score,
        ranker,
        snippet,
        line: document.line,
    })
}
