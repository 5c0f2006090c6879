//! A driver: a process that keeps one client object and carries out orders, one line of JSON each.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Program;
use crate::era::Era;
use xtask::{Result, process};

/// How long a driver may take for an order, unless more is allowed.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long a driver may take to end.
const FAREWELL: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(20);

/// A running driver. When this is dropped, it is asked to end, and killed if it does not.
#[derive(Debug)]
pub(super) struct Driver {
    child: Child,
    /// `None` when it has been asked to end.
    input: Option<ChildStdin>,
    answers: Receiver<String>,
}

/// The server of a driver.
#[derive(Debug)]
pub(super) enum Target {
    Url(String),
    Command(Vec<PathBuf>),
}

impl Driver {
    /// Starts it; what it writes to stderr goes to `log`. It connects at once.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(program: &Program, era: Era, target: &Target, log: File) -> Result<Self> {
        let [first, more @ ..] = program.0.as_slice() else {
            return Err("a driver without a program".into());
        };
        let mut command = Command::new(first);
        command.args(more).args(["--era", era.word()]);
        match target {
            Target::Url(url) => command.args(["--url", url]),
            Target::Command(words) => command.arg("--").args(words),
        };
        command.env("PYTHONUTF8", "1").env("PYTHONDONTWRITEBYTECODE", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = output.ok_or("a driver without pipes")?;
        let (send, answers) = mpsc::sync_channel(16);
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(std::io::Result::ok) {
                let _ = send.send(line);
            }
        });
        Ok(Self { child, input, answers })
    }

    /// Connects; the negotiated revision must be that of the era.
    ///
    /// # Errors
    /// What it reports, or that it does not answer.
    pub(super) fn connected(&self, era: Era) -> Result<()> {
        let answer = self.answer(DEADLINE)?;
        let version = answer.get("version").and_then(Value::as_str);
        if version == Some(era.name()) {
            return Ok(());
        }
        Err(format!("negotiated {} instead of {}", version.unwrap_or("nothing"), era.name()).into())
    }

    /// Gives it an order, and returns its answer.
    ///
    /// # Errors
    /// What it reports, or that it does not answer in time.
    pub(super) fn ask(&mut self, order: &Value) -> Result<Value> {
        self.ask_within(order, DEADLINE)
    }

    /// As [`Driver::ask`], with another deadline.
    ///
    /// # Errors
    /// As [`Driver::ask`].
    pub(super) fn ask_within(&mut self, order: &Value, deadline: Duration) -> Result<Value> {
        self.tell(order)?;
        self.answer(deadline)
    }

    /// Gives it an order.
    ///
    /// # Errors
    /// When it has ended.
    pub(super) fn tell(&mut self, order: &Value) -> Result<()> {
        let input = self.input.as_mut().ok_or("the client has ended")?;
        let told = writeln!(input, "{order}").and_then(|()| input.flush());
        told.map_err(|error| format!("the client's process has ended: {error}").into())
    }

    /// The answer to the order before.
    ///
    /// # Errors
    /// As [`Driver::ask`].
    pub(super) fn answer(&self, deadline: Duration) -> Result<Value> {
        let line = self.answers.recv_timeout(deadline).map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => {
                format!("no answer and no error within {} s", deadline.as_secs())
            }
            mpsc::RecvTimeoutError::Disconnected => "the client's process ended".to_owned(),
        })?;
        let answer: Value = serde_json::from_str(&line)?;
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(error.into()),
            None => Ok(answer),
        }
    }

    /// What has arrived besides answers: `updates`, `listening` and `trouble`.
    ///
    /// # Errors
    /// As [`Driver::ask`].
    pub(super) fn look(&mut self) -> Result<Value> {
        self.ask(&json!({ "do": "look" }))
    }

    /// Sends a signal to it, by its name without `SIG`.
    ///
    /// # Errors
    /// When it has ended.
    pub(super) fn signal(&self, name: &str) -> Result<()> {
        signal(self.child.id(), name)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A client that ends by itself also ends its server's process.
        self.input = None;
        let end = Instant::now() + FAREWELL;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(POLL);
        }
        // Both fail only if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process, by its name without `SIG`.
///
/// # Errors
/// When the process does not exist.
pub(super) fn signal(process: u32, name: &str) -> Result<()> {
    let words = [format!("-{name}"), process.to_string()];
    process::succeed(Command::new("kill").args(words), DEADLINE)
}
