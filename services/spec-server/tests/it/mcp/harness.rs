//! What the tests of the server share: projects that may be altered, servers, clients.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};
use spec_server::cli::Repository;
use spec_server::mcp::{self, Settings};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Long enough that only what hangs exceeds it.
pub(crate) const HANG: Duration = Duration::from_secs(30);

/// A project of its own: a copy of a fixture that goes with it.
pub(crate) struct Copy(TempDir);

impl Copy {
    /// Of the fixture of that name.
    pub(crate) fn of(fixture: &str) -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let copy = Self::empty();
        copy_folder(&fixtures.join(fixture), copy.root());
        copy
    }

    /// A folder without anything.
    pub(crate) fn empty() -> Self {
        Self(TempDir::with_prefix("spec-server-").unwrap())
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root().join(below)
    }

    pub(crate) fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, below: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
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

/// A server of the project in that folder.
pub(crate) fn settings(root: &Path) -> Settings {
    Settings { repository: Repository { root: Some(root.to_owned()) }, ..Settings::default() }
}

/// A client of a server in this process, by the same code as over stdin and stdout.
pub(crate) async fn client(settings: Settings, era: Era) -> Client {
    let server = mcp::server(settings).unwrap();
    Client::memory(server, ClientConfig::new(era)).await.unwrap()
}

/// Clients of the same project in both eras.
pub(crate) async fn both_eras(settings: &Settings) -> [Client; 2] {
    [client(settings.clone(), Era::Legacy).await, client(settings.clone(), Era::Modern).await]
}

/// The whole result of a tool.
pub(crate) async fn call(client: &Client, tool: &str, arguments: Value) -> Value {
    client.call_tool_raw(tool, arguments).await.unwrap()
}

/// What a tool answers, which is the same as text and in its structure.
pub(crate) async fn structured(client: &Client, tool: &str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    assert_ne!(result["isError"], true, "{tool}: {result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let told: Value = serde_json::from_str(text).unwrap();
    assert_eq!(told, result["structuredContent"]);
    told
}

/// The error that a tool must end in.
pub(crate) async fn error_of(client: &Client, tool: &str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    assert_eq!(result["isError"], true, "{tool}: {result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let mut told: Value = serde_json::from_str(text).unwrap();
    assert!(told["error"]["code"].is_string(), "{told}");
    assert_eq!(told.as_object().map(serde_json::Map::len), Some(1), "{told}");
    told["error"].take()
}

/// The binary, with nothing of the environment's that it reads.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spec-server"));
    for variable in ["SPEC_SERVER_ROOT", "SPEC_SERVER_MODEL_DIR", "NO_COLOR", "RUST_LOG"] {
        command.env_remove(variable);
    }
    command.env("XDG_DATA_HOME", "/nonexistent");
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// The binary listening on a free port, and the address of its endpoint. It ends when the child is dropped.
pub(crate) async fn listening(root: &Path, arguments: &[&str]) -> (Child, String) {
    let mut command = binary();
    command.args(["mcp", "--listen", "127.0.0.1:0", "--root"]);
    command.arg(root).args(arguments);
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

/// The arguments of a tool that takes an id, for that id.
pub(crate) fn with_id(tool: &str, id: &Value) -> Value {
    match tool {
        "get_spec_requirements" | "validate_spec" => json!({ "spec_id": id }),
        "get_scenario" => json!({ "spec_id": id, "requirement": "Loan" }),
        _ => json!({ "change_id": id }),
    }
}
