//! Search by terms through its door: what is found, how it scores, how it is shown, and that it is always fresh.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use sha2::{Digest as _, Sha256};
use spec_server::model::{Requirement, Scenario, Section, Source, Spec};
use spec_server::search::{
    Index, QUERY_CHARS, Query, Ranker, SNIPPET_CHARS, SearchError, SearchOutcome, Searcher,
    Settings,
};

use crate::assert_has;

/// A spec whose hash follows from what is in it.
pub(crate) fn spec(id: &str, requirements: &[Requirement]) -> Arc<Spec> {
    let text = format!("{id} {requirements:?}");
    Arc::new(Spec {
        id: id.to_owned(),
        source: Source {
            path: format!("specs/{id}/spec.md").into(),
            hash: Sha256::digest(&text).into(),
            text: text.into(),
        },
        title: id.to_owned(),
        purpose: None,
        requirements: requirements.to_vec(),
        sections: vec![],
    })
}

pub(crate) fn requirement(
    name: &str,
    description: &str,
    scenarios: &[(&str, &str)],
) -> Requirement {
    let scenario = |(name, when): &(&str, &str)| Scenario {
        name: (*name).to_owned(),
        line: 9,
        given: vec![],
        when: vec![(*when).to_owned()],
        then: vec![],
        text: String::new(),
    };
    Requirement {
        name: name.to_owned(),
        line: 5,
        description: description.to_owned(),
        text: String::new(),
        scenarios: scenarios.iter().map(scenario).collect(),
        oddity: None,
    }
}

fn with_purpose(id: &str, title: &str, purpose: &str) -> Arc<Spec> {
    let mut one = Arc::unwrap_or_clone(spec(id, &[]));
    one.title = title.to_owned();
    one.purpose = Some(Section { line: 3, text: purpose.to_owned() });
    Arc::new(one)
}

fn open(settings: Settings) -> Searcher {
    Searcher::open(Path::new("no-such-folder"), settings).expect("a searcher")
}

fn search(specs: &[Arc<Spec>], query: &str) -> SearchOutcome {
    let searcher = open(Settings::default());
    searcher.update(specs).expect("an index");
    searcher.search(query, 10).expect("an answer")
}

/// The id and requirement of each hit.
fn names(found: &SearchOutcome) -> Vec<(&str, Option<&str>)> {
    let hits = found.hits.iter();
    hits.map(|hit| (hit.spec_id.as_str(), hit.requirement.as_deref())).collect()
}

fn shop() -> Vec<Arc<Spec>> {
    vec![
        spec(
            "billing",
            &[
                requirement(
                    "Invoices",
                    "The system SHALL number invoices.",
                    &[("New year", "a year begins")],
                ),
                requirement(
                    "Refunds",
                    "A clerk SHALL refund a payment.",
                    &[("Invoice lost", "the invoice is gone")],
                ),
            ],
        ),
        with_purpose("auth", "Authentication", "Let people prove who they are."),
    ]
}

#[test]
fn names_descriptions_scenarios_purposes_and_titles_are_searched() {
    let specs = shop();
    for (query, spec, requirement) in [
        ("numbering", "billing", Some("Invoices")),
        ("refunding", "billing", Some("Refunds")),
        ("LOST", "billing", Some("Refunds")),
        ("new years", "billing", Some("Invoices")),
        ("proves", "auth", None),
        ("authentication", "auth", None),
    ] {
        let found = search(&specs, query);
        assert_eq!(names(&found), [(spec, requirement)], "{query}");
    }
    assert_eq!(
        names(&search(&specs, "invoice")),
        [("billing", Some("Invoices")), ("billing", Some("Refunds")), ("billing", None)]
    );
    // The requirements of a spec are found by its id, too.
    assert_eq!(search(&specs, "billing").hits.len(), 3);
}

#[test]
fn a_hit_says_where_it_is_and_what_made_its_score() {
    let found = search(&shop(), "lost invoice");
    assert_eq!((found.ranker, found.waiting), (Ranker::Bm25, 0));
    let hit = &found.hits[0];
    assert_eq!(
        (hit.requirement.as_deref(), hit.line, hit.ranker),
        (Some("Refunds"), 5, Ranker::Bm25)
    );
    assert_eq!(hit.snippet, "Invoice lost: the invoice is gone");
    let found = search(&shop(), "people");
    assert_eq!(
        (found.hits[0].line, found.hits[0].snippet.as_str()),
        (3, "Let people prove who they are.")
    );
    assert_eq!(
        [Ranker::Bm25, Ranker::Semantic, Ranker::Hybrid].map(Ranker::name),
        ["bm25", "semantic", "hybrid"]
    );
}

