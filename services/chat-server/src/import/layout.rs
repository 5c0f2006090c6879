//! Finds the exports at a path: a file, a zip, an unpacked folder, or a folder of many of these.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::tree::{GLANCE, Tree};
use super::unit::{Layout, Unit};
use super::{Format, ImportError, Options, archive, io_at, lines, whatsapp};
use crate::digest::digest;

/// How deep folders are searched: an account as web pages has its chats in `chats/chat_001`.
const MAX_DEPTH: usize = 4;

/// How many files that are not an export are named.
const MAX_NAMED: usize = 5;

/// The exports at a path.
#[derive(Debug, Default)]
pub(super) struct ExportUnits {
    pub(super) units: Vec<Unit>,
    /// Files that might have been exports, and why they are not.
    pub(super) others: Vec<(String, String)>,
    /// The number of entries that were examined.
    looked: usize,
}

/// The exports to read from a path.
#[derive(Debug)]
pub struct Plan {
    /// The exports found, and whether each is new.
    pub(super) units: Vec<(Unit, bool)>,
    pub(super) others: Vec<(String, String)>,
    /// A mark for the state of all files, once they are read.
    pub mark: String,
}

/// The state of all files.
#[derive(Default, PartialEq, Serialize, Deserialize)]
struct Mark {
    /// The settings that decide how they are read.
    how: String,
    /// The size and the modification time of each file, and the digest of its bytes.
    files: BTreeMap<String, (String, String)>,
}

/// The exports to read at `path`: those that have changed since the mark `before`, or all.
///
/// # Errors
/// [`ImportError::Unknown`] if nothing can be read; it names what was looked for and what was found.
pub fn plan(
    path: &Path,
    format: Option<Format>,
    options: &Options,
    before: Option<&str>,
) -> Result<Plan, ImportError> {
    let found = find(path)?;
    let chosen = match format {
        Some(format) => Some(format),
        None => found.units.first().map(|unit| unit.layout.format()),
    };
    let (units, foreign): (Vec<Unit>, Vec<Unit>) =
        found.units.into_iter().partition(|unit| Some(unit.layout.format()) == chosen);
    if units.is_empty() {
        return Err(nothing(path, chosen, &foreign, &found.others));
    }
    let known: Mark = before.and_then(|mark| serde_json::from_str(mark).ok()).unwrap_or_default();
    let mut mark =
        Mark { how: digest(format!("{chosen:?} {options:?}"), 16), files: BTreeMap::new() };
    let is_same = known.how == mark.how;
    let mut planned = Vec::new();
    for unit in units {
        let (key, stamp) = (unit.key(), unit.stamp());
        let before = known.files.get(&key).filter(|_| is_same);
        let digest = match before {
            Some((same, digest)) if *same == stamp => digest.clone(),
            // Unreadable files are reported when they are read.
            _ => unit.digest().unwrap_or_default(),
        };
        let is_new = before.is_none_or(|(_, known)| *known != digest);
        mark.files.insert(key, (stamp, digest));
        planned.push((unit, is_new));
    }
    Ok(Plan {
        units: planned,
        others: found.others,
        mark: serde_json::to_string(&mark).unwrap_or_default(),
    })
}

/// The kinds of exports at `path`.
pub(super) fn formats(path: &Path) -> Result<BTreeSet<Format>, ImportError> {
    let found = find(path)?;
    if found.units.is_empty() {
        return Err(nothing(path, None, &[], &found.others));
    }
    let formats = found.units.iter().map(|unit| unit.layout.format());
    Ok(formats.collect())
}

impl Plan {
    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.units.iter().all(|(_, is_new)| !is_new)
    }

    /// Whether this file is one of its exports.
    pub fn has(&self, file: &str) -> bool {
        self.units.iter().any(|(unit, _)| unit.key() == file)
    }
}

/// All exports at a path.
fn find(path: &Path) -> Result<ExportUnits, ImportError> {
    let metadata = fs::metadata(path).map_err(io_at(path))?;
    let mut found = ExportUnits::default();
    if metadata.is_dir() {
        found.folder(path, "", 0)?;
    } else if metadata.is_file() {
        let root = archive::folder_of(path).to_owned();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        found.file(&Tree::Folder(root), &name, path, true)?;
    } else {
        found
            .others
            .push((path.display().to_string(), "is neither a file nor a folder".to_owned()));
    }
    Ok(found)
}

