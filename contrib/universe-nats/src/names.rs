//! The names of streams and subjects, and what of an id stands in one.
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use universe_store::{CommandId, Revision, UniverseId};

/// The characters of an id that are written as `%XX`: all that are not allowed in a subject, and some more.
pub(super) const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// The names that begin with one prefix.
#[derive(Debug, Clone)]
pub(super) struct Names(String);

impl Names {
    pub(super) fn new(prefix: &str) -> Self {
        Self(prefix.to_owned())
    }

    /// The stream of all logs.
    pub(super) fn log(&self) -> String {
        format!("{}_log", self.0)
    }

    /// The stream of used keys, which are kept for a day.
    pub(super) fn keys(&self) -> String {
        format!("{}_keys", self.0)
    }

    /// The stream of large bodies, in pieces, and of snapshots.
    pub(super) fn bodies(&self) -> String {
        format!("{}_bodies", self.0)
    }

    /// The subject of all logs.
    pub(super) fn every_log(&self) -> String {
        format!("{}.log.*", self.0)
    }

    /// The log of the universes with an id. If there were several, their logs follow each other.
    pub(super) fn log_of(&self, id: &UniverseId) -> String {
        format!("{}.log.{}", self.0, utf8_percent_encode(id.as_str(), ESCAPED))
    }

    /// The id in the subject of a log.
    pub(super) fn id_in(&self, subject: &str) -> Option<UniverseId> {
        let rest = subject.strip_prefix(self.0.as_str())?;
        let id = percent_decode_str(rest.strip_prefix(".log.")?);
        UniverseId::new(id.decode_utf8().ok()?).ok()
    }

    /// The subject of a command's key, for the revision that the command is expected to get.
    pub(super) fn key(&self, uni: i64, command: CommandId, revision: Revision) -> String {
        format!("{}.key.{uni}.{}.{revision}", self.0, command.0.simple())
    }

    /// The subject of a command's key, for any revision.
    pub(super) fn keys_of(&self, uni: i64, command: CommandId) -> String {
        format!("{}.key.{uni}.{}.*", self.0, command.0.simple())
    }

    /// All keys of a universe.
    pub(super) fn keys_in(&self, uni: i64) -> String {
        format!("{}.key.{uni}.*.*", self.0)
    }

    /// The command and the revision in the subject of a key.
    pub(super) fn read_key(subject: &str) -> Option<(CommandId, Revision)> {
        let mut tokens = subject.rsplit('.');
        let revision = tokens.next()?.parse().ok()?;
        let command = tokens.next()?.parse().ok()?;
        Some((CommandId(command), Revision(revision)))
    }

    /// The pieces of the body with this name: all pieces, or the one with a number.
    pub(super) fn piece(&self, uni: i64, name: &str, number: Option<u32>) -> String {
        match number {
            Some(number) => format!("{}.body.{uni}.{name}.{number}", self.0),
            None => format!("{}.body.{uni}.{name}.*", self.0),
        }
    }

    /// The pieces of all bodies of a universe.
    pub(super) fn pieces_in(&self, uni: i64) -> String {
        format!("{}.body.{uni}.*.*", self.0)
    }

    /// The name of the body in the subject of one of its pieces.
    pub(super) fn body_in(subject: &str) -> Option<&str> {
        subject.rsplit('.').nth(1)
    }

    /// The snapshot of a universe.
    pub(super) fn snapshot(&self, uni: i64) -> String {
        format!("{}.snapshot.{uni}", self.0)
    }

    /// The stream of the data that nodes share about their clients, except for events.
    pub(super) fn records(&self) -> String {
        format!("{}_records", self.0)
    }

    /// The stream of the events of calls.
    pub(super) fn events(&self) -> String {
        format!("{}_events", self.0)
    }

    /// The subject of the record with a path, or of all records below it.
    pub(super) fn record(&self, path: &str) -> String {
        format!("{}.record.{path}", self.0)
    }

    /// The path in the subject of a record.
    pub(super) fn path_in<'a>(&self, subject: &'a str) -> Option<&'a str> {
        subject.strip_prefix(self.0.as_str())?.strip_prefix(".record.")
    }

    /// The event with a number in the stream with this path, or all its events.
    pub(super) fn event(&self, place: &str, number: Option<u64>) -> String {
        match number {
            Some(number) => format!("{}.event.{place}.{number}", self.0),
            None => format!("{}.event.{place}.>", self.0),
        }
    }

    /// The subjects of each stream.
    pub(super) fn subjects(&self) -> [(String, Vec<String>); 5] {
        [
            (self.log(), vec![self.every_log()]),
            (self.keys(), vec![format!("{}.key.*.*.*", self.0)]),
            (
                self.bodies(),
                vec![format!("{}.body.*.*.*", self.0), format!("{}.snapshot.*", self.0)],
            ),
            (self.records(), vec![self.record(">")]),
            (self.events(), vec![format!("{}.event.*.*.*", self.0)]),
        ]
    }
}
