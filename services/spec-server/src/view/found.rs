//! Search results in an answer.

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{name, notes};
use crate::plural::counted;
use crate::search::{Doubt, Hit, SearchOutcome};
use crate::validate::Touching;

/// What was found, the best first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct SearchResults {
    /// The requirements and purposes that were found, by descending score.
    pub results: Vec<HitView>,
    /// What made the scores: bm25 (the words), semantic (the sense) or hybrid (both).
    pub ranker: String,
    /// What may be missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HitView {
    /// The spec; empty for a file of a change that is about none in particular.
    pub spec_id: String,
    /// The requirement; null where the spec as a whole fits, by its title or purpose, or another text of it.
    pub requirement: Option<String>,
    /// The heading of a text that belongs to no requirement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The change, where changes were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_id: Option<String>,
    /// The file below the folder of the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The active changes that touch the requirement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// How well it fits, from 0 to 1, in three digits.
    pub score: f64,
    /// The part of the text that fits.
    pub snippet: String,
    /// Its line in the file of the spec.
    pub line: u32,
}

impl SearchResults {
    /// The search results, if `unreadable` specs could not be read.
    pub fn of(found: &SearchOutcome, unreadable: usize, touching: &Touching) -> Self {
        let waiting = (found.waiting > 0).then(|| {
            format!(
                "{} not yet read for their sense; until then only words count",
                match found.waiting {
                    1 => "1 text is".to_owned(),
                    waiting => format!("{waiting} texts are"),
                }
            )
        });
        let unreadable = (unreadable > 0).then(|| {
            format!("{} could not be read; list_specs names them", counted(unreadable, "file"))
        });
        let nothing = found.hits.is_empty().then(|| {
            "no word of the query occurs; try other words, or search in changes or archive"
                .to_owned()
        });
        let doubt = found.doubt.as_ref().filter(|_| !found.hits.is_empty()).map(doubt_in_words);
        Self {
            results: found.hits.iter().map(|hit| HitView::of(hit, touching)).collect(),
            ranker: found.ranker.name().to_owned(),
            note: notes([nothing, doubt, waiting, unreadable]),
        }
    }
}

/// How much of each list of words an answer names.
const WORDS: usize = 12;

fn doubt_in_words(doubt: &Doubt) -> String {
    let specs: Vec<_> = doubt.specs.iter().map(|(id, count)| format!("{id} ({count})")).collect();
    let words = |words: &[String]| {
        let words: Vec<_> = words.iter().take(WORDS).map(|word| name(word)).collect();
        words.join(", ")
    };
    let unknown = match doubt.unknown.as_slice() {
        [] => String::new(),
        unknown => format!(", not {}", words(unknown)),
    };
    format!(
        "unsure: most results are in {}; looked for {}{unknown}: ask again in the specs' own words",
        specs.join(", "),
        words(&doubt.used)
    )
}

impl HitView {
    fn of(hit: &Hit, touching: &Touching) -> Self {
        let requirement = hit.requirement.as_deref();
        let (change_id, file) = hit.change.clone().unzip();
        Self {
            spec_id: hit.spec_id.clone(),
            requirement: requirement.map(name),
            section: hit.section.as_deref().map(name),
            changes: match (requirement, &change_id) {
                (Some(name), None) => touching.requirement(&hit.spec_id, name),
                _ => Vec::new(),
            },
            change_id,
            file,
            score: (hit.score * 1000.0).round() / 1000.0,
            snippet: hit.snippet.clone(),
            line: hit.line,
        }
    }
}
