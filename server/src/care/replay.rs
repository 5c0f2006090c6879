//! Going through a universe's log from its beginning, entry by entry, as far as it can be read.

use universe_core::{Event, State};

use super::{Result, UniverseId};
use crate::commands::{LogEntry, read_state, replay};
use crate::store::sqlite::{Stretch, View};
use crate::store::{Entry, Record, Revision, Snapshot, Timestamp};

/// A universe at some revision of its log.
pub(super) struct Replay<'v> {
    view: &'v View<'v>,
    id: &'v UniverseId,
    pub(super) revision: Revision,
    /// The time of this revision, if the entry could be read.
    pub(super) at: Timestamp,
    /// `None` after damage, until a snapshot.
    pub(super) state: Option<State>,
    pub(super) snapshot: Option<Snapshot>,
    /// Why there is no usable snapshot.
    pub(super) no_snapshot: Option<String>,
    ahead: std::vec::IntoIter<Entry>,
}

/// The result of one step.
pub(super) enum ReplayStep {
    Entry,
    /// The entries from the first to the last of these revisions are damaged.
    Damaged(Revision, Revision, String),
    End,
}

impl<'v> Replay<'v> {
    /// Starts at the beginning of the log. If the state there cannot be read, returns the reason too.
    pub(super) fn of(view: &'v View<'v>, record: &'v Record) -> Result<(Self, Option<String>)> {
        let id = &record.meta.id;
        let read = match view.base(id) {
            Ok(Some(base)) => read_state(base.body).map(|state| (state, base.at)),
            Ok(None) => Err("it is missing".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let (read, problem) = match read {
            Ok(read) => (Some(read), None),
            Err(problem) => (None, Some(problem)),
        };
        let (snapshot, no_snapshot) = match view.snapshot(id) {
            Ok(snapshot) => (snapshot, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let at = read.as_ref().map_or(record.meta.created_at, |read| read.1);
        let replay = Self {
            view,
            id,
            revision: record.oldest,
            at,
            state: read.map(|read| read.0),
            snapshot,
            no_snapshot,
            ahead: Vec::new().into_iter(),
        };
        Ok((replay, problem))
    }

    /// Continues from the snapshot, if it can be read and is before `until`, or at the head if `until` is the head.
    pub(super) fn skip(&mut self, record: &Record, until: Revision) {
        let (head, at) = (record.head.revision, record.head.updated_at);
        let fits = |it: &mut Snapshot| it.revision < until || it.revision == head && head == until;
        if let Some(snapshot) = self.snapshot.take_if(fits)
            && let Ok(state) = read_state(snapshot.body)
        {
            (self.revision, self.at, self.state) = (snapshot.revision, at, Some(state));
        }
    }

    /// Replays one more entry.
    pub(super) fn step(&mut self) -> Result<ReplayStep> {
        let entry = match self.ahead.next() {
            Some(entry) => entry,
            None => match self.view.after(self.id, self.revision)? {
                Stretch::Entries(entries) => {
                    self.ahead = entries.into_iter();
                    match self.ahead.next() {
                        Some(entry) => entry,
                        None => return Ok(ReplayStep::End),
                    }
                }
                Stretch::Damaged(first, last) => {
                    self.state = None;
                    self.revision = last;
                    let problem = "missing, or not what was written".to_owned();
                    return Ok(ReplayStep::Damaged(first, last, problem));
                }
            },
        };
        (self.revision, self.at) = (entry.revision, entry.at);
        match self.apply(&entry) {
            Ok(()) => Ok(ReplayStep::Entry),
            Err(problem) => {
                self.state = None;
                Ok(ReplayStep::Damaged(entry.revision, entry.revision, problem))
            }
        }
    }

    fn apply(&mut self, entry: &Entry) -> Result<(), String> {
        let body = LogEntry::read(&entry.body).map_err(|problem| problem.to_string())?;
        let Some(state) = &self.state else {
            return Ok(());
        };
        let applied = replay(state, &body)?;
        let recorded = body.events.map(|events| events.get());
        if recorded.is_some_and(|recorded| !are(&applied.events, recorded)) {
            return Err("its command does something else than it says".to_owned());
        }
        self.state = Some(applied.state);
        Ok(())
    }
}

/// Whether these events are equal to the recorded text.
fn are(events: &[Event], recorded: &str) -> bool {
    let recorded: Option<serde_json::Value> = serde_json::from_str(recorded).ok();
    recorded.is_some() && recorded == serde_json::to_value(events).ok()
}
