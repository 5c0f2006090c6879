//! A message as stored: searched and filtered parts in columns, the rest as JSON in one.

use std::borrow::Cow;

use jiff::Timestamp;
use rusqlite::Row;
use serde::{Deserialize, Serialize};

use super::answer::Kind;
use crate::model::{Attachment, Body, Message, Participant, Reaction};

/// The parts without a separate column. Empty members are left out; for a plain text all are, and no JSON is stored.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Detail {
    /// Without its words, which have a column; `None` for a plain text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<Body>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) forwarded_from: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reactions: Vec<Reaction>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) attachments: Vec<Attachment>,
}

impl Detail {
    pub(super) fn of(message: &Message) -> Self {
        Self {
            body: match &message.body {
                Body::Text(_) => None,
                Body::Unknown(_) => Some(Body::Unknown(String::new())),
                Body::Service { action, .. } => {
                    Some(Body::Service { action: action.clone(), text: String::new() })
                }
                other => Some(other.clone()),
            },
            reply_to: message.reply_to.clone(),
            forwarded_from: message.forwarded_from.clone(),
            reactions: message.reactions.clone(),
            attachments: message.attachments.clone(),
        }
    }

    /// The column; `None` if there is nothing to keep.
    pub(super) fn write(&self) -> rusqlite::Result<Option<String>> {
        if *self == Self::default() {
            return Ok(None);
        }
        let text = serde_json::to_string(self);
        text.map(Some).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
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
            None | Some(Body::Text(_)) => Body::Text(text),
            Some(Body::Service { action, .. }) => Body::Service { action, text },
            Some(Body::Unknown(_)) => Body::Unknown(text),
            Some(other) => other,
        }
    }

    /// The text was changed: a body of any kind becomes text.
    pub(super) fn reword(&mut self) {
        if !matches!(self.body, Some(Body::Service { .. } | Body::Unknown(_))) {
            self.body = None;
        }
    }

    /// The contents are removed; reactions of others stay.
    pub(super) fn forget(&mut self) {
        self.body = None;
        self.forwarded_from = None;
        self.attachments.clear();
    }

    /// Takes over what is said in the same files.
    pub(super) fn keep_transcripts(&mut self, known: &[Attachment]) {
        for (file, known) in self.attachments.iter_mut().zip(known) {
            if file.kind == known.kind && file.name == known.name {
                file.transcript.clone_from(&known.transcript);
            }
        }
    }

    /// Adds or removes one person's reaction. The same reaction by the same person counts once.
    pub(super) fn react(&mut self, reaction: &Reaction, removed: bool) {
        if removed && reaction.emoji.is_empty() {
            self.take_back(&reaction.by);
            return;
        }
        let known = self.reactions.iter_mut().find(|known| known.emoji == reaction.emoji);
        match known {
            None if removed => {}
            None => self.reactions.push(reaction.clone()),
            Some(known) => change(known, &reaction.by, removed),
        }
        self.reactions.retain(|known| known.count > 0);
    }

    /// Counts a person's votes in a poll. Who has voted for what is kept as reactions, so that a changed vote counts
    /// once.
    pub(super) fn vote(&mut self, by: &str, options: &[usize]) {
        let Some(Body::Poll { question, mut answers }) = self.body.clone() else { return };
        for (n, (answer, votes)) in answers.iter_mut().enumerate() {
            let vote =
                Reaction { emoji: format!("✓ {answer}"), count: 1, by: vec![by.to_owned()] };
            self.react(&vote, !options.contains(&n));
            let kept = self.reactions.iter().find(|known| known.emoji == vote.emoji);
            *votes = Some(kept.map_or(0, |known| known.count));
        }
        self.body = Some(Body::Poll { question, answers });
    }

    /// Removes all reactions of these people.
    fn take_back(&mut self, by: &[String]) {
        for known in &mut self.reactions {
            let named = |name: &&String| known.by.contains(name);
            let theirs: Vec<String> = by.iter().filter(named).cloned().collect();
            if !theirs.is_empty() {
                change(known, &theirs, true);
            }
        }
        self.reactions.retain(|known| known.count > 0);
    }
}

