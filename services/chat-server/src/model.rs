//! The model that all networks share: chats, people, messages. The parts that the index stores as JSON have this form.
//! All other data of a network is described in words.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A conversation of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    /// Its id within the source, as the source gives it; made from the name where it gives none.
    pub id: String,
    /// Its title, or the name of the other person.
    pub name: String,
    /// What kind it is.
    pub kind: ChatKind,
    /// How many people take part, if the source reports it; otherwise the index counts the writers.
    pub participants: Option<u32>,
}

/// The kind of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChatKind {
    /// The source does not report it.
    Unknown,
    /// Two people, or a person and a bot, or the owner's notes.
    Direct,
    /// Several people.
    Group,
    /// One or a few people write, many read.
    Channel,
}

/// A sender. Answers have it in this form.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Participant {
    /// An id within the source; the name where the source gives none.
    pub id: String,
    /// The name to show.
    #[serde(rename = "display_name")]
    pub name: String,
    /// The handle, without `@`.
    pub username: Option<String>,
    /// The telephone number, as the source writes it.
    pub phone: Option<String>,
    /// Whether it is the owner of the account or the export.
    #[serde(skip)]
    pub is_me: bool,
}

/// Participants that are one person, as the owner of the accounts knows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alias {
    /// The name to show.
    pub name: String,
    /// The id, username, telephone number or name of each participant, in any source.
    pub aliases: Vec<String>,
}

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Message {
    /// Its id, unique in its chat; made from its contents where the source gives none.
    pub id: String,
    /// When it was sent.
    pub timestamp: Timestamp,
    /// Who sent it; `None` for service messages and for deleted accounts.
    pub sender: Option<Participant>,
    /// Its content.
    pub body: Body,
    /// The id of the message it answers, in the same chat.
    pub reply_to: Option<String>,
    /// Who wrote it first, if it was passed on.
    pub forwarded_from: Option<String>,
    /// When it was last edited; the time of the message itself if the source only reports that it was edited.
    pub edited: Option<Timestamp>,
    /// Whether its author or another person deleted it; the earlier text is not kept.
    pub deleted: bool,
    /// How people reacted.
    pub reactions: Vec<Reaction>,
    /// Files that belong to it.
    pub attachments: Vec<Attachment>,
    /// The topic of a forum that it belongs to.
    pub topic: Option<String>,
    /// When it disappears.
    pub expires: Option<Timestamp>,
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Words; empty if there are only attachments.
    Text(String),
    /// A place, and its name if it has one.
    Location {
        /// Degrees north.
        latitude: f64,
        /// Degrees east.
        longitude: f64,
        /// The name of the place.
        name: Option<String>,
    },
    /// A contact card.
    Contact {
        /// The name on it.
        name: String,
        /// The number on it.
        phone: Option<String>,
    },
    /// A question with answers to choose from.
    Poll {
        /// The question.
        question: String,
        /// Each answer and how many chose it.
        answers: Vec<(String, Option<u32>)>,
    },
    /// A service message: a person joined, a call was missed. `action` is a word such as `join_group`.
    Service {
        /// What happened, in `snake_case`.
        action: String,
        /// The same in words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// Something this program does not know, in words.
    Unknown(String),
}

/// A reaction and who gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reaction {
    /// The emoji, or a word for a custom one.
    pub emoji: String,
    /// How many gave it.
    pub count: u32,
    /// The names of the people who are known to have given it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What kind it is.
    pub kind: AttachmentKind,
    /// The name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The media type, such as `image/jpeg`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// How long it plays, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// Where its bytes are.
    pub place: AttachmentPlace,
    /// What is said in it, as the person's own program has understood it; empty if nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// A picture.
    Image,
    /// A video, including round and animated ones.
    Video,
    /// Music or a voice.
    Audio,
    /// A sticker.
    Sticker,
    /// Any other file.
    File,
}

/// Where the bytes of a file are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentPlace {
    /// In the export, under this path relative to its folder or in its zip. Never above it: the index checks.
    Export(String),
    /// The source has it, under this id.
    Remote(String),
    /// It was left out of the export, or is missing; the source may give the reason.
    Missing(Option<String>),
}

impl AttachmentKind {
    /// The kind of a file by the end of its name. Stickers are WebP, or WhatsApp's own `.was`.
    pub fn of_file(name: &str) -> Self {
        match media_type_of(name) {
            Some("image/webp") => Self::Sticker,
            None if name.to_ascii_lowercase().ends_with(".was") => Self::Sticker,
            media_type => media_type.and_then(Self::of_media_type).unwrap_or(Self::File),
        }
    }

    /// The kind of a file with this media type, if it is a picture, a video or a sound.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        match media_type.split('/').next()? {
            "image" => Some(Self::Image),
            "video" => Some(Self::Video),
            "audio" => Some(Self::Audio),
            _ => None,
        }
    }
}

impl Attachment {
    /// A file of which nothing more is known.
    pub fn new(kind: AttachmentKind, name: Option<String>, place: AttachmentPlace) -> Self {
        Self { kind, name, media_type: None, size: None, seconds: None, place, transcript: None }
    }
}

impl Message {
    /// About how many bytes it takes: its texts, and something for each entry of a list.
    pub fn bytes(&self) -> usize {
        let sender = self.sender.iter().map(|sender| {
            let others = [&sender.username, &sender.phone];
            sender.id.len() + sender.name.len() + texts(others)
        });
        let reactions = self.reactions.iter().map(|reaction| {
            let by = reaction.by.iter().map(|name| name.len() + ENTRY);
            ENTRY + reaction.emoji.len() + by.sum::<usize>()
        });
        let attachments = self.attachments.iter().map(|file| {
            let place = match &file.place {
                AttachmentPlace::Export(place) | AttachmentPlace::Remote(place) => place.len(),
                AttachmentPlace::Missing(why) => texts([why]),
            };
            ENTRY + place + texts([&file.name, &file.media_type])
        });
        let lists = sender.chain(reactions).chain(attachments);
        self.id.len()
            + self.body.bytes()
            + texts([&self.reply_to, &self.forwarded_from, &self.topic])
            + lists.sum::<usize>()
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Body {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Unknown(text) => text.len(),
            Self::Service { action, text } => action.len() + text.len(),
            Self::Location { name, .. } => texts([name]),
            Self::Contact { name, phone } => name.len() + texts([phone]),
            Self::Poll { question, answers } => {
                let answers = answers.iter().map(|(answer, _)| answer.len() + ENTRY);
                question.len() + answers.sum::<usize>()
            }
        }
    }
}

/// Media types as they are registered (IANA), where `mime_guess` has none or an older one.
const REGISTERED: [(&str, &str); 4] = [
    (".amr", "audio/AMR"),
    (".m4a", "audio/mp4"),
    (".mkv", "video/matroska"),
    (".vcf", "text/vcard"),
];

/// The media type of a file by the end of its name.
pub fn media_type_of(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let registered = REGISTERED.iter().find(|(end, _)| lower.ends_with(end));
    registered.map_or_else(|| mime_guess::from_path(name).first_raw(), |(_, known)| Some(known))
}

/// The approximate size of a list entry without its texts.
const ENTRY: usize = 64;

fn texts<const N: usize>(texts: [&Option<String>; N]) -> usize {
    texts.into_iter().flatten().map(String::len).sum()
}

impl ChatKind {
    /// In the order of their numbers in the tables, which never change.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Direct, Self::Group, Self::Channel];

    /// The name for clients.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Group => "group",
            Self::Channel => "channel",
            Self::Unknown => "unknown",
        }
    }
}
