//! Sessions in a file outlive the process that opened them: modelcontextprotocol/python-sdk#1676,
//! BuilderIO/agent-native#5547, anthropics/claude-code#83404. Most clients do not begin again on 404.
//!
//! A process that is killed is a copy of its file, taken while it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request};
use http_body_util::Full;
use hyper::body::Bytes;
use mcp_proto::http::HttpConfig;
use mcp_proto::{
    Change, FileSessions, FileSessionsError, MemorySessionsConfig, Principal, Server, SessionId,
    SessionStore, SessionStoreError, StreamableHttpService,
};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{PATIENCE, Raw, open_session};
use crate::events::{Stream, get, open};
use crate::resume::session_of;
use crate::subscriptions::builder;

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// A server with its sessions in a file.
struct Process {
    server: Server,
    service: StreamableHttpService,
    sessions: Arc<FileSessions>,
    path: PathBuf,
}

impl Process {
    fn start(path: PathBuf) -> Self {
        let sessions = Arc::new(FileSessions::open(&path).unwrap());
        let server = builder().build().unwrap();
        let store: Arc<dyn SessionStore> = sessions.clone();
        let config = HttpConfig::default();
        let service = StreamableHttpService::with_sessions(server.clone(), config, store);
        Self { server, service, sessions, path }
    }

    /// What the next process finds when this one is killed now.
    fn killed(&self) -> Self {
        let name = format!("{}+", self.path.file_name().unwrap().to_str().unwrap());
        let path = self.path.with_file_name(name);
        fs::copy(&self.path, &path).unwrap();
        fs::copy(beside(&self.path, "-wal"), beside(&path, "-wal")).unwrap();
        Self::start(path)
    }

    async fn ping(&self, session: &str) -> u16 {
        Raw::legacy(session, "ping", &json!({})).send(&self.service).await.status.as_u16()
    }

    async fn subscribe(&self, session: &str, uri: &str) {
        let subscribe = Raw::legacy(session, "resources/subscribe", &json!({ "uri": uri }));
        assert_eq!(subscribe.send(&self.service).await.result(), json!({}));
    }

    async fn delete(&self, session: &str) -> u16 {
        let delete = Raw::bare(Method::DELETE).set("mcp-session-id", session);
        delete.send(&self.service).await.status.as_u16()
    }

    /// A list that changes is reported on every stream: whatever comes before it was all that was said.
    fn mark(&self) -> Value {
        self.server.notify(Change::PromptsListChanged);
        list_changed("prompts")
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn file() -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("sessions");
    (dir, path)
}

/// Changes the file while no process has it.
fn edit(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn list_changed(of: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": format!("notifications/{of}/list_changed")})
}

fn updated(uri: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}})
}

/// All that is said when everything may have changed.
async fn says_everything(stream: &mut Stream<mcp_proto::http::ResponseBody>) {
    for said in [list_changed("tools"), list_changed("prompts"), list_changed("resources")] {
        assert_eq!(stream.message().await.unwrap(), said);
    }
    assert_eq!(stream.message().await.unwrap(), updated("x:1"));
}

#[tokio::test]
async fn a_session_goes_on_after_its_process_was_killed() {
    for version in VERSIONS {
        let (_dir, path) = file();
        let first = Process::start(path);
        let session = session_of(&first.service, version).await;
        let ended = session_of(&first.service, version).await;
        first.subscribe(&session, "x:1").await;
        let mut stream = open(&first.service, get(&session, None)).await;
        let mark = first.mark();
        assert_eq!(stream.message().await.unwrap(), mark, "a new session has missed nothing");
        assert_eq!(first.delete(&ended).await, 204);

        let second = first.killed();
        assert_eq!(second.sessions.len(), 1);
        assert_eq!(second.ping(&session).await, 200, "{version}");
        assert_eq!(second.ping(&ended).await, 404, "{version}");
        // The client knows no last event, and may have missed some.
        let mut stream = open(&second.service, get(&session, None)).await;
        says_everything(&mut stream).await;
        second.server.notify(Change::resource_updated("x:1"));
        assert_eq!(stream.message().await.unwrap(), updated("x:1"));
        // What it subscribes to now is there after the next kill, too.
        second.subscribe(&session, "x:2").await;
        let third = second.killed();
        let mut stream = open(&third.service, get(&session, None)).await;
        says_everything(&mut stream).await;
        assert_eq!(stream.message().await.unwrap(), updated("x:2"));
        assert_eq!(third.delete(&session).await, 204);
        assert!(third.killed().sessions.is_empty());
    }
}

