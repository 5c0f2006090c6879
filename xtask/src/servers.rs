//! The servers of this workspace, as transcripts and clients start them.

use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};

use crate::process::Server;
use crate::{Result, programs, root, target};

/// A server for transcripts, or for tests with clients.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// Its name in cargo.
    pub program: &'static str,
    /// The folder of its transcripts.
    pub transcripts: &'static str,
    /// The transcripts' name for the data that it serves. `None` if its transcripts work with any data.
    pub fixture: Option<&'static str>,
    /// Its arguments, without those for a transport. [`ROOT`] and [`DATA`] are placeholders for folders.
    arguments: &'static [&'static str],
    /// The arguments that select stdin and stdout.
    stdio: &'static [&'static str],
    /// Whether its transcripts use only messages, so that they also apply to pipes.
    pub on_pipes: bool,
}

/// The project's folder.
const ROOT: &str = "{root}";
/// A separate folder for this server and this transport: an index has only one writing process.
const DATA: &str = "{data}";

/// All servers. Clients test the first entry of each program.
pub const SERVERS: [Shown; 8] = [
    Shown {
        program: "universe-server",
        transcripts: "universe",
        fixture: None,
        arguments: &["--demo", "--store", "memory"],
        stdio: &["--stdio"],
        on_pipes: false,
    },
    Shown::of_specs(None, &["mcp", "--root", "{root}/services/spec-server/tests/fixtures/library"]),
    Shown::of_specs(
        Some("empty"),
        &["mcp", "--root", "{root}/services/spec-server/tests/fixtures/empty"],
    ),
    Shown::of_specs(
        Some("broken"),
        &["mcp", "--root", "{root}/services/spec-server/tests/fixtures/broken"],
    ),
    Shown::of_specs(
        Some("no-index"),
        &[
            "mcp",
            "--root",
            "{root}/services/spec-server/tests/fixtures/library",
            "--index",
            "explicit",
        ],
    ),
    Shown {
        program: "starmap-server",
        transcripts: "starmap",
        fixture: None,
        arguments: &["mcp", "--graph", "{root}/conformance/transcripts/starmap/map.json"],
        stdio: &[],
        on_pipes: true,
    },
    Shown::of_chats(
        None,
        &[
            "mcp",
            "--data-dir",
            DATA,
            "--config",
            "{root}/services/chat-server/tests/fixtures/chats.toml",
        ],
    ),
    Shown::of_chats(
        Some("telegram-only"),
        &[
            "mcp",
            "--data-dir",
            DATA,
            "--config",
            "{root}/services/chat-server/tests/fixtures/telegram-only.toml",
        ],
    ),
];

impl Shown {
    const fn of_specs(fixture: Option<&'static str>, arguments: &'static [&'static str]) -> Self {
        Self {
            program: "spec-server",
            transcripts: "spec",
            fixture,
            arguments,
            stdio: &[],
            on_pipes: true,
        }
    }

    const fn of_chats(fixture: Option<&'static str>, arguments: &'static [&'static str]) -> Self {
        Self {
            program: "chat-server",
            transcripts: "chat",
            fixture,
            arguments,
            stdio: &[],
            on_pipes: true,
        }
    }

    /// The entry of a program that clients test.
    ///
    /// # Errors
    /// When the program does not exist.
    pub fn first(program: &str) -> Result<Self> {
        let found = SERVERS.into_iter().find(|server| server.program == program);
        found.ok_or_else(|| format!("there is no server {program}").into())
    }

    /// Its arguments for stdin and stdout.
    pub fn on_stdio(&self) -> Vec<OsString> {
        self.with(self.stdio, "stdio")
    }

    /// Starts the server on a port that it chooses.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start(&self, binary: &Path) -> Result<Server> {
        Server::start(binary, &self.on_http())
    }

    /// Its arguments for listening on a port that it chooses.
    pub fn on_http(&self) -> Vec<OsString> {
        self.with(&["--listen", "127.0.0.1:0"], "http")
    }

    /// The shell command that runs its judged program on stdin and stdout.
    ///
    /// # Errors
    /// When a path of this machine is not UTF-8.
    pub fn command(&self) -> Result<String> {
        let binary = self.binary().into_os_string();
        let words: Option<Vec<String>> =
            iter::once(binary).chain(self.on_stdio()).map(|word| word.into_string().ok()).collect();
        let words = words.ok_or("the project is in a folder whose name is not UTF-8")?;
        Ok(shlex::try_join(words.iter().map(String::as_str))?)
    }

    /// The path of its judged program.
    pub fn binary(&self) -> PathBuf {
        programs::judged(self.program)
    }

    fn with(&self, transport: &[&str], data: &str) -> Vec<OsString> {
        let root = root().to_string_lossy().into_owned();
        let data = target()
            .join("shown")
            .join([self.program, self.fixture.unwrap_or("any"), data].join("-"));
        let data = data.to_string_lossy().into_owned();
        let arguments = self.arguments.iter().chain(transport);
        arguments
            .map(|argument| argument.replace(ROOT, &root).replace(DATA, &data).into())
            .collect()
    }
}
