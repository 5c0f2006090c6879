//! One universe server in its namespace, which can be started, killed, ended and frozen.

use std::fs::{File, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::network::{Network, Side};
use crate::siege::memory::Process;
use crate::siege::wire::Client;
use xtask::Result;
use xtask::process;

const PORT: u16 = 3_001;
/// How long a server may take to become ready, and to end on SIGTERM.
const DEADLINE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

/// The configuration with which all servers are started.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) binary: PathBuf,
    /// The URL of the database.
    pub(super) store: String,
    /// The file with the keys that the servers share.
    pub(super) keys: PathBuf,
    /// The folder of the servers' logs.
    pub(super) logs: PathBuf,
}

/// A running server. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    address: SocketAddr,
}

/// The address at which clients reach a server.
pub(super) fn address(node: usize) -> SocketAddr {
    (Side::Clients.node(node), PORT).into()
}

impl Server {
    /// Starts it, and waits until it is ready.
    ///
    /// # Errors
    /// When it ends or does not become ready.
    pub(super) fn start(recipe: &Recipe, node: usize) -> Result<Self> {
        let address = address(node);
        let log = recipe.logs.join(format!("node-{node}.log"));
        let child = Command::new("ip")
            .args(Network::within(node))
            .arg(&recipe.binary)
            .args(["--listen", &address.to_string(), "--allow-anyone", "--drain-wait", "1s"])
            .args(["--allowed-host", &address.ip().to_string(), "--keys-file"])
            .arg(&recipe.keys)
            .env("UNIVERSE_STORE", &recipe.store)
            .env("RUST_LOG", "info,request=warn")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(append_to(&log)?)
            .spawn()?;
        let mut server = Self { child, address };
        let end = Instant::now() + DEADLINE;
        while !server.is_ready() {
            if let Some(status) = server.child.try_wait()? {
                return Err(format!("server {node} ended: {status}; see {}", log.display()).into());
            }
            if Instant::now() >= end {
                return Err(format!("server {node} is not ready; see {}", log.display()).into());
            }
            thread::sleep(POLL);
        }
        Ok(server)
    }

    /// Whether it reports that it is ready.
    pub(super) fn is_ready(&self) -> bool {
        let host = self.address;
        let request = format!("GET /readyz HTTP/1.1\r\nhost: {host}\r\n\r\n");
        let mut client = Client::new(Side::Clients.host(), self.address);
        let answer = client.call(request.as_bytes(), Duration::from_secs(3));
        answer.is_ok_and(|answer| answer.status == 200)
    }

    /// Kills it (SIGKILL).
    ///
    /// # Errors
    /// When it has already ended.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks it to end (SIGTERM), and waits for that.
    ///
    /// # Errors
    /// When it ends with a failure, or does not end in time.
    pub(super) fn stop(&mut self) -> Result<()> {
        self.signal("TERM")?;
        let end = Instant::now() + DEADLINE;
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("a server ended by SIGTERM: {status}").into()),
                None if Instant::now() >= end => {
                    return Err("a server does not end when asked to".into());
                }
                None => thread::sleep(POLL),
            }
        }
    }

    /// Sends a signal, by its name without `SIG`.
    ///
    /// # Errors
    /// When the process does not exist.
    pub(super) fn signal(&self, name: &str) -> Result<()> {
        let pid = self.child.id().to_string();
        process::succeed(Command::new("kill").args([&format!("-{name}"), &pid]), DEADLINE)
    }

    /// Its resident memory, in MiB.
    ///
    /// # Errors
    /// When it has ended.
    pub(super) fn memory(&self) -> Result<u64> {
        Process(self.child.id()).now()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if the server has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn append_to(log: &Path) -> Result<File> {
    Ok(OpenOptions::new().create(true).append(true).open(log)?)
}
