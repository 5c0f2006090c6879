//! WhatsApp's "Export chat": a text of the telephone's own language and habits, alone, in a zip, or in a folder.
//!
//! The text is read twice: first to find out how its dates are written and who takes part, then to read its messages.
//!
//! What the text does not contain, and so is lost: the zone, and seconds on Android; which of two equal hours it was
//! when clocks are put back, unless the order shows it; where a name with a colon and a blank in it ends; a line in a
//! message that is written exactly as the headers of the file are, unless the ends of lines tell them apart; reactions,
//! replies and forwards; which message of an earlier export was edited or deleted since: both are kept.

mod body;
mod file;
mod halves;
mod header;
mod marked;
mod names;
mod order;
mod parse;
mod survey;
mod text;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use jiff::{Timestamp, ToSpan as _};

use super::clock::Clock;
use super::identity::Identities;
use super::tree::Tree;
use super::unit::Unit;
use super::{Doubt, ImportError, Reading, io_at};
use crate::event::Event;
use crate::model::{Chat, ChatKind};
use body::Writer;
use header::Shape;
use order::{Confidence, Decision};
use parse::{ChatSize, Parse};
use survey::{Survey, SurveyResult};
use words::words;

pub(super) use names::is_known as is_known_name;
pub use names::without_number;
pub use order::DayOrder;

/// How many lines of a file are examined to decide whether it is a chat.
const GLANCE: usize = 50;

/// The file name that iOS gives a chat.
pub(super) const IOS_FILE: &str = "_chat.txt";

/// Receives the outcome of each chat, and may end the reading.
type Note<'n> = dyn FnMut(&mut Reading<'_, '_, '_>, &Unit, Result<ControlFlow<()>, ImportError>) -> ControlFlow<()>
    + 'n;

/// Whether a text begins as a chat does: its first line, or one soon after it, is a header.
pub(super) fn looks_like(text: &str) -> bool {
    text.lines().take(GLANCE).any(|line| header::parse(line).is_some())
}

/// A chat after the first walk.
struct Surveyed<'u> {
    unit: &'u Unit,
    is_new: bool,
    name: String,
    language: Option<&'static str>,
    found: SurveyResult,
    bytes: u64,
}

/// Reads chats: all of them are surveyed first, since one may show how the dates of another are written.
pub(super) fn read(
    units: &[(Unit, bool)],
    reading: &mut Reading<'_, '_, '_>,
    note: &mut Note<'_>,
) -> ControlFlow<()> {
    let mut chats = Vec::new();
    for (unit, is_new) in units {
        match survey(unit, *is_new) {
            Ok(Some(chat)) => chats.push(chat),
            Ok(None) => {
                reading.skip(format_args!(
                    "{}: no line begins as a message of WhatsApp does: left out",
                    unit.key()
                ));
                note(reading, unit, Ok(ControlFlow::Continue(())))?;
            }
            Err(error) => note(reading, unit, Err(error))?,
        }
    }
    agree(&mut chats);
    for chat in chats.iter().filter(|chat| chat.is_new) {
        let read = read_chat(chat, reading);
        note(reading, chat.unit, read)?;
    }
    ControlFlow::Continue(())
}

fn survey(unit: &Unit, is_new: bool) -> Result<Option<Surveyed<'_>>, ImportError> {
    let path = match &unit.tree {
        // A zip is named after the chat if the text in it is not.
        Tree::Zip { path, .. } if !names::is_known(Path::new(&unit.file)) => path.clone(),
        tree => tree.path().join(&unit.file),
    };
    let (name, language) = (names::of_file(&path), names::language(&path));
    let zone = jiff::tz::TimeZone::system();
    let written = unit.tree.modified(&unit.file).map(|at| zone.to_datetime(at).date());
    let mut survey = Survey::until(written);
    let walk = |survey: &mut Survey| {
        unit.tree.read(&unit.file, |text, _| survey.walk(&name, text).map_err(at(&unit.key())))
    };
    walk(&mut survey)?;
    if let Some(again) = survey.again() {
        survey = again;
        walk(&mut survey)?;
    }
    let found = survey.found(&name);
    let bytes = survey.bytes;
    Ok(found.map(|found| Surveyed { unit, is_new, name, language, found, bytes }))
}

