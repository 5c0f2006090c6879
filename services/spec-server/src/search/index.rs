//! The index in memory: BM25 over weighted fields (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple
//! weighted fields", 2004). A release build reads two thousand specs with eight requirements each in about a second;
//! afterwards only those that have changed are read.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::document::{Document, Field, documents};
use super::query::{Query, QueryTerm};
use super::stem::stem;
use super::terms::tokens;
use crate::model::Spec;
use crate::parallel;

/// How soon further repetitions of a term stop counting. A smaller value is sooner.
const K1: f64 = 1.2;
/// How much the length of a document is assumed to explain repeated terms.
const B: f64 = 0.6;

/// The part of its score that a document loses if it has none of the terms or their substitutes. A document with half
/// of them loses half of this part.
const LACK: f64 = 0.3;

/// How much a requirement gains if its spec matches the query, and how much of the match comes from the best [`AMONG`]
/// requirements of the spec.
const SPEC: f64 = 0.45;
const REQUIREMENTS: f64 = 0.4;
const AMONG: usize = 3;

/// The weight of one occurrence in each kind of text, in the order of [`Field`].
const WEIGHTS: [f64; Field::COUNT] = [1.5, 1.5, 0.5, 1.75];

/// The position of a document in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u32);

/// A document that contains terms of the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// The document.
    pub slot: Slot,
    /// Its BM25 as a share of the limit for endless repetition of every term of the query. It is lower for missing
    /// terms and higher for matches of its spec: above 0 and at most 1. Terms that occur nowhere count like the rarest
    /// ones.
    pub score: f64,
}

/// All documents of all specs, indexed by their terms.
#[derive(Debug, Default)]
pub struct Index {
    /// The hash of each spec, and the slots of its documents. The first document is the spec itself.
    specs: HashMap<String, ([u8; 32], Vec<Slot>)>,
    /// By slot; `None` where it is free.
    documents: Vec<Option<IndexedDocument>>,
    free: Vec<Slot>,
    postings: HashMap<String, Vec<Posting>>,
    /// The sum of the lengths of all documents, in occurrences by field.
    lengths: [u64; Field::COUNT],
}

/// The terms of a document.
#[derive(Debug)]
pub(super) struct Terms {
    /// How often each term occurs in each field. 255 also stands for more.
    counts: HashMap<String, [u8; Field::COUNT]>,
    /// The length of each field. Identifiers count by their parts.
    lengths: [u32; Field::COUNT],
}

#[derive(Debug)]
struct IndexedDocument {
    document: Document,
    lengths: [u32; Field::COUNT],
}

/// How often a term occurs in each field of a document. 255 also stands for more.
#[derive(Debug, Clone, Copy)]
struct Posting {
    slot: Slot,
    counts: [u8; Field::COUNT],
}

impl Index {
    /// The index of `specs`. If two have the same id, the first one counts.
    pub fn of(specs: &[Arc<Spec>]) -> Self {
        let mut index = Self::default();
        index.update(specs);
        index
    }

    /// Takes `specs` in place of the present ones, and reads those that have changed. If two have the same id, the
    /// first one counts. Returns whether there was a difference.
    pub fn update(&mut self, specs: &[Arc<Spec>]) -> bool {
        let mut hashes = HashMap::with_capacity(specs.len());
        let mut fresh = Vec::new();
        for spec in specs {
            let Entry::Vacant(first) = hashes.entry(spec.id.as_str()) else { continue };
            let hash = *first.insert(spec.source.hash);
            if self.specs.get(&spec.id).is_none_or(|(known, _)| *known != hash) {
                fresh.push(spec);
            }
        }
        let shares: Vec<&[&Arc<Spec>]> = fresh.chunks(TOGETHER).collect();
        let read = parallel::map(&shares, |specs| {
            let mut stems = HashMap::new();
            let mut read = |document| (Terms::of(&document, &mut stems), document);
            let of_spec = |spec: &&Arc<Spec>| documents(spec).into_iter().map(&mut read).collect();
            specs.iter().map(of_spec).collect::<Vec<Vec<_>>>()
        });
        let is_smaller = self.keep(&hashes);
        for (spec, documents) in fresh.iter().zip(read.into_iter().flatten()) {
            let slots = documents.into_iter().map(|(terms, one)| self.insert(terms, one));
            let slots = slots.collect();
            self.specs.insert(spec.id.clone(), (spec.source.hash, slots));
        }
        is_smaller || !fresh.is_empty()
    }

