//! What clients saw of a universe, and whether it is linearizable.
//!
//! The log gives every write its place, so nothing has to be searched for. Let writes be ordered by their revision, and
//! after each of them those who read it, by when they began. That order is one of a single universe that does one thing
//! after the other, if each answer is what the log makes of its revision; and no write is there twice, nor one that
//! failed. It keeps to the order of time, if whatever ended before another thing began has no higher revision, and a
//! lower one if the other thing is a write: of two things of one revision at most the first is a write, and reads are
//! in the order in which they began. Both are looked at, so what passes is linearizable.
//!
//! A write without an answer has no end. If it is in the log, it is there at a revision later than all that ended
//! before it began.

use serde_json::Value;

/// Something that a client asked for.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) universe: usize,
    /// The commands of a write; none of a read.
    pub(crate) commands: Vec<Value>,
    /// When it began and ended, by a count of all that happened.
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) outcome: Outcome,
}

/// What became of it, for all that the client knows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// The revision it came to, and the state at that.
    Done(u64, String),
    /// Nothing, for sure.
    Failed(String),
    Unknown,
}

/// One universe's log: for each revision from 1 on its command, and from 0 on the state it made.
pub(crate) struct Log {
    pub(crate) commands: Vec<Value>,
    pub(crate) states: Vec<String>,
}

/// Whether operations are linearizable for each universe.
///
/// # Errors
/// What is wrong.
pub(crate) fn judge(operations: &[Operation], logs: &[Log]) -> Result<(), String> {
    for (universe, log) in logs.iter().enumerate() {
        let own = operations.iter().filter(|it| it.universe == universe);
        let placed = own.map(|it| Ok((it, place(it, log)?)));
        let placed: Vec<_> = placed.collect::<Result<_, String>>()?;
        in_time(&placed)?;
    }
    Ok(())
}

/// The revision of an operation, unless it did nothing.
fn place(operation: &Operation, log: &Log) -> Result<Option<u64>, String> {
    let landed = landed(operation, log)?;
    match (&operation.outcome, landed) {
        (Outcome::Done(revision, state), landed) => {
            let is_write = !operation.commands.is_empty();
            if is_write && landed != Some(*revision) {
                return Err(format!(
                    "what was acknowledged at {revision} is not in the log there, but at {landed:?}: {operation:?}"
                ));
            }
            match log.states.get(*revision as usize) {
                Some(there) if there == state => Ok(Some(*revision)),
                _ => Err(format!("its answer is not the state at {revision}: {operation:?}")),
            }
        }
        (Outcome::Failed(_), Some(revision)) => {
            Err(format!("what had failed is in the log at {revision}: {operation:?}"))
        }
        (Outcome::Failed(_), None) => Ok(None),
        (Outcome::Unknown, landed) => Ok(landed),
    }
}

/// The last revision of a write that is in the log.
fn landed(operation: &Operation, log: &Log) -> Result<Option<u64>, String> {
    let mut revisions = Vec::new();
    for command in &operation.commands {
        let mut places = (1..).zip(&log.commands).filter(|(_, it)| *it == command);
        let first = places.next().map(|(revision, _)| revision);
        if let Some((again, _)) = places.next() {
            return Err(format!("it is twice in the log, at {again} too: {operation:?}"));
        }
        revisions.push(first);
    }
    let first = revisions.first().copied().flatten();
    let together = revisions
        .iter()
        .enumerate()
        .all(|(index, revision)| *revision == first.map(|first| first + index as u64));
    if together {
        Ok(revisions.last().copied().flatten())
    } else {
        Err(format!("it is in the log in parts, at {revisions:?}: {operation:?}"))
    }
}

/// Whether the order of revisions is that of time.
fn in_time(placed: &[(&Operation, Option<u64>)]) -> Result<(), String> {
    let mut by_begin: Vec<_> = placed.iter().collect();
    by_begin.sort_by_key(|(operation, _)| operation.began);
    let answered = placed.iter().filter(|(it, _)| it.outcome != Outcome::Unknown);
    let mut by_end: Vec<_> = answered.collect();
    by_end.sort_by_key(|(operation, _)| operation.ended);
    let mut ended = by_end.into_iter().peekable();
    let mut highest = 0;
    for (operation, revision) in by_begin {
        while let Some((_, before)) = ended.next_if(|(it, _)| it.ended < operation.began) {
            highest = highest.max(before.unwrap_or(0));
        }
        let Some(revision) = revision else { continue };
        // A write begins before its first command.
        let from = revision - operation.commands.len() as u64;
        if highest > from {
            return Err(format!("revision {highest} was seen before it began: {operation:?}"));
        }
    }
    Ok(())
}

#[test]
fn histories_are_judged() {
    let write = |at: u64, began, ended| Operation {
        universe: 0,
        commands: vec![at.into()],
        began,
        ended,
        outcome: Outcome::Done(at, at.to_string()),
    };
    let read =
        |at: u64, began, ended| Operation { commands: Vec::new(), ..write(at, began, ended) };
    let judged = |operations: &[Operation]| {
        let log = Log {
            commands: vec![1.into(), 2.into()],
            states: ["0", "1", "2"].map(str::to_owned).into(),
        };
        judge(operations, &[log]).map_err(|problem| problem.contains("before it began"))
    };
    let unknown = |operation| Operation { outcome: Outcome::Unknown, ..operation };
    let failed = |operation| Operation { outcome: Outcome::Failed(String::new()), ..operation };
    // Both writes at once; reads of either, in their order.
    let fine = [write(1, 0, 9), write(2, 1, 8), read(1, 2, 3), read(2, 4, 5)];
    assert_eq!(judged(&fine), Ok(()));
    assert_eq!(judged(&[write(1, 2, 3), write(2, 0, 1)]), Err(true));
    assert_eq!(judged(&[write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)]), Err(true));
    assert_eq!(judged(&[read(2, 0, 1), unknown(write(2, 2, 3))]), Err(true));
    assert_eq!(judged(&[read(1, 0, 1), unknown(write(2, 2, 3))]), Ok(()));
    assert_eq!(judged(&[failed(write(2, 0, 1))]), Err(false));
    let other = Operation { outcome: Outcome::Done(2, "1".to_owned()), ..read(2, 0, 1) };
    assert_eq!(judged(&[other]), Err(false));
}
