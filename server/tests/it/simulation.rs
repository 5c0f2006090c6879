//! Several servers on one store, simulated: a virtual clock, a network that delays, loses and parts, servers that
//! crash. A seed makes a schedule of faults and requests, and what clients saw is held to be linearizable for each
//! universe.
//!
//! `UNIVERSE_SCHEDULES` says how many schedules are tried, `UNIVERSE_SCHEDULE` the only one.

mod history;
mod weather;
mod wire;
mod world;

use std::ops::Range;

use history::judge;
use weather::Flaw;
use world::{Tally, World};

/// How many schedules are tried where nothing else is said.
const SCHEDULES: u64 = 100;
/// Within so many schedules a flaw is found.
const TRIES: u64 = 60;

fn schedules() -> Range<u64> {
    let wanted = |name| std::env::var(name).ok().map(|it| it.parse().unwrap());
    match wanted("UNIVERSE_SCHEDULE") {
        Some(one) => one..one + 1,
        None => 0..wanted("UNIVERSE_SCHEDULES").unwrap_or(SCHEDULES),
    }
}

/// Plays one schedule on a clock of its own.
fn play(seed: u64, flaw: Flaw) -> (World, Result<(), String>) {
    // What the service draws, it draws from here.
    fastrand::seed(seed);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let world = World::new(seed, flaw).await;
        world.run().await;
        let verdict = match world.unanswered() {
            Some(problem) => Err(problem),
            None => judge(&world.history(), &world.logs().await),
        };
        (world, verdict)
    })
}

#[test]
fn what_clients_see_of_servers_that_fail_is_linearizable() {
    let mut tally = Tally::default();
    for seed in schedules() {
        let (world, verdict) = play(seed, Flaw::None);
        if let Err(problem) = verdict {
            panic!("schedule {seed}: {problem}\n{:#?}", world.history());
        }
        tally += world.tally();
    }
    println!("{:?}: {tally:?}", schedules());
    // Where nothing goes wrong, nothing is shown.
    let Tally { written, read, unknown, crashes, partitions, lost, conflicts } = tally;
    for count in [written, read, unknown, crashes, partitions, lost, conflicts] {
        assert!(count > 0, "{tally:?}");
    }
}

#[test]
fn a_schedule_is_the_same_each_time() {
    for seed in 0..10 {
        let [one, two] = [(); 2].map(|()| play(seed, Flaw::None).0.history());
        assert_eq!(format!("{one:?}"), format!("{two:?}"), "schedule {seed}");
    }
}

#[test]
fn stores_that_break_their_word_are_found() {
    for (flaw, problem) in [
        (Flaw::StaleRecords, "before it began"),
        (Flaw::FalseAcknowledgements, "is not in the log"),
        (Flaw::FalseRefusals, "had failed"),
        (Flaw::ForgottenKeys, "twice"),
    ] {
        let mut verdicts = (0..TRIES).filter_map(|seed| play(seed, flaw).1.err());
        let found = verdicts.find(|it| it.contains(problem));
        assert!(found.is_some(), "{flaw:?} was not found");
    }
}
