//! The verdict on a load: compares the histories of all servers with the acknowledged commands, and prints the figures.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::client::number;
use super::reader::history;
use super::world::{World, universe};
use super::{GROWTH, NODES, Played};
use xtask::{Result, say};

/// How long a server may take to return a whole history.
const DEADLINE: Duration = Duration::from_secs(120);
const DIALECTS: [&str; 3] = ["REST", "MCP with a session", "MCP without"];

/// Prints the figures. `true` when nothing is wrong.
///
/// # Errors
/// When a server does not return a history.
pub(super) fn judge(world: &World, played: &Played, time: Duration) -> Result<bool> {
    let mut wrongs = world.wrongs();
    let acknowledged = world.acknowledged();
    let mut there: Vec<BTreeMap<u64, u32>> = Vec::new();
    for (index, id) in world.universes.iter().enumerate() {
        there.push(compare(world, (index, id), &mut wrongs)?);
    }
    let mut lost = BTreeSet::new();
    for command in &acknowledged {
        let counts = there.get(command.universe);
        if counts.is_none_or(|counts| !counts.contains_key(&command.number)) {
            lost.insert(command.number);
        }
    }
    let counts = there.iter().flat_map(|counts| counts.iter());
    let doubled: Vec<u64> =
        counts.filter(|(_, count)| **count > 1).map(|(number, _)| *number).collect();
    let total: usize = there.iter().map(BTreeMap::len).sum();
    if total != acknowledged.len() {
        wrongs.push(format!(
            "{total} commands are there, and {} were acknowledged",
            acknowledged.len()
        ));
    }
    let seconds = time.as_secs_f64();
    say(&format!("the load ran for {seconds:.0} s"))?;
    for (name, count) in DIALECTS.iter().zip(world.answers()) {
        let rate = count as f64 / seconds;
        say(&format!("{name:<28} {count:>8} commands, {rate:.1} a second"))?;
    }
    let outages = world.outages();
    say(
        "fault                       times, and the longest: fault, without an answer, without an event",
    )?;
    for injected in &played.faults {
        let name = injected.fault.name();
        let longest = outages.get(name).copied().unwrap_or_default();
        say(&format!(
            "{name:<28} {:>4}  {:>8.1} s  {:>8.1} s  {:>8.1} s",
            injected.times,
            injected.longest.as_secs_f64(),
            longest.commands.as_secs_f64(),
            longest.feeds.as_secs_f64()
        ))?;
    }
    for (node, [before, after]) in played.memory.iter().enumerate() {
        say(&format!("server {node}: {before} MiB at first, {after} MiB at the end"))?;
        if *after > before + GROWTH {
            wrongs.push(format!("server {node} has grown by more than {GROWTH} MiB"));
        }
    }
    for (complaint, times) in world.complaints() {
        say(&format!("{times:>6} times {complaint}"))?;
    }
    say(&format!(
        "acknowledged {}, lost {}, doubled {}, feeds that saw all in order {}",
        acknowledged.len(),
        lost.len(),
        doubled.len(),
        world.seen().len()
    ))?;
    for wrong in &wrongs {
        say(&format!("WRONG: {wrong}"))?;
    }
    for (name, numbers) in
        [("lost", lost.iter().collect()), ("doubled", doubled.iter().collect::<Vec<_>>())]
    {
        if let Some(first) = numbers.first() {
            say(&format!("WRONG: {name}: {} commands, such as {first}", numbers.len()))?;
        }
    }
    Ok(wrongs.is_empty() && lost.is_empty() && doubled.is_empty())
}

/// Compares a universe between the servers and the readers. Returns how often each command occurs in its history.
fn compare(
    world: &World,
    (index, id): (usize, &str),
    wrongs: &mut Vec<String>,
) -> Result<BTreeMap<u64, u32>> {
    let [first, ..] = world.addresses;
    let state = universe(first, id)?;
    let head = world.head(index).ok_or("the end of a universe is not known")?;
    let (commands, whole) = history(first, (index, id), head, DEADLINE)?;
    for node in 1..NODES {
        let Some(address) = world.addresses.get(node).copied() else {
            continue;
        };
        if universe(address, id)? != state {
            wrongs.push(format!("server {node} has another state of universe {index}"));
        }
        if history(address, (index, id), head, DEADLINE)?.1 != whole {
            wrongs.push(format!("server {node} has another history of universe {index}"));
        }
    }
    for seen in world.seen() {
        if seen.universe == index && seen != whole {
            wrongs.push(format!("a reader of universe {index} saw other events"));
        }
    }
    let mut counts = BTreeMap::new();
    for number in commands.iter().filter_map(number) {
        *counts.entry(number).or_default() += 1;
    }
    Ok(counts)
}
