//! The changes since the database was written last: a line for each, appended by the request that makes it.
//!
//! Appending to a file costs some 2 µs, and a commit of the database three to five times as much, or a change to
//! another thread and back. `initialize` and DELETE would notice. So commits are made in the background, for many
//! changes together, and of a session that has ended meanwhile nothing is left to write.
//!
//! The lines of one session are in the order of its changes, those of different sessions in any: a request does not
//! wait for those of other sessions.
//!
//! A line that a process did not finish is not read: it begins with the end of the line before, and ends with a mark.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError, RwLock, RwLockWriteGuard};

use data_encoding::HEXLOWER;

use super::database::{Changes, Row, State, own};
use crate::legacy::session::{MemorySessions, SessionId};
use crate::locked::Locked as _;

/// From this size on its changes are written to the database.
const FULL: u64 = 1 << 20;

/// No more is appended beyond this size, if the database cannot be written.
const MAX: u64 = 8 << 20;

/// How much of it is read at a time.
const READ_AHEAD: usize = 64 << 10;

/// How many locks keep the order of lines.
const LOCKS: u64 = 16;

/// The lines that are not in the database yet.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// One is held from the reading of a session's state until it is appended, so that no older state follows: the
    /// number of the session says which. Each has the space of a line.
    lines: Vec<Mutex<Vec<u8>>>,
    open: RwLock<Open>,
    /// Whether a change could not be appended. Then all sessions must be written to the database again.
    has_failed: AtomicBool,
}

#[derive(Debug)]
struct Open {
    /// `None` once it is closed.
    file: Option<File>,
    bytes: AtomicU64,
    /// Wakes the thread that writes the database, which ends once this is dropped.
    wake: Option<SyncSender<()>>,
}

/// A journal to which no line is appended meanwhile.
pub(super) struct Still<'a> {
    journal: &'a Journal,
    open: RwLockWriteGuard<'a, Open>,
}

impl Journal {
    /// A new journal beside a database, in place of any that is there.
    pub(super) fn new(database: &Path, wake: SyncSender<()>) -> io::Result<Self> {
        let path = beside(database, "-log");
        let file = Some(create(&path)?);
        let open = RwLock::new(Open { file, bytes: AtomicU64::new(0), wake: Some(wake) });
        let lines = (0..LOCKS).map(|_| Mutex::default()).collect();
        Ok(Self { path, lines, open, has_failed: AtomicBool::new(false) })
    }

    /// Appends the present state of the session that has this number, or its removal. False if something is not in the
    /// journal.
    pub(super) fn note(&self, memory: &MemorySessions, number: u64, id: &SessionId) -> bool {
        let place = |number| (number % LOCKS) as usize;
        #[expect(clippy::indexing_slicing, reason = "the place is a remainder")]
        let line = &self.lines[place(number)];
        let mut line = line.locked();
        let mut table = memory.table.locked();
        let is_here = |gone: &mut u64| place(*gone) == place(number);
        let gone = table.gone.as_mut().map(|gone| gone.extract_if(.., is_here).collect::<Vec<_>>());
        let row = table.sessions.get(id).map(Row::of);
        drop(table);
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let written = write_line(&mut line, &gone.unwrap_or_default(), row.as_ref())
            .and_then(|()| open.append(&line));
        if let Err(error) = written
            && !self.has_failed.swap(true, Ordering::AcqRel)
            && open.file.is_some()
        {
            tracing::error!(
                path = %self.path.display(),
                %error,
                "sessions cannot be written to their file: they go on, but changes do not survive this process"
            );
        }
        if (open.bytes.load(Ordering::Relaxed) > FULL || self.has_failed())
            && let Some(wake) = &open.wake
        {
            // Otherwise it is awake already.
            let _ = wake.try_send(());
        }
        // What was not appended may be the removal of this session, for another.
        !self.has_failed()
    }

    /// Waits until no line is being appended. The next one waits until the result is dropped.
    pub(super) fn still(&self) -> Still<'_> {
        let open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        Still { journal: self, open }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }
}

impl Open {
    fn append(&self, line: &[u8]) -> io::Result<()> {
        let file = self.file.as_ref().filter(|_| self.bytes.load(Ordering::Relaxed) < MAX);
        let mut file = file.ok_or(io::ErrorKind::FileTooLarge)?;
        self.bytes.fetch_add(line.len() as u64, Ordering::Relaxed);
        file.write_all(line)
    }
}