#[test]
fn without_a_term_of_the_query_there_is_no_hit() {
    for query in ["zebra", "", "  \n", "?!…", "how are they doing what they do"] {
        assert_eq!(names(&search(&shop()[..1], query)), [], "{query:?}");
    }
    assert!(search(&[], "invoice").hits.is_empty());
    // Words of grammar count when there are no others.
    assert_eq!(names(&search(&shop(), "who are they")), [("auth", None)]);
}

#[test]
fn a_query_without_bounds_is_refused() {
    let searcher = open(Settings::default());
    let refused = searcher.search(&"é".repeat(QUERY_CHARS + 1), 10).expect_err("too long");
    assert!(matches!(refused, SearchError::LongQuery(chars) if chars == QUERY_CHARS + 1));
    assert!(refused.to_string().contains("more than 10000"));
    assert!(searcher.search(&"é".repeat(QUERY_CHARS), 10).is_ok());
}

#[test]
fn scores_are_shares_of_the_query() {
    let specs = shop();
    let score = |query: &str| search(&specs, query).hits[0].score;
    assert!(score("refund") > score("refund zebra"));
    assert!(score("refund zebra") > score("refund zebra giraffe"));
    // An identifier that is written as words elsewhere is all there.
    assert!((score("refund payment") - score("refund-payment")).abs() < 1e-9);
    let repeated = [spec("a", &[requirement("Tide", &"tide ".repeat(300), &[])])];
    let most = search(&repeated, "tide").hits[0].score;
    assert!(most > 0.9 && most < 1.0, "{most}");
}

#[test]
fn what_scores_below_the_threshold_is_not_told() {
    let found = search(&shop(), "lost invoice");
    let [first, second] = [0, 1].map(|place| found.hits[place].score);
    for (threshold, hits) in [(second, 2), (f64::midpoint(first, second), 1), (first + 0.01, 0)] {
        let searcher = open(Settings { threshold, ..Settings::default() });
        searcher.update(&shop()).expect("an index");
        assert_eq!(searcher.search("lost invoice", 10).expect("an answer").hits.len(), hits);
    }
}

#[test]
fn the_best_come_first_and_ties_are_in_the_order_of_ids() {
    let twins = ["c", "a", "b"].map(|id| spec(id, &[requirement("Same", "The same words.", &[])]));
    assert_eq!(
        names(&search(&twins, "same words")),
        [("a", Some("Same")), ("b", Some("Same")), ("c", Some("Same"))]
    );
    let searcher = open(Settings::default());
    searcher.update(&twins).expect("an index");
    for top_k in [0, 1, 2] {
        let found = searcher.search("same", top_k).expect("an answer");
        assert_eq!(names(&found), [("a", Some("Same")), ("b", Some("Same"))][..top_k]);
    }
}

#[test]
fn an_identifier_is_found_however_it_is_written() {
    let specs = [spec(
        "api",
        &[
            requirement("Waiting", "Clients SHALL honour retryAfterSeconds.", &[]),
            requirement("Retries", "After a retry some seconds pass.", &[]),
        ],
    )];
    for query in
        ["retryAfterSeconds", "retry_after_seconds", "RETRY-AFTER-SECONDS", "retryafterseconds"]
    {
        assert_eq!(names(&search(&specs, query))[0], ("api", Some("Waiting")), "{query}");
    }
}

#[test]
fn what_changed_is_found_at_once_and_what_is_gone_is_not() {
    let searcher = open(Settings::default());
    let found = |query: &str| searcher.search(query, 10).expect("an answer").hits.len();
    searcher.update(&shop()).expect("an index");
    assert_eq!((found("refund"), found("voucher")), (1, 0));
    let changed = spec("billing", &[requirement("Vouchers", "A voucher SHALL be sent.", &[])]);
    searcher.update(&[changed]).expect("an index");
    assert_eq!((found("refund"), found("voucher"), found("people")), (0, 1, 0));
}

