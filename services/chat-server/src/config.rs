//! The configuration file that names a person's chats: its contents and its errors.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;

use crate::import::{DayOrder, Format, Options, without_number};
use crate::model::Alias;
use crate::transcribe::{FILE, Transcriber};

/// The largest file, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The most sources.
pub const MAX_SOURCES: usize = 100;

/// The most names in a list.
pub const MAX_LIST: usize = 10_000;

/// The contents of the file.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the index is kept; `None`: in the user's data directory.
    pub data_dir: Option<PathBuf>,
    /// Whether telephone numbers are redacted from all answers.
    pub redact_phone_numbers: bool,
    /// The sources, in the order of the file.
    pub sources: Vec<SourceConfig>,
    /// People, and what they are called in each network.
    pub people: Vec<Alias>,
    /// The program that transcribes recordings; none by default.
    pub transcriber: Option<Transcriber>,
}

/// One source.
#[derive(Debug, Clone)]
pub struct SourceConfig {
    /// Its id: lower-case letters, digits and dashes.
    pub id: String,
    /// Its name for people; the id if none is given.
    pub name: String,
    /// The kind of source, with its settings.
    pub kind: SourceKind,
    /// Which of its chats may be seen.
    pub chats: ChatFilter,
    /// The chats into which messages and reactions may be sent, by id or name; none by default.
    pub send_to: BTreeSet<String>,
}

/// The kind of a source, with its settings.
#[derive(Debug, Clone)]
pub enum SourceKind {
    /// An export that a person has saved.
    Export {
        /// What kind.
        format: Format,
        /// The file or the folder.
        path: PathBuf,
        /// Whether it is read again when it changes.
        watch: bool,
        /// What it does not contain.
        options: Options,
    },
    /// A bot of Telegram.
    TelegramBot {
        /// Where its API is, without the token.
        base_url: String,
        /// The file with its token in the first line.
        token_file: PathBuf,
    },
    /// A running signal-cli.
    SignalCli {
        /// The socket or port on which it listens.
        address: SignalAddress,
        /// The account, if it serves several.
        account: Option<String>,
    },
}

/// Where signal-cli listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignalAddress {
    /// A Unix socket.
    Socket(PathBuf),
    /// A TCP port.
    Tcp(SocketAddr),
}

/// Which chats of a source may be seen, by id or by name without regard to case and to how accents are encoded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatFilter {
    /// Only these; `None`: all.
    pub allow: Option<BTreeSet<String>>,
    /// Never these, even if they are allowed.
    pub deny: BTreeSet<String>,
    /// Whether the source is served although an entry of these lists matches no chat.
    pub lenient: bool,
}

impl Config {
    /// Reads the file. Paths in it are relative to its folder; `~/` is the user's home.
    ///
    /// # Errors
    /// The file and what is wrong with it: it cannot be read, is not TOML, or is invalid.
    pub fn read(file: &Path) -> Result<Self, String> {
        let parsed = read_bounded(file).and_then(|text| {
            let folder = file.parent().unwrap_or(Path::new("."));
            Self::parse(&text, folder)
        });
        parsed.map_err(|problem| format!("{}: {problem}", file.display()))
    }

    /// Parses a text; relative paths begin at `folder`.
    ///
    /// # Errors
    /// The mistake and its correction.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let written: WrittenConfig = toml::from_str(text).map_err(|error| error.to_string())?;
        if written.source.len() > MAX_SOURCES {
            return Err(format!("more than {MAX_SOURCES} sources"));
        }
        let mut ids = BTreeSet::new();
        let mut sources = Vec::new();
        for source in written.source {
            let id = source.id.clone();
            if !is_id(&id) {
                return Err(format!(
                    "source {id:?}: an `id` is made of lower-case letters, digits and dashes, at most 64, such as \"telegram\""
                ));
            }
            if !ids.insert(id.clone()) {
                return Err(format!("two sources have the id {id:?}: give each its own"));
            }
            let source = source
                .meant(folder, written.strict_privacy.unwrap_or(true))
                .map_err(|problem| format!("source {id:?}: {problem}"))?;
            sources.push(source);
        }
        Ok(Self {
            data_dir: written.data_dir.map(|dir| absolute(&dir, folder)),
            redact_phone_numbers: written.redact_phone_numbers,
            sources,
            people: written.person,
            transcriber: written
                .transcribe
                .map(|it| it.meant(folder))
                .transpose()
                .map_err(|problem| format!("[transcribe]: {problem}"))?,
        })
    }
}

fn read_bounded(file: &Path) -> Result<String, String> {
    let size = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > MAX_BYTES {
        return Err(format!("{size} bytes are more than the {MAX_BYTES} of a configuration"));
    }
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}

