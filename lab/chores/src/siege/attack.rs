//! The table of attacks. Each is a function that runs until its [`Field`] is over.

mod answers;
mod bodies;
mod calls;
mod connections;
mod http2;
mod sessions;
mod streams;
mod values;

use std::time::Duration;

use super::attacker::Field;
use super::part::Orders;
use super::target::{Kind, Target};
use xtask::{Result, say};

/// One way to harm a server.
#[derive(Debug)]
pub(super) struct Attack {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    /// The servers that it can be used against.
    pub(super) on: &'static [Kind],
    pub(super) run: fn(&Field) -> Result<()>,
}

const BOTH: &[Kind] = &[Kind::Universe, Kind::Everything];

type Run = fn(&Field) -> Result<()>;

const fn attack(name: &'static str, what: &'static str, on: &'static [Kind], run: Run) -> Attack {
    Attack { name, what, on, run }
}

/// All attacks.
pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "idle",
        "opens as many connections as it can and sends nothing",
        BOTH,
        connections::idle,
    ),
    attack("slow-heads", "sends heads, a byte of each a second", BOTH, connections::slow_heads),
    attack(
        "fat-heads",
        "sends 380 KB of headers on each of 3,000 connections and never ends them",
        BOTH,
        connections::fat_heads,
    ),
    attack(
        "churn",
        "connects, calls, and goes away before the answer, as fast as it can",
        BOTH,
        connections::churn,
    ),
    attack("slow-bodies", "sends bodies, a byte of each a second", BOTH, bodies::slow),
    attack(
        "unfinished-bodies",
        "sends the largest bodies but for their last byte on 400 connections",
        BOTH,
        bodies::unfinished,
    ),
    attack(
        "huge-ids",
        "listens 60 times with request ids as long as a body may be",
        BOTH,
        bodies::huge_ids,
    ),
    attack(
        "value-bombs",
        "sends arguments of 3.6 MB that are costly once parsed, 64 at once, in nine shapes",
        BOTH,
        values::mcp,
    ),
    attack(
        "rest-bombs",
        "the same as states and commands over REST",
        &[Kind::Universe],
        values::rest,
    ),
    attack(
        "sessions",
        "opens sessions and pings in each, as fast as it can",
        BOTH,
        sessions::flood,
    ),
    attack(
        "get-streams",
        "opens 3,000 sessions with a GET stream each, has them notified of changes and reads nothing",
        BOTH,
        sessions::get_streams,
    ),
    attack(
        "batches",
        "sends batches of 50 calls with answers of 70 KB, 64 at once",
        BOTH,
        sessions::batches,
    ),
    attack(
        "listens",
        "opens 12,000 listens for nothing over 60 HTTP/2 connections",
        BOTH,
        streams::listens,
    ),
    attack(
        "unread-streams",
        "opens 2,000 event streams, has them notified of changes and reads nothing",
        BOTH,
        streams::unread,
    ),
    attack(
        "many-calls",
        "keeps 12,000 calls running over 60 HTTP/2 connections",
        BOTH,
        calls::many,
    ),
    attack(
        "left-calls",
        "starts long legacy calls and goes away",
        &[Kind::Everything],
        calls::left,
    ),
    attack(
        "tasks",
        "makes as many tasks as it can, each with 20 KB of arguments",
        &[Kind::Everything],
        calls::tasks,
    ),
    attack(
        "large-answers",
        "calls for the largest answers on 32 connections and reads them",
        BOTH,
        answers::read,
    ),
    attack(
        "unread-answers",
        "calls for the largest answers on 1,000 connections, several in a row, and reads nothing",
        BOTH,
        answers::unread,
    ),
    attack(
        "sipped-answers",
        "calls for the largest answers on 100 connections and reads 1 KB of each a second",
        BOTH,
        answers::sipped,
    ),
    attack(
        "unread-http2",
        "calls for the largest answers in 100 streams of one HTTP/2 connection without a window",
        BOTH,
        answers::unread_one,
    ),
    attack("unread-http2-many", "the same on 40 connections", BOTH, answers::unread_many),
    attack(
        "rapid-reset",
        "begins calls over HTTP/2 and takes each back at once",
        BOTH,
        http2::rapid_reset,
    ),
    attack(
        "continuations",
        "sends headers over HTTP/2 that go on in further frames without end",
        BOTH,
        http2::continuations,
    ),
];

/// Runs one attack until its time is over, and prints what it achieved.
///
/// # Errors
/// When there is no such attack.
pub(super) fn run(orders: &Orders, target: Target) -> Result<bool> {
    let attack = ATTACKS.iter().find(|attack| attack.name == orders.attack);
    let attack = attack.ok_or("no such attack")?;
    let field = Field::new(target, Duration::from_secs(orders.seconds));
    let done = (attack.run)(&field);
    let mut report = field.tally.to_json();
    if let (Err(error), Some(report)) = (done, report.as_object_mut()) {
        report.insert("error".to_owned(), error.to_string().into());
    }
    say(&report.to_string())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_attacks_have_one_name() {
        let mut names: Vec<_> = ATTACKS.iter().map(|attack| attack.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ATTACKS.len());
    }
}
