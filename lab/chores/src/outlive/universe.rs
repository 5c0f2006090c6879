//! A universe server on a data directory, which is killed, ended, frozen and started again on its port.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, iter};

use memchr::memmem;
use serde_json::{Map, Value, json};

use super::driver::signal;
use xtask::Result;
use xtask::process::{self, Server};

/// The universe that is changed: the solar system.
pub(super) const SMALL: &str = "sol";
/// The large universe, and how many bodies it has.
pub(super) const LARGE: &str = "large";
pub(super) const BODIES: usize = 100_000;
/// How many planets each of its stars has, and the star.
const SYSTEM: usize = 1_000;

const DEADLINE: Duration = Duration::from_secs(60);
/// The most bytes of an answer that are read.
const MAX_ANSWER: u64 = 128 << 20;

/// A running server.
#[derive(Debug)]
pub(super) struct Universe {
    binary: PathBuf,
    dir: PathBuf,
    address: SocketAddr,
    server: Option<Server>,
}

impl Universe {
    /// Starts it on a data directory and a port that the system chooses.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) fn start(binary: &Path, dir: &Path) -> Result<Self> {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let (binary, dir) = (binary.to_owned(), dir.to_owned());
        let mut universe = Self { binary, dir, address, server: None };
        universe.listen()?;
        Ok(universe)
    }

    /// Starts it again, on the port that it had.
    fn listen(&mut self) -> Result<()> {
        let mut words = ["--demo", "--listen"].map(OsString::from).to_vec();
        words.push(self.address.to_string().into());
        words.extend(["--data-dir".into(), self.dir.clone().into()]);
        let server = Server::start(&self.binary, &words)?;
        self.address = server.address()?;
        self.server = Some(server);
        Ok(())
    }

    /// Kills it (SIGKILL), and starts it again.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) fn kill(&mut self) -> Result<()> {
        drop(self.server.take());
        self.listen()
    }

    /// Asks it to end (SIGTERM), waits for that, and starts it again.
    ///
    /// # Errors
    /// When it does not end or does not start.
    pub(super) fn upgrade(&mut self) -> Result<()> {
        self.server.take().ok_or("no server")?.stop()?;
        self.listen()
    }

    /// Sends a signal to it, by its name without `SIG`.
    ///
    /// # Errors
    /// When it has ended.
    pub(super) fn signal(&self, name: &str) -> Result<()> {
        signal(self.server.as_ref().ok_or("no server")?.id(), name)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The command of a client over stdio: its process shares the directory with the server that listens, which relays.
    pub(super) fn command(&self) -> Vec<PathBuf> {
        let words = ["--stdio", "--data-dir"].map(PathBuf::from);
        iter::once(self.binary.clone()).chain(words).chain([self.dir.clone()]).collect()
    }

    /// Changes the small universe over REST.
    ///
    /// # Errors
    /// When the command is not acknowledged.
    pub(super) fn change(&self) -> Result<()> {
        let body = r#"{"type":"tick","dt":1}"#;
        let request = format!(
            "POST /universes/{SMALL}/commands HTTP/1.0\r\nhost: {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        exchange(self.address, &request).map(drop)
    }

    /// The number of subscriptions that it holds.
    ///
    /// # Errors
    /// When its metrics do not have it.
    pub(super) fn listeners(&self) -> Result<u64> {
        let request = format!("GET /metrics HTTP/1.0\r\nhost: {}\r\n\r\n", self.address);
        let metrics = exchange(self.address, &request)?;
        let name = "universe_budget_used{bound=\"listeners\"}";
        let value = metrics.lines().find_map(|line| line.strip_prefix(name));
        Ok(value.ok_or("metrics without listeners")?.trim().parse()?)
    }

    /// Reads the large universe over REST, and returns how many bodies the answer has.
    ///
    /// # Errors
    /// When there is no whole answer.
    pub(super) fn bodies(&self) -> Result<usize> {
        let request = format!("GET /universes/{LARGE} HTTP/1.0\r\nhost: {}\r\n\r\n", self.address);
        let read = exchange(self.address, &request)?;
        if !read.ends_with('}') {
            return Err("an answer that is cut".into());
        }
        // Parsing it would take longer than all else. Each body has its kind, and nothing else has.
        Ok(memmem::find_iter(read.as_bytes(), "\"bodyType\":").count())
    }
}

/// Makes a data directory with the large universe.
///
/// # Errors
/// When the server does not take it.
pub(super) fn make_large(binary: &Path, dir: &Path, file: &Path) -> Result<()> {
    fs::write(file, large())?;
    let mut import = Command::new(binary);
    import.arg("import").arg(file).args(["--id", LARGE, "--data-dir"]).arg(dir);
    process::succeed(&mut import, DEADLINE * 2)
}

/// Stars with planets, as a file to import.
fn large() -> String {
    let id = |n: usize| format!("b{n:06}");
    let body = |n: usize| {
        let star = n - n % SYSTEM;
        let planets = n + 1..n + SYSTEM;
        let (kind, parent, children) = if n == star {
            ("star", None, planets.map(id).collect())
        } else {
            ("planet", Some(id(star)), Vec::new())
        };
        let body = json!({
            "id": id(n), "name": format!("Body {n}"), "color": "#ffcc00", "mass": 1, "radius": 1,
            "parentId": parent, "orbitalDistance": n % SYSTEM, "orbitalSpeed": 0,
            "orbitalPhase": 0, "bodyType": kind, "children": children,
        });
        (id(n), body)
    };
    let stars: Map<String, Value> = (0..BODIES).map(body).collect();
    let roots: Vec<String> = (0..BODIES).step_by(SYSTEM).map(id).collect();
    json!({ "name": LARGE, "state": { "time": 0, "rootIds": roots, "stars": stars } }).to_string()
}

/// Sends a request of HTTP/1.0, and returns the body of a successful answer.
fn exchange(to: SocketAddr, request: &str) -> Result<String> {
    let mut stream = TcpStream::connect_timeout(&to, DEADLINE)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(MAX_ANSWER).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("an answer without a head")?;
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    if !status.starts_with('2') {
        return Err(format!("REST answers with {status}: {body}").into());
    }
    Ok(body.to_owned())
}