impl ChatFilter {
    /// Whether a chat may be seen.
    pub fn allows(&self, id: &str, name: &str) -> bool {
        if !self.has_lists() {
            return true;
        }
        let names = [alike(id), alike(name)];
        let named = |list: &BTreeSet<String>| names.iter().any(|name| list.contains(name));
        // A denied chat is denied in any form of its id, and as a copy of its file.
        let is_denied = denied_forms(id, name).iter().any(|form| self.deny.contains(form));
        !is_denied && self.allow.as_ref().is_none_or(named)
    }

    /// Whether any list limits which chats may be seen.
    pub fn has_lists(&self) -> bool {
        self.allow.is_some() || !self.deny.is_empty()
    }

    /// The entries of the lists that name this chat.
    pub fn entries_for(&self, id: &str, name: &str) -> impl Iterator<Item = &String> {
        let (denied, allowed) = (denied_forms(id, name), [alike(id), alike(name)]);
        let denied = self.deny.iter().filter(move |entry| denied.contains(entry));
        let ids = forms(id);
        let allow = self.allow.iter().flatten();
        denied.chain(allow.filter(move |entry| allowed.contains(entry) || ids.contains(entry)))
    }

    /// The entries that have matched no chat.
    pub fn unmatched(&self, matched: &BTreeSet<String>) -> Vec<&str> {
        let entries = self.deny.iter().chain(self.allow.iter().flatten());
        let unmatched: BTreeSet<&str> =
            entries.filter(|entry| !matched.contains(*entry)).map(String::as_str).collect();
        unmatched.into_iter().collect()
    }
}

/// The file in its written form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenConfig {
    data_dir: Option<String>,
    #[serde(default)]
    redact_phone_numbers: bool,
    strict_privacy: Option<bool>,
    #[serde(default)]
    source: Vec<WrittenSource>,
    #[serde(default)]
    person: Vec<Alias>,
    transcribe: Option<WrittenTranscriber>,
}

/// The program for transcripts in its written form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTranscriber {
    command: Vec<String>,
    seconds: Option<u64>,
    most: Option<usize>,
}

/// A source in its written form. Whether its members belong to its kind is checked afterwards, with better errors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSource {
    id: String,
    name: Option<String>,
    kind: Kind,
    path: Option<String>,
    watch: Option<bool>,
    zone: Option<String>,
    day_order: Option<DayOrder>,
    me: Option<String>,
    base_url: Option<String>,
    token_file: Option<String>,
    socket: Option<String>,
    tcp: Option<SocketAddr>,
    account: Option<String>,
    allow: Option<Vec<String>>,
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    send_to: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    TelegramExport,
    WhatsappExport,
    SignalExport,
    TelegramBot,
    SignalCli,
}

impl WrittenTranscriber {
    fn meant(mut self, folder: &Path) -> Result<Transcriber, String> {
        if !self.command.iter().skip(1).any(|argument| argument.contains(FILE)) {
            return Err(
                "`command` is a program and its arguments, one of them with {} for the file, such as \
                 [\"whisper-cli\", \"-np\", \"-nt\", \"{}\"]"
                    .to_owned(),
            );
        }
        let (seconds, most) = (self.seconds.unwrap_or(300), self.most.unwrap_or(100));
        if !(1..=3_600).contains(&seconds) || !(1..=MAX_LIST).contains(&most) {
            return Err(format!(
                "`seconds` is 1 to 3600 for a recording, `most` is 1 to {MAX_LIST}"
            ));
        }
        // A bare name is looked for in the folders of PATH.
        if let Some(program) = self.command.first_mut().filter(|program| program.contains('/')) {
            *program = absolute(program, folder).to_string_lossy().into_owned();
        }
        Ok(Transcriber { command: self.command, time: Duration::from_secs(seconds), most })
    }
}

