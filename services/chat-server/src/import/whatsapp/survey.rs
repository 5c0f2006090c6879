//! The first walk through a chat: how its headers are written, in which order its dates are, and who takes part.

use std::collections::BTreeMap;
use std::io::{self, Read};

use jiff::civil::Date;

use super::header::{self, Shape};
use super::order::{Decision, Votes};
use super::{body, names};
use crate::import::lines::{Line, Lines};
use crate::model::ChatKind;

/// How many senders of one chat are remembered to decide what kind of chat it is.
const MAX_SENDERS: usize = 2_000;

/// How many header formats are distinguished in one file.
const MAX_SHAPES: usize = 16;

/// The findings of the first walk.
#[derive(Default)]
pub(super) struct Survey {
    shapes: Vec<(Shape, u64, Votes)>,
    /// The shape of the first line that is not empty: a file never begins with a quote.
    first: Option<Shape>,
    /// Senders, by shape of the header, so that quoted messages do not count.
    senders: BTreeMap<(Shape, String), u64>,
    /// Whether a notice quotes the chat's name: a member has created the group.
    named: bool,
    /// The file's own date: nothing in it is later.
    until: Option<Date>,
    /// About how many bytes of text were read.
    pub(super) bytes: u64,
}

/// The result of the first walk.
pub(super) struct SurveyResult {
    pub(super) shape: Shape,
    /// The order of its dates, or why they cannot be read.
    pub(super) order: Result<Decision, String>,
    pub(super) kind: ChatKind,
    /// The owner's name: of two senders, the one whose name is not the chat's.
    pub(super) me: Option<String>,
}

impl Survey {
    pub(super) fn until(day: Option<Date>) -> Self {
        Self { until: day, ..Self::default() }
    }

    pub(super) fn walk(&mut self, chat: &str, text: &mut dyn Read) -> io::Result<()> {
        let mut lines = Lines::new(text)?;
        let mut begun = false;
        while let Some(line) = lines.next()? {
            let Line::Text(line) = line else { continue };
            self.bytes += line.len() as u64 + 1;
            let header = header::parse(&line);
            if !begun && !line.trim().is_empty() {
                begun = true;
                self.first = header.map(|header| header.shape);
            }
            if let Some(header) = header {
                self.add(chat, &header);
            }
        }
        Ok(())
    }

    fn add(&mut self, chat: &str, header: &header::Header<'_>) {
        let shape = header.shape;
        let found = match self.shapes.iter().position(|(known, ..)| *known == shape) {
            Some(found) => found,
            None if self.shapes.len() == MAX_SHAPES => return,
            None => {
                let mut votes = Votes::default();
                if let Some(day) = self.until {
                    votes.until(day);
                }
                self.shapes.push((shape, 0, votes));
                self.shapes.len() - 1
            }
        };
        if let Some((_, count, votes)) = self.shapes.get_mut(found) {
            *count += 1;
            votes.add(&header.date, named_day(header.rest));
        }
        match body::split(header.rest) {
            Some((sender, _)) => {
                let key = (shape, sender.to_owned());
                if self.senders.len() < MAX_SENDERS || self.senders.contains_key(&key) {
                    *self.senders.entry(key).or_default() += 1;
                }
            }
            None => self.named |= names::is_quoted(chat, header.rest),
        }
    }

    /// `None` if no line begins as a message does.
    pub(super) fn found(&self, chat: &str) -> Option<SurveyResult> {
        let most = || self.shapes.iter().max_by_key(|(_, count, _)| *count);
        let first =
            self.first.and_then(|first| self.shapes.iter().find(|(shape, ..)| *shape == first));
        let (shape, _, votes) = first.or_else(most)?;
        let senders: Vec<&str> = self
            .senders
            .keys()
            .filter(|(of, _)| of == shape)
            .map(|(_, name)| name.as_str())
            .collect();
        let is_group = senders.len() > 2 || self.named;
        let me = match senders.as_slice() {
            [one, other] if !is_group && *one == chat => Some(*other),
            [one, other] if !is_group && *other == chat => Some(*one),
            _ => None,
        };
        Some(SurveyResult {
            shape: *shape,
            order: votes.decide(),
            kind: if is_group { ChatKind::Group } else { ChatKind::Direct },
            me: me.map(str::to_owned),
        })
    }
}

/// The day by which a file is named: `IMG-20231213-WA0001.jpg`, `00000042-PHOTO-2023-12-13-18-05-09.jpg`.
fn named_day(text: &str) -> Option<Date> {
    if let Some(at) = text.find("-WA") {
        return text.get(..at)?.rsplit_once('-')?.1.parse().ok();
    }
    ["-PHOTO-", "-VIDEO-", "-AUDIO-", "-STICKER-", "-GIF-"]
        .iter()
        .find_map(|kind| text.split_once(kind)?.1.get(..10)?.parse().ok())
}
