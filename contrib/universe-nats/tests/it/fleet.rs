//! Servers of NATS for tests, alone or as a cluster on this machine. The tests of the universe server use them, too.

use std::fmt::Write as _;
use std::io::Write as _;
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Long enough for a server to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The oldest version that will do.
const VERSION: (u32, u32) = (2, 12);

/// What is said of a server besides where it listens.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// Whether every message is on the disk before it is acknowledged.
    pub(crate) is_durable: bool,
    /// Lines for the file of its configuration.
    pub(crate) more: String,
}

/// One server or several, each with its data in a directory of its own. They end with the process of the tests, however
/// that ends.
pub(crate) struct Fleet {
    dir: TempDir,
    servers: Vec<Server>,
}

struct Server {
    port: u16,
    config: PathBuf,
    /// Its number among processes, and the guard that ends it; `None` while it is dead.
    running: Option<(String, Child)>,
}

impl Fleet {
    /// So many servers; `None`, and a word about it, where NATS is not installed.
    pub(crate) fn start(count: usize, settings: &Settings) -> Option<Self> {
        program()?;
        let dir = TempDir::new().unwrap();
        let ports: Vec<(u16, u16)> = (0..count).map(|_| (free_port(), free_port())).collect();
        let routes: Vec<_> =
            ports.iter().map(|(_, route)| format!("nats://127.0.0.1:{route}")).collect();
        let mut servers = Vec::new();
        for (n, (port, route)) in ports.iter().enumerate() {
            let data = dir.path().join(format!("data{n}"));
            let sync = if settings.is_durable { "always" } else { "2m" };
            let mut text = format!(
                "server_name: n{n}\nlisten: 127.0.0.1:{port}\n\
                 jetstream {{ store_dir: {data:?}, sync_interval: {sync} }}\n{}\n",
                settings.more
            );
            if count > 1 {
                let routes = routes.join(", ");
                writeln!(
                    text,
                    "cluster {{ name: c, listen: 127.0.0.1:{route}, routes: [{routes}] }}"
                )
                .unwrap();
            }
            let config = dir.path().join(format!("n{n}.conf"));
            std::fs::write(&config, text).unwrap();
            servers.push(Server { port: *port, config, running: None });
        }
        let mut fleet = Self { dir, servers };
        for n in 0..count {
            fleet.restart(n);
        }
        Some(fleet)
    }

    /// A URL of all servers, with a prefix that no test has used.
    pub(crate) fn url(&self) -> String {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let hosts: Vec<_> = (0..self.servers.len()).map(|n| self.host(n)).collect();
        format!("nats://{}/test{number}", hosts.join(","))
    }

    /// Where a server listens.
    pub(crate) fn host(&self, n: usize) -> String {
        format!("127.0.0.1:{}", self.servers[n].port)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.servers.len()
    }

    /// Ends a server at once, without a word to its clients.
    pub(crate) fn kill(&mut self, n: usize) {
        let Some((pid, mut guard)) = self.servers[n].running.take() else {
            return;
        };
        let killed = Command::new("kill").args(["-KILL", &pid]).status();
        assert!(killed.unwrap().success());
        // Its guard sees it die, and ends.
        drop(guard.stdin.take());
        guard.wait().unwrap();
    }

    /// Starts it again after [`Fleet::kill`].
    pub(crate) fn restart(&mut self, n: usize) {
        let server = &mut self.servers[n];
        server.running = Some(serve(&server.config));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", server.port)).is_err() {
            assert!(begun.elapsed() < PATIENCE, "the server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for n in 0..self.servers.len() {
            self.kill(n);
        }
        // What a server wrote while it died goes with the directory.
        let _ = std::fs::remove_dir_all(self.dir.path());
    }
}

/// One server for all tests that only need streams.
pub(crate) fn shared() -> Option<&'static Fleet> {
    static SHARED: OnceLock<Option<Fleet>> = OnceLock::new();
    let start = || Fleet::start(1, &Settings::default());
    SHARED.get_or_init(start).as_ref()
}

