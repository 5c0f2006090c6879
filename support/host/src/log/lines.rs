//! Lines on their way to stderr: code that logs never waits for the reader of the log.

use std::io::{self, Write};
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

/// How many bytes wait to be written. A client that asks faster than the log is read must not slow the others down:
/// further lines are dropped, and counted.
const MAX_WAITING: usize = 1024 * 1024;

/// Waiting lines are written together, up to this many bytes and a line.
const AT_ONCE: usize = 64 * 1024;

/// How long a line waits for others to be written with it. Otherwise each line of a busy server wakes the thread anew,
/// which costs the code that logs more than the line does.
const GATHER: Duration = Duration::from_millis(1);

/// About how many bytes a waiting line takes besides its text.
const OVERHEAD: usize = 64;

/// How long the end of the program waits until the last lines are written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The channel to the writing thread. Each write is one line.
pub(super) struct Lines {
    sender: Sender<Message>,
    counts: Arc<Counts>,
}

enum Message {
    Line(Vec<u8>),
    /// There are no more lines; the answer says that all are written.
    End(Sender<()>),
}

#[derive(Default)]
struct Counts {
    waiting_bytes: AtomicUsize,
    dropped_lines: AtomicUsize,
}

impl Lines {
    /// Starts the thread. Lines are dropped where the system has no thread for it.
    pub(super) fn to_stderr() -> Self {
        let (sender, receiver) = mpsc::channel();
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        let _ =
            thread::Builder::new().name("log".to_owned()).spawn(move || write(&receiver, &counted));
        Self { sender, counts }
    }

    /// How many lines were dropped because too many bytes waited.
    pub(super) fn dropped(&self) -> usize {
        self.counts.dropped_lines.load(Ordering::Relaxed)
    }

    /// Waits until the waiting lines are written, for a second at most. Later lines are lost.
    pub(super) fn finish(&self) {
        let (ended, end) = mpsc::channel();
        if self.sender.send(Message::End(ended)).is_ok() {
            let _ = end.recv_timeout(LAST_LINES);
        }
    }
}

impl Write for &Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let counts = &self.counts;
        let size = line.len() + OVERHEAD;
        let waiting = counts.waiting_bytes.fetch_add(size, Ordering::Relaxed);
        let line = Message::Line(line.to_vec());
        if waiting + size > MAX_WAITING || self.sender.send(line).is_err() {
            counts.waiting_bytes.fetch_sub(size, Ordering::Relaxed);
            counts.dropped_lines.fetch_add(1, Ordering::Relaxed);
        }
        Ok(size - OVERHEAD)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes lines until the last. Where stderr is no longer read, they are lost.
fn write(messages: &Receiver<Message>, counts: &Counts) {
    let mut text = Vec::new();
    while let Ok(first) = messages.recv() {
        if let Message::Line(_) = first {
            thread::sleep(GATHER);
        }
        let (mut size, mut end) = (0, None);
        for message in iter::once(first).chain(messages.try_iter()) {
            match message {
                Message::Line(line) => {
                    size += line.len() + OVERHEAD;
                    text.extend_from_slice(&line);
                }
                Message::End(ended) => end = Some(ended),
            }
            if end.is_some() || text.len() >= AT_ONCE {
                break;
            }
        }
        let _ = io::stderr().lock().write_all(&text);
        text.clear();
        counts.waiting_bytes.fetch_sub(size, Ordering::Relaxed);
        if let Some(ended) = end {
            let _ = ended.send(());
            return;
        }
    }
}
