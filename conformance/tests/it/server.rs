//! The universe server: in this process, over a store or with a reducer that fails if need be; and its binary.

use std::process::Stdio;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use http::Request;
use http_body_util::Full;
use mcp_conformance::{BoxError, Target};
use mcp_proto::StreamableHttpService;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use universe_core::{Applied, Refusal, State};
use universe_server::commands::{CommandService, LogEntry, ServiceLimits};
use universe_server::http::App;
use universe_server::mcp;
use universe_server::rest::RestConfig;
use universe_server::store::{
    Append, AppendError, Appended, Base, CommandId, CreateError, DeleteError, Entry, MemoryLimits,
    MemoryStore, Meta, Page, ReadError, Record, Revision, Snapshot, SnapshotError, TailError,
    TrimError, UniverseId, UniverseLog,
};

/// The `dt` of the tick that a failing store or reducer fails on.
const FATAL: f64 = 666.0;

/// The server, as the special one called `fixture` if a name is given.
pub(crate) fn target(fixture: Option<&str>) -> Target {
    let memory = MemoryStore::new(MemoryLimits::default());
    let limits = ServiceLimits::default();
    let service = match fixture {
        None => CommandService::new(Arc::new(memory), limits),
        Some("failing-store") => CommandService::new(Arc::new(FailingStore(memory)), limits),
        Some("failing-reducer") => {
            CommandService::with_reducer(Arc::new(memory), limits, failing_reducer)
        }
        Some(other) => panic!("there is no fixture {other}"),
    };
    let mcp =
        StreamableHttpService::new(mcp::server(service.clone(), mcp::ToolSet::Core, None).unwrap());
    let app = App::new(service, mcp, RestConfig::default());
    Target::in_process(move |request: Request<Full<Bytes>>| {
        let app = app.clone();
        async move { Ok::<_, BoxError>(app.handle(request).await) }
    })
}

fn failing_reducer(state: &State, command: &universe_core::Command) -> Result<Applied, Refusal> {
    let command_as_sent = serde_json::to_value(command).unwrap();
    assert_ne!(command_as_sent["dt"], FATAL, "the reducer fails on purpose");
    state.apply(command)
}

/// A store in memory that refuses to append the fatal tick.
struct FailingStore(MemoryStore);

fn is_fatal(append: &Append) -> bool {
    append.entries.iter().any(|entry| {
        let command =
            LogEntry::read(&entry.body).unwrap().command.map(|command| command.get().to_owned());
        let command: serde_json::Value =
            serde_json::from_str(command.as_deref().unwrap_or("null")).unwrap();
        command["dt"] == FATAL
    })
}

impl UniverseLog for FailingStore {
    fn append(
        &self,
        id: &UniverseId,
        append: Append,
    ) -> BoxFuture<'_, Result<Appended, AppendError>> {
        if is_fatal(&append) {
            return async { Err(AppendError::Unavailable) }.boxed();
        }
        self.0.append(id, append)
    }

    fn create_from(&self, meta: Meta, base: Base) -> BoxFuture<'_, Result<(), CreateError>> {
        self.0.create_from(meta, base)
    }

    fn landed(
        &self,
        id: &UniverseId,
        command: CommandId,
    ) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        self.0.landed(id, command)
    }

    fn delete(
        &self,
        id: &UniverseId,
        expected: Option<Revision>,
    ) -> BoxFuture<'_, Result<(), DeleteError>> {
        self.0.delete(id, expected)
    }

    fn record(&self, id: &UniverseId) -> BoxFuture<'_, Result<Record, ReadError>> {
        self.0.record(id)
    }

    fn list(&self, page: Page) -> BoxFuture<'_, Result<Vec<Record>, ReadError>> {
        self.0.list(page)
    }

    fn count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.0.count()
    }

    fn base(&self, id: &UniverseId) -> BoxFuture<'_, Result<Base, ReadError>> {
        self.0.base(id)
    }

    fn trim(
        &self,
        id: &UniverseId,
        last: CommandId,
        base: Base,
    ) -> BoxFuture<'_, Result<(), TrimError>> {
        self.0.trim(id, last, base)
    }

    fn oldest_keyed(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Revision>, ReadError>> {
        self.0.oldest_keyed(id)
    }

    fn snapshot(&self, id: &UniverseId) -> BoxFuture<'_, Result<Option<Snapshot>, ReadError>> {
        self.0.snapshot(id)
    }

    fn put_snapshot(
        &self,
        id: &UniverseId,
        snapshot: Snapshot,
    ) -> BoxFuture<'_, Result<(), SnapshotError>> {
        self.0.put_snapshot(id, snapshot)
    }

    fn tail(
        &self,
        id: &UniverseId,
        after: Revision,
    ) -> BoxStream<'static, Result<Entry, TailError>> {
        self.0.tail(id, after)
    }
}

/// The server's binary with the demo universe, built if need be, on a free port. It ends when the child is dropped.
pub(crate) async fn binary() -> (Child, String) {
    let program = built("universe-server").await;
    let mut command = Command::new(program);
    command.args(["--listen", "127.0.0.1:0", "--store", "memory", "--demo"]);
    listening(&mut command).await
}

/// The path of one of the programs that tests of the workspace come with, built if need be: all of them in one way,
/// that of `cargo test --workspace`. Asked for alone, cargo would compile it once more, with other features.
pub(crate) async fn built(program: &str) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        // Cargo would take what it says of this test's package for a change, and compile much again.
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    let built = cargo
        .args(["build", "--quiet", "--workspace"])
        .args(["--bin", "universe-server", "--example", "everything"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .await
        .unwrap();
    assert!(built.status.success(), "{program} does not build");
    let built = String::from_utf8(built.stdout).unwrap();
    let executable = built.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_it = message["target"]["name"] == program;
        message["executable"].as_str().filter(|_| is_it).map(str::to_owned)
    });
    executable.unwrap()
}

/// A server that says on stderr where it listens. It ends when the child is dropped.
pub(crate) async fn listening(command: &mut Command) -> (Child, String) {
    let mut child = command.stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
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
