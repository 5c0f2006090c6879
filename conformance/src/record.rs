//! Recording: what clients and a server say to each other becomes transcripts.
//!
//! A [`Recorder`] is fed by a proxy before an HTTP server ([`proxy()`]), by one around a server on stdio ([`around`]),
//! or by exchanges that were recorded elsewhere ([`Recorder::import`]). It writes one transcript for each session.

mod calls;
mod flow;
mod import;
mod lines;
mod mask;
mod proxy;
mod session;
mod split;
mod stdio;
mod values;
mod volatile;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

pub use self::calls::RecordedCalls;
use self::flow::Flow;
pub(crate) use self::mask::MASKED;
use self::mask::Mask;
pub use self::proxy::proxy;
use self::session::Session;
pub(crate) use self::session::era_of;
pub use self::stdio::around;
pub use self::values::Loosened;
use self::values::Writer;
pub(crate) use self::volatile::like;
use crate::transcript::Era;
use crate::transcript::format::Line;

/// The most bytes of messages kept at once, over all sessions.
pub const MAX_RECORDED_BYTES: usize = 64 * 1024 * 1024;
/// The most sessions under way.
pub const MAX_SESSIONS: usize = 1_000;

/// Keeps sessions and writes them as transcripts. Nothing is written before its secrets are masked.
#[derive(Debug, Clone)]
pub struct Recorder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    split: bool,
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    sessions: Vec<(Key, Session)>,
    mask: Mask,
    left_out: usize,
    /// What has been written, or could not be.
    done: Vec<std::io::Result<RecordedFile>>,
}

/// What distinguishes sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// The id that the server gave.
    Session(String),
    /// A legacy client without a session: the last that shook hands.
    Sessionless,
    /// A modern client, by its name and version.
    Modern(String),
    /// A handshake without an answer yet.
    Handshake(u64),
}

/// Who sent a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sender {
    Client,
    Server,
}

/// A transcript that was written.
#[derive(Debug)]
pub struct RecordedFile {
    /// The file, or the folder of the split ones.
    pub path: PathBuf,
    /// How many steps it has.
    pub steps: usize,
    /// Where it accepts more than what was recorded.
    pub loosened: Vec<Loosened>,
    /// What was seen and could not be written, in words.
    pub left_out: Vec<String>,
}

impl Recorder {
    /// Writes to this folder, which is created; with `split`, each session becomes a folder of one behaviour per file.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn new(folder: impl Into<PathBuf>, split: bool) -> std::io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        let book = Mutex::default();
        Ok(Self(Arc::new(Inner { folder, split, book })))
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what a header carries, so that it is masked everywhere.
    pub(crate) fn secret(&self, name: &str, value: &str) {
        self.book().mask.header(name, value);
    }

    /// Lets `note` add to the session of this key, which begins if there is none. Over the bounds it is left out.
    pub(crate) fn with<R>(
        &self,
        key: &Key,
        era: Era,
        http: bool,
        note: impl FnOnce(&mut Session) -> R,
    ) -> Option<R> {
        let mut book = self.book();
        let bytes: usize = book.sessions.iter().map(|(_, session)| session.bytes()).sum();
        let known = book.sessions.iter().rposition(|(known, _)| known == key);
        if bytes > MAX_RECORDED_BYTES || known.is_none() && book.sessions.len() >= MAX_SESSIONS {
            book.left_out += 1;
            return None;
        }
        let index = known.unwrap_or_else(|| {
            book.sessions.push((key.clone(), Session::new(era, http)));
            book.sessions.len() - 1
        });
        let (_, session) = book.sessions.get_mut(index)?;
        Some(note(session))
    }

    /// A message of a server on stdio. It goes to the session whose request it answers or concerns, else to the legacy
    /// one; its notifications are assigned as in a replay on stdio.
    pub(crate) fn server_message(&self, message: Value) {
        let mut book = self.book();
        let session = book.sessions.iter_mut().rev().find_map(|(_, session)| {
            let carrier = session.carrier(&message)?;
            Some((session, carrier))
        });
        match session {
            Some((session, carrier)) => session.server(message, carrier, None),
            None => book.left_out += 1,
        }
    }