    /// Removes all specs but those of these ids with these hashes. Returns whether there were others.
    fn keep(&mut self, hashes: &HashMap<&str, [u8; 32]>) -> bool {
        let mut gone = Vec::new();
        self.specs.retain(|id, (hash, slots)| {
            let stays = hashes.get(id.as_str()) == Some(hash);
            if !stays {
                gone.append(slots);
            }
            stays
        });
        if gone.is_empty() {
            return false;
        }
        for old in gone.iter().filter_map(|slot| self.documents.get_mut(slot.index())?.take()) {
            for (sum, length) in self.lengths.iter_mut().zip(old.lengths) {
                *sum -= u64::from(length);
            }
        }
        self.postings.retain(|_, postings| {
            let is_here = |slot: Slot| matches!(self.documents.get(slot.index()), Some(Some(_)));
            postings.retain(|posting| is_here(posting.slot));
            !postings.is_empty()
        });
        self.free.append(&mut gone);
        true
    }

    fn insert(&mut self, Terms { counts, lengths }: Terms, document: Document) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.documents.push(None);
            Slot(u32::try_from(self.documents.len() - 1).unwrap_or(u32::MAX))
        });
        for (term, counts) in counts {
            self.postings.entry(term).or_default().push(Posting { slot, counts });
        }
        for (sum, length) in self.lengths.iter_mut().zip(lengths) {
            *sum += u64::from(length);
        }
        if let Some(place) = self.documents.get_mut(slot.index()) {
            *place = Some(IndexedDocument { document, lengths });
        }
        slot
    }

    /// The documents that contain a term of the query and score at least `threshold`: the best first, at most `limit`,
    /// ties by id and line.
    pub fn search(&self, query: &Query, threshold: f64, limit: usize) -> Vec<Match> {
        let mut scores = vec![(0.0, 0_u32); self.documents.len()];
        let mut gained = vec![0.0_f64; self.documents.len()];
        let (mut best, mut terms) = (0.0, 0_u32);
        let average = self.average();
        for asked in query.asked() {
            let known = |term: &String| self.postings.contains_key(term);
            // An identifier may also be written as separate words, so only its parts are required.
            if asked.whole && !asked.term.as_ref().is_some_and(known) {
                continue;
            }
            // Of a term and its substitutes, the best one counts.
            gained.fill(0.0);
            for (term, share) in asked.meant() {
                let worth = share * self.worth(asked, term);
                for posting in self.postings.get(term).into_iter().flatten() {
                    if let Some(most) = gained.get_mut(posting.slot.index()) {
                        *most = most.max(worth * self.saturation(posting, average));
                    }
                }
            }
            for ((score, found), gain) in scores.iter_mut().zip(&gained) {
                *score += gain;
                *found += u32::from(*gain > 0.0 && asked.term.is_some());
            }
            if let Some(term) = &asked.term {
                terms += 1;
                best += self.worth(asked, term);
            }
        }
        if best <= 0.0 {
            return Vec::new();
        }
        let share = |slot: &Slot| {
            let (score, found) = scores.get(slot.index()).copied().unwrap_or_default();
            let lacking = 1.0 - f64::from(found) / f64::from(terms);
            // Phrases raise the score, but are not required.
            (score / best * (1.0 - LACK * lacking)).min(1.0)
        };
        let mut matches = Vec::new();
        for (_, slots) in self.specs.values() {
            let mut shares: Vec<f64> = slots.iter().map(share).collect();
            let itself = shares.first().copied().unwrap_or_default();
            let rest = shares.get_mut(1..).unwrap_or_default();
            rest.sort_unstable_by(|a, b| b.total_cmp(a));
            let best: f64 = rest.iter().take(AMONG).sum();
            let among = REQUIREMENTS * best / AMONG as f64;
            for (place, slot) in slots.iter().enumerate() {
                let own = share(slot);
                let above = if place == 0 { among } else { (itself + among).min(1.0) };
                let score = own + SPEC * above * (1.0 - own);
                if own > 0.0 && score >= threshold {
                    matches.push(Match { slot: *slot, score });
                }
            }
        }
        if limit < matches.len() {
            matches.select_nth_unstable_by(limit, |a, b| self.order(a, b));
            matches.truncate(limit);
        }
        matches.sort_unstable_by(|a, b| self.order(a, b));
        matches
    }

    /// Sorts by descending score, ties by id and line.
    pub(super) fn order(&self, a: &Match, b: &Match) -> Ordering {
        let key = |found: &Match| {
            let document = self.document(found.slot);
            document.map(|document| (&document.spec_id, document.line, &document.requirement))
        };
        let ties = || key(a).cmp(&key(b));
        b.score.total_cmp(&a.score).then_with(ties)
    }

    /// All documents, with their slots.
    pub(super) fn all(&self) -> impl Iterator<Item = (Slot, &Document)> {
        let all = (0..).map(Slot).zip(&self.documents);
        all.filter_map(|(slot, entry)| Some((slot, &entry.as_ref()?.document)))
    }

    /// The document in a slot.
    pub fn document(&self, slot: Slot) -> Option<&Document> {
        Some(&self.indexed(slot)?.document)
    }

    /// The weight of a term of the query; `None` for other terms.
    pub fn weight(&self, query: &Query, term: &str) -> Option<f64> {
        let worths = query.asked().flat_map(|asked| {
            let meant = asked.meant().filter(|(meant, _)| *meant == term);
            meant.map(|(term, share)| share * self.worth(asked, term))
        });
        worths.max_by(f64::total_cmp)
    }

    /// The words of a query that occur in it, themselves or by a substitute, and those that do not.
    pub fn words(&self, query: &Query) -> (Vec<String>, Vec<String>) {
        let plain = query.asked().filter(|asked| asked.term.is_some() && !asked.whole);
        let (used, unknown): (Vec<_>, Vec<_>) = plain
            .partition(|asked| asked.meant().any(|(term, _)| self.postings.contains_key(term)));
        let words =
            |asked: Vec<&QueryTerm>| asked.into_iter().map(|one| one.word.clone()).collect();
        (words(used), words(unknown))
    }

    /// The weight of a term before its share. A substitute counts as being as rare as the term: a rarer one is not a
    /// better answer than the term itself. A phrase does not have a rarity of its own.
    fn worth(&self, asked: &QueryTerm, term: &str) -> f64 {
        let like = asked.term.as_deref().unwrap_or(term);
        self.rarity(self.postings.get(like).map_or(0, Vec::len))
    }

    /// BM25's inverse document frequency, in the form that is never negative.
    fn rarity(&self, with: usize) -> f64 {
        let (all, with) = (self.count() as f64, with as f64);
        ((all - with + 0.5) / (with + 0.5)).ln_1p()
    }

    /// BM25's term frequency as a share of its limit, `k1 + 1`, for an average document length of `average`.
    fn saturation(&self, posting: &Posting, average: f64) -> f64 {
        let entry = self.indexed(posting.slot);
        let lengths = entry.map_or([0; Field::COUNT], |entry| entry.lengths);
        let length = weigh(lengths.map(f64::from));
        let frequency = weigh(posting.counts.map(f64::from));
        frequency / (frequency + K1 * (1.0 - B + B * length / average))
    }

    /// The average length of a document.
    fn average(&self) -> f64 {
        weigh(self.lengths.map(|sum| sum as f64)) / self.count().max(1) as f64
    }

    /// How many documents there are.
    fn count(&self) -> usize {
        self.documents.len() - self.free.len()
    }

    fn indexed(&self, slot: Slot) -> Option<&IndexedDocument> {
        self.documents.get(slot.index())?.as_ref()
    }
}