/// A reaction without a name cannot be matched to a person: then it is only counted.
fn change(known: &mut Reaction, by: &[String], removed: bool) {
    if by.is_empty() {
        known.count =
            if removed { known.count.saturating_sub(1) } else { known.count.saturating_add(1) };
    }
    for name in by {
        let place = known.by.iter().position(|it| it == name);
        match (place, removed) {
            (None, false) => {
                known.by.push(name.clone());
                known.count = known.count.saturating_add(1);
            }
            (Some(place), true) => {
                known.by.remove(place);
                known.count = known.count.saturating_sub(1);
            }
            (None, true) => {
                // One of the people who are counted but not named, if there are any.
                let named = u32::try_from(known.by.len()).unwrap_or(u32::MAX);
                known.count = known.count.saturating_sub(1).max(named);
            }
            (Some(_), false) => {}
        }
    }
}

/// The words of a body, which can be searched.
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
            std::iter::once(question.as_str()).chain(answers).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The names of the files of a message, and what is said in them, which are searched like its words.
pub(super) fn names(files: &[Attachment]) -> Option<String> {
    let names = files.iter().flat_map(|file| [&file.name, &file.transcript]).flatten();
    let names: Vec<&str> = names.map(String::as_str).filter(|it| !it.is_empty()).collect();
    (!names.is_empty()).then(|| names.join("\n"))
}

/// All of a message that is searched: its words, and the names of its files.
pub(super) fn searched<'t>(text: &'t str, names: Option<&str>) -> Cow<'t, str> {
    match names {
        Some(names) if text.is_empty() => Cow::Owned(names.to_owned()),
        Some(names) => Cow::Owned(format!("{text}\n{names}")),
        None => Cow::Borrowed(text),
    }
}

/// The same of a message that was read.
pub(super) fn searched_of(message: &Message) -> String {
    searched(&words(&message.body), names(&message.attachments).as_deref()).into_owned()
}

/// The kinds of a message, one bit for each [`Kind`], by its words and the other parts. A message without words has the
/// kinds of its attachments.
pub(super) fn kinds(text: &str, detail: &Detail) -> i64 {
    let body = match &detail.body {
        None if text.is_empty() && !detail.attachments.is_empty() => None,
        None => Some(Kind::Text),
        Some(Body::Text(_)) => Some(Kind::Text),
        Some(Body::Location { .. }) => Some(Kind::Location),
        Some(Body::Contact { .. }) => Some(Kind::Contact),
        Some(Body::Poll { .. }) => Some(Kind::Poll),
        Some(Body::Service { .. }) => Some(Kind::Service),
        Some(Body::Unknown(_)) => Some(Kind::Unknown),
    };
    let call = match &detail.body {
        Some(Body::Service { action, .. }) if is_call(action) => Some(Kind::Call),
        _ => None,
    };
    let attached = detail.attachments.iter().map(|file| file.kind.into());
    let link = (text.contains("://") || text.contains("www.")).then_some(Kind::Link);
    body.into_iter().chain(call).chain(attached).chain(link).fold(0, |bits, kind| bits | kind.bit())
}

/// Whether the action is a call, answered or not.
pub fn is_call(action: &str) -> bool {
    matches!(action, "call" | "missed_call" | "phone_call" | "group_call")
}

/// A person, whose id, name, username, number, and whether it is the owner, begin at this column.
pub(super) fn participant(row: &Row<'_>, first: usize) -> rusqlite::Result<Participant> {
    Ok(Participant {
        id: row.get(first)?,
        name: row.get(first + 1)?,
        username: row.get(first + 2)?,
        phone: row.get(first + 3)?,
        is_me: row.get(first + 4)?,
    })
}

/// Microseconds, as in the tables; smaller fractions are lost.
pub(super) fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

/// The time of a column.
pub(super) fn timestamp(micros: i64) -> Timestamp {
    // The tables hold only values made from a timestamp.
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
}
