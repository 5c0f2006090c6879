//! Following a feed of killmails: a file that grows, or the output of a program.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::activity::Feed;

/// The longest line in bytes. Longer lines are skipped. The largest killmails have about 1 MB.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// How many bytes before its end a file is read from. They hold more than an hour of kills in the whole game.
const MAX_BEFORE: u64 = 64 * 1024 * 1024;
/// How often a file is checked.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The delay before a program that ended is started again. It is doubled each time, up to the longest delay.
const RESTART_FIRST: Duration = Duration::from_secs(1);
const RESTART_LONGEST: Duration = Duration::from_secs(60);

/// The source of killmails, one JSON object per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedSource {
    /// A file that another program appends to. It may be missing at first, be truncated, or be replaced.
    File(PathBuf),
    /// The output of a shell command, which is started again when it ends.
    Command(String),
}

/// A feed that is followed until this value is dropped.
#[derive(Debug)]
pub(super) struct Following {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    stopped: AtomicBool,
    child: Mutex<Option<Child>>,
}

/// Begins to follow a source on a separate thread.
pub(super) fn follow(source: FeedSource, feed: Arc<Mutex<Feed>>) -> io::Result<Following> {
    let shared = Arc::new(Shared::default());
    let thread = Arc::clone(&shared);
    thread::Builder::new().name("feed".to_owned()).spawn(move || match source {
        FeedSource::File(path) => thread.file(&path, &feed),
        FeedSource::Command(command) => thread.command(&command, &feed),
    })?;
    Ok(Following { shared })
}

impl Drop for Following {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.end_child();
    }
}

impl Shared {
    fn file(&self, path: &Path, feed: &Mutex<Feed>) {
        let mut open: Option<(File, u64, Lines)> = None;
        while self.is_running() {
            if let Some((file, inode, lines)) = &mut open {
                let read = lines.read(file, feed);
                let there = path.metadata().ok();
                let same = there.filter(|there| there.ino() == *inode);
                let at = file.stream_position().unwrap_or_default();
                // Another file in its place, or the same file truncated: it is read from its beginning.
                if read.is_err() || same.is_none_or(|there| there.len() < at) {
                    open = None;
                }
            } else {
                open = from_near_the_end(path).ok();
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn command(&self, command: &str, feed: &Mutex<Feed>) {
        let mut pause = RESTART_FIRST;
        while self.is_running() {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped());
            match shell.spawn() {
                Ok(mut child) => {
                    let output = child.stdout.take();
                    *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
                    let mut lines = Lines::default();
                    let read = output.map(|mut output| lines.read(&mut output, feed));
                    if read.is_some_and(|read| read.unwrap_or_default() > 0) {
                        pause = RESTART_FIRST;
                    }
                    self.end_child();
                    if self.is_running() {
                        tracing::warn!(
                            "the feed's command ended; it is started again in {pause:?}"
                        );
                    }
                }
                Err(error) => tracing::warn!("the feed's command does not start: {error}"),
            }
            for _ in 0..pause.as_millis() / LOOK_EVERY.as_millis() {
                if self.is_running() {
                    thread::sleep(LOOK_EVERY);
                }
            }
            pause = (pause * 2).min(RESTART_LONGEST);
        }
    }

    fn is_running(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }

    fn end_child(&self) {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut child) = child {
            // It may have ended already, which is fine.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Opens a file at a position from which the last hour is read. The part of a line at the start is skipped.
fn from_near_the_end(path: &Path) -> io::Result<(File, u64, Lines)> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let start = metadata.len().saturating_sub(MAX_BEFORE);
    file.seek(SeekFrom::Start(start))?;
    let lines = Lines { skips: start > 0, ..Lines::default() };
    Ok((file, metadata.ino(), lines))
}

/// Splits bytes into lines.
#[derive(Debug, Default)]
struct Lines {
    begun: Vec<u8>,
    /// The rest of the current line is skipped.
    skips: bool,
}

impl Lines {
    /// Reads to the current end of the input. Returns the number of bytes read.
    fn read(&mut self, from: &mut impl Read, feed: &Mutex<Feed>) -> io::Result<usize> {
        let mut buffer = vec![0; 64 * 1024];
        let mut all = 0;
        loop {
            let count = from.read(&mut buffer)?;
            if count == 0 {
                return Ok(all);
            }
            all += count;
            let mut feed = feed.lock().unwrap_or_else(PoisonError::into_inner);
            for piece in known_range::items(&buffer, ..count).split_inclusive(|byte| *byte == b'\n')
            {
                self.take(piece, &mut feed);
            }
        }
    }

    fn take(&mut self, piece: &[u8], feed: &mut Feed) {
        let ends = piece.ends_with(b"\n");
        if !self.skips {
            self.begun.extend_from_slice(piece);
            self.skips = self.begun.len() > MAX_LINE;
            if ends && !self.skips && !self.begun.trim_ascii().is_empty() {
                feed.take(&self.begun);
            }
        }
        if ends || self.skips {
            self.begun.clear();
        }
        if ends {
            self.skips = false;
        }
    }
}