#[test]
fn an_index_reads_a_spec_again_when_its_hash_differs() {
    let specs = shop();
    let mut index = Index::of(&specs);
    assert!(!index.update(&specs));
    // The same text under the old hash is not looked at: the hash decides.
    let mut unnoticed = Spec::clone(&specs[1]);
    unnoticed.title = "Zebra".to_owned();
    assert!(!index.update(&[Arc::clone(&specs[0]), Arc::new(unnoticed)]));
    let changed = spec("billing", &[requirement("One", "left", &[])]);
    assert!(index.update(&[changed, Arc::clone(&specs[1])]));
    assert!(index.update(&specs[1..]));
    assert!(!index.update(&[Arc::clone(&specs[1]), Arc::clone(&specs[1])]));
    assert_eq!(index.search(&Query::new("refund left"), 0.0, 10), []);
}

/// Specs out of few words, so that they share many.
fn some_specs() -> impl Strategy<Value = Vec<Arc<Spec>>> {
    let word = prop::sample::select(vec![
        "tide",
        "pier",
        "Ferry",
        "ferries",
        "deckPlan",
        "deck_plan",
        "é",
        "42",
        "the",
    ]);
    let text = prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "));
    let requirement = (text.clone(), text.clone(), text)
        .prop_map(|(name, description, when)| requirement(&name, &description, &[("s", &when)]));
    let one = (0..6_u8, prop::collection::vec(requirement, 0..3));
    prop::collection::btree_map(0..6_u8, one, 0..6).prop_map(|specs| {
        let specs = specs.into_iter();
        specs.map(|(id, (_, requirements))| spec(&format!("s{id}"), &requirements)).collect()
    })
}

proptest! {
    #[test]
    fn scores_are_above_0_and_below_1(specs in some_specs(), query in "[a-z]{0,3} ?(tide|pier|ferry|deckPlan|42)( (the|deck))?") {
        let index = Index::of(&specs);
        for found in index.search(&Query::new(&query), 0.0, 100) {
            prop_assert!(found.score > 0.0 && found.score < 1.0);
            prop_assert!(index.document(found.slot).is_some());
        }
    }

    #[test]
    fn an_index_after_updates_is_as_one_made_at_once(steps in prop::collection::vec(some_specs(), 1..5), query in "(tide|pier|ferry|42) (deck|plan|the)") {
        let mut index = Index::default();
        let found = |index: &Index| {
            let found = index.search(&Query::new(&query), 0.0, 100).into_iter();
            let found = found.map(|found| (index.document(found.slot).cloned(), found.score));
            found.collect::<Vec<_>>()
        };
        for specs in &steps {
            index.update(specs);
            prop_assert_eq!(found(&index), found(&Index::of(specs)));
        }
    }

    #[test]
    fn snippets_are_whole_words_in_bounds(words in prop::collection::vec("[a-zé漢🚢]{1,12}|[a-z]{150,200}", 0..120), asked in 0..120_usize) {
        let text = words.join(" ");
        let asked = words.get(asked).cloned().unwrap_or_else(|| "pier".to_owned());
        let found = search(&[spec("a", &[requirement("Pier", &text, &[])])], &asked);
        for hit in &found.hits {
            let shown = hit.snippet.trim_matches('…');
            prop_assert!(shown.chars().count() <= SNIPPET_CHARS);
            let whole = words.iter().map(String::as_str).chain(["Pier", "a"]);
            let whole: Vec<&str> = whole.collect();
            for word in shown.split(' ').filter(|word| !word.is_empty()) {
                prop_assert!(whole.iter().any(|one| *one == word || one.chars().count() > SNIPPET_CHARS && one.starts_with(word)), "{word}");
            }
        }
    }
}

#[test]
fn a_snippet_is_the_passage_with_most_of_the_terms() {
    let filler = "and so on and so forth ".repeat(30);
    let text = format!("A tide. {filler} The pier is closed when the tide is low. {filler}");
    let found = search(
        &[spec("a", &[requirement("Harbour", &text, &[("Pier", "a pier")])])],
        "closed pier low tide",
    );
    let snippet = &found.hits[0].snippet;
    assert_has(snippet, &["The pier is closed when the tide is low."]);
    assert!(snippet.starts_with('…') && snippet.ends_with('…'));
}