impl ExportUnits {
    fn push(&mut self, layout: Layout, tree: &Tree, file: &str, prefix: &str) {
        self.units.push(Unit {
            layout,
            tree: tree.clone(),
            file: file.to_owned(),
            prefix: prefix.to_owned(),
        });
    }

    /// The exports of a folder; `below` is its path in `root`, with a slash behind it.
    fn folder(&mut self, root: &Path, below: &str, depth: usize) -> Result<(), ImportError> {
        let folder = root.join(below);
        let tree = Tree::Folder(root.to_owned());
        for (name, layout) in MAIN_FILES {
            let file = format!("{below}{name}");
            if root.join(&file).is_file() && (name != "index.md" || is_sigexport(&tree, &file)) {
                self.push(layout, &tree, &file, "");
                return Ok(());
            }
        }
        let entries = archive::entries(&folder)?;
        let ios = folder.join(whatsapp::IOS_FILE).is_file();
        for entry in entries {
            self.looked += 1;
            let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if self.looked > archive::MAX_ENTRIES || name.starts_with('.') || name == "__MACOSX" {
                continue;
            }
            if entry.is_dir() {
                if depth < MAX_DEPTH {
                    self.folder(root, &format!("{below}{name}/"), depth + 1)?;
                }
            // Texts beside an unpacked chat of iOS are files that people have sent.
            } else if entry.is_file() && (!ios || name == whatsapp::IOS_FILE) {
                match self.file(&tree, &format!("{below}{name}"), &entry, false) {
                    Err(ImportError::Damaged { problem, .. }) => {
                        self.others.push((format!("{below}{name}"), problem))
                    }
                    done => done?,
                }
            }
        }
        Ok(())
    }

    /// The export in a file, if the file is one; `is_meant`: the user named exactly this file.
    fn file(
        &mut self,
        tree: &Tree,
        file: &str,
        path: &Path,
        is_meant: bool,
    ) -> Result<(), ImportError> {
        let name = file.rsplit('/').next().unwrap_or(file);
        let end = name.rsplit_once('.').map(|(_, end)| end.to_lowercase());
        let end = end.as_deref().unwrap_or_default();
        let may_be = matches!(end, "txt" | "zip" | "json");
        if !is_meant && !may_be {
            return Ok(());
        }
        if archive::is_zip(path)? {
            // In a folder its name is a part of every path in it.
            let prefix = if is_meant { String::new() } else { format!("{file}/") };
            return self.zip(path, file, &prefix);
        }
        let head = head(tree, file)?;
        let text = head.trim_start_matches('\u{feff}').trim_start();
        let layout = match text {
            "" => Err("is empty"),
            _ if name == "main.jsonl" => Ok(Layout::SignalApp),
            _ if name == "data.json" || name.ends_with(".md") => Ok(Layout::SignalChat),
            text if text.starts_with('{') && (is_meant || is_telegram(name, text)) => {
                Ok(Layout::TelegramJson)
            }
            // A file that people have sent.
            _ if end == "json" && !is_meant => return Ok(()),
            text if text.starts_with("<!DOCTYPE") || text.starts_with("<html") => {
                if name.starts_with("messages") {
                    Ok(Layout::TelegramHtml)
                } else {
                    Err("is a web page, but not Telegram's messages.html")
                }
            }
            text if whatsapp::looks_like(text) => Ok(Layout::WhatsApp),
            _ => Err("no line begins as a message of WhatsApp does"),
        };
        match layout {
            Ok(layout) => self.push(layout, tree, file, ""),
            Err(why) => self.others.push((file.to_owned(), why.to_owned())),
        }
        Ok(())
    }

    /// The exports in a zip.
    fn zip(&mut self, path: &Path, file: &str, prefix: &str) -> Result<(), ImportError> {
        let zip = archive::open_zip(path)?;
        let names: Vec<String> = archive::file_names(&zip).collect();
        let mut mains = BTreeSet::new();
        for (main, layout) in MAIN_FILES {
            let ours = names.iter().filter(|name| {
                name.strip_suffix(main)
                    .is_some_and(|before| before.is_empty() || before.ends_with('/'))
            });
            for name in ours {
                let folder = name.strip_suffix(main).unwrap_or_default().to_owned();
                if main != "index.md" && !mains.iter().any(|(known, _, _)| *known == folder) {
                    mains.insert((folder, name.clone(), layout));
                }
            }
        }
        let texts = chat_texts(&names);
        let tree = Tree::zip(path, mains.is_empty());
        for (_, name, layout) in &mains {
            self.push(*layout, &tree, name, prefix);
        }
        if mains.is_empty() {
            for text in &texts {
                self.push(Layout::WhatsApp, &tree, text, prefix);
            }
        }
        if mains.is_empty() && texts.is_empty() {
            self.others.push((file.to_owned(), "this zip has no export in it".to_owned()));
        }
        Ok(())
    }
}

