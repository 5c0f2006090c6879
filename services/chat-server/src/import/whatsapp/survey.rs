//! The first walk through a chat: how its headers are written, in which order its dates are, and who takes part.

use std::collections::{BTreeMap, BTreeSet};
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
    shapes: Vec<ShapeFound>,
    /// How many headers were read.
    headers: u64,
    /// The shape of the first line that is not empty: a file never begins with a quote.
    first: Option<Shape>,
    /// Senders, by shape of the header, so that quoted messages do not count.
    senders: BTreeMap<(Shape, String), u64>,
    /// Whether a notice quotes the chat's name: a member has created the group.
    named: bool,
    /// The file's own date: nothing in it is later.
    until: Option<Date>,
    /// The shape of headers that count only behind CRLF or at the beginning.
    crlf: Option<Shape>,
    /// How many lines that are no headers stand behind CRLF, and behind a bare LF.
    broken: [u64; 2],
    /// About how many bytes of text were read.
    pub(super) bytes: u64,
}

/// A shape of headers, and where it is found.
struct ShapeFound {
    shape: Shape,
    count: u64,
    /// The numbers of the first and the last header.
    first: u64,
    last: u64,
    /// How many stand behind a bare LF.
    bare: u64,
    votes: Votes,
}

/// The fewest headers of an export that was joined to another.
const FEWEST_JOINED: u64 = 3;

/// Where one in so many headers is behind a bare LF, and the others behind CRLF, the bare LF are breaks in messages.
const BREAKS: u64 = 10;

/// The result of the first walk.
pub(super) struct SurveyResult {
    pub(super) shape: Shape,
    /// The shape of headers that count only behind CRLF or at the beginning.
    pub(super) crlf: Option<Shape>,
    /// The order of its dates, or why they cannot be read.
    pub(super) order: Result<Decision, String>,
    /// Other shapes, of exports that were joined to one file, and the order of their dates.
    pub(super) joined: Vec<(Shape, Decision)>,
    /// What stands before a colon and is not a name.
    pub(super) notices: BTreeSet<String>,
    pub(super) kind: ChatKind,
    /// The owner's name: of two senders, the one whose name is not the chat's.
    pub(super) me: Option<String>,
}

impl Survey {
    pub(super) fn until(day: Option<Date>) -> Self {
        Self { until: day, ..Self::default() }
    }

    /// A survey of the same file without the headers that are text, if this one has taken such for headers: WhatsApp on
    /// an iPhone ends messages with CRLF, and breaks lines in them with LF. Files that were made otherwise, or were
    /// mixed since, have other lines behind CRLF, too.
    pub(super) fn again(&self) -> Option<Self> {
        let main = self.main()?;
        let [ends, breaks] = self.broken;
        let are_breaks = main.bare > 0
            && main.bare.saturating_mul(BREAKS) <= main.count
            && ends.saturating_mul(BREAKS) <= breaks;
        are_breaks.then(|| Self { crlf: Some(main.shape), ..Self::until(self.until) })
    }

    pub(super) fn walk(&mut self, chat: &str, text: &mut dyn Read) -> io::Result<()> {
        let mut lines = Lines::new(text)?;
        let mut begun = false;
        while let Some(line) = lines.next()? {
            let Line::Text(line) = line else { continue };
            self.bytes += line.len() as u64 + 1;
            let bare = lines.is_behind_lf();
            let header = header::parse(&line);
            let header = header.filter(|header| !bare || self.crlf != Some(header.shape));
            if !begun && !line.trim().is_empty() {
                begun = true;
                self.first = header.map(|header| header.shape);
            }
            match header {
                Some(header) => self.add(chat, &header, bare),
                None if line.trim().is_empty() => {}
                None if bare => self.broken[1] += 1,
                None => self.broken[0] += 1,
            }
        }
        Ok(())
    }