/// An uncertain date order of one chat becomes likely if the certain chats with the same header format agree.
fn agree(chats: &mut [Surveyed<'_>]) {
    let mut certain: BTreeMap<Shape, BTreeSet<DayOrder>> = BTreeMap::new();
    for chat in &*chats {
        if let Ok(decision) = &chat.found.order
            && decision.confidence == Confidence::Certain
        {
            certain.entry(chat.found.shape).or_default().insert(decision.order);
        }
    }
    for chat in chats {
        let orders =
            certain.get(&chat.found.shape).map(|orders| orders.iter().copied().collect::<Vec<_>>());
        let (Ok(decision), Some([order])) = (&mut chat.found.order, orders.as_deref()) else {
            continue;
        };
        let order = *order;
        let fits = decision.order == order || decision.alternative == Some(order);
        if decision.confidence < Confidence::Certain && fits {
            let other = [decision.order]
                .into_iter()
                .chain(decision.alternative)
                .find(|other| *other != order);
            *decision = Decision {
                order,
                alternative: other,
                confidence: Confidence::Likely,
                why: "other chats of this export are written so",
                ..*decision
            };
        }
    }
}

fn read_chat(
    chat: &Surveyed<'_>,
    reading: &mut Reading<'_, '_, '_>,
) -> Result<ControlFlow<()>, ImportError> {
    let (unit, name, found) = (chat.unit, &chat.name, &chat.found);
    reading.summary.languages.extend(chat.language.map(str::to_owned));
    let options = reading.options;
    let decision = match (options.day_order, &found.order) {
        (None, Err(problem)) => {
            reading.skip(format_args!("{name}: {problem}: left out"));
            return Ok(ControlFlow::Continue(()));
        }
        (None, Ok(decision)) => *decision,
        (Some(order), decided) => Decision {
            order,
            confidence: Confidence::Certain,
            why: "the configuration says so",
            alternative: None,
            years: decided.as_ref().map_or(0, |decided| decided.years),
        },
    };
    let kind = found.kind;
    let new_chat = Chat { id: name.clone(), name: name.clone(), kind, participants: None };
    if reading.take(Event::Chat(new_chat)).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    if let Some(alternative) = decision.alternative {
        reading.doubt(Doubt {
            chat: name.clone(),
            order: decision.order,
            alternative,
            confidence: match decision.confidence {
                Confidence::Guess => "guess",
                _ => "likely",
            }
            .to_owned(),
            why: decision.why.to_owned(),
        });
    }
    let with = |decided: Decision| match options.day_order {
        Some(order) => Decision { order, ..decided },
        None => decided,
    };
    let joined = found.joined.iter().map(|(shape, decided)| (*shape, with(*decided)));
    let prefix = format!("{}{}", unit.prefix, unit.folder());
    let mut parse = Parse {
        chat: name,
        crlf: found.crlf,
        shapes: std::iter::once((found.shape, decision)).chain(joined).collect(),
        writer: Writer {
            ios: false,
            knows_edited: chat.language.is_some_and(|it| words().edited_in.contains(it)),
            notices: &found.notices,
            group: (kind == ChatKind::Group).then_some(name.as_str()),
        },
        now: Timestamp::now().saturating_add(24.hours()).unwrap_or(Timestamp::MAX),
        me: options.me.as_deref().or(found.me.as_deref()),
        prefix: &prefix,
        clock: Clock::new(&options.zone),
        identities: Identities::default(),
        open: None,
        part: ChatSize { size: unit.size(), text: chat.bytes },
    };
    unit.tree.read(&unit.file, |text, _| parse.walk(text, reading).map_err(at(&unit.key())))
}

/// A file that is too large or cannot be unpacked is an error of the export, not of the disk.
fn at(file: &str) -> impl FnOnce(io::Error) -> ImportError + '_ {
    move |error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            ImportError::Damaged {
                path: file.into(),
                place: "text".to_owned(),
                problem: error.to_string(),
            }
        }
        _ => io_at(Path::new(file))(error),
    }
}
