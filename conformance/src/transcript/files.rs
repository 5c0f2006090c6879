//! Finding and reading transcript files.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::MAX_FILE_BYTES;
use crate::error::TranscriptError;

/// How far below a given directory transcripts are looked for.
const MAX_DEPTH: usize = 8;

/// Appends the file `path`, or the transcripts below the directory `path`.
pub(crate) fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), TranscriptError> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !metadata.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut found = Vec::new();
    let mut directories = vec![(path.to_owned(), 0)];
    while let Some((directory, depth)) = directories.pop() {
        for entry in fs::read_dir(&directory).map_err(|error| unreadable(&directory, &error))? {
            let entry = entry.map_err(|error| unreadable(&directory, &error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
            if kind.is_dir() && depth < MAX_DEPTH {
                directories.push((entry.path(), depth + 1));
            } else if kind.is_file()
                && entry.path().extension().is_some_and(|extension| extension == "jsonl")
            {
                found.push(entry.path());
            }
        }
    }
    if found.is_empty() {
        return Err(TranscriptError::file(
            path.display().to_string(),
            "the directory contains no *.jsonl file",
        ));
    }
    found.sort();
    files.append(&mut found);
    Ok(())
}

pub(crate) fn read(path: &Path) -> Result<String, TranscriptError> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| unreadable(path, &error))?;
    if text.len() as u64 > MAX_FILE_BYTES {
        let problem = format!("the file is longer than {MAX_FILE_BYTES} bytes");
        return Err(TranscriptError::file(path.display().to_string(), problem));
    }
    Ok(text)
}

fn unreadable(path: &Path, error: &std::io::Error) -> TranscriptError {
    TranscriptError::file(path.display().to_string(), format!("cannot be read: {error}"))
}
