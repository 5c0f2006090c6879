//! The accounting of tasks, and the end of their handlers.

use futures_util::FutureExt as _;

use super::*;
use crate::budget::Bound;
use crate::input::Questions;

fn task(tasks: &Tasks, bytes: usize) -> Result<Arc<Entry>, ErrorObject> {
    let new = NewTask {
        owner: Owner::Principal("ann".into()),
        client: ClientName::Principal("ann".into()),
        version: ProtocolVersion::LATEST,
        ttl: None,
        bytes,
    };
    tasks.create(new).map(|(entry, _registration)| entry)
}

/// Asks and answers with as many bytes.
fn answer(tasks: &Tasks, entry: &Entry, bytes: usize) -> Result<(), ErrorObject> {
    entry.ask(&Questions::new().roots("q"));
    // A task that has asked before asks under a new key.
    let key = match &entry.state().stage {
        Stage::InputRequired(open) => open[0].key.clone(),
        _ => "q".to_owned(),
    };
    let text = "x".repeat(bytes - json_size(&(&key, "")));
    tasks.answer_here(entry, vec![(key, Value::from(text))])
}

/// The kept size of all tasks.
fn kept(tasks: &Tasks) -> usize {
    let table = tasks.table.locked();
    table.tasks.values().map(|filed| filed.bytes.amount()).sum()
}

fn completed(bytes: usize) -> Stage {
    // With its quotes.
    let text = "x".repeat(bytes - 2);
    Stage::Completed(crate::jsonrpc::Payload::of(&text).unwrap())
}

#[test]
fn what_is_kept_is_counted_until_it_is_out() {
    let config = TasksConfig {
        max_task_bytes: 60,
        bytes: Bound { total: 100, share: 100 },
        ..TasksConfig::default()
    };
    let tasks = Tasks::new(config, None);
    let bytes = || kept(&tasks);
    let (one, two) = (task(&tasks, 50).unwrap(), task(&tasks, 40).unwrap());
    assert_eq!(bytes(), 90);
    assert!(task(&tasks, 11).is_err());
    assert!(answer(&tasks, &one, 11).is_err(), "too much for one");
    assert!(answer(&tasks, &two, 11).is_err(), "too much for all");
    answer(&tasks, &two, 10).unwrap();
    assert_eq!(bytes(), 100);
    // It counts once.
    let again = vec![("q".to_owned(), Value::Null)];
    tasks.answer_here(&two, again).unwrap();
    assert_eq!(bytes(), 100);
    // A result replaces the arguments and answers. A second end changes nothing.
    assert!(tasks.end(&one, completed(20)));
    assert!(!tasks.end(&one, Stage::Cancelled));
    assert!(!tasks.end(&one, completed(60)));
    // An answer that comes too late does not either.
    answer(&tasks, &one, 20).unwrap();
    assert_eq!(bytes(), 70);
    assert!(tasks.end(&two, Stage::Cancelled));
    assert_eq!(bytes(), 20);
    let three = task(&tasks, 0).unwrap();
    assert!(tasks.end(&three, completed(61)));
    assert_eq!(three.state().stage.status(), "failed");
    assert_eq!(bytes(), 20);
    for entry in [&one, &two, &three] {
        tasks.expire(entry);
        assert_eq!(entry.state().stage.status(), "failed");
        // Code that still holds the task cannot change what is counted.
        answer(&tasks, entry, 30).unwrap();
        assert!(!tasks.end(entry, completed(30)));
    }
    let table = tasks.table.locked();
    assert!(table.tasks.is_empty() && table.owned.is_empty());
}

#[test]
fn the_handler_of_a_task_that_was_cancelled_is_not_called_again() {
    let tasks = Tasks::new(TasksConfig::default(), None);
    let entry = task(&tasks, 0).unwrap();
    entry.ask(&Questions::new().roots("q"));
    let mut answered = Box::pin(entry.answered());
    assert!(answered.as_mut().now_or_never().is_none());
    assert!(tasks.end(&entry, Stage::Cancelled));
    assert!(answered.now_or_never().is_none());
}
