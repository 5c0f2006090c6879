//! Operations on a whole data directory while no server uses it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::directory::{self, DATABASE, Directory, OpenError, unreadable};
use super::{Durability, schema};
use crate::Size;

/// The files of a database.
const FILES: [&str; 3] = [DATABASE, "universes.db-wal", "universes.db-shm"];

/// The name of a file until it is complete.
const UNREADY: &str = "universes.new";

/// Removes entries that can no longer be read, and rewrites the file without unused space. Needs as much space again
/// while it runs. Returns the sizes before and after.
///
/// # Errors
/// [`OpenError`].
pub fn compact(dir: &Path) -> Result<(Size, Size), OpenError> {
    exists(dir)?;
    let Directory { mut ledger, .. } = Directory::open(dir, Durability::Fsync)?;
    ledger.compact().map_err(|error| directory::damaged(dir, &error))
}

/// Puts right what the rest of the store proves: records, heads, beginnings and entries under another number than their
/// own. Gives a line for each thing done.
///
/// # Errors
/// [`OpenError`]; nothing has changed then.
pub fn repair(dir: &Path) -> Result<Vec<String>, OpenError> {
    exists(dir)?;
    let Directory { ledger, .. } = Directory::open(dir, Durability::Fsync)?;
    ledger.repair().map_err(|error| directory::damaged(dir, &error))
}

/// Copies `file`, a backup, into the directory, which is created if missing. With `replace`, a database that is there
/// already is moved into a new directory, which is returned.
///
/// # Errors
/// [`OpenError`], also if the directory has universes already. Nothing is lost then: the directory has one of the two
/// databases or, after a crash in between, both under separate names.
pub fn restore(dir: &Path, file: &Path, replace: bool) -> Result<Option<PathBuf>, OpenError> {
    let failed = |error: io::Error| unreadable(dir, &error);
    directory::make(dir).map_err(failed)?;
    let _lock = directory::lock(dir)?;
    let holds = fs::metadata(dir.join(DATABASE)).is_ok_and(|found| found.len() > 0);
    if holds && !replace {
        let held = "it has universes already; name another one with --data-dir, or add --replace, which moves them aside";
        return Err(unreadable(dir, &held));
    }
    let unready = dir.join(UNREADY);
    if schema::has_log(file) {
        // It is the file of a server that was killed, and not a backup: what was written last is beside it.
        let source = directory::open_reader(file.parent().unwrap_or(dir), file)?;
        copy_whole(&source, &unready).map_err(failed)?;
    } else {
        copy(file, &unready).map_err(failed)?;
    }
    // A log that is left of a file that is gone would be taken for one of the new file.
    let is_left = FILES.iter().any(|name| dir.join(name).exists());
    let aside = is_left.then(|| move_aside(dir)).transpose().map_err(failed)?;
    fs::rename(&unready, dir.join(DATABASE)).map_err(failed)?;
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(failed)?;
    Ok(aside)
}

/// Writes all that a connection sees into a file, onto the disk.
fn copy_whole(source: &Connection, to: &Path) -> io::Result<()> {
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(to)?;
    let name = to.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
    source.execute("VACUUM INTO ?1", [name]).map_err(io::Error::other)?;
    File::open(to)?.sync_all()
}

/// A directory is not created for its care.
fn exists(dir: &Path) -> Result<(), OpenError> {
    let found = fs::metadata(dir.join(DATABASE));
    found.map(drop).map_err(|error| unreadable(dir, &format_args!("{DATABASE}: {error}")))
}

/// Copies a file, onto the disk, for its owner alone.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut copy = options.open(to)?;
    io::copy(&mut File::open(from)?, &mut copy)?;
    copy.sync_all()
}

/// Moves the files of the database into a new directory beside them: `replaced-1` or a higher number.
fn move_aside(dir: &Path) -> io::Result<PathBuf> {
    let mut number = 1_u32;
    let aside = loop {
        let aside = dir.join(format!("replaced-{number}"));
        match fs::create_dir(&aside) {
            Ok(()) => break aside,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                number = number.saturating_add(1);
            }
            Err(error) => return Err(error),
        }
    };
    // The log first: without it the file is as it was at some time before, and with it as it was at the end.
    for name in FILES.iter().rev() {
        match fs::rename(dir.join(name), aside.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}
