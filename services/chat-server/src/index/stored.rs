//! A message as it lies in the tables: what is searched and filtered by in columns, the rest as JSON in one.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::answer::Kind;
use crate::model::{Attachment, AttachmentKind, AttachmentPlace, Body, Message, Reaction};

/// What has no column of its own. Empty members are left out; a plain text has none of them, and then there is no JSON
/// at all.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Detail {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Special>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) forwarded_from: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reactions: Vec<Given>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) attachments: Vec<Attached>,
}

/// A body that is not just text.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Special {
    Location {
        latitude: f64,
        longitude: f64,
        name: Option<String>,
    },
    Contact {
        name: String,
        phone: Option<String>,
    },
    Poll {
        question: String,
        answers: Vec<(String, Option<u32>)>,
    },
    /// Its words are in the column.
    Service {
        action: String,
    },
    /// Its words are in the column.
    Unknown,
}

/// A reaction.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Given {
    emoji: String,
    count: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    by: Vec<String>,
}

/// An attachment.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Attached {
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seconds: Option<u32>,
    place: Place,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    Export(String),
    Remote(String),
    Missing(Option<String>),
}

impl Detail {
    pub(super) fn of(message: &Message) -> Self {
        Self {
            body: Special::of(&message.body),
            reply_to: message.reply_to.clone(),
            forwarded_from: message.forwarded_from.clone(),
            reactions: message.reactions.iter().map(Given::of).collect(),
            attachments: message.attachments.iter().map(Attached::of).collect(),
        }
    }

    /// The column; `None` if there is nothing to keep.
    pub(super) fn write(&self) -> rusqlite::Result<Option<String>> {
        if *self == Self::default() {
            return Ok(None);
        }
        let text = serde_json::to_string(self);
        text.map(Some)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }

    pub(super) fn read(column: Option<&str>) -> rusqlite::Result<Self> {
        let Some(text) = column else {
            return Ok(Self::default());
        };
        serde_json::from_str(text).map_err(|error| {
            let kind = rusqlite::types::Type::Text;
            rusqlite::Error::FromSqlConversionFailure(0, kind, error.into())
        })
    }

    /// The body, with the words of the column.
    pub(super) fn body(&mut self, text: String) -> Body {
        match self.body.take() {
            None => Body::Text(text),
            Some(Special::Location {
                latitude,
                longitude,
                name,
            }) => Body::Location {
                latitude,
                longitude,
                name,
            },
            Some(Special::Contact { name, phone }) => Body::Contact { name, phone },
            Some(Special::Poll { question, answers }) => Body::Poll { question, answers },
            Some(Special::Service { action }) => Body::Service { action, text },
            Some(Special::Unknown) => Body::Unknown(text),
        }
    }

    /// The words were changed: whatever else the body was, it is words now.
    pub(super) fn reword(&mut self) {
        if !matches!(self.body, Some(Special::Service { .. } | Special::Unknown)) {
            self.body = None;
        }
    }

    /// Nothing of the contents is left; what others said about it stays.
    pub(super) fn forget(&mut self) {
        self.body = None;
        self.forwarded_from = None;
        self.attachments.clear();
    }

    pub(super) fn take_reactions(&mut self) -> Vec<Reaction> {
        let given = std::mem::take(&mut self.reactions);
        given.into_iter().map(Given::into_model).collect()
    }

    pub(super) fn take_attachments(&mut self) -> Vec<Attachment> {
        let attached = std::mem::take(&mut self.attachments);
        attached.into_iter().map(Attached::into_model).collect()
    }

    /// Adds or removes what one person gave. One who gives the same twice has given it once.
    pub(super) fn react(&mut self, reaction: &Reaction, removed: bool) {
        if removed && reaction.emoji.is_empty() {
            self.take_back(&reaction.by);
            return;
        }
        let known = self
            .reactions
            .iter_mut()
            .find(|known| known.emoji == reaction.emoji);
        match known {
            None if removed => {}
            None => self.reactions.push(Given::of(reaction)),
            Some(known) => known.change(&reaction.by, removed),
        }
        self.reactions.retain(|known| known.count > 0);
    }

    /// Removes whatever these gave.
    fn take_back(&mut self, by: &[String]) {
        for known in &mut self.reactions {
            let named = |name: &&String| known.by.contains(name);
            let theirs: Vec<String> = by.iter().filter(named).cloned().collect();
            if !theirs.is_empty() {
                known.change(&theirs, true);
            }
        }
        self.reactions.retain(|known| known.count > 0);
    }
}

impl Special {
    fn of(body: &Body) -> Option<Self> {
        Some(match body {
            Body::Text(_) => return None,
            Body::Location {
                latitude,
                longitude,
                name,
            } => Self::Location {
                latitude: *latitude,
                longitude: *longitude,
                name: name.clone(),
            },
            Body::Contact { name, phone } => Self::Contact {
                name: name.clone(),
                phone: phone.clone(),
            },
            Body::Poll { question, answers } => Self::Poll {
                question: question.clone(),
                answers: answers.clone(),
            },
            Body::Service { action, .. } => Self::Service {
                action: action.clone(),
            },
            Body::Unknown(_) => Self::Unknown,
        })
    }
}

