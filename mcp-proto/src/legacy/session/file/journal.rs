//! The changes since the database was written last: a line for each, appended by the request that makes it.
//!
//! Appending to a file costs some 2 µs, and a commit of the database three to five times as much, or a change to
//! another thread and back. `initialize` and DELETE would notice. So commits are made in the background, for many
//! changes together, and of a session that has ended meanwhile nothing is left to write.
//!
//! A line that a process did not finish is not read: it begins with the end of the line before, and ends with a mark.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use data_encoding::HEXLOWER;

use super::database::{Changes, Row, own};
use crate::legacy::session::{MemorySessions, SessionId};

/// From this size on its changes are written to the database.
const FULL: u64 = 1 << 20;

/// No more is appended beyond this size, if the database cannot be written.
const MAX: u64 = 8 << 20;

/// The lines that are not in the database yet.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// `None` once it is closed.
    file: Option<File>,
    bytes: u64,
    line: Vec<u8>,
    /// Whether a change could not be appended. Then all sessions must be written to the database again.
    pub(super) has_failed: bool,
    /// Wakes the thread that writes the database, which ends once this is dropped.
    pub(super) wake: Option<SyncSender<()>>,
}

impl Journal {
    /// A new journal beside a database, in place of any that is there.
    pub(super) fn new(database: &Path, wake: SyncSender<()>) -> io::Result<Self> {
        let path = beside(database, "-log");
        let file = Some(create(&path)?);
        let (line, wake) = (Vec::new(), Some(wake));
        Ok(Self { path, file, bytes: 0, line, has_failed: false, wake })
    }

    /// Appends the present state of a session, and the removals of those that were removed. False if that failed.
    pub(super) fn note(&mut self, memory: &MemorySessions, changed: Option<&SessionId>) -> bool {
        let mut table = memory.table();
        let gone = table.gone.as_mut().map(std::mem::take).unwrap_or_default();
        let row = changed.and_then(|id| table.sessions.get(id)).map(Row::of);
        drop(table);
        let written = self.append(&gone, row.as_ref());
        if let Err(error) = &written
            && !std::mem::replace(&mut self.has_failed, true)
            && self.file.is_some()
        {
            tracing::error!(
                path = %self.path.display(),
                %error,
                "sessions cannot be written to their file: they go on, but changes do not survive this process"
            );
        }
        if (self.bytes > FULL || self.has_failed)
            && let Some(wake) = &self.wake
        {
            // Otherwise it is awake already.
            let _ = wake.try_send(());
        }
        written.is_ok()
    }

    fn append(&mut self, gone: &[u64], row: Option<&Row>) -> io::Result<()> {
        let file = self.file.as_mut().filter(|_| self.bytes < MAX);
        let file = file.ok_or(io::ErrorKind::FileTooLarge)?;
        self.line.clear();
        for number in gone {
            write!(self.line, "\n-{number};")?;
        }
        if let Some(row) = row {
            let (key, used) = (HEXLOWER.encode(&row.key()), i32::from(row.is_used));
            write!(self.line, "\n+{} {key} {} {used} {};", row.number, row.at, row.body()?)?;
        }
        file.write_all(&self.line)?;
        self.bytes = self.bytes.saturating_add(self.line.len() as u64);
        Ok(())
    }

    /// Puts the lines aside, and begins with none. If others are aside still, only `in_any_case`, in their place.
    pub(super) fn turn(&mut self, database: &Path, in_any_case: bool) -> io::Result<()> {
        let aside = beside(database, "-log-old");
        if !in_any_case && (self.bytes == 0 || aside.exists()) {
            return Ok(());
        }
        fs::rename(&self.path, &aside)?;
        match create(&self.path) {
            Ok(file) => (self.file, self.bytes) = (Some(file), 0),
            Err(error) => {
                fs::rename(&aside, &self.path)?;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Appends no more.
    pub(super) fn close(&mut self) {
        self.file = None;
    }
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
    let mut lines = Vec::new();
    match File::open(path) {
        // The last line may exceed the bound.
        Ok(file) => file.take(MAX + FULL).read_to_end(&mut lines)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Changes::new()),
        Err(error) => return Err(error),
    };
    let lines = lines.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| change(std::str::from_utf8(line).ok()?)).collect())
}

/// The number of a session and its state. `None` for a line that is not whole.
fn change(line: &str) -> Option<<Changes as IntoIterator>::Item> {
    let line = line.strip_suffix(';')?;
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

fn create(path: &Path) -> io::Result<File> {
    own(path)?;
    let mut file = OpenOptions::new();
    file.write(true).truncate(true);
    file.open(path)
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
