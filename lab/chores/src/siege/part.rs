//! Victim and attacker as separate processes: this program, started again.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use clap::Args;

use super::target::Kind;
use xtask::Result;

/// What a part is started with.
#[derive(Debug, Args)]
pub(super) struct Orders {
    #[arg(long)]
    pub(super) server: Kind,
    #[arg(long)]
    pub(super) address: SocketAddr,
    /// How long it plays.
    #[arg(long)]
    pub(super) seconds: u64,
    /// Which attack, for the attacker.
    #[arg(long, default_value = "")]
    pub(super) attack: String,
}

/// A running victim or attacker. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct SiegeProcess {
    child: Child,
    said: Receiver<String>,
}

/// The attacker gets as many descriptors as allowed, and a nice value. Server and victim take precedence when all share
/// two processors, so that the results show the server and not the scheduler.
const ATTACKER: &str = r#"ulimit -n "$(ulimit -H -n)"; exec nice -n 10 "$@""#;
const VICTIM: &str = r#"exec "$@""#;

impl SiegeProcess {
    /// Starts the `victim` or the `attacker`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(role: &str, orders: &Orders) -> Result<Self> {
        let script = if role == "attacker" { ATTACKER } else { VICTIM };
        let mut child = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(std::env::current_exe()?)
            .args(["siege", role, "--server", orders.server.name()])
            .args(["--address", &orders.address.to_string()])
            .args(["--seconds", &orders.seconds.to_string()])
            .args(["--attack", &orders.attack])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("no stdout")?;
        let (sender, said) = mpsc::sync_channel(4);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(std::io::Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, said })
    }

    /// Its next line. `None` if no line arrives within `deadline`, or the process has ended.
    pub(super) fn line(&self, deadline: Duration) -> Option<String> {
        self.said.recv_timeout(deadline).ok()
    }

    /// Sends it a line.
    ///
    /// # Errors
    /// When it has ended.
    pub(super) fn send(&mut self, line: &str) -> Result<()> {
        let stdin = self.child.stdin.as_mut().ok_or("no stdin")?;
        Ok(writeln!(stdin, "{line}")?)
    }

    /// Closes its stdin, which ends an attacker, and waits for its last line.
    pub(super) fn finish(mut self, deadline: Duration) -> Option<String> {
        drop(self.child.stdin.take());
        self.line(deadline)
    }
}

impl Drop for SiegeProcess {
    fn drop(&mut self) {
        // Both fail only if the child has already ended, which is the goal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
