//! A program that this one starts. It runs in a process group of its own, and with it ends what it has started itself:
//! wrappers such as npx, `uv run` and shell scripts start the server as a child.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::shorten::shorten;
use crate::sse::MAX_EVENT_BYTES;

/// So much of a message is read: as long as an event may be, and the end of its line.
pub(crate) const MAX_LINE: u64 = MAX_EVENT_BYTES as u64 + 1;
/// How many bytes of lines may wait to be read.
const MAX_WAITING: usize = 2 * MAX_EVENT_BYTES;
/// A line counts as at least so many of them: a thousand short ones may wait.
const LEAST: usize = MAX_WAITING / 1_000;
/// How many of the last lines of its stderr are kept.
const LINES: usize = 5;
/// How many bytes of each line are read, and how many characters of it are kept.
const LINE: (u64, usize) = (16 * 1024, 200);
/// How long the rest of its stderr is waited for.
const REST: Duration = Duration::from_millis(300);

/// A program and all that it has started. Dropping this kills them.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) child: Child,
    /// The group, which outlives the program if that has started others.
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
    errors: Option<(Lines, JoinHandle<()>)>,
}

/// The last lines of a program's stderr.
type Lines = Arc<Mutex<VecDeque<String>>>;

/// The lines of a program's stdout, each with the room that it takes until it is dropped.
pub(crate) type Output = mpsc::UnboundedReceiver<(Vec<u8>, OwnedSemaphorePermit)>;

/// What starts a server on its stdin and stdout.
pub(crate) fn piped(program: &OsString, arguments: &[OsString]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// What is wrong with a line that was read with [`MAX_LINE`], if it is only a part of one.
pub(crate) fn too_long(line: &[u8]) -> Option<String> {
    let is_part = line.len() > MAX_EVENT_BYTES && !line.ends_with(b"\n");
    is_part.then(|| format!("a line has more than {MAX_EVENT_BYTES} bytes"))
}

/// The next line of an output, or so many bytes of it; nothing at the end.
pub(crate) async fn next_line(
    output: &mut (impl AsyncBufRead + Unpin),
    most: u64,
) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let read = output.take(most).read_until(b'\n', &mut line).await;
    read.is_ok_and(|count| count > 0).then_some(line)
}

impl Group {
    /// Starts it.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn spawn(mut command: Command) -> io::Result<Self> {
        #[cfg(unix)]
        command.process_group(0);
        let child = command.kill_on_drop(true).spawn()?;
        Ok(Self {
            #[cfg(unix)]
            id: child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(rustix::process::Pid::from_raw),
            child,
            errors: None,
        })
    }

    /// Starts it, and keeps the last lines that it writes on stderr.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn spawn_heard(mut command: Command) -> io::Result<Self> {
        command.stderr(Stdio::piped());
        let mut group = Self::spawn(command)?;
        let Some(stderr) = group.child.stderr.take() else {
            return Ok(group);
        };
        let lines = Lines::default();
        let kept = lines.clone();
        let reading = tokio::spawn(async move {
            let mut reader = BufReader::new(stderr);
            while let Some(line) = next_line(&mut reader, LINE.0).await {
                let line = shorten(String::from_utf8_lossy(&line).trim(), LINE.1);
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend((!line.is_empty()).then_some(line));
                if kept.len() > LINES {
                    kept.pop_front();
                }
            }
        });
        group.errors = Some((lines, reading));
        Ok(group)
    }

    /// Its stdin, and the lines of its stdout. Each is shown to `seen` as it comes. While too much waits to be taken,
    /// nothing more is read.
    pub(crate) fn talk(
        &mut self,
        seen: impl Fn(&[u8]) + Send + 'static,
    ) -> (Option<ChildStdin>, Output) {
        let room = Arc::new(Semaphore::new(MAX_WAITING));
        let (sender, lines) = mpsc::unbounded_channel();
        let stdout = self.child.stdout.take();
        tokio::spawn(async move {
            let Some(stdout) = stdout else { return };
            let mut reader = BufReader::new(stdout);
            while let Some(line) = next_line(&mut reader, MAX_LINE).await {
                seen(&line);
                let counted = u32::try_from(line.len().max(LEAST)).unwrap_or(u32::MAX);
                let Ok(held) = Arc::clone(&room).acquire_many_owned(counted).await else { return };
                if sender.send((line, held)).is_err() {
                    return;
                }
            }
        });
        (self.child.stdin.take(), lines)
    }

    /// The last lines of its stderr, once it has ended.
    pub(crate) async fn last_words(&mut self) -> Vec<String> {
        let Some((lines, reading)) = &mut self.errors else {
            return Vec::new();
        };
        if !reading.is_finished() {
            // What has not come by then stays out.
            let _ = timeout(REST, reading).await;
        }
        lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Asks all of them to end, by SIGTERM; whether that can be done here.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) -> bool {
        use rustix::process::{Signal, kill_process_group};
        self.id.is_some_and(|id| kill_process_group(id, Signal::TERM).is_ok())
    }

    /// There is no such signal here.
    #[cfg(not(unix))]
    pub(crate) fn terminate(&self) -> bool {
        false
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some((_, reading)) = &self.errors {
            reading.abort();
        }
        #[cfg(unix)]
        if let Some(id) = self.id {
            use rustix::process::{Signal, kill_process_group};
            // Most often none of them is left.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}
