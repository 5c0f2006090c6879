//! A step with one client: what happens, and whether the client object works before and after it.
//!
//! It works when its next call succeeds, and when it is notified of each of the next two changes of the subscribed
//! resource. A call may fail once if the error says to send it again. A modern client listens again when its
//! subscription ended, as its library asks; changes are made once it does. A legacy client has no such sign, so the
//! change after the call must reach it, however long the library waits until it opens its stream again.

mod act;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Program, Row, Transport};
use super::driver::{Driver, Target};
use super::proxy::Proxy;
use super::step::Step;
use super::table::Cell;
use super::universe::{self, SMALL, Universe};
use crate::era::Era;
use xtask::{Result, install};

/// The resource that every client subscribes to. Each change of the universe changes it.
const WATCHED: &str = "universe://sol/summary";

/// How long a notification may take, and a client until it listens. A client reconnects within some two seconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long no notification arrives before the next change is made.
const QUIET: Duration = Duration::from_millis(300);
const POLL: Duration = Duration::from_millis(50);

/// What the steps of a row share.
#[derive(Debug)]
pub(super) struct Stage<'r> {
    pub(super) server: &'r Path,
    pub(super) program: &'r Program,
    pub(super) row: Row,
    /// Where data directories and logs are.
    pub(super) folder: &'r Path,
}

/// A server with a connected client, perhaps behind a proxy.
struct Pair {
    row: Row,
    /// It ends before the server: otherwise its process would take the data directory.
    driver: Driver,
    proxy: Option<Proxy>,
    universe: Universe,
}

impl Stage<'_> {
    /// Plays a step with a new server and a new client.
    ///
    /// # Errors
    /// When the server or the client cannot be started.
    pub(super) fn play(&self, step: Step) -> Result<Cell> {
        let data = self.folder.join("data");
        remove(&data)?;
        if step.is_large() {
            install::mirror(&self.large()?, &data)?;
        }
        let universe = Universe::start(self.server, &data)?;
        let on_http = self.row.transport == Transport::Http;
        let proxy = step.proxy().filter(|_| on_http);
        let proxy = proxy.map(|kind| Proxy::start(kind, universe.address())).transpose()?;
        let target = if on_http {
            let address = proxy.as_ref().map_or(universe.address(), Proxy::address);
            Target::Url(format!("http://{address}/mcp"))
        } else {
            Target::Command(universe.command())
        };
        let log = File::create(self.folder.join("client.log"))?;
        let driver = Driver::start(self.program, self.row.era, &target, log)?;
        let mut pair = Pair { row: self.row, driver, proxy, universe };
        let played = pair.begin().and_then(|()| pair.happen(step)).and_then(|()| pair.works());
        Ok(played.map_or_else(|error| Cell::Fails(error.to_string()), |()| Cell::Passed))
    }

    /// A data directory with the large universe, which is made once.
    fn large(&self) -> Result<PathBuf> {
        let large = self.folder.join("large");
        if !large.exists() {
            let unfinished = self.folder.join("unfinished");
            universe::make_large(self.server, &unfinished, &self.folder.join("large.json"))?;
            fs::rename(unfinished, &large)?;
        }
        Ok(large)
    }
}

impl Pair {
    /// Connects and subscribes, and waits for the first notification.
    fn begin(&mut self) -> Result<()> {
        self.driver.connected(self.row.era)?;
        self.driver.ask(&json!({ "do": "subscribe", "uri": WATCHED }))?;
        self.call()?;
        self.listens()?;
        // The stream of a legacy client may open only now, so one change may be too early for it.
        let end = Instant::now() + PATIENCE;
        loop {
            self.universe.change()?;
            if self.updated(0, PATIENCE / 10)? {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(self.with_trouble("no update arrives"));
            }
        }
    }