    fn add(&mut self, chat: &str, header: &header::Header<'_>, bare: bool) {
        let shape = header.shape;
        self.headers += 1;
        let found = match self.shapes.iter().position(|known| known.shape == shape) {
            Some(found) => found,
            None if self.shapes.len() == MAX_SHAPES => return,
            None => {
                let mut votes = Votes::default();
                if let Some(day) = self.until {
                    votes.until(day);
                }
                let (count, first, last) = (0, self.headers, self.headers);
                self.shapes.push(ShapeFound { shape, count, first, last, bare: 0, votes });
                self.shapes.len() - 1
            }
        };
        if let Some(found) = self.shapes.get_mut(found) {
            found.count += 1;
            found.bare += u64::from(bare);
            found.last = self.headers;
            found.votes.add(&header.date, named_day(header.rest));
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
        let main = self.main()?;
        let joined = self.joined(main);
        let is_read = |of: &Shape| *of == main.shape || joined.iter().any(|(shape, _)| shape == of);
        let notices = self.notices(is_read);
        let senders: BTreeSet<&str> = self
            .senders
            .keys()
            .filter(|(of, name)| is_read(of) && !notices.contains(name))
            .map(|(_, name)| name.as_str())
            .collect();
        let senders: Vec<&str> = senders.into_iter().collect();
        let is_group = senders.len() > 2 || self.named;
        let me = match senders.as_slice() {
            [one, other] if !is_group && *one == chat => Some(*other),
            [one, other] if !is_group && *other == chat => Some(*one),
            _ => None,
        };
        Some(SurveyResult {
            shape: main.shape,
            crlf: self.crlf,
            order: main.votes.decide(),
            joined,
            notices,
            kind: if is_group { ChatKind::Group } else { ChatKind::Direct },
            me: me.map(str::to_owned),
        })
    }

    fn main(&self) -> Option<&ShapeFound> {
        let most = || self.shapes.iter().max_by_key(|found| found.count);
        let first =
            self.first.and_then(|first| self.shapes.iter().find(|found| found.shape == first));
        first.or_else(most)
    }

    /// The shapes of exports that were joined behind the first one: their headers are not among the others, as those of
    /// a quoted chat are, and people of the first write in them.
    fn joined(&self, main: &ShapeFound) -> Vec<(Shape, Decision)> {
        let is_apart = |one: &ShapeFound| {
            let mut others = self.shapes.iter().filter(|other| other.shape != one.shape);
            others.all(|other| other.last < one.first || one.last < other.first)
        };
        let writes_in =
            |shape: Shape, name: &str| self.senders.contains_key(&(shape, name.to_owned()));
        let is_same_chat = |one: &ShapeFound| {
            let mut names = self.senders.keys().filter(|(of, _)| *of == main.shape);
            names.any(|(_, name)| writes_in(one.shape, name))
        };
        let others = self.shapes.iter().filter(|one| one.shape != main.shape);
        let joined = others.filter(|one| {
            one.count >= FEWEST_JOINED && is_apart(one) && is_apart(main) && is_same_chat(one)
        });
        joined.filter_map(|one| Some((one.shape, one.votes.decide().ok()?))).collect()
    }

    /// What stands before a colon once and goes on after the name of somebody who writes: `Ann changed the text to`.
    fn notices(&self, is_read: impl Fn(&Shape) -> bool) -> BTreeSet<String> {
        let names = || self.senders.iter().filter(|((of, _), _)| is_read(of));
        let goes_on = |text: &str, name: &str| {
            let rest = text.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
            rest.is_some_and(|rest| {
                rest.starts_with(char::is_lowercase) && rest.split_whitespace().count() >= 3
            })
        };
        // Only a few lines have this form, and each is compared with all names.
        let long = names()
            .filter(|((_, name), count)| **count == 1 && name.split_whitespace().count() >= 4);
        long.filter(|((_, text), _)| names().any(|((_, name), _)| goes_on(text, name)))
            .map(|((_, text), _)| text.clone())
            .collect()
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
