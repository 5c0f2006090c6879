//! The official clients against running servers: scenario × client × era × transport.
//!
//! Each client is a small script beside this crate (`interop/`). With the universe server it lists the tools, adds a
//! star with a planet with a moon, reads them back and asks for a universe that does not exist. With the spec server it
//! calls the eight tools on a small project, and reads everything else. With the fixture
//! `mcp-proto/examples/everything.rs` it reads everything, answers questions, receives notifications and cancels a
//! call. With the star-map server it finds a route, draws it, and asks for a system that does not exist. With the chat
//! server it reads and searches the exports made for it, and waits for messages that it writes into one. It prints one
//! line of JSON and exits with 0 or 1.

mod case;
mod verdict;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use self::case::{Case, Scenario, Transport, cases};
use self::verdict::{Verdict, closing_line};
use xtask::install::{self, Installed, Toolbox};
use xtask::process::{self, Server};
use xtask::servers::Shown;
use xtask::twins::Twins;
use xtask::{Result, fixture, is_ci, programs, say};

/// The folder below `xtask` with the scripts and their lock files.
pub(crate) const SOURCE: &str = "interop";

/// The time limit for one client. The Inspector starts a new process for each of its requests.
const CLIENT_DEADLINE: Duration = Duration::from_secs(240);

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The one client to run, by the name of its script without the ending; by default all.
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// The universe server to test; by default it is built.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// The spec server to test; by default it is built.
    #[arg(long, value_name = "PATH")]
    specs: Option<PathBuf>,
    /// The fixture to test, `mcp-proto/examples/everything.rs`; by default it is built.
    #[arg(long, value_name = "PATH")]
    fixture: Option<PathBuf>,
    /// The star-map server to test; by default it is built.
    #[arg(long, value_name = "PATH")]
    starmap: Option<PathBuf>,
    /// The chat server to test; by default it is built.
    #[arg(long, value_name = "PATH")]
    chat: Option<PathBuf>,
}

/// A server that the clients test.
#[derive(Debug)]
struct Subject {
    scenario: Scenario,
    binary: PathBuf,
    /// Its arguments for stdin and stdout.
    stdio: Vec<OsString>,
    /// The export that clients may write to.
    live: Option<PathBuf>,
    /// The server that listens. It ends when this is dropped.
    server: Server,
}

/// Runs every case and prints a table and a closing line. `true` when nothing failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let given = [&arguments.server, &arguments.specs, &arguments.starmap, &arguments.chat];
    if given.iter().any(|path| path.is_none()) {
        programs::build_judged()?;
    }
    let subjects = [
        subject(Scenario::Universe, "universe-server", arguments.server.as_ref())?,
        subject(Scenario::Specs, "spec-server", arguments.specs.as_ref())?,
        subject(Scenario::Starmap, "starmap-server", arguments.starmap.as_ref())?,
        chats(arguments.chat.as_ref())?,
        everything(arguments)?,
    ];
    let twins = Twins::start(&subjects[0].binary);
    let node = install::install(Toolbox::Node, SOURCE);
    let python = install::install(Toolbox::Python, SOURCE);

    let mut verdicts = Vec::new();
    for case in cases().filter(|case| arguments.wants(case)) {
        let installed = match case.client.toolbox {
            Toolbox::Node => &node,
            Toolbox::Python => &python,
        };
        let subject = subjects
            .iter()
            .find(|subject| subject.scenario == case.scenario)
            .ok_or("a scenario has no server")?;
        let verdict = match (installed, case.transport, &twins) {
            (Ok(_), Transport::Twins, Err(missing)) => {
                Verdict::without(&missing.to_string(), is_ci())
            }
            (Ok(installed), _, twins) => try_case(&case, installed, subject, twins.as_ref().ok()),
            (Err(missing), ..) => Verdict::without(missing, is_ci()),
        };
        for line in verdict.lines(&case) {
            say(&line)?;
        }
        verdicts.push(verdict);
    }
    let both = twins.map_or(Ok(true), |twins| twins.both_served())?;
    drop(subjects);
    if verdicts.is_empty() {
        return Err("there is no such client".into());
    }
    say(&closing_line(&verdicts))?;
    Ok(both && !verdicts.iter().any(Verdict::is_failure))
}

impl Arguments {
    fn wants(&self, case: &Case) -> bool {
        self.client.as_deref().is_none_or(|client| client == case.client.name())
    }
}

/// A server of this workspace: the program at `given`, or else one that is built.
fn subject(scenario: Scenario, program: &str, given: Option<&PathBuf>) -> Result<Subject> {
    let shown = Shown::first(program)?;
    let binary = given.cloned().unwrap_or_else(|| shown.binary());
    Ok(Subject {
        scenario,
        server: shown.start(&binary)?,
        binary,
        stdio: shown.on_stdio(),
        live: None,
    })
}

/// The chat server on its fixtures, and on an export that grows while it is watched.
fn chats(given: Option<&PathBuf>) -> Result<Subject> {
    let shown = Shown::first("chat-server")?;
    let fixtures = xtask::root().join("services/chat-server/tests/fixtures");
    let folder = xtask::target().join("shown/chat-server-live");
    let live = folder.join("WhatsApp Chat with Nell.txt");
    fs::create_dir_all(&folder)?;
    fs::write(&live, "13/01/2025, 09:30 - Nell: the first\n")?;
    let text = fs::read_to_string(fixtures.join("chats.toml"))?;
    let text = text.replace("path = \"", &format!("path = \"{}/", fixtures.display()));
    let source = "id = \"live\"\nkind = \"whatsapp-export\"\nzone = \"UTC\"\nwatch = true";
    let config = folder.join("chats.toml");
    let path = live.display();
    fs::write(&config, format!("{text}\n[[source]]\n{source}\npath = \"{path}\"\n"))?;
    let on = |words: Vec<OsString>| -> Vec<OsString> {
        let of = |word: OsString| {
            if word.to_string_lossy().ends_with("/chats.toml") {
                config.clone().into()
            } else {
                word
            }
        };
        words.into_iter().map(of).collect()
    };
    let binary = given.cloned().unwrap_or_else(|| shown.binary());
    Ok(Subject {
        scenario: Scenario::Chat,
        server: Server::start(&binary, &on(shown.on_http()))?,
        binary,
        stdio: on(shown.on_stdio()),
        live: Some(live),
    })
}

fn everything(arguments: &Arguments) -> Result<Subject> {
    let given = arguments.fixture.clone();
    let binary = match given {
        Some(given) => given,
        None => fixture::build_for_tests()?.server,
    };
    Ok(Subject {
        scenario: Scenario::Everything,
        server: fixture::start(&binary)?,
        binary,
        stdio: vec!["--stdio".into()],
        live: None,
    })
}

fn try_case(
    case: &Case,
    installed: &Installed,
    subject: &Subject,
    twins: Option<&Twins>,
) -> Verdict {
    let mut command = installed.command(case.client.script);
    command.args(["--scenario", case.scenario.name()]).args([
        "--era",
        case.era.name(),
        "--suffix",
        &case.suffix(),
    ]);
    match case.transport {
        Transport::Http => command.args(["--url", subject.server.url()]),
        Transport::Twins => command.args(["--url", twins.map_or("", Twins::url)]),
        Transport::Stdio => command.arg("--command").arg(&subject.binary).args(&subject.stdio),
    };
    if let Some(live) = &subject.live {
        command.env("INTEROP_LIVE", live);
    }
    match process::run(&mut command, CLIENT_DEADLINE) {
        Ok(finished) => Verdict::of(&finished),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}