#[tokio::test]
async fn what_may_have_been_missed_is_said_once() {
    let (_dir, path) = file();
    let first = Process::start(path);
    let session = open_session(&first.service).await;
    first.subscribe(&session, "x:1").await;
    let mut stream = open(&first.service, get(&session, None)).await;
    assert_eq!(stream.event().await.unwrap().data, "");
    let second = first.killed();
    let mut resumed = open(&second.service, get(&session, Some(&stream.last))).await;
    says_everything(&mut resumed).await;
    drop(resumed);
    // The stream that waits for its client goes on, and so does a new one after its end.
    let mut again = open(&second.service, get(&session, None)).await;
    let mark = second.mark();
    assert_eq!(again.message().await.unwrap(), mark);
    // A call's stream is not there any more, and the session is.
    let lost = open(&second.service, get(&session, Some("c0123456789abcdef-1"))).await;
    let (status, message) = lost.refusal().await;
    assert_eq!(status, 400);
    assert!(message.contains("started again, which ends calls"), "{message}");
    // An answer to a question of the process that has ended is taken, and means nothing.
    let answer = json!({"jsonrpc": "2.0", "id": "q", "result": {}}).to_string();
    let answer = Raw::post(answer).set("mcp-session-id", &session);
    assert_eq!(answer.send(&second.service).await.status, 202);
}

#[tokio::test]
async fn a_session_is_still_its_caller_s_alone() {
    let (_dir, path) = file();
    let first = Process::start(path);
    let by = |raw: Raw, caller: &str| {
        let mut request: Request<Full<Bytes>> = raw.request();
        request.extensions_mut().insert(Principal(caller.to_owned()));
        request
    };
    let opened = first.service.handle(by(Raw::initialize("2025-11-25"), "ada")).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let second = first.killed();
    for (caller, status) in [("bob", 404), ("ada", 200), ("bob", 404)] {
        let ping = by(Raw::legacy(&session, "ping", &json!({})), caller);
        assert_eq!(second.service.handle(ping).await.status(), status, "{caller}");
    }
}

#[tokio::test]
async fn the_file_has_no_ids_and_belongs_to_its_owner() {
    let (dir, path) = file();
    let process = Process::start(path.clone());
    let session = open_session(&process.service).await;
    for file in fs::read_dir(dir.path()).unwrap() {
        let file = file.unwrap();
        let bytes = fs::read(file.path()).unwrap();
        let is_there = bytes.windows(session.len()).any(|part| part == session.as_bytes());
        assert!(!is_there, "{file:?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = file.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file:?}");
        }
    }
    // What stands in the file for the id opens nothing.
    drop(process);
    let hash: String = Connection::open(&path)
        .unwrap()
        .query_row("SELECT lower(hex(key)) FROM session", [], |row| row.get(0))
        .unwrap();
    assert_eq!(Process::start(path).ping(&hash).await, 404);
}

#[tokio::test]
async fn one_process_has_the_file_until_it_is_closed() {
    let (_dir, path) = file();
    let first = Process::start(path.clone());
    let session = open_session(&first.service).await;
    let refused = FileSessions::open(&path).unwrap_err();
    assert!(matches!(refused, FileSessionsError::InUse { .. }), "{refused}");
    first.sessions.close();
    let second = Process::start(path);
    assert_eq!(second.ping(&session).await, 200);
    // The first one goes on in memory, and does not claim what it cannot keep.
    assert_eq!(first.ping(&session).await, 200);
    open_session(&first.service).await;
    assert_eq!(first.delete(&session).await, 503);
    assert_eq!(first.ping(&session).await, 404);
    assert_eq!(second.sessions.len(), 1);
}