    fn happen(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Kill => self.universe.kill(),
            Step::Upgrade => self.universe.upgrade(),
            Step::FrozenClient => self.freeze_client(),
            Step::FrozenServer => self.freeze_server(),
            Step::LateByte => self.late_byte(),
            // The proxy does it all the time.
            Step::Compressing | Step::Buffering => Ok(()),
            Step::Pages => self.pages(),
            Step::Whole => self.whole(),
        }
    }

    /// Whether the client works as before.
    fn works(&mut self) -> Result<()> {
        self.call()?;
        self.listens()?;
        for _ in 0..2 {
            let before = self.settled()?;
            self.universe.change()?;
            if self.updated(before, PATIENCE)? {
                continue;
            }
            self.universe.change()?;
            let later = self.updated(before, PATIENCE / 2)?;
            let seen = if later {
                "an update was missed; the next one arrived"
            } else {
                "no update arrives"
            };
            return Err(self.with_trouble(seen));
        }
        Ok(())
    }

    /// Calls a tool. An error that says to send the call again is followed.
    fn call(&mut self) -> Result<()> {
        let order = small_call();
        let first = self.driver.ask(&order).and_then(|answer| text(&answer).map(drop));
        match first {
            Err(error) if error.to_string().contains("again") => {
                self.driver.ask(&order).and_then(|answer| text(&answer).map(drop))
            }
            first => first,
        }
    }

    /// Waits until a modern client listens.
    fn listens(&mut self) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        while self.row.era == Era::Modern {
            if self.driver.look()?.get("listening").and_then(Value::as_bool) == Some(true) {
                break;
            }
            if Instant::now() >= end {
                return Err(self.with_trouble("the client does not listen"));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// The number of updates that have arrived, once no more do.
    fn settled(&mut self) -> Result<u64> {
        let mut count = self.updates()?;
        let end = Instant::now() + PATIENCE;
        loop {
            thread::sleep(QUIET);
            let now = self.updates()?;
            if now == count || Instant::now() >= end {
                return Ok(now);
            }
            count = now;
        }
    }

    /// Whether more than `before` updates arrive within `patience`.
    fn updated(&mut self, before: u64, patience: Duration) -> Result<bool> {
        let end = Instant::now() + patience;
        loop {
            if self.updates()? > before {
                return Ok(true);
            }
            if Instant::now() >= end {
                return Ok(false);
            }
            thread::sleep(POLL);
        }
    }

    fn updates(&mut self) -> Result<u64> {
        let seen = self.driver.look()?;
        Ok(seen.get("updates").and_then(Value::as_u64).ok_or("a driver that does not count")?)
    }

    /// A failure, with what the client complained of.
    fn with_trouble(&mut self, seen: &str) -> Box<dyn std::error::Error> {
        let trouble = self.driver.look().ok();
        let trouble = trouble.as_ref().and_then(|seen| seen.get("trouble")?.as_str());
        match trouble {
            None | Some("") => seen.into(),
            Some(trouble) => format!("{seen} ({trouble})").into(),
        }
    }
}

/// Removes the data directory of the cell before. A process of its client may still be ending there.
fn remove(data: &Path) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    while data.exists() {
        match fs::remove_dir_all(data) {
            Err(error) if Instant::now() >= end => return Err(error.into()),
            _ => thread::sleep(POLL),
        }
    }
    Ok(())
}

/// A call with a short answer.
fn small_call() -> Value {
    let arguments =
        json!({ "universeId": SMALL, "select": { "ids": ["earth"], "members": ["name"] } });
    json!({ "do": "call", "name": "get_universe_state", "arguments": arguments })
}

/// The text of a tool's answer.
///
/// # Errors
/// The text, if it is an error.
fn text(answer: &Value) -> Result<&str> {
    let text = answer.get("text").and_then(Value::as_str).ok_or("an answer without a text")?;
    if answer.get("isError").and_then(Value::as_bool) == Some(true) {
        return Err(text.into());
    }
    Ok(text)
}
