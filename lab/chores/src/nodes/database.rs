//! The database: a PostgreSQL primary and a synchronous standby, which swap roles on failover.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::network::Side;
use xtask::Result;
use xtask::postgres::{DEADLINE, Postgres};
use xtask::process::{self, succeed};

const POLL: Duration = Duration::from_millis(50);
const PORTS: [u16; 2] = [5_601, 5_602];

/// Both servers. When this is dropped, they end and their data is removed.
#[derive(Debug)]
pub(super) struct Database {
    programs: Postgres,
    dir: PathBuf,
    /// The index of the primary.
    primary: usize,
}

impl Database {
    /// Starts both, after removing what an earlier run left behind.
    ///
    /// # Errors
    /// When one of them does not start.
    pub(super) fn start() -> Result<Self> {
        let database = Self {
            programs: Postgres::find()?,
            dir: std::env::temp_dir().join("universe-nodes"),
            primary: 0,
        };
        database.clear();
        database.programs.init(&database.dir, &database.data(0))?;
        let mut access =
            fs::OpenOptions::new().append(true).open(database.data(0).join("pg_hba.conf"))?;
        writeln!(access, "host all all 10.213.2.0/24 trust")?;
        database.serve(0)?;
        database.sql("CREATE DATABASE universes")?;
        database.follow()?;
        Ok(database)
    }

    /// The URL for the universe servers, with both hosts. Only one of them accepts writes.
    pub(super) fn url() -> String {
        let host = Side::Database.host();
        let [one, other] = PORTS;
        format!("postgres://postgres@{host}:{one},{host}:{other}/universes?sslmode=disable")
    }

    /// Kills every process of the primary at once, promotes the standby, and creates a new standby.
    ///
    /// # Errors
    /// When one of the steps fails.
    pub(super) fn fail_over(&mut self, away: Duration) -> Result<()> {
        let old = self.primary;
        kill(&self.data(old))?;
        thread::sleep(away);
        self.primary = 1 - old;
        let mut promoted = self.programs.program("pg_ctl");
        promoted.args(["promote", "-w", "-s", "-D"]).arg(self.data(self.primary));
        succeed(&mut promoted, DEADLINE)?;
        // The new primary has a copy of the old primary's settings, but no standby yet.
        self.sql("ALTER SYSTEM RESET synchronous_standby_names")?;
        self.sql("SELECT pg_reload_conf()")?;
        fs::remove_dir_all(self.data(old))?;
        self.follow()
    }

    /// Stops the primary as a crash does, and starts it again.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) fn crash(&self, away: Duration) -> Result<()> {
        if !self.programs.stop(&self.data(self.primary))? {
            return Err("PostgreSQL does not stop".into());
        }
        thread::sleep(away);
        self.serve(self.primary)
    }

    /// Creates a standby of the primary. When this returns, all acknowledged data is on both.
    fn follow(&self) -> Result<()> {
        let standby = 1 - self.primary;
        let mut copied = self.programs.program("pg_basebackup");
        copied
            .args(["-R", "-X", "stream", "--no-sync", "--checkpoint=fast", "-U", "postgres", "-h"])
            .arg(&self.dir)
            .args(["-p", &port(self.primary), "-D"])
            .arg(self.data(standby));
        succeed(&mut copied, DEADLINE)?;
        self.serve(standby)?;
        self.until("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND application_name = 'walreceiver'")?;
        self.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")?;
        self.sql("SELECT pg_reload_conf()")?;
        self.until("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")?;
        // Data that was acknowledged before the setting took effect must also reach the standby.
        let end = self.sql("SELECT pg_current_wal_lsn()")?;
        self.until(&format!("SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= '{end}'"))
    }

    /// Waits until a statement returns 1.
    fn until(&self, statement: &str) -> Result<()> {
        let end = Instant::now() + DEADLINE;
        while self.sql(statement)? != "1" {
            if Instant::now() >= end {
                return Err(format!("the database does not come to it: {statement}").into());
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Starts one of the two. Leftover processes may hold its shared memory for a moment after a crash, so this is
    /// retried for a while.
    fn serve(&self, which: usize) -> Result<()> {
        let end = Instant::now() + DEADLINE;
        while !self.try_serve(which)? {
            if Instant::now() >= end {
                let log = fs::read_to_string(self.dir.join(format!("log-{which}")));
                let log = log.unwrap_or_default();
                let last = log.lines().last().unwrap_or_default();
                return Err(format!("PostgreSQL does not start: {last}").into());
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn try_serve(&self, which: usize) -> Result<bool> {
        let (host, dir) = (Side::Database.host(), self.dir.display());
        let options = format!(
            "-p {} -c listen_addresses={host} -c unix_socket_directories={dir} -c wal_retrieve_retry_interval=500ms",
            port(which)
        );
        let log = self.dir.join(format!("log-{which}"));
        self.programs.start(&self.data(which), &log, &options)
    }

    fn sql(&self, statement: &str) -> Result<String> {
        let mut asked = self.programs.program("psql");
        asked
            .args(["-XqAt", "-U", "postgres", "-d", "postgres", "-c", statement, "-h"])
            .arg(&self.dir)
            .args(["-p", &port(self.primary)]);
        let answered = process::run(&mut asked, DEADLINE)?;
        if answered.success {
            Ok(answered.stdout.trim().to_owned())
        } else {
            Err(format!("{statement}: {}", answered.stderr.trim()).into())
        }
    }

    fn data(&self, which: usize) -> PathBuf {
        self.dir.join(format!("data-{which}"))
    }

    fn clear(&self) {
        for which in 0..PORTS.len() {
            // The server may not run, or may not exist.
            let _ = self.programs.stop(&self.data(which));
        }
        let _ = fs::remove_dir_all(&self.dir);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.clear();
    }
}

fn port(which: usize) -> String {
    PORTS.get(which).copied().unwrap_or_default().to_string()
}

/// Kills a server and its workers at once, without notice to its clients.
fn kill(data: &Path) -> Result<()> {
    let pid = fs::read_to_string(data.join("postmaster.pid"))?;
    let pid = pid.lines().next().unwrap_or_default().to_owned();
    let workers = process::run(Command::new("pgrep").args(["-P", &pid]), DEADLINE)?.stdout;
    let all: Vec<&str> = std::iter::once(pid.as_str()).chain(workers.lines()).collect();
    // Some may have ended by themselves with their parent.
    let _ = process::run(Command::new("kill").arg("-KILL").args(&all), DEADLINE)?;
    let end = Instant::now() + DEADLINE;
    while all.iter().any(|pid| runs(pid)) {
        if Instant::now() >= end {
            return Err("PostgreSQL does not die".into());
        }
        thread::sleep(POLL);
    }
    Ok(())
}

/// Whether a process exists and is still running.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}
