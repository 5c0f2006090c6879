//! The entry point of search. It keeps the index and the embeddings, if any, and answers queries.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use super::changes::{self, Changes};
use super::explicit;
use super::index::{Index, Match};
use super::query::Query;
use super::semantic::{Near, Semantic};
use super::settings::{Freshness, Settings};
use super::{Doubt, Hit, Ranker, SearchError, SearchOutcome, folder, fusion, snippet};
use crate::model::{Change, Spec};

/// The most characters of a query.
pub const QUERY_CHARS: usize = 10_000;

/// The lowest cosine of a hit that is found by its meaning. Half of all random pairs of texts are below 0.10, and nine
/// in ten right answers are above 0.18.
const COSINE: f64 = 0.20;

/// How many results of each ranking are fused. Results after this rank in both rankings are left out.
const FUSED: usize = 200;

/// Searches the specs of one project. Methods block, and may be called from several threads.
#[derive(Debug)]
pub struct Searcher {
    /// The folder of the index files.
    folder: PathBuf,
    settings: Settings,
    index: RwLock<Index>,
    semantic: Option<Semantic>,
    /// The active and the archived changes.
    changes: [Mutex<Changes>; 2],
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
        Ok(Self {
            folder,
            settings,
            index: RwLock::default(),
            semantic,
            changes: Default::default(),
        })
    }

    /// Sets the current specs. Those that have changed are read again. Embedding continues in the background.
    ///
    /// # Errors
    /// In explicit mode [`SearchError::NoIndex`].
    pub fn update(&self, specs: &[Arc<Spec>]) -> Result<(), SearchError> {
        self.check()?;
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        if index.update(specs)
            && let Some(semantic) = &self.semantic
        {
            semantic.apply(&index);
        }
        Ok(())
    }

    fn check(&self) -> Result<(), SearchError> {
        match self.settings.freshness {
            Freshness::Always => Ok(()),
            Freshness::Explicit => explicit::check(&self.folder),
        }
    }

    /// The best `top_k` answers to `query`. A query without any word has no answers.
    ///
    /// # Errors
    /// [`SearchError::LongQuery`], and in explicit mode [`SearchError::NoIndex`].
    pub fn search(&self, query: &str, top_k: usize) -> Result<SearchOutcome, SearchError> {
        let asked = checked(query)?;
        self.check()?;
        let waiting = self.semantic.as_ref().map_or(0, Semantic::waiting);
        let depth = top_k.max(FUSED);
        // With a part of the vectors, what is embedded already would go before what is not.
        let semantic = self.semantic.as_ref().filter(|_| waiting == 0);
        // Embedding takes time, so it is done before the index is locked.
        let sense = semantic.filter(|_| !asked.is_empty()).map(|it| (it, it.sense(query)));
        let index = &*self.read();
        let bm25 = index.search(&asked, self.settings.threshold, depth);
        let near = sense.map_or_else(Vec::new, |(semantic, sense)| {
            semantic.search(index, &sense, COSINE, depth)
        });
        let (ranker, ranked) = match semantic {
            None => (Ranker::Bm25, bm25.into_iter().map(|found| (found, Ranker::Bm25)).collect()),
            Some(_) => {
                let near: Vec<Match> = near.iter().map(|near| near.found).collect();
                let mut fused = fusion::fuse(&bm25, &near);
                fused.sort_unstable_by(|(a, _), (b, _)| index.order(a, b));
                (Ranker::Hybrid, fused)
            }
        };
        let all: Vec<Match> = ranked.iter().map(|(found, _)| *found).collect();
        let hits = ranked.into_iter().take(top_k).filter_map(|(found, by)| {
            let near = near.iter().find(|near| near.found.slot == found.slot);
            hit(index, &asked, found, by, near)
        });
        Ok(SearchOutcome {
            hits: hits.collect(),
            ranker,
            waiting,
            doubt: doubt(index, &asked, &all),
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
        held.update(changes);
        let found = held.index.search(&asked, self.settings.threshold, top_k);
        let hits = found.into_iter().filter_map(|found| {
            let mut hit = hit(&held.index, &asked, found, Ranker::Bm25, None)?;
            let (change, file) = changes::split_id(&hit.spec_id)?;
            hit.change = Some((change.to_owned(), file.to_owned()));
            let capability =
                file.strip_prefix("specs/").and_then(|file| file.strip_suffix("/spec.md"));
            hit.spec_id = capability.unwrap_or_default().to_owned();
            Some(hit)
        });
        Ok(SearchOutcome { hits: hits.collect(), ranker: Ranker::Bm25, waiting: 0, doubt: None })
    }

    /// Waits until every passage is embedded, so that the next search includes all of them.
    pub fn finish(&self) {
        if let Some(semantic) = &self.semantic {
            semantic.finish();
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A best score from which on the first answers are mostly right.
const SURE: f64 = 0.5;

/// How many results are looked at, and how many specs are named, when an answer is unsure.
const LOOKED_AT: usize = 20;
const NAMED: usize = 3;

/// What helps to ask again, if the answer is unsure.
fn doubt(index: &Index, query: &Query, found: &[Match]) -> Option<Doubt> {
    if found.first().is_none_or(|best| best.score >= SURE) {
        return None;
    }
    let mut specs: Vec<(String, usize)> = Vec::new();
    for found in found.iter().take(LOOKED_AT) {
        let Some(document) = index.document(found.slot) else { continue };
        match specs.iter_mut().find(|(id, _)| *id == document.spec_id) {
            Some((_, count)) => *count += 1,
            None => specs.push((document.spec_id.clone(), 1)),
        }
    }
    // The order of the results decides between specs with equally many.
    specs.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    specs.truncate(NAMED);
    let (used, unknown) = index.words(query);
    Some(Doubt { specs, used, unknown })
}

/// The parsed query, if it is not too long.
fn checked(query: &str) -> Result<Query, SearchError> {
    match query.chars().count() {
        chars if chars > QUERY_CHARS => Err(SearchError::LongQuery(chars)),
        _ => Ok(Query::new(query)),
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
