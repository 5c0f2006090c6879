//! The real binary, listening on a free port.

use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use super::{Client, soon};

/// A server process; killed when dropped.
pub(crate) struct Server {
    pub(crate) client: Client,
    /// What it wrote before it listened.
    pub(crate) greeting: Vec<String>,
    child: Child,
}

/// How a process ended that was expected to.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The binary, with nothing of the environment's that it reads.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_universe-server"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("UNIVERSE_") {
            command.env_remove(name);
        }
    }
    command
        .env_remove("RUST_LOG")
        .env_remove("OTEL_EXPORTER_OTLP_ENDPOINT")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Does something with the data of a directory.
pub(crate) async fn verb(dir: &Path, arguments: &[&str]) -> Ended {
    let mut command = binary();
    command.args(arguments).arg("--data-dir").arg(dir);
    run(&mut command).await
}

/// The same, which must succeed; what it says on stdout.
pub(crate) async fn done(dir: &Path, arguments: &[&str]) -> String {
    let ended = verb(dir, arguments).await;
    assert!(ended.status.success(), "{}{}", ended.stdout, ended.stderr);
    ended.stdout
}

/// Runs the binary to its end.
pub(crate) async fn run(command: &mut Command) -> Ended {
    let output = soon(command.output()).await.unwrap();
    Ended {
        status: output.status,
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Server {
    /// On a data directory and a free port.
    pub(crate) async fn on(dir: &Path) -> Self {
        Self::with(dir, &[]).await
    }

    pub(crate) async fn with(dir: &Path, arguments: &[&str]) -> Self {
        let mut command = binary();
        command.args(["--listen", "127.0.0.1:0", "--data-dir"]);
        command.arg(dir).args(arguments);
        Self::start(command).await
    }

    pub(crate) async fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut greeting = Vec::new();
        let address = loop {
            let line = soon(lines.next_line()).await.unwrap();
            let line = line.unwrap_or_else(|| panic!("it does not listen: {greeting:#?}"));
            let place = line.strip_prefix("listening on ");
            if let Some((_, address)) = place.and_then(|place| place.split_once("://")) {
                break address.parse().unwrap();
            }
            greeting.push(line);
        };
        tokio::spawn(drain(lines));
        Self { client: Client(address), greeting, child }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// SIGKILL, and waits until it is gone.
    pub(crate) async fn kill(&mut self) {
        soon(self.child.kill()).await.unwrap();
    }

    /// SIGTERM, and waits until it has ended well.
    pub(crate) async fn stop(&mut self) {
        signal(self.pid(), "TERM");
        assert!(self.wait().await.success());
    }

    pub(crate) async fn wait(&mut self) -> ExitStatus {
        soon(self.child.wait()).await.unwrap()
    }
}

/// Reads on, so that the process never waits for its stderr.
async fn drain(mut lines: Lines<BufReader<ChildStderr>>) {
    while let Ok(Some(_)) = lines.next_line().await {}
}

/// Sends a signal by its name, such as `TERM`.
pub(crate) fn signal(pid: u32, name: &str) {
    let signal = match name {
        "TERM" => Signal::TERM,
        "INT" => Signal::INT,
        "STOP" => Signal::STOP,
        "CONT" => Signal::CONT,
        other => panic!("no test sends {other}"),
    };
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Stops a process where it stands; returns when every thread of it does.
pub(crate) async fn stop(pid: u32) {
    signal(pid, "STOP");
    let stopped = |task: std::fs::DirEntry| {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        status.contains("State:\tT")
    };
    let all_stopped = || {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        tasks.map(Result::unwrap).all(stopped)
    };
    soon(async {
        while !all_stopped() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
