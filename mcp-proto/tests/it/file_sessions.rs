//! Sessions in a file outlive the process that opened them: modelcontextprotocol/python-sdk#1676,
//! BuilderIO/agent-native#5547, anthropics/claude-code#83404. Most clients do not begin again on 404.
//!
//! A process that is killed is a copy of its file, taken while it runs.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request};
use http_body_util::Full;
use hyper::body::Bytes;
use mcp_proto::http::HttpConfig;
use mcp_proto::session::{
    FileSessions, FileSessionsError, MemorySessionsConfig, SessionId, SessionStore,
};
use mcp_proto::{Change, Principal, Server, StreamableHttpService};
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
        for end in ["", "-wal", "-log", "-log-old"] {
            let (from, to) = (beside(&self.path, end), beside(&path, end));
            if from.exists() {
                fs::copy(from, to).unwrap();
            }
        }
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
    assert!(message.contains("its call has ended with the process that ran it"), "{message}");
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

/// A device that has no room stands for a full disk.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_ends_no_session_and_nothing_is_promised() {
    let (_dir, path) = file();
    let process = Process::start(path.clone());
    let (kept, ended) =
        (open_session(&process.service).await, open_session(&process.service).await);
    drop(process);
    let log = beside(&path, "-log");
    fs::remove_file(&log).unwrap_or_default();
    std::os::unix::fs::symlink("/dev/full", &log).unwrap();
    let process = Process::start(path);
    assert_eq!(process.delete(&ended).await, 503, "the next process could have it");
    assert_eq!(process.ping(&ended).await, 404);
    let opened = open_session(&process.service).await;
    process.subscribe(&opened, "x:1").await;
    // A new log has room. All is written again, and what was removed is not.
    let written = async {
        while fs::symlink_metadata(&log).is_ok_and(|log| log.is_symlink())
            || fs::symlink_metadata(beside(&process.path, "-log-old")).is_ok()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, written).await.unwrap();
    let next = process.killed();
    assert_eq!(next.ping(&ended).await, 404);
    assert_eq!(next.ping(&kept).await, 200);
    let mut stream = open(&next.service, get(&opened, None)).await;
    says_everything(&mut stream).await;
    assert_eq!(process.delete(&kept).await, 204);
}

#[tokio::test]
async fn what_the_database_does_not_take_stays_in_the_log() {
    let (_dir, path) = file();
    drop(Process::start(path.clone()));
    edit(
        &path,
        "CREATE TRIGGER full BEFORE INSERT ON session BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END",
    );
    let process = Process::start(path.clone());
    let session = open_session(&process.service).await;
    drop(process);
    let refused = FileSessions::open(&path).unwrap_err();
    assert!(matches!(refused, FileSessionsError::Unusable { .. }), "{refused}");
    edit(&path, "DROP TRIGGER full");
    // A process that was killed while it wrote left less than a line, which is nothing.
    let mut log = fs::OpenOptions::new().append(true).open(beside(&path, "-log")).unwrap();
    log.write_all(b"\n-1").unwrap();
    assert_eq!(Process::start(path).ping(&session).await, 200);
}

#[tokio::test]
async fn more_changes_than_the_log_takes_are_in_the_database() {
    let (_dir, path) = file();
    let process = Process::start(path);
    let kept = open_session(&process.service).await;
    process.subscribe(&kept, "x:1").await;
    for _ in 0..3_000 {
        let session = open_session(&process.service).await;
        assert_eq!(process.delete(&session).await, 204);
    }
    let log = beside(&process.path, "-log");
    let written = async {
        while fs::metadata(&log).unwrap().len() > 1 << 20 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, written).await.unwrap();
    let next = process.killed();
    assert_eq!(next.sessions.len(), 1);
    let mut stream = open(&next.service, get(&kept, None)).await;
    says_everything(&mut stream).await;
}

/// The requests of several clients write at once: no session that was ended comes back, and no later state is replaced
/// by an earlier one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_many_write_at_once_is_read_in_order() {
    let (_dir, path) = file();
    let first = Arc::new(Process::start(path));
    let clients = (0..4).map(|client| {
        let first = Arc::clone(&first);
        tokio::spawn(async move {
            let mut ended = Vec::new();
            let mut kept = Vec::new();
            for number in 0..50 {
                let session = session_of(&first.service, VERSIONS[client]).await;
                first.subscribe(&session, "x:1").await;
                if number % 5 == 0 {
                    kept.push(session);
                } else {
                    assert_eq!(first.delete(&session).await, 204);
                    ended.push(session);
                }
            }
            (kept, ended)
        })
    });
    let clients = futures_util::future::join_all(clients).await;
    let second = first.killed();
    for (kept, ended) in clients.into_iter().map(Result::unwrap) {
        for session in kept {
            let found =
                second.sessions.load(&SessionId::from_header(&session)).await.unwrap().unwrap();
            assert!(found.subscriptions.iter().any(|uri| uri == "x:1"), "{session}");
        }
        for session in ended {
            assert_eq!(second.ping(&session).await, 404, "{session}");
        }
    }
}
