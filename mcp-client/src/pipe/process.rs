//! A server as a child process: in its own process group, which ends with it.

use std::collections::VecDeque;
#[cfg(unix)]
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::config::Stderr;
use crate::locked::Locked as _;
use crate::{ClientError, Result};

/// How much of what a process writes to its stderr is kept, in bytes.
const MAX_STDERR: usize = 64 * 1024;

/// How much of it an error shows: lines, and bytes.
const SHOWN_LINES: usize = 10;
const SHOWN_BYTES: usize = 2_000;

/// How long a process has after SIGTERM.
const TERMINATION: Duration = Duration::from_secs(2);

/// How long the rest of its stderr may take to be read after its end.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// A running process. Dropping it kills the process and the processes that it has started in its group.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    captured: Option<Captured>,
    /// Its stdin, to see what is left there.
    #[cfg(unix)]
    input: Option<OwnedFd>,
}

#[derive(Debug)]
struct Captured {
    last: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
}

impl Process {
    pub(super) fn start(
        command: &mut Command,
        stderr: Stderr,
    ) -> Result<(Self, ChildStdin, ChildStdout)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        // A server is often a script that starts the server.
        #[cfg(unix)]
        command.process_group(0);
        if stderr != Stderr::AsCommanded {
            command.stderr(Stdio::piped());
        }
        let mut child = command.spawn().map_err(|error| {
            let command = command.as_std();
            let program = command.get_program().to_string_lossy();
            let folder = command.get_current_dir().filter(|folder| !folder.is_dir());
            let problem = match folder {
                Some(folder) => format!("its folder {} does not exist", folder.display()),
                None => error.to_string(),
            };
            ClientError::Connection(format!("{program:?} cannot be started: {problem}"))
        })?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ClientError::Closed);
        };
        let is_shown = stderr == Stderr::Shown;
        let captured = child.stderr.take().map(|stderr| Captured::new(stderr, is_shown));
        let process = Self {
            child,
            captured,
            #[cfg(unix)]
            input: stdin.as_fd().try_clone_to_owned().ok(),
        };
        Ok((process, stdin, stdout))
    }

    /// Whether nothing is left of what was written to its stdin, as far as the system says.
    pub(super) fn has_read_all(&self) -> bool {
        #[cfg(unix)]
        let left = self.input.as_ref().and_then(|input| rustix::io::ioctl_fionread(input).ok());
        #[cfg(not(unix))]
        let left = None;
        left.is_none_or(|left: u64| left == 0)
    }

    /// Whether it has ended and all of its stderr was read.
    pub(super) fn is_over(&mut self) -> bool {
        let is_read = self.captured.as_ref().is_none_or(|captured| captured.reader.is_finished());
        is_read && !matches!(self.child.try_wait(), Ok(None))
    }

    /// The error with this problem, its status and the end of its stderr.
    pub(super) fn explained(&mut self, problem: &str) -> ClientError {
        let waited = self.child.try_wait();
        let problem = match &waited {
            Ok(Some(status)) => format!("{problem} and ended ({status})"),
            Ok(None) => format!("{problem}, while its process runs"),
            Err(error) => format!("{problem}; its exit status cannot be read ({error})"),
        };
        let stderr = self.stderr().unwrap_or_default();
        let shown = |c: &char| *c == '\n' || !c.is_control();
        let mut lines: Vec<_> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.drain(..lines.len().saturating_sub(SHOWN_LINES));
        let mut text: String = lines.join("\n").chars().filter(shown).collect();
        let begin = text.ceil_char_boundary(text.len().saturating_sub(SHOWN_BYTES));
        let stderr = text.split_off(begin);
        ClientError::Process { problem, status: waited.ok().flatten(), stderr }
    }

    /// Waits for the end of a process whose input was closed. After `limit` it asks the process to end, then kills it.
    pub(super) async fn close(mut self: Box<Self>, limit: Duration) -> Result<()> {
        #[cfg(unix)]
        drop(self.input.take());
        let in_time = tokio::time::timeout(limit, self.child.wait()).await;
        if in_time.is_err() {
            self.signal(Signal::Terminate);
            let ended = tokio::time::timeout(TERMINATION, self.child.wait()).await;
            if ended.is_err() {
                self.signal(Signal::Kill);
                let killed = self.child.kill().await;
                tracing::warn!(?killed, "a server did not end with its input and was killed");
            }
        }
        if let Some(captured) = &mut self.captured {
            // Another process may keep its stderr open.
            let _ = tokio::time::timeout(LAST_OUTPUT, &mut captured.reader).await;
        }
        in_time.map(drop).map_err(|_elapsed| ClientError::Timeout(limit))
    }

    pub(super) fn stderr(&self) -> Option<String> {
        let mut last = self.captured.as_ref()?.last.locked();
        Some(String::from_utf8_lossy(last.make_contiguous()).into_owned())
    }

    /// Signals the whole group, as long as its leader exists and so keeps the group's number in use.
    #[cfg(unix)]
    fn signal(&self, signal: Signal) {
        use rustix::process::{Pid, Signal as Unix, kill_process_group};

        let group = self.child.id().and_then(|id| i32::try_from(id).ok());
        let Some(group) = group.and_then(Pid::from_raw) else {
            return;
        };
        let signal = match signal {
            Signal::Terminate => Unix::TERM,
            Signal::Kill => Unix::KILL,
        };
        if let Err(error) = kill_process_group(group, signal) {
            tracing::debug!(%error, "the processes of a server could not be signalled");
        }
    }

    /// On other systems, only the process itself is killed.
    #[cfg(not(unix))]
    fn signal(&mut self, signal: Signal) {
        if matches!(signal, Signal::Kill) {
            // The process may have ended already.
            let _ = self.child.start_kill();
        }
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}

impl Captured {
    fn new(stderr: impl AsyncRead + Send + Unpin + 'static, is_shown: bool) -> Self {
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let reader = tokio::spawn(capture(stderr, Arc::clone(&last), is_shown));
        Self { last, reader }
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Reads all output, so that the process is not blocked, and keeps the end of it.
async fn capture(
    mut stderr: impl AsyncRead + Unpin,
    last: Arc<Mutex<VecDeque<u8>>>,
    is_shown: bool,
) {
    // One for all: the writes of several would overtake each other.
    let mut own = tokio::io::stderr();
    let mut chunk = Vec::with_capacity(4 * 1024);
    while let Ok(1..) = stderr.read_buf(&mut chunk).await {
        {
            let mut last = last.locked();
            last.extend(&chunk);
            let surplus = last.len().saturating_sub(MAX_STDERR);
            last.drain(..surplus);
        }
        if is_shown {
            // A program without a stderr has nowhere to show it.
            let _ = own.write_all(&chunk).await;
            let _ = own.flush().await;
        }
        chunk.clear();
    }
}
