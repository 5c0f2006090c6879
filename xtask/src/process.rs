//! Child processes with a time limit. None is left running.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;

/// How long the server may take to print the address that it listens on.
const START_DEADLINE: Duration = Duration::from_secs(20);
/// How long a server may take to end when it is asked to.
const STOP_DEADLINE: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How much of a child's output is kept; the rest is read and dropped.
const OUTPUT_LIMIT: u64 = 1 << 20;

/// A child that is killed when it is dropped.
#[derive(Debug)]
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // Both fail only if the child has already ended, which is the goal.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How a child ended.
#[derive(Debug)]
pub struct Finished {
    /// Whether its exit code was 0.
    pub success: bool,
    /// The first MiB of its output.
    pub stdout: String,
    /// The first MiB of its error output.
    pub stderr: String,
}

/// Runs a command to its end.
///
/// # Errors
/// When it cannot be started, or does not end within `deadline`: then it is killed.
pub fn run(command: &mut Command, deadline: Duration) -> Result<Finished> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("cannot start {program}: {error}"))?;
    let mut child = Guard(child);
    let stdout = child.0.stdout.take().map(keep);
    let stderr = child.0.stderr.take().map(keep);
    let end = Instant::now() + deadline;
    let status = wait(&mut child.0, end)?
        .ok_or_else(|| format!("{program} was stopped after {} s", deadline.as_secs()))?;
    // A grandchild can hold the pipe open after the child has ended, so this wait has the same deadline.
    let collect = |output: Option<Receiver<String>>| {
        let left = end.saturating_duration_since(Instant::now());
        output.and_then(|output| output.recv_timeout(left).ok()).unwrap_or_default()
    };
    Ok(Finished { success: status.success(), stdout: collect(stdout), stderr: collect(stderr) })
}

/// Runs a command with visible output, then ends all processes that it left running. `true` when the command succeeded.
///
/// # Errors
/// When it cannot be started, or does not end within `deadline`.
pub fn shown(command: &mut Command, deadline: Duration) -> Result<bool> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = Guard(command.stdin(Stdio::null()).spawn()?);
    let ended = wait(&mut child.0, Instant::now() + deadline);
    end_group(&child);
    let late =
        || format!("stopped after {} s: what hangs was running until now", deadline.as_secs());
    Ok(ended?.ok_or_else(late)?.success())
}

/// Kills all processes of the group that a child leads. If the group is already empty, nothing happens.
fn end_group(leader: &Guard) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let _ = kill_process_group(Pid::from_child(&leader.0), Signal::KILL);
    }
}

/// Runs a command that must succeed.
///
/// # Errors
/// As [`run`], and when it fails, with the end of its output.
pub fn succeed(command: &mut Command, deadline: Duration) -> Result<()> {
    let finished = run(command, deadline)?;
    if finished.success {
        return Ok(());
    }
    let program = command.get_program().to_string_lossy();
    let last = finished.stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(format!("{program} failed: {last}").into())
}

fn wait(child: &mut Child, end: Instant) -> Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Reads a pipe to its end in the background, so that the child never waits for a reader.
fn keep(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, output) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut kept = Vec::new();
        // Output that cannot be read is left out; the exit status is still reported.
        let _ = pipe.by_ref().take(OUTPUT_LIMIT).read_to_end(&mut kept);
        let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        let _ = sender.send(String::from_utf8_lossy(&kept).into_owned());
    });
    output
}

/// A running server that listens on a port that it chooses. It is killed when this is dropped.
#[derive(Debug)]
pub struct Server {
    url: String,
    child: Guard,
}