/// Starts a server, and a guard that ends it when this process has ended: then the guard's input ends.
fn serve(config: &Path) -> (String, Child) {
    let mut guard = Command::new("sh")
        .args([
            "-c",
            "\"$0\" -c \"$1\" >\"$1.log\" 2>&1 & server=$!; echo $server; read -r word; \
             kill -KILL $server 2>/dev/null; wait $server 2>/dev/null",
        ])
        .arg(program().expect("it was there before"))
        .arg(config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pid = String::new();
    let mut lines = BufReader::new(guard.stdout.take().unwrap());
    lines.read_line(&mut pid).unwrap();
    (pid.trim().to_owned(), guard)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// The server's program; where there is none that is new enough, it says so. In CI it is installed.
///
/// # Panics
/// Where that cannot be done, and `CI=true`.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        let found = find();
        if found.is_some() {
            return found;
        }
        if std::env::var("CI").as_deref() != Ok("true") {
            // Not by a macro: what those print is shown for tests that fail only.
            let _ = writeln!(
                std::io::stderr(),
                "skipped: all tests on NATS: nats-server {VERSION:?} or newer is not installed"
            );
            return None;
        }
        install();
        let found = find();
        assert!(found.is_some(), "nats-server {VERSION:?} or newer is not installed");
        found
    });
    program.as_deref()
}

/// Where it is unpacked to.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("nats-server")
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let unpacked = folder().join("usr/sbin");
    let mut all = std::env::split_paths(&path).chain([unpacked]);
    all.find_map(|folder| {
        let program = folder.join("nats-server");
        is_new_enough(&program).then_some(program)
    })
}

fn is_new_enough(program: &Path) -> bool {
    let Ok(said) = Command::new(program).arg("--version").output() else {
        return false;
    };
    let said = String::from_utf8_lossy(&said.stdout);
    let version = said.trim().rsplit('v').next().unwrap_or_default();
    let mut numbers = version.split('.').map_while(|number| number.parse().ok());
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        return false;
    };
    (major, minor) >= VERSION
}

/// Unpacks the package of Debian's newest branch, where that is Debian. Nothing of the machine is changed: lists and
/// packages are in a folder of their own.
fn install() {
    if !Path::new("/usr/bin/apt-get").exists() {
        return;
    }
    let work = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let at = |name: &str| work.path().join(name);
    for folder in ["lists/partial", "cache/archives/partial", "unpacked"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    // From where this machine has its packages, too.
    let known = Command::new("apt-get")
        .args(["indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Created-By: Packages"])
        .output()
        .unwrap();
    let known = String::from_utf8(known.stdout).unwrap();
    let Some(archive) =
        known.lines().find(|archive| archive.trim_end_matches('/').ends_with("/debian"))
    else {
        return;
    };
    let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let list = format!("deb [signed-by={keys}] {archive} sid main\n");
    std::fs::write(at("sources.list"), list).unwrap();
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        for (option, value) in [
            ("Dir::State::Lists", at("lists")),
            ("Dir::Cache", at("cache")),
            ("Dir::Etc::SourceList", at("sources.list")),
            ("Dir::Etc::SourceParts", "/dev/null".into()),
            ("Acquire::Languages", "none".into()),
            ("APT::Sandbox::User", "root".into()),
        ] {
            command.arg("-o").arg(format!("{option}={}", value.display()));
        }
        let done = command.arg("-q").args(arguments).current_dir(work.path()).status();
        assert!(done.unwrap().success(), "apt-get {arguments:?} failed");
    };
    apt(&["update"]);
    apt(&["download", "nats-server"]);
    let files = std::fs::read_dir(work.path()).unwrap().map(|file| file.unwrap().path());
    let package = files.into_iter().find(|file| file.extension().is_some_and(|it| it == "deb"));
    let unpacked = Command::new("dpkg-deb")
        .arg("-x")
        .arg(package.expect("a package"))
        .arg(at("unpacked"))
        .status();
    assert!(unpacked.unwrap().success(), "the package cannot be unpacked");
    // Another process may have been quicker.
    let _ = std::fs::rename(at("unpacked"), folder());
}
