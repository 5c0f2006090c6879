//! Runs one attack from start to end with a server, a victim and an attacker, and measures the server's memory.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::attack::Attack;
use super::memory::Process;
use super::part::{Orders, SiegeProcess};
use super::report::{self, Outcome};
use super::target::Kind;
use xtask::process::Server;
use xtask::{Result, fixture, programs, target};

/// The resident memory of the server that ends an attack early, in MiB.
pub(super) const MEMORY_CAP: u64 = 3_072;
/// How long a part may take to start, and to end after its time.
const PART_DEADLINE: Duration = Duration::from_secs(30);
/// When the memory after an attack is read: after the first time if it is back to normal, else after the second.
const SETTLED: Duration = Duration::from_secs(5);
const SETTLED_AT_LAST: Duration = Duration::from_secs(10);

/// A built server, and how it is started.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) kind: Kind,
    binary: PathBuf,
    /// Its RLIMIT_AS in MiB.
    address_space: Option<u64>,
    /// How long each attack lasts.
    seconds: u64,
}

impl Built {
    /// Builds it.
    ///
    /// # Errors
    /// When it does not build.
    pub(super) fn new(kind: Kind, address_space: Option<u64>, seconds: u64) -> Result<Self> {
        let binary = match kind {
            Kind::Everything => fixture::build()?,
            Kind::Universe => programs::given_or_judged(None, "universe-server")?,
        };
        Ok(Self { kind, binary, address_space, seconds })
    }

    /// Runs one attack on a new server, or makes a quiet run.
    ///
    /// # Errors
    /// When the server or the victim cannot start.
    pub(super) fn outcome(&self, attack: Option<&Attack>) -> Result<Outcome> {
        let data = target().join(format!("siege-{}", std::process::id()));
        let server = self.start(&data)?;
        let process = Process(server.id());
        let address = server.url().trim_start_matches("http://");
        let address = address.trim_end_matches("/mcp").parse()?;
        let orders = |seconds| Orders {
            server: self.kind,
            address,
            seconds,
            attack: attack.map_or_else(String::new, |attack| attack.name.to_owned()),
        };
        let mut victim = SiegeProcess::start("victim", &orders(self.seconds))?;
        if victim.line(PART_DEADLINE).as_deref() != Some("ready") {
            return Err("the victim cannot begin; its reason stands above".into());
        }
        process.forget_peak()?;
        let before = process.now()?;
        // The attack lasts until the victim has checked what it holds. That takes at most 30 s.
        let mut attacker = match attack {
            Some(_) => Some(SiegeProcess::start("attacker", &orders(self.seconds + 30))?),
            None => None,
        };
        thread::sleep(Duration::from_millis(300));
        victim.send("go")?;
        let end = Instant::now() + Duration::from_secs(self.seconds) + PART_DEADLINE;
        let (mut report, mut attacker_report, mut peak) = (None, None, before);
        while report.is_none() && Instant::now() < end && process.lives() {
            report = victim.line(Duration::from_millis(100));
            peak = peak.max(process.peak().unwrap_or(peak));
            if peak > MEMORY_CAP {
                attacker_report = attacker_report.or(attacker.take().map(ended));
            }
        }
        // If the server is dead, the victim's calls time out first.
        let report = report.or_else(|| victim.line(PART_DEADLINE));
        let attacker_report = attacker_report.or(attacker.take().map(ended));
        let after = settle(process, before);
        // A server that is still busy with what the attacker left may continue to grow.
        peak = peak.max(process.peak().unwrap_or(peak)).max(after);
        let died = !process.lives();
        drop(server);
        // The folder does not exist for a server that stores nothing.
        let _ = fs::remove_dir_all(&data);
        let parsed = |line: Option<String>| {
            line.and_then(|line| serde_json::from_str(&line).ok()).unwrap_or(Value::Null)
        };
        Ok(Outcome {
            server: self.kind.name(),
            attack: attack.map_or("quiet", |attack| attack.name),
            victim: parsed(report),
            attacker: parsed(attacker_report.flatten()),
            before,
            peak,
            after,
            died,
        })
    }

    fn start(&self, data: &Path) -> Result<Server> {
        let script = match self.address_space {
            Some(mebibytes) => format!(r#"ulimit -v {}; exec "$@""#, mebibytes * 1_024),
            None => r#"exec "$@""#.to_owned(),
        };
        let mut words: Vec<OsString> = ["-c", &script, "sh"].map(OsString::from).to_vec();
        words.push(self.binary.clone().into());
        words.extend(["--listen", "127.0.0.1:0"].map(OsString::from));
        if self.kind == Kind::Universe {
            words.extend(["--data-dir".into(), data.into()]);
        }
        Server::start("sh".as_ref(), &words)
    }
}

fn ended(attacker: SiegeProcess) -> Option<String> {
    attacker.finish(PART_DEADLINE)
}

/// Waits until the server's memory is back to normal, and returns it in MiB. 0 if the server has ended.
fn settle(process: Process, before: u64) -> u64 {
    let begun = Instant::now();
    loop {
        let Ok(now) = process.now() else {
            return 0;
        };
        let time = begun.elapsed();
        let back = now <= before + report::LEFT;
        // A server whose memory keeps growing is not waited for: the machine has other users.
        if time > SETTLED_AT_LAST || (back && time > SETTLED) || now > MEMORY_CAP * 2 {
            return now;
        }
        thread::sleep(Duration::from_millis(250));
    }
}