    /// A handshake was answered: from now on its session goes by another key.
    pub(crate) fn rename(&self, from: &Key, to: Key) {
        let mut book = self.book();
        if let Some((key, _)) = book.sessions.iter_mut().find(|(key, _)| key == from) {
            *key = to;
        }
    }

    /// Writes the sessions that have not ended, and returns what was written of all.
    ///
    /// # Errors
    ///
    /// A file could not be written.
    pub fn finish(&self) -> std::io::Result<Vec<RecordedFile>> {
        let mut book = self.book();
        for (_, session) in std::mem::take(&mut book.sessions) {
            let written = self.write(&session, &book.mask);
            book.done.extend(written.transpose());
        }
        std::mem::take(&mut book.done).into_iter().collect()
    }

    /// Writes the session of this key, which has ended.
    pub(crate) fn end(&self, key: &Key) {
        let mut book = self.book();
        if let Some(index) = book.sessions.iter().position(|(known, _)| known == key) {
            let (_, session) = book.sessions.remove(index);
            let written = self.write(&session, &book.mask);
            book.done.extend(written.transpose());
        }
    }

    /// How many messages were over the bounds, or belonged to sessions that began before the recording.
    pub fn left_out(&self) -> usize {
        self.book().left_out
    }

    /// A message of an unknown session.
    pub(crate) fn stray(&self) {
        self.book().left_out += 1;
    }

    /// Whether this session is being recorded.
    pub(crate) fn knows(&self, key: &Key) -> bool {
        self.book().sessions.iter().any(|(known, _)| known == key)
    }

    fn write(&self, session: &Session, mask: &Mask) -> std::io::Result<Option<RecordedFile>> {
        let client = lines::client_of(session);
        let (name, path) = self.free(&client, session.era);
        let Some(written) = lines::write(session, mask, &name) else {
            return Ok(None);
        };
        let steps = written.lines.len().saturating_sub(1);
        if self.0.split {
            fs::create_dir_all(&path)?;
            for (file, lines) in split::behaviours(&written.lines, &name) {
                write_lines(&path.join(file), &lines)?;
            }
        } else {
            let lines: Vec<Value> = written.lines.iter().map(as_json).collect();
            write_lines(&path, &lines)?;
        }
        Ok(Some(RecordedFile {
            path,
            steps,
            loosened: written.loosened,
            left_out: written.left_out,
        }))
    }

    /// A name that no file has yet.
    fn free(&self, client: &str, era: Era) -> (String, PathBuf) {
        let mut number = 1;
        loop {
            let name = format!("{client}-{era}-{number}");
            let (file, folder) =
                (self.0.folder.join(format!("{name}.jsonl")), self.0.folder.join(&name));
            if !file.exists() && !folder.exists() {
                return (name, if self.0.split { folder } else { file });
            }
            number += 1;
        }
    }
}

/// A value of a server as a recording writes it at this place, a JSON Pointer such as `/result/tools/0`.
pub(crate) fn recorded(place: &str, value: &Value) -> Value {
    let mask = Mask::default();
    Writer::new(&mask, Flow::default()).expected(place, value)
}

fn as_json(line: &Line) -> Value {
    serde_json::to_value(line).unwrap_or_default()
}

fn write_lines(path: &Path, lines: &[Value]) -> std::io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    for line in lines {
        writeln!(file, "{line}")?;
    }
    Ok(())
}

/// Where a message of a modern client belongs.
pub(crate) fn modern(message: &Value) -> Key {
    let meta = message.pointer("/params/_meta/io.modelcontextprotocol~1clientInfo");
    let text = |name: &str| {
        meta.and_then(|info| info.get(name)).and_then(Value::as_str).unwrap_or_default()
    };
    Key::Modern(format!("{} {}", text("name"), text("version")))
}
