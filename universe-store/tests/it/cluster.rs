//! A server of PostgreSQL for tests, from the programs that are installed here. The tests of the universe server use
//! it, too.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Long enough for a server to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// For tests that look at nothing that depends on the disk.
pub(crate) const QUICK: [&str; 5] = [
    "fsync=off",
    "synchronous_commit=on",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
];

/// A server with its data in a directory of its own. It ends with the process of the tests, however that ends.
pub(crate) struct Cluster {
    dir: TempDir,
    guard: Child,
    port: u16,
    settings: Vec<String>,
}

impl Cluster {
    /// A fresh one; `None`, and a word about it, where PostgreSQL is not installed.
    pub(crate) fn start(settings: &[&str]) -> Option<Self> {
        let initdb = program("initdb")?;
        let dir = directory();
        let made = as_owner(&initdb)
            .args(["-A", "trust", "-U", "postgres", "--no-sync", "-D"])
            .arg(dir.path().join("data"))
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "initdb failed");
        Some(Self::on(dir, settings))
    }

    fn on(dir: TempDir, settings: &[&str]) -> Self {
        let settings: Vec<String> = settings.iter().map(|it| (*it).to_owned()).collect();
        let port = free_port();
        let guard = serve(dir.path(), port, &settings);
        Self { dir, guard, port, settings }
    }

    /// A copy that follows this one. What is acknowledged from now on, both have.
    pub(crate) fn standby(&self) -> Self {
        let dir = directory();
        let copied = as_owner(&installed("pg_basebackup"))
            .args(["-R", "-X", "stream", "--no-sync", "--checkpoint=fast", "-U", "postgres", "-h"])
            .arg(self.dir.path())
            .args(["-p", &self.port.to_string(), "-D"])
            .arg(dir.path().join("data"))
            .status();
        assert!(copied.unwrap().success(), "the standby was not made");
        let standby = Self::on(dir, &[]);
        let begun = Instant::now();
        while self.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") != "1"
        {
            assert!(begun.elapsed() < PATIENCE, "the standby does not follow");
            std::thread::sleep(Duration::from_millis(50));
        }
        self.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
        self.sql("SELECT pg_reload_conf()");
        standby
    }

    /// Makes a standby the server that is written to.
    pub(crate) fn promote(&self) {
        let promoted = as_owner(&installed("pg_ctl"))
            .args(["promote", "-w", "-s", "-D"])
            .arg(self.dir.path().join("data"))
            .status();
        assert!(promoted.unwrap().success());
    }

    /// What a statement gives, as text.
    pub(crate) fn sql(&self, statement: &str) -> String {
        let asked = Command::new(installed("psql"))
            .args(["-XqAt", "-U", "postgres", "-d", "postgres", "-c", statement, "-h"])
            .arg(self.dir.path())
            .args(["-p", &self.port.to_string()])
            .output()
            .unwrap();
        assert!(asked.status.success(), "{asked:?}");
        String::from_utf8(asked.stdout).unwrap().trim().to_owned()
    }

    /// The URL of a new database.
    pub(crate) fn database(&self) -> String {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("test{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.sql(&format!("CREATE DATABASE {name} TEMPLATE template0"));
        format!("postgres://postgres@{}/{name}", self.host())
    }

    /// What its URLs call it.
    pub(crate) fn host(&self) -> String {
        let socket = self.dir.path().to_str().unwrap().replace('/', "%2F");
        format!("{socket}:{}", self.port)
    }

    /// Has it speak TLS with those who come by TCP, and gives what their URLs call it.
    pub(crate) fn speak_tls(&self, certificate: &str, key: &str) -> String {
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let file = self.dir.path().join("data").join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            give(&file);
        }
        self.sql("ALTER SYSTEM SET ssl = on");
        self.sql("SELECT pg_reload_conf()");
        let begun = Instant::now();
        while self.sql("SHOW ssl") != "on" {
            assert!(begun.elapsed() < PATIENCE, "it does not speak TLS");
            std::thread::sleep(Duration::from_millis(50));
        }
        format!("localhost:{}", self.port)
    }

    /// Ends every process of the server at once, without a word to its clients.
    pub(crate) fn kill(&mut self) {
        let pid = std::fs::read_to_string(self.dir.path().join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().to_owned();
        let signal = |signal: &str, to: &[&str]| {
            // Some may have gone by themselves when their parent did.
            let _ = Command::new("kill").arg(signal).args(to).stderr(Stdio::null()).status();
        };
        // Stopped first: one that saw another die would no longer wait for the standby, and show what only it has.
        signal("-STOP", &[&pid]);
        let workers = Command::new("pgrep").args(["-P", &pid]).output().unwrap();
        let workers = String::from_utf8(workers.stdout).unwrap();
        let all: Vec<&str> = [pid.as_str()].into_iter().chain(workers.lines()).collect();
        signal("-STOP", &all);
        signal("-KILL", &all);
        let begun = Instant::now();
        while all.iter().any(|pid| runs(pid)) {
            assert!(begun.elapsed() < PATIENCE, "the server does not die");
            std::thread::sleep(Duration::from_millis(5));
        }
        // Its guard leaves the directory alone then.
        let _ = self.guard.stdin.take().unwrap().write_all(b"keep\n");
        self.guard.wait().unwrap();
    }

    /// Starts it again after [`Cluster::kill`].
    pub(crate) fn restart(&mut self) {
        self.guard = serve(self.dir.path(), self.port, &self.settings);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Its guard ends the server, and then itself.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// What a statement gives in the database of a URL, as text.
pub(crate) fn ask(url: &str, statement: &str) -> String {
    let asked = Command::new(installed("psql"))
        .args(["-XqAt", "-d", url, "-c", statement])
        .output()
        .unwrap();
    assert!(asked.status.success(), "{asked:?}");
    String::from_utf8(asked.stdout).unwrap().trim().to_owned()
}

/// One server for all tests that only need a database.
pub(crate) fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
    SHARED.get_or_init(|| Cluster::start(&QUICK)).as_ref()
}

/// Starts the server, and a guard that ends it and removes its directory when this process has ended: then the guard's
/// input ends.
fn serve(dir: &Path, port: u16, settings: &[String]) -> Child {
    let mut guard = as_owner(Path::new("sh"));
    guard.args([
        "-c",
        "\"$0\" \"$@\" >/dev/null 2>&1 & server=$!; echo started; read -r word; kill -INT $server 2>/dev/null; \
         wait $server 2>/dev/null; [ \"$word\" = keep ] || rm -rf \"$DIRECTORY\"",
    ]);
    let socket = format!("unix_socket_directories={}", dir.display());
    guard
        .env("DIRECTORY", dir)
        .arg(installed("postgres"))
        .arg("-D")
        .arg(dir.join("data"))
        .args(["-c", "listen_addresses=", "-c", &socket])
        .args(["-c", "max_connections=300", "-p", &port.to_string()]);
    for setting in settings {
        guard.args(["-c", setting]);
    }
    let mut guard =
        guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut said = String::new();
    let mut lines = BufReader::new(guard.stdout.take().unwrap());
    lines.read_line(&mut said).unwrap();
    assert_eq!(said, "started\n");
    let begun = Instant::now();
    let mut asking = Command::new(installed("pg_isready"));
    asking.args(["-q", "-p", &port.to_string(), "-h"]).arg(dir);
    while !asking.status().unwrap().success() {
        assert!(begun.elapsed() < PATIENCE, "the server does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    guard
}

/// For a server that listens to TCP, and for the names of sockets.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A directory that the server may have.
fn directory() -> TempDir {
    let dir = TempDir::new().unwrap();
    give(dir.path());
    dir
}

/// Makes it the server's own.
fn give(path: &Path) {
    if is_root() {
        let given = Command::new("chown").arg("postgres").arg(path).status();
        assert!(given.unwrap().success());
    }
}

/// The path of a program that was found before.
pub(crate) fn installed(name: &str) -> PathBuf {
    program(name).expect("it was there before")
}

/// A program of PostgreSQL; where there is none, it says so. In CI it is installed.
///
/// # Panics
/// Where that cannot be done, and `CI=true`.
fn program(name: &str) -> Option<PathBuf> {
    static PROGRAMS: OnceLock<Option<PathBuf>> = OnceLock::new();
    let programs = PROGRAMS.get_or_init(|| {
        let found = find();
        if found.is_some() {
            return found;
        }
        if std::env::var("CI").as_deref() == Ok("true") {
            install();
            let found = find();
            assert!(
                found.is_some(),
                "PostgreSQL is not installed (Debian: apt-get install postgresql)"
            );
            return found;
        }
        // Not by a macro: what those print is shown for tests that fail only.
        let _ =
            writeln!(std::io::stderr(), "skipped: all tests on PostgreSQL: it is not installed");
        None
    });
    Some(programs.as_ref()?.join(name))
}

/// Where the newest version that is installed has its programs: beside each other by version as in Debian, or on the
/// path.
fn find() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let beside = versions.filter_map(|version| Some(version.ok()?.path().join("bin"))).max();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = beside.into_iter().chain(std::env::split_paths(&path));
    all.find(|programs| programs.join("initdb").exists())
}

/// Installs it, where that is Debian and may be done.
fn install() {
    if !is_root() || !Path::new("/usr/bin/apt-get").exists() {
        return;
    }
    // Its own server is not wanted.
    let conf = Path::new("/etc/postgresql-common/createcluster.conf");
    if !conf.exists() {
        std::fs::create_dir_all(conf.parent().unwrap()).unwrap();
        std::fs::write(conf, "create_main_cluster = false\n").unwrap();
    }
    let apt = |arguments: &[&str]| {
        let done = Command::new("apt-get")
            .args(["-q", "-o", "DPkg::Lock::Timeout=300"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .status();
        done.is_ok_and(|status| status.success())
    };
    let package = ["install", "-y", "--no-install-recommends", "postgresql"];
    if !apt(&package) {
        apt(&["update"]);
        apt(&package);
    }
}

/// Whether a process is there, and does something yet.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
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
        .args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"])
        .arg(program)
        .current_dir("/");
    command
}
