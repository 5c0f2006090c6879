//! Three NATS JetStream servers. Each stores all data.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::network::Side;
use crate::siege::wire::Client;
use xtask::process::succeed;
use xtask::{Result, target};

const DEADLINE: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(50);
/// The ports for clients. The ports for routes and for monitoring are these plus [`ROUTE`] and [`MONITOR`].
const PORTS: [u16; 3] = [5_611, 5_612, 5_613];
const ROUTE: u16 = 10;
const MONITOR: u16 = 20;
/// The stream whose leader is killed.
const LOG: &str = "universes_log";

/// The servers. When this is dropped, they end and their data is removed.
#[derive(Debug)]
pub(super) struct Streams {
    program: PathBuf,
    dir: PathBuf,
    servers: [Option<Child>; 3],
}

impl Streams {
    /// Starts the servers, after removing what an earlier run left behind.
    ///
    /// # Errors
    /// When one of them does not start.
    pub(super) fn start() -> Result<Self> {
        let mut streams = Self {
            program: program().ok_or("nats-server is not installed")?,
            dir: std::env::temp_dir().join("universe-nodes-nats"),
            servers: Default::default(),
        };
        streams.clear();
        fs::create_dir(&streams.dir)?;
        let host = Side::Database.host();
        let routes = PORTS.map(|port| format!("nats://{host}:{}", port + ROUTE));
        let routes = routes.join(", ");
        for port in PORTS {
            let (route, monitor) = (port + ROUTE, port + MONITOR);
            let file = |name: &str| streams.dir.join(format!("{name}-{port}"));
            let text = format!(
                "server_name: n{port}\nlisten: {host}:{port}\nhttp: {host}:{monitor}\n\
                 pid_file: {:?}\nlog_file: {:?}\n\
                 jetstream {{ store_dir: {:?}, sync_interval: always }}\n\
                 cluster {{ name: nodes, listen: {host}:{route}, routes: [{routes}] }}\n",
                file("pid"),
                file("log"),
                file("data"),
            );
            fs::write(file("conf"), text)?;
        }
        streams.serve()?;
        Ok(streams)
    }

    /// The URL for the universe servers.
    pub(super) fn url() -> String {
        let host = Side::Database.host();
        let hosts = PORTS.map(|port| format!("{host}:{port}"));
        format!("nats://{}/universes?replicas=3", hosts.join(","))
    }

    /// Kills the leader of the log, and starts it again after a while.
    ///
    /// # Errors
    /// When there is no leader, or it does not recover.
    pub(super) fn fail_over(&mut self, away: Duration) -> Result<()> {
        let leader = leader()?;
        if let Some(server) = self.servers.get_mut(leader) {
            kill(server);
        }
        thread::sleep(away);
        self.serve()
    }

    /// Kills all of them at once, and starts them again.
    ///
    /// # Errors
    /// When one does not recover.
    pub(super) fn crash(&mut self, away: Duration) -> Result<()> {
        self.servers.iter_mut().for_each(kill);
        thread::sleep(away);
        self.serve()
    }

    /// Starts the servers that are not running, and waits until all are healthy.
    fn serve(&mut self) -> Result<()> {
        for (port, server) in PORTS.iter().zip(&mut self.servers) {
            if server.is_none() {
                let started = Command::new(&self.program)
                    .arg("-c")
                    .arg(self.dir.join(format!("conf-{port}")))
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()?;
                *server = Some(started);
            }
        }
        let end = Instant::now() + DEADLINE;
        while !PORTS.iter().all(|port| ask(*port, "/healthz").is_ok()) {
            if Instant::now() >= end {
                return Err(format!("NATS does not start; see {}", self.dir.display()).into());
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Ends the servers of an earlier run, and removes their data.
    fn clear(&self) {
        for port in PORTS {
            let pid = fs::read_to_string(self.dir.join(format!("pid-{port}")));
            let pid = pid.unwrap_or_default();
            let command = fs::read_to_string(format!("/proc/{pid}/cmdline"));
            let conf = format!("conf-{port}");
            if command.is_ok_and(|command| command.contains(&conf)) {
                let _ = succeed(Command::new("kill").args(["-KILL", &pid]), DEADLINE);
            }
        }
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.servers.iter_mut().for_each(kill);
        self.clear();
    }
}

/// The path of the program: on the search path, or in the folder where the tests unpack it.
pub(super) fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let unpacked = target().join("tmp/nats-server/usr/sbin");
    let mut all = std::env::split_paths(&path).chain([unpacked]);
    all.find_map(|folder| Some(folder.join("nats-server")).filter(|file| file.exists()))
}

/// Kills a server at once, without notice to its clients.
fn kill(server: &mut Option<Child>) {
    if let Some(mut server) = server.take() {
        // Both fail only if the server has already ended.
        let _ = server.kill();
        let _ = server.wait();
    }
}

/// The index of the server that leads the log.
fn leader() -> Result<usize> {
    let end = Instant::now() + DEADLINE;
    while Instant::now() < end {
        for (at, port) in PORTS.iter().enumerate() {
            let told = ask(*port, "/jsz?accounts=true&streams=true")?;
            if leads(&serde_json::from_str(&told)?, &format!("n{port}")) {
                return Ok(at);
            }
        }
        thread::sleep(POLL);
    }
    Err("no server of NATS leads the log".into())
}

/// A server's answer to a monitoring request.
fn ask(port: u16, path: &str) -> Result<String> {
    let host = Side::Database.host();
    let address = SocketAddr::from((host, port + MONITOR));
    let mut client = Client::new(host, address);
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
    let answer = client.call(request.as_bytes(), Duration::from_secs(3))?;
    match answer.status {
        200 => Ok(answer.body),
        status => Err(format!("{path}: status {status}").into()),
    }
}

/// Whether a server reports that it leads the log.
fn leads(told: &Value, name: &str) -> bool {
    let accounts = told.get("account_details").and_then(Value::as_array);
    let streams = accounts.into_iter().flatten().filter_map(|account| {
        let streams = account.get("stream_detail");
        streams.and_then(Value::as_array)
    });
    streams.flatten().any(|stream| {
        let is_log = stream.get("name").and_then(Value::as_str) == Some(LOG);
        let leader = stream.pointer("/cluster/leader").and_then(Value::as_str);
        is_log && leader == Some(name)
    })
}
