//! One export: its files, their size and their state.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::tree::Tree;
use super::{Format, ImportError, io_at};

/// The layout of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layout {
    /// `result.json`.
    TelegramJson,
    /// `messages.html`, `messages2.html` and so on.
    TelegramHtml,
    /// A text of WhatsApp's.
    WhatsApp,
    /// The folder of a chat as sigexport writes it.
    SignalChat,
    /// `main.jsonl`, as Signal's own app writes it.
    SignalApp,
}

/// One export.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub(super) layout: Layout,
    /// The folder or the zip in which its files are.
    pub(super) tree: Tree,
    /// Its main file in that folder or zip.
    pub(super) file: String,
    /// The prefix that turns its paths into paths of the whole export.
    pub(super) prefix: String,
}

impl Layout {
    pub(super) const fn format(self) -> Format {
        match self {
            Self::TelegramJson | Self::TelegramHtml => Format::Telegram,
            Self::WhatsApp => Format::WhatsApp,
            Self::SignalChat | Self::SignalApp => Format::Signal,
        }
    }
}

impl Unit {
    /// The folder of its main file in the tree, with a slash behind it.
    pub(super) fn folder(&self) -> &str {
        self.file.rfind('/').map_or("", |at| known_range::text(&self.file, ..=at))
    }

    /// Its name among all exports.
    pub(super) fn key(&self) -> String {
        format!("{}{}", self.prefix, self.file)
    }

    /// The files whose change makes it a different export.
    fn files(&self) -> Vec<String> {
        match self.layout {
            Layout::TelegramHtml => self.pages(),
            _ => vec![self.file.clone()],
        }
    }

    /// The pages of an export as web pages, in order.
    pub(super) fn pages(&self) -> Vec<String> {
        let number = |name: &String| -> Option<u32> {
            let rest = name.strip_prefix(self.folder())?.strip_prefix("messages")?;
            match rest.strip_suffix(".html")? {
                "" => Some(1),
                number => number.parse().ok(),
            }
        };
        let names = self.tree.names(self.folder());
        let mut pages: Vec<(u32, String)> =
            names.into_iter().filter_map(|name| Some((number(&name)?, name))).collect();
        pages.sort();
        pages.into_iter().map(|(_, name)| name).collect()
    }

    /// The bytes of its main files.
    pub(super) fn size(&self) -> u64 {
        self.files().iter().map(|file| self.tree.size(file)).sum()
    }

    /// Size and time of its files on the disk.
    pub(super) fn stamp(&self) -> String {
        let one = |path: PathBuf| {
            let metadata = fs::metadata(path).ok()?;
            let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            Some(format!("{}.{}", metadata.len(), modified.as_nanos()))
        };
        let stamps: Vec<String> = match &self.tree {
            Tree::Zip { path, .. } => one(path.clone()).into_iter().collect(),
            Tree::Folder(root) => {
                let files = self.files().into_iter();
                files.filter_map(|file| one(root.join(file))).collect()
            }
        };
        stamps.join(" ")
    }

    pub(super) fn digest(&self) -> Result<String, ImportError> {
        let mut sha = Sha256::new();
        for file in self.files() {
            self.tree.read(&file, |reader, _| {
                let mut buffer = vec![0; 64 * 1024];
                loop {
                    let count = reader.read(&mut buffer).map_err(io_at(Path::new(&file)))?;
                    if count == 0 {
                        return Ok(());
                    }
                    sha.update(known_range::items(&buffer, ..count));
                }
            })?;
        }
        Ok(HEXLOWER.encode(known_range::items(&sha.finalize(), ..16)))
    }
}
