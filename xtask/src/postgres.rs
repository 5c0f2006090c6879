//! PostgreSQL servers, run with the programs installed on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Result;
use crate::process::{self, succeed};

/// The time limit for one PostgreSQL command.
pub const DEADLINE: Duration = Duration::from_secs(90);

/// The folder of the programs.
#[derive(Debug)]
pub struct Postgres(PathBuf);

impl Postgres {
    /// The newest installed version, from Debian's versioned folders, or the one on the path.
    ///
    /// # Errors
    /// When PostgreSQL is not installed.
    pub fn find() -> Result<Self> {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
        let beside = versions.filter_map(|version| Some(version.ok()?.path().join("bin"))).max();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut all = beside.into_iter().chain(std::env::split_paths(&path));
        let found = all.find(|programs| programs.join("initdb").exists());
        Ok(Self(found.ok_or("PostgreSQL is not installed")?))
    }

    /// One of the programs, run as the user `postgres`: they refuse to run as root.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"])
            .arg(self.0.join(name))
            .current_dir("/");
        command
    }

    /// Makes a directory for that user, and in it the data of a server that trusts all local connections.
    ///
    /// # Errors
    /// When that fails, for example because the user does not exist.
    pub fn init(&self, dir: &Path, data: &Path) -> Result<()> {
        fs::create_dir(dir)?;
        succeed(Command::new("chown").arg("postgres").arg(dir), DEADLINE)?;
        let mut made = self.program("initdb");
        made.args(["-A", "trust", "-U", "postgres", "--no-sync", "-D"]);
        succeed(made.arg(data), DEADLINE).map(drop)
    }

    /// Starts a server with these options. Returns whether it has started.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn start(&self, data: &Path, log: &Path, options: &str) -> Result<bool> {
        let mut started = self.program("pg_ctl");
        started.args(["start", "-w", "-s", "-o", options, "-l"]);
        started.arg(log).arg("-D").arg(data);
        // The server keeps running, so nothing may wait for the end of its output.
        let status = started.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(status.status()?.success())
    }

    /// Stops a server as a crash does. Returns whether one was running.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn stop(&self, data: &Path) -> Result<bool> {
        let mut stopped = self.program("pg_ctl");
        stopped.args(["stop", "-m", "immediate", "-w", "-s", "-D"]);
        Ok(process::run(stopped.arg(data), DEADLINE)?.success)
    }
}