fn weigh(counts: [f64; Field::COUNT]) -> f64 {
    WEIGHTS.iter().zip(counts).map(|(weight, count)| weight * count).sum()
}

impl Slot {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// How many specs are read one after the other, with a stem of each word only once.
const TOGETHER: usize = 64;

/// The approximate number of terms in a document.
const TERMS: usize = 112;

impl Terms {
    /// The terms of a document. `stems` has those of words before it, since most words come again.
    pub(super) fn of(document: &Document, stems: &mut HashMap<String, String>) -> Self {
        let mut counts: HashMap<String, [u8; Field::COUNT]> = HashMap::with_capacity(TERMS);
        let mut lengths = [0_u32; Field::COUNT];
        for part in &document.parts {
            let field = part.field as usize;
            for token in tokens(&part.text) {
                if let Some(length) = lengths.get_mut(field).filter(|_| !token.whole) {
                    *length = length.saturating_add(1);
                }
                let term = stems.entry(token.word).or_insert_with_key(|word| stem(word));
                if !counts.contains_key(term) {
                    counts.insert(term.clone(), [0; Field::COUNT]);
                }
                if let Some(count) = counts.get_mut(term).and_then(|it| it.get_mut(field)) {
                    *count = count.saturating_add(1);
                }
            }
        }
        Self { counts, lengths }
    }
}
