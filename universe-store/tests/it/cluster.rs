//! A server of PostgreSQL for these tests, from the programs that are installed here.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use universe_store::UniverseLog;
use universe_store::postgres::{PostgresOptions, PostgresStore};

use crate::Subject;

/// Long enough for a server to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with its data in a directory of its own. It ends with the process of the tests, however that ends.
pub(crate) struct Cluster {
    dir: TempDir,
    child: Child,
}

impl Cluster {
    /// A fresh one; `None`, and a word about it, where PostgreSQL is not installed.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        if !is_installed() {
            return None;
        }
        let programs = programs()?;
        let dir = TempDir::new().unwrap();
        let data = dir.path().join("data");
        if is_root() {
            let owned = Command::new("chown")
                .arg("postgres")
                .arg(dir.path())
                .status();
            assert!(owned.unwrap().success());
        }
        let made = as_owner(&programs.join("initdb"))
            .args(["-A", "trust", "-U", "postgres", "--no-sync", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb failed");
        let child = serve(&programs, dir.path(), settings);
        let cluster = Self { dir, child };
        cluster.wait();
        Some(cluster)
    }

    /// The URL of a database there.
    pub(crate) fn url(&self, database: &str) -> String {
        let socket = self.dir.path().to_str().unwrap().replace('/', "%2F");
        format!("postgres://postgres@{socket}/{database}")
    }

    /// Ends every process of the server at once, without a word to its clients.
    pub(crate) fn kill(&mut self) {
        let pid = std::fs::read_to_string(self.dir.path().join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        let killed = Command::new("pkill").args(["-KILL", "-P", &pid]).status();
        assert!(killed.is_ok());
        let killed = Command::new("kill").args(["-KILL", &pid]).status();
        assert!(killed.unwrap().success());
        self.child.wait().unwrap();
    }

    /// Starts it again after [`Cluster::kill`].
    pub(crate) fn restart(&mut self, settings: &[&str]) {
        self.child = serve(&programs().unwrap(), self.dir.path(), settings);
        self.wait();
    }

    fn wait(&self) {
        let begun = Instant::now();
        let ready = programs().unwrap().join("pg_isready");
        loop {
            let asked = Command::new(&ready)
                .arg("-q")
                .arg("-h")
                .arg(self.dir.path())
                .status();
            if asked.unwrap().success() {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Its guard ends the server, and then itself.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The server, and a guard that ends it when this process has ended: then the guard's input ends.
fn serve(programs: &Path, dir: &Path, settings: &[&str]) -> Child {
    let mut guard = as_owner(Path::new("sh"));
    guard.args([
        "-c",
        "\"$0\" \"$@\" >/dev/null 2>&1 & echo started; cat >/dev/null & cat=$!; \
         (wait_for() { while kill -0 \"$1\" 2>/dev/null; do sleep 0.05; done; }; wait_for $! ; kill $cat) 2>/dev/null & \
         wait $cat; kill -INT %1 2>/dev/null; wait %1",
    ]);
    guard
        .arg(programs.join("postgres"))
        .arg("-D")
        .arg(dir.join("data"));
    for setting in settings {
        guard.args(["-c", setting]);
    }
    let socket = format!("unix_socket_directories={}", dir.display());
    let mut child = guard
        .args(["-c", "listen_addresses=", "-c", &socket])
        .args(["-c", "max_connections=300"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut said).unwrap();
    assert_eq!(said, "started\n");
    child
}

/// Whether there is PostgreSQL; where there is not, it says so.
///
/// # Panics
/// Where there is not, and `CI=true`.
pub(crate) fn is_installed() -> bool {
    if programs().is_some() {
        return true;
    }
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "PostgreSQL is not installed (Debian: apt-get install postgresql)"
    );
    eprintln!("SKIPPED: PostgreSQL is not installed");
    false
}

fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let found = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    let found = found.filter(|programs| programs.join("initdb").exists());
    found.max()
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap();
    id.stdout == b"0\n"
}

/// A command as somebody whom the server accepts: it refuses to run as root.
fn as_owner(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args([
            "--reuid=postgres",
            "--regid=postgres",
            "--clear-groups",
            "--",
        ])
        .arg(program)
        .current_dir("/");
    command
}

/// One server for all tests that only need a database.
fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    // What these tests look at does not depend on the disk.
    SHARED
        .get_or_init(|| Cluster::start(&["fsync=off"]))
        .as_ref()
}

/// A database of its own in a cluster.
pub(crate) fn database(cluster: &Cluster) -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = format!("test{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let made = Command::new(programs().unwrap().join("createdb"))
        .args(["-U", "postgres", "-T", "template0", "-h"])
        .arg(cluster.dir.path())
        .arg(&name)
        .status();
    assert!(made.unwrap().success());
    cluster.url(&name)
}

/// Two nodes on one database. Opening it again is going on with the other node.
pub(crate) struct Nodes {
    nodes: [PostgresStore; 2],
    turn: usize,
}

impl Nodes {
    /// `None` where PostgreSQL is not installed.
    pub(crate) async fn new() -> Option<Self> {
        let url = database(shared()?);
        Some(Self {
            nodes: [open(&url).await, open(&url).await],
            turn: 0,
        })
    }
}

pub(crate) async fn open(url: &str) -> PostgresStore {
    let opened = PostgresStore::open(url, &PostgresOptions::default()).await;
    opened.unwrap_or_else(|problem| panic!("{problem}"))
}

impl Subject for Nodes {
    fn log(&self) -> &dyn UniverseLog {
        &self.nodes[self.turn]
    }

    fn reopen(&mut self) -> bool {
        self.turn = 1 - self.turn;
        // Readers on the node before go on.
        false
    }
}