impl Server {
    /// Starts the server and waits until it prints the address that it listens on.
    ///
    /// # Errors
    /// When it cannot be started, ends, or prints no address in time; with the last line that it wrote.
    pub fn start(binary: &Path, arguments: &[OsString]) -> Result<Self> {
        let mut command = Command::new(binary);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", binary.display()))?;
        let mut child = Guard(child);
        let stderr = child.0.stderr.take().ok_or("the server has no stderr")?;
        let (lines, said) = mpsc::sync_channel(16);
        // Keeps reading after the server listens, so that a full pipe never blocks it. Ends when the server does.
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(std::io::Result::ok) {
                let _ = lines.send(line);
            }
        });
        let end = Instant::now() + START_DEADLINE;
        let mut last = String::new();
        loop {
            match said.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(url) = listening_on(&line) {
                        let base = url.strip_suffix("/mcp").unwrap_or(url);
                        return Ok(Self { url: format!("{base}/mcp"), child });
                    }
                    last = line;
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(
                        format!("the server does not say where it listens; last: {last}").into()
                    );
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("the server ended: {last}").into());
                }
            }
        }
    }

    /// The address of its MCP endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// When its URL contains a host name instead of an address.
    pub fn address(&self) -> Result<SocketAddr> {
        let url = self.url.trim_start_matches("http://");
        Ok(url.trim_end_matches("/mcp").parse()?)
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.0.id()
    }

    /// Asks the server to end (SIGTERM) and waits until it has.
    ///
    /// # Errors
    /// When it does not end in time: then it is killed.
    pub fn stop(mut self) -> Result<()> {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process};
            kill_process(Pid::from_child(&self.child.0), Signal::TERM)?;
        }
        wait(&mut self.child.0, Instant::now() + STOP_DEADLINE)?
            .map(drop)
            .ok_or_else(|| "the server did not end when asked to".into())
    }
}

/// The address in a line that ends with `listening on http://ADDRESS`, with any log prefix.
fn listening_on(line: &str) -> Option<&str> {
    let (_, url) = line.split_once("listening on ")?;
    let url = url.split_whitespace().next()?.trim_end_matches('/');
    url.starts_with("http://").then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that every machine with these tests has, and that takes `--version`.
    fn cargo() -> Command {
        Command::new(env!("CARGO"))
    }

    #[test]
    fn the_address_is_found_after_any_log_prefix() {
        assert_eq!(
            listening_on("listening on http://127.0.0.1:4000"),
            Some("http://127.0.0.1:4000")
        );
        assert_eq!(
            listening_on("INFO x: listening on http://[::1]:7/ demo=true"),
            Some("http://[::1]:7")
        );
        assert_eq!(listening_on("listening on stdin"), None);
        assert_eq!(listening_on("starting"), None);
    }

    #[test]
    fn output_and_success_are_told() {
        let finished = run(cargo().arg("--version"), Duration::from_secs(60)).expect("runs");
        assert!(finished.success);
        assert!(finished.stdout.starts_with("cargo "));
        let error =
            succeed(cargo().arg("no-such-command"), Duration::from_secs(60)).expect_err("fails");
        assert!(error.to_string().contains("failed"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run(&mut Command::new("no-such-program"), Duration::from_secs(1))
            .expect_err("no program");
        assert!(error.to_string().starts_with("cannot start no-such-program"), "{error}");
    }

    #[test]
    fn a_child_that_never_ends_is_stopped_at_the_deadline() {
        let sleeper = if cfg!(windows) { ["timeout", "600"] } else { ["sleep", "600"] };
        let [program, time] = sleeper;
        let error = run(Command::new(program).arg(time), Duration::ZERO).expect_err("stopped");
        assert!(error.to_string().contains("was stopped"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn what_hangs_is_stopped_with_all_that_it_started() {
        let (mut output, held) = std::io::pipe().expect("a pipe");
        let mut hanging = Command::new("sh");
        hanging.args(["-c", "echo begun; sleep 600 & wait"]).stdout(held);
        let error = shown(&mut hanging, Duration::from_secs(1)).expect_err("stopped");
        assert!(error.to_string().starts_with("stopped after 1 s"), "{error}");
        drop(hanging);
        // The output ends once no started process holds the pipe.
        let mut said = String::new();
        output.read_to_string(&mut said).expect("an end");
        assert_eq!(said, "begun\n");
    }

    #[test]
    fn a_server_that_ends_at_once_is_told_with_its_last_words() {
        let error = Server::start(Path::new(env!("CARGO")), &["no-such-command".into()])
            .expect_err("no server");
        assert!(error.to_string().starts_with("the server ended: "), "{error}");
    }
}