impl Still<'_> {
    /// Puts the lines aside, and begins with none. If others are aside still, only `in_any_case`, in their place.
    pub(super) fn turn(&mut self, database: &Path, in_any_case: bool) -> io::Result<()> {
        let aside = beside(database, "-log-old");
        let is_empty = self.open.bytes.load(Ordering::Relaxed) == 0;
        if !in_any_case && (is_empty || aside.exists()) {
            return Ok(());
        }
        fs::rename(&self.journal.path, &aside)?;
        match create(&self.journal.path) {
            Ok(file) => {
                self.open.file = Some(file);
                self.open.bytes = AtomicU64::new(0);
                Ok(())
            }
            Err(error) => {
                fs::rename(&aside, &self.journal.path)?;
                Err(error)
            }
        }
    }

    pub(super) fn set_failed(&self, has_failed: bool) {
        self.journal.has_failed.store(has_failed, Ordering::Release);
    }

    /// Lets the thread that writes the database end, after a last time.
    pub(super) fn let_go(&mut self) {
        self.open.wake = None;
    }

    /// Appends no more.
    pub(super) fn close(&mut self) {
        self.open.file = None;
    }
}

/// Replaces `line` by the removals of these numbers, and the state of a session.
fn write_line(line: &mut Vec<u8>, gone: &[u64], row: Option<&Row>) -> io::Result<()> {
    line.clear();
    for number in gone {
        write!(line, "\n-{number};")?;
    }
    if let Some(row) = row {
        let mut key = [0; 64];
        HEXLOWER.encode_mut(&row.key(), &mut key);
        write!(line, "\n+{} ", row.number)?;
        line.extend_from_slice(&key);
        write!(line, " {} {} ", row.at, i32::from(row.is_used))?;
        row.write_body(line)?;
        line.push(b';');
    }
    Ok(())
}

/// What a process has noted that its database may not have yet.
pub(super) fn left(database: &Path) -> io::Result<Changes> {
    let mut changes = put_aside(database)?;
    changes.extend(read(&beside(database, "-log"))?);
    Ok(changes)
}

/// What was put aside.
pub(super) fn put_aside(database: &Path) -> io::Result<Changes> {
    read(&beside(database, "-log-old"))
}

/// Removes what was put aside, once the database has it.
pub(super) fn forget(database: &Path) -> io::Result<()> {
    remove(&beside(database, "-log-old"))
}

/// Removes all lines, once the database has them.
pub(super) fn forget_all(database: &Path) -> io::Result<()> {
    forget(database)?;
    remove(&beside(database, "-log"))
}

fn read(path: &Path) -> io::Result<Changes> {
    let file = match File::open(path) {
        // The last line may exceed the bound.
        Ok(file) => file.take(MAX + FULL),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Changes::new()),
        Err(error) => return Err(error),
    };
    // Line by line: most say of a session that has ended, and space for all would be as much as the journal.
    let mut lines = BufReader::with_capacity(READ_AHEAD, file);
    let (mut changes, mut line) = (Changes::new(), Vec::new());
    while lines.read_until(b'\n', &mut line)? > 0 {
        changes.extend(change_of(line.trim_ascii_end()));
        line.clear();
    }
    Ok(changes)
}

/// The number of a session and its state, if it goes on. `None` for a line that is not whole or cannot be read.
fn change_of(line: &[u8]) -> Option<(u64, Option<State>)> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix(';')?;
    if let Some(number) = line.strip_prefix('-') {
        return Some((number.parse().ok()?, None));
    }
    let mut parts = line.strip_prefix('+')?.splitn(5, ' ');
    let number = parts.next()?.parse().ok()?;
    let key = HEXLOWER.decode(parts.next()?.as_bytes()).ok()?.try_into().ok()?;
    let at = parts.next()?.parse().ok()?;
    let used = parts.next()? == "1";
    Some((number, Some((key, at, used, parts.next()?.to_owned()))))
}

/// An empty file, for lines that are each one write to its end.
fn create(path: &Path) -> io::Result<File> {
    own(path)?;
    OpenOptions::new().write(true).truncate(true).open(path)?;
    OpenOptions::new().append(true).open(path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}
