//! What the tests of the server share: the small map as a file, servers over it, and clients of both eras.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};
use starmap_server::UniverseServer;
use starmap_server::load;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::common::small;

/// Long enough that only what hangs exceeds it.
const HANG: Duration = Duration::from_secs(60);

pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// The small map as a built file, in a folder of its own.
pub(crate) struct Built {
    folder: TempDir,
}

/// The answer of a tool: what it gave, or the body of its error.
pub(crate) type Outcome = Result<Value, Value>;

impl Built {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        load::write(&small(), &folder.path().join("map.graph")).unwrap();
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn graph(&self) -> PathBuf {
        self.folder.path().join("map.graph")
    }

    /// A dump of the API for some of its systems.
    pub(crate) fn dump(&self) -> PathBuf {
        let path = self.folder.path().join("dump.json");
        std::fs::write(&path, dump().to_string()).unwrap();
        path
    }

    /// A server that has loaded it.
    pub(crate) fn server(&self) -> UniverseServer {
        let server = UniverseServer::new(Some(&self.graph())).unwrap();
        server.load_graph().unwrap();
        server
    }

    /// The same with the overlay of [`Built::dump`].
    pub(crate) fn live_server(&self) -> UniverseServer {
        let server = self.server().with_activity(self.dump());
        server.load_activity().unwrap();
        server
    }
}

/// Marrow is camped, Tarn is a little dangerous, in Nadir there is ratting; Rook and Sable are fought for.
pub(crate) fn dump() -> Value {
    let id = crate::common::id_of;
    json!({
        "system_kills": [
            { "system_id": id("Marrow"), "ship_kills": 15, "pod_kills": 6, "npc_kills": 3 },
            { "system_id": id("Tarn"), "ship_kills": 4, "pod_kills": 1, "npc_kills": 0 },
            { "system_id": id("Nadir"), "ship_kills": 0, "pod_kills": 0, "npc_kills": 350 },
            { "system_id": 39_999_999, "ship_kills": 9, "pod_kills": 9, "npc_kills": 9 },
        ],
        "system_jumps": [
            { "system_id": id("Jita"), "ship_jumps": 812 },
            { "system_id": id("Marrow"), "ship_jumps": 60 },
        ],
        "fw_systems": [
            { "solar_system_id": id("Sable"), "owner_faction_id": 500_001, "occupier_faction_id": 500_004,
              "contested": "vulnerable", "victory_points": 3_000, "victory_points_threshold": 3_000 },
            { "solar_system_id": id("Rook"), "owner_faction_id": 500_002, "occupier_faction_id": 500_002,
              "contested": "contested", "victory_points": 750, "victory_points_threshold": 3_000 },
        ],
    })
}

/// A client in memory.
pub(crate) async fn connect(server: &UniverseServer, era: Era) -> Client {
    let config = ClientConfig::new(era);
    Client::memory(server.server().clone(), config).await.unwrap()
}

/// Calls a tool and checks that text and structured content agree.
pub(crate) async fn call(client: &Client, tool: &str, arguments: Value) -> Outcome {
    let result = client.call_tool_raw(tool, arguments).await.unwrap();
    let text = result["content"][0]["text"].as_str().unwrap();
    let body: Value = serde_json::from_str(text).unwrap();
    if result["isError"] == true {
        assert!(body["error"]["data"].is_object(), "{body}");
        assert_eq!(result["structuredContent"], body);
        return Err(body["error"].clone());
    }
    assert_eq!(result["structuredContent"], body);
    assert_eq!(body["data_version"], "hand-made", "{body}");
    Ok(body)
}

/// Calls a tool in both eras, which must answer the same. The age of the activity is left out.
pub(crate) async fn ask_in_both_eras(
    server: &UniverseServer,
    tool: &str,
    arguments: Value,
) -> Outcome {
    let mut answers = Vec::new();
    for era in ERAS {
        let client = connect(server, era).await;
        let mut answer = call(&client, tool, arguments.clone()).await;
        if let Ok(Value::Object(body)) = &mut answer {
            let nested =
                body.get_mut("activity").and_then(|it| it.as_object_mut()?.remove("age_seconds"));
            let age = body.remove("age_seconds").or(nested);
            assert!(age.is_none_or(|age| age.as_u64().unwrap() < 3_600));
        }
        answers.push(answer);
    }
    assert_eq!(answers[0], answers[1], "{tool} {arguments}");
    answers.swap_remove(1)
}

/// Arguments for the way from Jita to Amarr, and `more`.
pub(crate) fn to_amarr(more: Value) -> Value {
    let mut arguments = json!({"origin": "Jita", "destination": "Amarr"});
    if let Value::Object(more) = more {
        arguments.as_object_mut().unwrap().extend(more);
    }
    arguments
}

/// The names of a list of systems.
pub(crate) fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|it| it["name"].as_str().or(it.as_str()).or(it[0].as_str()).unwrap()).collect()
}

/// One of the binaries, with nothing of the environment's that it reads.
pub(crate) fn binary(name: &str) -> Command {
    let path = match name {
        "starmap-server" => env!("CARGO_BIN_EXE_starmap-server"),
        "aria-universe" => env!("CARGO_BIN_EXE_aria-universe"),
        other => panic!("there is no binary {other}"),
    };
    let mut command = Command::new(path);
    for variable in ["ARIA_UNIVERSE_GRAPH", "ARIA_UNIVERSE_LOG_LEVEL", "RUST_LOG"] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `starmap-server` to its end.
pub(crate) async fn run(graph: Option<&Path>, arguments: &[&str]) -> Ended {
    let mut command = binary("starmap-server");
    command.args(arguments);
    if let Some(graph) = graph {
        command.env("ARIA_UNIVERSE_GRAPH", graph);
    }
    finish(command).await
}

/// Runs a command to its end.
pub(crate) async fn finish(mut command: Command) -> Ended {
    let output = soon(command.output()).await.unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A server that listens; killed when dropped.
pub(crate) struct Listening {
    pub(crate) url: String,
    _child: Child,
}

impl Listening {
    pub(crate) async fn new(graph: &Path, more: &[&str]) -> Self {
        let mut command = binary("starmap-server");
        command.args(["mcp", "--listen", "127.0.0.1:0", "--graph"]);
        command.arg(graph).args(more).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = loop {
            let line = soon(lines.next_line()).await.unwrap();
            let line = line.expect("it does not listen");
            if let Some(url) = line.strip_prefix("listening on ") {
                break url.to_owned();
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { url, _child: child }
    }
}

/// Waits for what must come.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANG, what).await.expect("it hangs")
}
