//! How often search finds the right answer: the questions of `corpus/questions.jsonl` about the made-up project in
//! `corpus/`, as recall among the first and the first five, and as mean reciprocal rank among the first ten.
//!
//! Weights and thresholds were tuned on the questions in odd lines; what counts are the others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use spec_server::model::Spec;
use spec_server::project::Project;
use spec_server::search::{Found, Ranker, Searcher, Settings, TOP_K};

#[derive(Debug, Deserialize)]
struct Question {
    kind: String,
    question: String,
    /// Any of them is right.
    answers: Vec<Answer>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    spec: String,
    /// Without one, the spec itself.
    requirement: Option<String>,
}

/// Shares of the questions, 0 to 1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Quality {
    pub questions: usize,
    pub recall_at_1: f64,
    pub recall_at_5: f64,
    pub reciprocal_rank: f64,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

pub(crate) fn specs() -> Vec<Arc<Spec>> {
    let project = Project::open(&corpus()).expect("a project");
    let listing = project.specs().expect("specs");
    assert!(listing.unreadable.is_empty());
    listing.items
}

fn questions() -> Vec<Question> {
    let text = std::fs::read_to_string(corpus().join("questions.jsonl")).expect("questions");
    let questions = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a question"));
    questions.collect()
}

/// The place of the first right answer, from 1.
fn rank(found: &Found, question: &Question) -> Option<usize> {
    let is_right = |hit: &spec_server::search::Hit| {
        let mut answers = question.answers.iter();
        answers.any(|answer| answer.spec == hit.spec_id && answer.requirement == hit.requirement)
    };
    found.hits.iter().position(is_right).map(|place| place + 1)
}

fn quality<'q>(searcher: &Searcher, questions: impl Iterator<Item = &'q Question>) -> Quality {
    let mut quality = Quality::default();
    for question in questions {
        let found = searcher
            .search(&question.question, TOP_K)
            .expect("an answer");
        let rank = rank(&found, question);
        if std::env::var_os("MISSES").is_some() && rank.is_none_or(|rank| rank > 5) {
            println!(
                "{rank:?} {} {:?}",
                question.question,
                found
                    .hits
                    .iter()
                    .take(3)
                    .map(|h| (&h.requirement, h.score))
                    .collect::<Vec<_>>()
            );
        }
        quality.questions += 1;
        quality.recall_at_1 += f64::from(u8::from(rank == Some(1)));
        quality.recall_at_5 += f64::from(u8::from(rank.is_some_and(|rank| rank <= 5)));
        quality.reciprocal_rank += rank.map_or(0.0, |rank| 1.0 / rank as f64);
    }
    let count = quality.questions.max(1) as f64;
    quality.recall_at_1 /= count;
    quality.recall_at_5 /= count;
    quality.reciprocal_rank /= count;
    quality
}

/// The quality on the questions that nothing was tuned on, and a table of all.
pub(crate) fn report(searcher: &Searcher, ranker: Ranker) -> Quality {
    let questions = questions();
    let held_out = || questions.iter().skip(1).step_by(2);
    let mut table = format!(
        "{:<8}  {:<12} {:>5} {:>6} {:>6} {:>6}\n",
        "ranker", "questions", "n", "R@1", "R@5", "MRR"
    );
    let mut row = |name: &str, quality: Quality| {
        table += &format!(
            "{:<8}  {name:<12} {:>5} {:>6.3} {:>6.3} {:>6.3}\n",
            ranker.name(),
            quality.questions,
            quality.recall_at_1,
            quality.recall_at_5,
            quality.reciprocal_rank
        );
    };
    for kind in ["paraphrase", "keywords", "identifier", "question"] {
        let of_kind = held_out().filter(|question| question.kind == kind);
        row(kind, quality(searcher, of_kind));
    }
    row("tuned on", quality(searcher, questions.iter().step_by(2)));
    let all = quality(searcher, held_out());
    row("held out", all);
    println!("{table}");
    all
}

impl Quality {
    /// Fails if one of recall at 1, recall at 5 and mean reciprocal rank is below its floor.
    pub(crate) fn at_least(self, recall_at_1: f64, recall_at_5: f64, reciprocal_rank: f64) {
        assert!(self.recall_at_1 >= recall_at_1, "{self:?}");
        assert!(self.recall_at_5 >= recall_at_5, "{self:?}");
        assert!(self.reciprocal_rank >= reciprocal_rank, "{self:?}");
    }
}

#[test]
fn bm25_finds_the_right_answers() {
    let searcher = Searcher::open(Path::new("unused"), Settings::default()).expect("a searcher");
    searcher.update(&specs()).expect("an index");
    report(&searcher, Ranker::Bm25).at_least(0.0, 0.0, 0.0);
}

#[test]
fn each_question_has_an_answer_that_exists() {
    let specs = specs();
    let questions = questions();
    assert!(questions.len() >= 120);
    for question in &questions {
        assert!(!question.answers.is_empty());
        for answer in &question.answers {
            let spec = specs
                .iter()
                .find(|spec| spec.id == answer.spec)
                .expect("its spec");
            let name = answer.requirement.as_ref();
            assert!(
                name.is_none_or(|name| spec.requirements.iter().any(|one| one.name == *name)),
                "{answer:?}"
            );
        }
    }
}
pub(crate) fn tuned(searcher: &Searcher) -> Quality {
    let questions = questions();
    quality(searcher, questions.iter().step_by(2))
}
