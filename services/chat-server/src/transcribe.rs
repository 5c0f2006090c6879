//! What is said in a recording: a program of the person's own is run for it, without a shell.

use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

/// The longest text of a recording, in bytes. What follows is left out.
const MAX_TEXT_BYTES: u64 = 64 * 1024;

/// Stands for the file of the recording among the arguments.
pub const FILE: &str = "{}";

/// The program, and its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcriber {
    /// The program and its arguments, of which one has [`FILE`] in it.
    pub command: Vec<String>,
    /// How long it may take for a recording.
    pub time: Duration,
    /// How many recordings it is run for at a time.
    pub most: usize,
}

/// A copy of a recording, which is removed when it is dropped.
struct Copy(PathBuf);

impl Drop for Copy {
    fn drop(&mut self) {
        // If it cannot be removed, the next recording replaces it.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A program that is running, which ends with all that it has started when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let id = self.0.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(id) = id {
            // It may have ended.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

impl Transcriber {
    /// The words of a recording; empty if nothing is said. The program gets a copy of it in `dir`, with this end of its
    /// name, so that nothing that others have named becomes an argument.
    ///
    /// # Errors
    /// Why the program has not done it, in words.
    pub async fn run(&self, bytes: &[u8], end: &str, dir: &Path) -> Result<String, String> {
        let dir = dir.canonicalize().map_err(|error| error.to_string())?;
        let copy = Copy(dir.join(format!("recording.{end}")));
        write(&copy.0, bytes).map_err(|error| error.to_string())?;
        let file = copy.0.to_string_lossy();
        let mut arguments = self.command.iter().map(|argument| argument.replace(FILE, &file));
        let mut command = Command::new(arguments.next().unwrap_or_default());
        command.args(arguments).current_dir(dir).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut running = Running(command.spawn().map_err(|error| error.to_string())?);
        let late = || format!("it has not ended after {} s", self.time.as_secs());
        tokio::time::timeout(self.time, said(&mut running.0)).await.map_err(|_| late())?
    }
}

async fn said(child: &mut Child) -> Result<String, String> {
    let mut bytes = Vec::new();
    if let Some(mut output) = child.stdout.take() {
        let mut limited = (&mut output).take(MAX_TEXT_BYTES);
        limited.read_to_end(&mut bytes).await.map_err(|error| error.to_string())?;
        // So that it is not held up by what is not kept.
        tokio::io::copy(&mut output, &mut tokio::io::sink()).await.map_err(|it| it.to_string())?;
    }
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("it has failed ({status})"));
    }
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// For the owner alone.
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(file)?;
    file.write_all(bytes)
}