impl Given {
    fn of(reaction: &Reaction) -> Self {
        Self {
            emoji: reaction.emoji.clone(),
            count: reaction.count,
            by: reaction.by.clone(),
        }
    }

    /// Without a name nobody can tell who it was: then it counts.
    fn change(&mut self, by: &[String], removed: bool) {
        if by.is_empty() {
            self.count = match removed {
                true => self.count.saturating_sub(1),
                false => self.count.saturating_add(1),
            };
        }
        for name in by {
            let place = self.by.iter().position(|known| known == name);
            match (place, removed) {
                (None, false) => {
                    self.by.push(name.clone());
                    self.count = self.count.saturating_add(1);
                }
                (Some(place), true) => {
                    self.by.remove(place);
                    self.count = self.count.saturating_sub(1);
                }
                (None, true) => {
                    // One of those who are counted but not named, if there are such.
                    let named = u32::try_from(self.by.len()).unwrap_or(u32::MAX);
                    self.count = self.count.saturating_sub(1).max(named);
                }
                (Some(_), false) => {}
            }
        }
    }

    fn into_model(self) -> Reaction {
        Reaction {
            emoji: self.emoji,
            count: self.count,
            by: self.by,
        }
    }
}

impl Attached {
    fn of(attachment: &Attachment) -> Self {
        Self {
            kind: attachment.kind.into(),
            name: attachment.name.clone(),
            media_type: attachment.media_type.clone(),
            size: attachment.size,
            seconds: attachment.seconds,
            place: match &attachment.place {
                AttachmentPlace::Export(path) => Place::Export(path.clone()),
                AttachmentPlace::Remote(id) => Place::Remote(id.clone()),
                AttachmentPlace::Missing(why) => Place::Missing(why.clone()),
            },
        }
    }

    fn into_model(self) -> Attachment {
        Attachment {
            kind: match self.kind {
                Kind::Image => AttachmentKind::Image,
                Kind::Video => AttachmentKind::Video,
                Kind::Audio => AttachmentKind::Audio,
                Kind::Sticker => AttachmentKind::Sticker,
                _ => AttachmentKind::File,
            },
            name: self.name,
            media_type: self.media_type,
            size: self.size,
            seconds: self.seconds,
            place: match self.place {
                Place::Export(path) => AttachmentPlace::Export(path),
                Place::Remote(id) => AttachmentPlace::Remote(id),
                Place::Missing(why) => AttachmentPlace::Missing(why),
            },
        }
    }
}

/// The words of a body: what is searched in.
pub(super) fn words(body: &Body) -> String {
    match body {
        Body::Text(text) | Body::Unknown(text) | Body::Service { text, .. } => text.clone(),
        Body::Location { name, .. } => name.clone().unwrap_or_default(),
        Body::Contact { name, phone } => match phone {
            Some(phone) => format!("{name} {phone}"),
            None => name.clone(),
        },
        Body::Poll { question, answers } => {
            let answers = answers.iter().map(|(answer, _)| answer.as_str());
            std::iter::once(question.as_str())
                .chain(answers)
                .collect::<Vec<_>>()
                .join("\n")
        }
    }
}

/// What a message is, one bit for each [`Kind`], after its words and the rest. One without words is what is attached to
/// it.
pub(super) fn kinds(text: &str, detail: &Detail) -> i64 {
    let body = match &detail.body {
        None if text.is_empty() && !detail.attachments.is_empty() => None,
        None => Some(Kind::Text),
        Some(Special::Location { .. }) => Some(Kind::Location),
        Some(Special::Contact { .. }) => Some(Kind::Contact),
        Some(Special::Poll { .. }) => Some(Kind::Poll),
        Some(Special::Service { .. }) => Some(Kind::Service),
        Some(Special::Unknown) => Some(Kind::Unknown),
    };
    let call = match &detail.body {
        Some(Special::Service { action }) if is_call(action) => Some(Kind::Call),
        _ => None,
    };
    let attached = detail.attachments.iter().map(|file| file.kind);
    body.into_iter()
        .chain(call)
        .chain(attached)
        .fold(0, |bits, kind| bits | kind.bit())
}

/// Whether what happened is a call, answered or not.
#[must_use]
pub fn is_call(action: &str) -> bool {
    matches!(action, "call" | "missed_call" | "phone_call" | "group_call")
}

/// Microseconds, as in the tables: what is finer is lost.
pub(super) fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

/// The time of a column.
pub(super) fn timestamp(micros: i64) -> Timestamp {
    // The tables hold only what came from a timestamp.
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
}
