//! Writing a plan to the disk, completely or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use service_host::{ReplaceError, Stamp, replace, replace_unless_changed};

use super::ArchiveError;
use crate::project::RawFile;

/// One file that is written, created or removed.
#[derive(Debug)]
pub(super) struct Step {
    /// The path of the file.
    pub(super) path: PathBuf,
    /// The old contents; `None` if the file does not exist.
    pub(super) old: Option<RawFile>,
    /// The new contents; `None` to remove the file.
    pub(super) new: Option<String>,
}

/// A completed action, to be undone after a failure.
#[derive(Debug)]
enum Done<'s> {
    /// A folder was created.
    Folder(PathBuf),
    /// A file was written or removed, with its stamp afterwards.
    File(&'s Step, Option<Stamp>),
}

/// Runs all `steps` and moves the folder `from` to `to`. If something fails, the completed steps are undone.
pub(super) fn commit(
    steps: &[Step],
    from: &Path,
    to: &Path,
    specs: &Path,
) -> Result<(), ArchiveError> {
    let mut done = Vec::new();
    let result = run(steps, from, to, &mut done);
    if let Err(error) = result {
        let stuck = undo(done);
        return Err(if stuck.is_empty() {
            error
        } else {
            ArchiveError::Write(format!(
                "{error}; and what was written before could not be put back: {}",
                stuck.join(", ")
            ))
        });
    }
    for step in steps.iter().filter(|step| step.new.is_none()) {
        remove_empty_folders(&step.path, specs);
    }
    Ok(())
}

fn run<'s>(
    steps: &'s [Step],
    from: &Path,
    to: &Path,
    done: &mut Vec<Done<'s>>,
) -> Result<(), ArchiveError> {
    // Files are removed last, because the other steps can be undone more reliably.
    let (writes, removals): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.new.is_some());
    if let Some(archive) = to.parent() {
        make_folder(archive, done)?;
    }
    for step in writes.into_iter().chain(removals) {
        let path = step.target();
        let stamp = step.old.as_ref().and_then(|old| old.stamp.as_ref());
        match &step.new {
            Some(text) => {
                if let Some(folder) = path.parent() {
                    make_folder(folder, done)?;
                }
                replace_unless_changed(path, stamp, text.as_bytes())?;
            }
            None => {
                let now = Stamp::of(path).map_err(|error| failed(path, &error))?;
                if now.as_ref() != stamp {
                    return Err(ArchiveError::Changed(path.to_owned()));
                }
                fs::remove_file(path).map_err(|error| failed(path, &error))?;
            }
        }
        done.push(Done::File(step, Stamp::of(path).ok().flatten()));
    }
    fs::rename(from, to).map_err(|error| failed(to, &error))?;
    // From here on it is done. The disk decides whether it survives a loss of power.
    for folder in [from, to].into_iter().filter_map(Path::parent) {
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
    }
    Ok(())
}

fn make_folder(path: &Path, done: &mut Vec<Done<'_>>) -> Result<(), ArchiveError> {
    let missing: Vec<&Path> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        fs::create_dir(folder).map_err(|error| failed(folder, &error))?;
        done.push(Done::Folder(folder.to_owned()));
    }
    Ok(())
}

/// Undoes the completed actions, the last one first. Returns what could not be undone.
fn undo(done: Vec<Done<'_>>) -> Vec<String> {
    let mut stuck = Vec::new();
    for step in done.into_iter().rev() {
        match step {
            // If another program has put a file into it, the folder stays.
            Done::Folder(path) => drop(fs::remove_dir(path)),
            Done::File(step, left) => {
                let path = step.target();
                let result = match (&step.old, &step.new) {
                    (Some(old), Some(_)) => replace_unless_changed(path, left.as_ref(), &old.bytes),
                    (Some(old), None) => replace(path, &old.bytes),
                    (None, _) => remove_unless_changed(path, left.as_ref()),
                };
                stuck.extend(result.err().map(|error| error.to_string()));
            }
        }
    }
    stuck
}

fn remove_unless_changed(path: &Path, stamp: Option<&Stamp>) -> Result<(), ReplaceError> {
    let io = |error| ReplaceError::Io { path: path.to_owned(), error };
    if Stamp::of(path).map_err(io)?.as_ref() == stamp {
        fs::remove_file(path).map_err(io)
    } else {
        Err(ReplaceError::Changed(path.to_owned()))
    }
}

/// Removes the folder of a removed spec and the empty folders above it, up to the folder of specs.
fn remove_empty_folders(file: &Path, specs: &Path) {
    let folders = file.ancestors().skip(1);
    for folder in folders.take_while(|folder| *folder != specs) {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> ArchiveError {
    ArchiveError::Write(format!("{}: {error}", path.display()))
}

impl Step {
    /// The file itself, or the target if it is a link.
    fn target(&self) -> &Path {
        self.old.as_ref().map_or(&self.path, |old| &old.path)
    }
}