impl WrittenSource {
    fn meant(self, folder: &Path, strict: bool) -> Result<SourceConfig, String> {
        self.only_its_own()?;
        let kind = match self.kind {
            Kind::TelegramExport => self.export(Format::Telegram, folder)?,
            Kind::WhatsappExport => self.export(Format::WhatsApp, folder)?,
            Kind::SignalExport => self.export(Format::Signal, folder)?,
            Kind::TelegramBot => SourceKind::TelegramBot {
                base_url: self
                    .base_url
                    .clone()
                    .unwrap_or_else(|| "https://api.telegram.org".to_owned()),
                token_file: absolute(
                    self.token_file
                        .as_deref()
                        .ok_or("needs `token_file`, a file with the bot's token")?,
                    folder,
                ),
            },
            Kind::SignalCli => SourceKind::SignalCli {
                address: match (&self.socket, self.tcp) {
                    (Some(socket), None) => SignalAddress::Socket(absolute(socket, folder)),
                    (None, Some(address)) => SignalAddress::Tcp(address),
                    _ => {
                        return Err(
                            "needs either `socket`, a path, or `tcp`, an address with a port"
                                .to_owned(),
                        );
                    }
                },
                account: self.account.clone(),
            },
        };
        Ok(SourceConfig {
            chats: ChatFilter {
                allow: self.allow.map(|names| list(&names)).transpose()?,
                deny: list(&self.deny)?,
                lenient: !strict,
            },
            send_to: list(&self.send_to)?,
            name: self
                .name
                .filter(|name| !name.trim().is_empty())
                .unwrap_or_else(|| self.id.clone()),
            id: self.id,
            kind,
        })
    }

    fn export(&self, format: Format, folder: &Path) -> Result<SourceKind, String> {
        let path =
            self.path.as_deref().ok_or("needs `path`, the file or the folder of the export")?;
        let zone = match &self.zone {
            None => TimeZone::system(),
            Some(zone) => TimeZone::get(zone).map_err(|_| {
                format!(
                    "`zone` {zone:?} is not a time zone: give a name such as \
                         \"Europe/Helsinki\" or \"UTC\""
                )
            })?,
        };
        Ok(SourceKind::Export {
            format,
            path: absolute(path, folder),
            watch: self.watch.unwrap_or(false),
            options: Options { zone, day_order: self.day_order, me: self.me.clone() },
        })
    }

    /// A member that this kind of source does not have is a mistake that would otherwise go unnoticed.
    fn only_its_own(&self) -> Result<(), String> {
        let export =
            matches!(self.kind, Kind::TelegramExport | Kind::WhatsappExport | Kind::SignalExport);
        let (whatsapp, bot, signal) = (
            self.kind == Kind::WhatsappExport,
            self.kind == Kind::TelegramBot,
            self.kind == Kind::SignalCli,
        );
        let members = [
            ("path", self.path.is_some(), export, "exports"),
            ("watch", self.watch.is_some(), export, "exports"),
            ("zone", self.zone.is_some(), export, "exports"),
            ("me", self.me.is_some(), export, "exports"),
            ("day_order", self.day_order.is_some(), whatsapp, "whatsapp-export"),
            ("base_url", self.base_url.is_some(), bot, "telegram-bot"),
            ("token_file", self.token_file.is_some(), bot, "telegram-bot"),
            ("socket", self.socket.is_some(), signal, "signal-cli"),
            ("tcp", self.tcp.is_some(), signal, "signal-cli"),
            ("account", self.account.is_some(), signal, "signal-cli"),
            ("send_to", !self.send_to.is_empty(), !export, "signal-cli and telegram-bot"),
        ];
        match members.iter().find(|(_, given, belongs, _)| *given && !belongs) {
            Some((name, _, _, owner)) => Err(format!("`{name}` belongs to {owner} alone")),
            None => Ok(()),
        }
    }
}

fn list(names: &[String]) -> Result<BTreeSet<String>, String> {
    if names.len() > MAX_LIST {
        return Err(format!("a list of more than {MAX_LIST} chats"));
    }
    Ok(names.iter().map(|name| alike(name)).collect())
}

/// A name without regard to case, composed (NFC): on some systems the name of a file has each accent as a separate
/// character.
pub fn alike(name: &str) -> String {
    name.trim().to_lowercase().nfc().collect()
}

/// The forms under which a chat may be denied. Where a network has no ids, its name is that of a file, of which there
/// may be numbered copies.
fn denied_forms(id: &str, name: &str) -> Vec<String> {
    let mut denied = forms(id);
    denied.extend([alike(id), alike(name)]);
    if id == name {
        denied.push(alike(without_number(name)));
    }
    denied
}

/// The forms in which the id of a chat is known: Telegram's own apps leave out the marks of groups and channels.
pub fn forms(id: &str) -> Vec<String> {
    let bare = ["-100", "-", "user", "chat", "channel"]
        .into_iter()
        .find_map(|mark| id.strip_prefix(mark))
        .unwrap_or(id);
    if !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_digit()) {
        ["", "-", "-100", "user", "chat", "channel"]
            .iter()
            .map(|mark| format!("{mark}{bare}"))
            .collect()
    } else {
        vec![alike(id)]
    }
}

fn is_id(id: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !id.is_empty() && id.len() <= 64 && id.bytes().all(fine)
}

fn absolute(path: &str, folder: &Path) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(path),
    }
}
