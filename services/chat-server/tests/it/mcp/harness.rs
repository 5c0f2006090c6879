//! What the tests of the server share: setups with exports, services, clients, the binary.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use chat_server::chat_service::{ChatService, Mode};
use chat_server::config::Config;
use chat_server::index::{Index, Options};
use chat_server::mcp;
use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::{CancellationToken, DropGuard};
use zip::write::SimpleFileOptions;

/// Long enough that only what hangs exceeds it.
pub(crate) const HANG: Duration = Duration::from_secs(30);

pub(crate) const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];

/// A folder of exports with a configuration, and a data directory in it.
pub(crate) struct TestSetup(TempDir);

/// A service whose sources are kept running until this is dropped.
pub(crate) struct RunningService {
    pub(crate) service: ChatService,
    _stop: DropGuard,
}

impl TestSetup {
    /// With this configuration.
    pub(crate) fn new(config: &str) -> Self {
        let setup = Self(TempDir::with_prefix("chat-server-").unwrap());
        setup.write("config.toml", config);
        setup
    }

    /// With the exports of the transcripts and one of their configurations.
    pub(crate) fn of(config: &str) -> Self {
        let setup = Self(TempDir::with_prefix("chat-server-").unwrap());
        copy_folder(&fixtures(), setup.0.path());
        fs::rename(setup.path(config), setup.path("config.toml")).unwrap();
        setup
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, below: &str, contents: &str) {
        self.write_bytes(below, contents.as_bytes());
    }

    pub(crate) fn write_bytes(&self, below: &str, contents: &[u8]) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(crate) fn start(&self) -> RunningService {
        self.start_with(Options::default())
    }

    pub(crate) fn start_with(&self, options: Options) -> RunningService {
        let config = Config::read(&self.path("config.toml")).unwrap();
        let index = Index::open(&self.path("data"), options).unwrap();
        let service = ChatService::new(&config, index, Mode::Runs);
        let stop = CancellationToken::new();
        let (running, until) = (service.clone(), stop.clone());
        tokio::spawn(async move { running.run(&until).await });
        RunningService { service, _stop: stop.drop_guard() }
    }

    /// The binary on this setup.
    pub(crate) fn command(&self, command: &str) -> Command {
        let mut binary = binary();
        binary.arg(command).arg("--config");
        binary.arg(self.path("config.toml")).arg("--data-dir");
        binary.arg(self.path("data"));
        binary
    }

    /// Runs the binary to its end: its exit code, and what it writes to stdout and stderr.
    pub(crate) async fn run(&self, command: &str, arguments: &[&str]) -> (i32, String, String) {
        ended(self.command(command).args(arguments)).await
    }

    /// The binary listening on a free port, and the address of its endpoint. It ends when the child is dropped.
    pub(crate) async fn listening(&self, arguments: &[&str]) -> (Child, String) {
        let mut command = self.command("mcp");
        command.args(["--listen", "127.0.0.1:0"]).args(arguments);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(url) = line.strip_prefix("listening on ") {
                let url = url.to_owned();
                // What it logs from here on is read and dropped, so that it never waits for a reader.
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return (child, url);
            }
        }
        panic!("the server ended before it listened");
    }
}

impl RunningService {
    /// A client of a server in this process, by the same code as over stdin and stdout.
    pub(crate) async fn client(&self, era: Era) -> Client {
        let server = mcp::server(self.service.clone()).unwrap();
        Client::memory(server, ClientConfig::new(era)).await.unwrap()
    }
}

/// Runs a command to its end: its exit code, and what it writes to stdout and stderr.
pub(crate) async fn ended(command: &mut Command) -> (i32, String, String) {
    let output = command.output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

/// A zip of these files.
pub(crate) fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Where the exports of the transcripts are.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The binary, with nothing of the environment's that it reads.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chat-server"));
    for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "RUST_LOG"] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// What a tool answers, which is the same as text and in its structure.
pub(crate) async fn structured(client: &Client, tool: &str, arguments: Value) -> Value {
    let result = client.call_tool_raw(tool, arguments).await.unwrap();
    assert_ne!(result["isError"], true, "{tool}: {result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let told: Value = serde_json::from_str(text).unwrap();
    assert_eq!(told, result["structuredContent"]);
    told
}

/// The code of the error that a tool must end in, and its message.
pub(crate) async fn error_of(client: &Client, tool: &str, arguments: Value) -> (String, String) {
    let result = client.call_tool_raw(tool, arguments.clone()).await.unwrap();
    assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let told: Value = serde_json::from_str(text).unwrap();
    let part = |name: &str| told["error"][name].as_str().unwrap().to_owned();
    (part("code"), part("message"))
}

/// Asks a process to end, as the system does.
pub(crate) fn terminate(child: &Child) {
    signal(child, Signal::TERM);
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    let id = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
    kill_process(id, signal).unwrap();
}