/// Whether an object begins as Telegram's export of a chat or an account does, whatever the file is called.
fn is_telegram(name: &str, text: &str) -> bool {
    const KINDS: [&str; 8] = [
        "\"personal_chat\"",
        "\"bot_chat\"",
        "\"saved_messages\"",
        "\"private_group\"",
        "\"private_supergroup\"",
        "\"public_supergroup\"",
        "\"private_channel\"",
        "\"public_channel\"",
    ];
    name.starts_with("result")
        || (text.contains("\"messages\"") && KINDS.iter().any(|kind| text.contains(kind)))
}

/// The files by which an export is known, the most specific one first.
const MAIN_FILES: [(&str, Layout); 6] = [
    (archive::TELEGRAM_FILE, Layout::TelegramJson),
    ("messages.html", Layout::TelegramHtml),
    ("main.jsonl", Layout::SignalApp),
    ("data.json", Layout::SignalChat),
    ("chat.md", Layout::SignalChat),
    ("index.md", Layout::SignalChat),
];

/// The texts in a zip that may be chats, by their names: iOS calls it `_chat.txt`.
fn chat_texts(names: &[String]) -> Vec<String> {
    let ours =
        |name: &&String| name.to_lowercase().ends_with(".txt") && !name.starts_with("__MACOSX/");
    let mut names: Vec<String> = names.iter().filter(ours).cloned().collect();
    names.sort();
    let ios = |name: &String| name == "_chat.txt" || name.ends_with("/_chat.txt");
    if let Some(name) = names.iter().find(|name| ios(name)) {
        return vec![name.clone()];
    }
    // Texts beside a chat with one of WhatsApp's names are files that people have sent.
    let known = |name: &&String| whatsapp::is_known_name(Path::new(name));
    if names.iter().any(|name| known(&name)) {
        names.iter().filter(known).cloned().collect()
    } else {
        names
    }
}

/// Whether a Markdown file begins as old versions of sigexport write it.
fn is_sigexport(tree: &Tree, file: &str) -> bool {
    head(tree, file).is_ok_and(|head| super::signal::looks_like(&head))
}

/// The beginning of a text.
fn head(tree: &Tree, file: &str) -> Result<String, ImportError> {
    tree.read(file, |reader, _| {
        let mut head = Vec::new();
        reader.take(GLANCE).read_to_end(&mut head).map_err(io_at(Path::new(file)))?;
        Ok(lines::decoded(&head))
    })
}

/// The error if there is nothing to read: what was looked for, what was found, what to do.
fn nothing(
    path: &Path,
    format: Option<Format>,
    foreign: &[Unit],
    others: &[(String, String)],
) -> ImportError {
    let wanted = match format.filter(|_| foreign.is_empty() || !others.is_empty()) {
        Some(Format::Telegram) => "result.json or messages.html of Telegram Desktop",
        Some(Format::WhatsApp) => "WhatsApp's exported .txt or .zip",
        Some(Format::Signal) => {
            "main.jsonl of Signal, or data.json, chat.md or index.md of sigexport"
        }
        None => {
            "Telegram Desktop's result.json or messages.html, WhatsApp's exported .txt or .zip, main.jsonl of Signal, \
                 or the folder that sigexport made"
        }
    };
    let mut found: Vec<String> = foreign
        .iter()
        .take(MAX_NAMED)
        .map(|unit| format!("{} ({} export)", unit.key(), unit.layout.format().name()))
        .collect();
    found.extend(others.iter().take(MAX_NAMED).map(|(name, why)| format!("{name} ({why})")));
    let found = if found.is_empty() { "nothing of the kind".to_owned() } else { found.join(", ") };
    let advice = match foreign.first() {
        Some(unit) => format!(
            "give the source the kind {}-export, or another path",
            unit.layout.format().name()
        ),
        None => "give the file, the zip or the folder as the app has written it".to_owned(),
    };
    ImportError::Unknown {
        path: path.to_owned(),
        problem: format!(
            "there is no export to read: looked for {wanted}; found {found}; {advice}"
        ),
    }
}
