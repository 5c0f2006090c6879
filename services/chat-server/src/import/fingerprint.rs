//! Whether an export is the one that was read before.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest as _, Sha256};

use super::{Format, ImportError, Options, archive, io_at};

/// A digest of the names, sizes and times of the files that hold the chats, and of what decides how they are read.
/// Another one: something has changed. Media files do not count.
///
/// # Errors
/// The disk's word.
pub fn fingerprint(path: &Path, format: Format, options: &Options) -> Result<String, ImportError> {
    let mut sha = Sha256::new();
    sha.update(format!(
        "{} {:?} {:?} {:?}\n",
        format.name(),
        options.zone,
        options.day_order,
        options.me
    ));
    for file in files(path, format)? {
        let metadata = fs::metadata(&file).map_err(io_at(&file))?;
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let name = file.strip_prefix(path).unwrap_or(&file);
        sha.update(format!(
            "{} {} {modified:?}\n",
            name.display(),
            metadata.len()
        ));
    }
    Ok(sha
        .finalize()
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

fn files(path: &Path, format: Format) -> Result<Vec<PathBuf>, ImportError> {
    if !fs::metadata(path).map_err(io_at(path))?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let chats = |folder: &Path| {
        ["data.json", "chat.md"]
            .map(|name| folder.join(name))
            .into_iter()
            .filter(|file| file.is_file())
    };
    Ok(match format {
        Format::Telegram => vec![path.join(archive::TELEGRAM_FILE)],
        Format::WhatsApp => archive::entries(path)?
            .into_iter()
            .filter(|file| archive::is_chat_file(file))
            .collect(),
        Format::Signal => {
            let folders = archive::entries(path)?;
            chats(path)
                .chain(folders.iter().flat_map(|folder| chats(folder)))
                .collect()
        }
    })
}
