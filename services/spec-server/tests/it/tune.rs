//! ad hoc
use super::search_questions::*;
use spec_server::search::*;
use std::path::Path;
#[test]
fn tune_bm25() {
    let specs = specs();
    let mut rows = vec![];
    for name in [1.0, 1.5, 2.0, 3.0, 4.0] {
        for desc in [1.0, 1.5, 2.0, 3.0] {
            for ctx in [0.0, 0.25, 0.5, 1.0] {
                let settings = Settings {
                    weights: Weights([name, desc, 1.0, ctx]),
                    ..Settings::default()
                };
                let s = Searcher::open(Path::new("unused"), settings).unwrap();
                s.update(&specs).unwrap();
                let q = tuned(&s);
                rows.push((
                    q.reciprocal_rank,
                    q.recall_at_1,
                    q.recall_at_5,
                    name,
                    desc,
                    ctx,
                ));
            }
        }
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    for r in rows.iter().take(25) {
        println!("{r:.3?}");
    }
    println!("...");
    for r in rows.iter().rev().take(5) {
        println!("{r:.3?}");
    }
}
#[cfg(feature = "semantic")]
#[test]
fn tune_fusion() {
    let specs = specs();
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spec-search-questions");
    for t in [0.0, 0.3, 2.0] {
        for s in [0.2] {
            let settings = Settings {
                model: std::env::var_os("SPEC_SERVER_MODEL").map(Into::into),
                thresholds: Thresholds {
                    bm25: t,
                    semantic: s,
                },
                ..Settings::default()
            };
            let searcher = Searcher::open(&root, settings).unwrap();
            searcher.update(&specs).unwrap();
            searcher.finish();
            println!("{t} {s} {:?}", tuned(&searcher));
        }
    }
}
