//! CPU and memory of processes and of their children, from Linux's `/proc` (proc(5)); not available elsewhere.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use serde::Serialize;

/// A clock tick of `/proc`: there are 100 a second on every Linux that Rust runs on.
const TICK: Duration = Duration::from_millis(10);

/// What processes have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// User and system time, in seconds.
    pub cpu_seconds: f64,
    /// The most memory that each has had at once, summed, in bytes.
    pub peak_bytes: u64,
    /// The memory that they have now, in bytes.
    pub bytes: u64,
}

/// What these processes and all their children have used; nothing where it cannot be known.
pub(super) fn of(roots: &[u32]) -> Option<Usage> {
    if roots.is_empty() {
        return None;
    }
    let all: Vec<_> = processes();
    let mut family: BTreeSet<u32> = roots.iter().copied().collect();
    loop {
        let is_new = |it: &&Stat| family.contains(&it.parent) && !family.contains(&it.id);
        let children: Vec<u32> = all.iter().filter(is_new).map(|it| it.id).collect();
        if children.is_empty() {
            break;
        }
        family.extend(children);
    }
    let mut usage = Usage::default();
    let mut seen = false;
    for process in all.iter().filter(|it| family.contains(&it.id)) {
        seen = true;
        usage.cpu_seconds += process.cpu.as_secs_f64();
        let (peak, now) = memory(process.id).unwrap_or_default();
        usage.peak_bytes += peak;
        usage.bytes += now;
    }
    seen.then_some(usage)
}

/// The CPU time of this program.
pub(super) fn own() -> Option<Duration> {
    Some(stat("self")?.cpu)
}

/// How many cores this program has used since `before`.
pub(super) fn cores(before: Option<Duration>, since: Duration) -> Option<f64> {
    let used = own()?.checked_sub(before?)?;
    Some(used.as_secs_f64() / since.as_secs_f64().max(f64::MIN_POSITIVE))
}

struct Stat {
    id: u32,
    parent: u32,
    cpu: Duration,
}

fn processes() -> Vec<Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let ids = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    ids.filter_map(|id| stat(&id)).collect()
}

fn stat(process: &str) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (id, _) = text.split_once(' ')?;
    // The name is in parentheses and may hold some itself.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u32>().ok();
    Some(Stat {
        id: id.parse().ok()?,
        parent: ticks(1)?,
        cpu: TICK * ticks(11)?.saturating_add(ticks(12)?),
    })
}

/// The most memory that a process has had, and what it has now.
fn memory(process: u32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kibibytes * 1_024)
    };
    Some((bytes("VmHWM:")?, bytes("VmRSS:")?))
}
