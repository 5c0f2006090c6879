//! Keys that several servers share, so that each can open the request states and cursors that another has sealed.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use clap::Args;
use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER_PERMISSIVE};
use mcp_proto::Keys;
use tokio::task::JoinSet;

use super::EndpointError;
use super::reload::Reload;

/// The most bytes of the file: keys, and words about them.
const FILE_BYTES: u64 = 16 * 1024;

/// A key, 32 secret random bytes.
type Key = [u8; 32];

const HOW: &str = "make a key with `openssl rand -base64 32`";

/// The file of keys that servers share, if there is one.
#[derive(Debug, Clone, Default, Args)]
pub struct KeysFile {
    /// A file of keys that all servers behind one address share, so that each accepts the request states and cursors of
    /// the others: one key in each line, 32 random bytes in base64 or hex (`openssl rand -base64 32`), at most four.
    /// New ones are sealed with the first key, and all keys open them. Other users must not be able to read the file.
    /// It is read again when it changes. Without it, each server has a random key until it exits.
    #[arg(long, value_name = "FILE")]
    pub keys_file: Option<PathBuf>,
}

/// The keys of a file, and the reader that keeps them current.
#[derive(Debug)]
pub struct SharedKeys {
    reload: Reload,
    path: PathBuf,
    keys: Vec<Key>,
}

impl KeysFile {
    /// Reads the file; `None` if no file was named.
    ///
    /// # Errors
    /// [`EndpointError::SharedKeys`], in a sentence for the person who named the file.
    pub fn open(&self) -> Result<Option<SharedKeys>, EndpointError> {
        let Some(path) = &self.keys_file else {
            return Ok(None);
        };
        let wrong =
            |problem| EndpointError::SharedKeys { file: path.display().to_string(), problem };
        let (text, reload) = Reload::open(path, FILE_BYTES).map_err(wrong)?;
        let keys = is_private(path).and_then(|()| read(&text));
        Ok(Some(SharedKeys { reload, path: path.clone(), keys: keys.map_err(wrong)? }))
    }
}

impl SharedKeys {
    /// Replaces the keys of a server with these, and again whenever the file changes, until the returned [`JoinSet`] is
    /// dropped. A file that cannot be used changes nothing.
    #[must_use]
    pub fn give(self, to: Keys) -> JoinSet<()> {
        put(&to, &self.keys);
        let path = self.path;
        let reload = self.reload.then(move |text| {
            is_private(&path)?;
            put(&to, &read(text)?);
            Ok(())
        });
        let mut following = JoinSet::new();
        following.spawn(reload.follow());
        following
    }
}

fn put(keys: &Keys, read: &[Key]) {
    if let Some((current, previous)) = read.split_first() {
        keys.replace(*current, previous);
    }
}

/// The keys of a text, at least one.
fn read(text: &str) -> Result<Vec<Key>, String> {
    let (mut keys, mut known) = (Vec::new(), BTreeSet::new());
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let key = key(line).map_err(|problem| format!("line {number} {problem}; {HOW}"))?;
        if !known.insert(key) {
            return Err(format!("line {number} repeats a key: each stands there once"));
        }
        keys.push(key);
    }
    match keys.len() {
        0 => Err(format!("there is no key in it; {HOW}")),
        1..=Keys::MAX => Ok(keys),
        count => Err(format!(
            "it has {count} keys, and at most {} are used: take the oldest out, the last ones",
            Keys::MAX
        )),
    }
}

/// The key in a line, or an error that contains no part of the line.
fn key(line: &str) -> Result<Key, String> {
    let bytes = if line.len() == 64 {
        HEXLOWER_PERMISSIVE.decode(line.as_bytes())
    } else {
        BASE64.decode(line.as_bytes()).or_else(|_| BASE64_NOPAD.decode(line.as_bytes()))
    };
    let bytes = bytes.map_err(|_| "is neither base64 nor 64 digits of hex".to_owned())?;
    let length = bytes.len();
    Key::try_from(bytes).map_err(|_| format!("has {length} bytes, and a key has 32"))
}

/// Checks that only the owner and the file's group can read the file, and only the owner can write it.
fn is_private(path: &Path) -> Result<(), String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    match open_mode(&metadata) {
        None => Ok(()),
        Some(mode) => Err(format!(
            "its mode is {mode:03o}, so that others may read or change the keys: make it 600, or 640 for a group"
        )),
    }
}

/// The mode, where it lets in more than the owner and readers of the group.
#[cfg(unix)]
fn open_mode(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;

    let mode = metadata.mode() & 0o777;
    (mode & 0o027 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn open_mode(_: &Metadata) -> Option<u32> {
    None
}
