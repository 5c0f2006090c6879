//! Random histories, followed by a model: whatever is done in whatever order, every adapter gives
//! the model's answers.

// By its path: for those who use this file from another folder.
#[path = "machine/model.rs"]
mod model;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use self::model::Model;
use crate::Subject;

const NAMES: [&str; 3] = ["sol", "a", "ü~ 1"];

#[derive(Debug, Clone)]
enum Step {
    Create {
        who: usize,
        created_at: i64,
    },
    /// `off` is how far from the head the expected revision is.
    Append {
        who: usize,
        off: i64,
        count: usize,
        size: usize,
        rename: bool,
    },
    /// The last batch once more, with an expected revision that is `off` the head.
    Retry {
        who: usize,
        off: i64,
    },
    Delete {
        who: usize,
        off: Option<i64>,
    },
    Snapshot {
        who: usize,
        off: i64,
    },
    /// `wrong` names another command than the log has.
    Trim {
        who: usize,
        back: u64,
        wrong: bool,
    },
    Tail {
        who: usize,
        back: u64,
    },
    Drain {
        which: usize,
    },
    List {
        limit: usize,
    },
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = 0..NAMES.len();
    let off = || prop_oneof![8 => Just(0i64), 1 => Just(-1), 1 => Just(1)];
    // Enough at times to pass the marks by which histories are found.
    let count = prop_oneof![1 => Just(0usize), 12 => 1..4usize, 2 => 250..520usize];
    let size = prop_oneof![8 => 0..40usize, 1 => Just(20_000usize)];
    let step = prop_oneof![
        4 => (who.clone(), 0..3i64).prop_map(|(who, created_at)| Step::Create { who, created_at }),
        12 => (who.clone(), off(), count, size, any::<bool>()).prop_map(
            |(who, off, count, size, rename)| {
                // Either many or large.
                let size = if count > 9 { size % 40 } else { size };
                Step::Append { who, off, count, size, rename }
            }
        ),
        2 => (who.clone(), off()).prop_map(|(who, off)| Step::Retry { who, off }),
        1 => (who.clone(), proptest::option::of(off())).prop_map(|(who, off)| Step::Delete { who, off }),
        4 => (who.clone(), -3..2i64).prop_map(|(who, off)| Step::Snapshot { who, off }),
        2 => (who.clone(), 0..600u64, proptest::bool::weighted(0.1))
            .prop_map(|(who, back, wrong)| Step::Trim { who, back, wrong }),
        4 => (who, 0..600u64).prop_map(|(who, back)| Step::Tail { who, back }),
        6 => (0..8usize).prop_map(|which| Step::Drain { which }),
        1 => (0..6usize).prop_map(|limit| Step::List { limit }),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..100)
}

/// Puts so many histories to an adapter.
pub(crate) fn judge(cases: u32, subject: impl AsyncFn() -> Box<dyn Subject>) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut subject, mut model) = (subject().await, Model::default());
            for step in steps {
                model.take(step, subject.as_mut()).await;
            }
            model.check(subject.as_ref()).await;
            if subject.reopen() {
                model.check(subject.as_ref()).await;
            }
        });
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