#[tokio::test]
async fn a_file_of_another_format_or_program_is_refused_as_it_is() {
    let (_dir, path) = file();
    drop(Process::start(path.clone()));
    edit(&path, "PRAGMA user_version = 2");
    let before = fs::read(&path).unwrap();
    let refused = FileSessions::open(&path).unwrap_err().to_string();
    let wanted = "have format 2, but this server knows formats up to 1: use a newer server, or move the file away to \
                  begin without sessions";
    assert!(refused.ends_with(wanted), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), before);
    let other = "not a database. ".repeat(100);
    fs::write(&path, &other).unwrap();
    assert!(matches!(FileSessions::open(&path), Err(FileSessionsError::Unsound { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), other);
    fs::remove_file(&path).unwrap();
    edit(&path, "CREATE TABLE mine (n)");
    assert!(matches!(FileSessions::open(&path), Err(FileSessionsError::Unsound { .. })));
    assert!(matches!(
        FileSessions::open(path.with_file_name("missing").join("sessions")),
        Err(FileSessionsError::Unusable { .. })
    ));
}

#[tokio::test]
async fn age_and_damage_end_the_sessions_that_they_concern() {
    let (_dir, path) = file();
    let process = Process::start(path.clone());
    let mut sessions = Vec::new();
    for _ in 0..5 {
        sessions.push(open_session(&process.service).await);
    }
    drop(process);
    edit(
        &path,
        "UPDATE session SET at = at - 1790000 WHERE n = 1; UPDATE session SET at = at - 1800000 WHERE n = 2; \
         UPDATE session SET body = '{' WHERE n = 3; UPDATE session SET key = x'00' WHERE n = 4",
    );
    let process = Process::start(path.clone());
    let mut statuses = Vec::new();
    for session in &sessions {
        statuses.push(process.ping(session).await);
    }
    assert_eq!(statuses, [200, 404, 404, 404, 200]);
    drop(process);
    // A use counts over a restart.
    let now = "SELECT count(*) FROM session WHERE at > 1000 * unixepoch() - 60000 AND used = 1";
    let used: i64 = Connection::open(&path).unwrap().query_row(now, [], |row| row.get(0)).unwrap();
    assert_eq!(used, 2);
}

#[tokio::test]
async fn the_bounds_hold_over_a_restart() {
    let (_dir, path) = file();
    let mut config = MemorySessionsConfig::default();
    config.max_sessions = 16;
    let open = |path: &Path| Arc::new(FileSessions::with_config(path, config).unwrap());
    let over = |sessions: &Arc<FileSessions>| {
        let store: Arc<dyn SessionStore> = sessions.clone();
        let server = builder().build().unwrap();
        StreamableHttpService::with_sessions(server, HttpConfig::default(), store)
    };
    let ping = async |service: &StreamableHttpService, session: &str| {
        Raw::legacy(session, "ping", &json!({})).send(service).await.status.as_u16()
    };
    let sessions = open(&path);
    let service = over(&sessions);
    let used = open_session(&service).await;
    assert_eq!(ping(&service, &used).await, 200);
    drop((service, sessions));
    let sessions = open(&path);
    let service = over(&sessions);
    // The flood of the second process ends its own, not the session that is in use since the first.
    for _ in 0..100 {
        open_session(&service).await;
    }
    assert_eq!(sessions.len(), 16);
    assert_eq!(ping(&service, &used).await, 200);
    drop((service, sessions));
    config.max_sessions = 4;
    let sessions = FileSessions::with_config(&path, config).unwrap();
    assert_eq!(sessions.len(), 4);
    assert!(sessions.load(&SessionId::from_header(&used)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_file_that_is_full_ends_no_session_and_promises_nothing() {
    let (_dir, path) = file();
    drop(Process::start(path.clone()));
    // In place of a disk that has room for two sessions.
    edit(
        &path,
        "CREATE TRIGGER full BEFORE INSERT ON session WHEN (SELECT count(*) FROM session) >= 2 \
         BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
    );
    let process = Process::start(path);
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(open_session(&process.service).await);
    }
    for session in &sessions {
        assert_eq!(process.ping(session).await, 200);
    }
    let remove =
        async |session: &str| process.sessions.remove(&SessionId::from_header(session)).await;
    let refused = remove(&sessions[0]).await.unwrap_err();
    assert!(matches!(refused, SessionStoreError::Unavailable(_)), "{refused}");
    assert_eq!(process.ping(&sessions[0]).await, 404);
    assert_eq!(process.killed().ping(&sessions[0]).await, 200, "as the refusal said");
    // There is room for both: they are written with whatever changes next, and what was removed is not.
    let next = async {
        loop {
            process.subscribe(&sessions[2], "x:1").await;
            let next = process.killed();
            if next.ping(&sessions[0]).await == 404 {
                return next;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let next = tokio::time::timeout(PATIENCE, next).await.unwrap();
    assert_eq!(next.ping(&sessions[1]).await, 200);
    let mut stream = open(&next.service, get(&sessions[2], None)).await;
    says_everything(&mut stream).await;
}
