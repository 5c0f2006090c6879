//! Appends of several universes that share a statement: at most one of each.
//!
//! A commit that notifies takes a lock of the whole database, so one notification for each command would cost nine
//! tenths of the commands a second. What meets another node's write reads the head under the lock that it waited for,
//! in the same statement, and does not wait for the disk: nodes that write one universe wait for that lock.

use std::collections::{HashSet, VecDeque};

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use super::TRIES;
use crate::adapter::failure::Failure;
use crate::adapter::live::Channels;
use crate::model::Admission;
use crate::postgres::frame;
use crate::postgres::listen::CHANNEL;
use crate::{Append, AppendError, Appended, Head, Revision, UniverseId};

/// Most appends of a batch: what a notification of fewer than 8,000 bytes can name.
const MOST: usize = 128;

/// A batch takes no further append beyond this many bytes.
const BYTES: usize = 8 << 20;

/// An append in the queue.
pub(super) struct Job {
    pub(super) id: UniverseId,
    pub(super) append: Append,
    /// What it weighs, in bytes.
    pub(super) size: usize,
    pub(super) reply: oneshot::Sender<Result<Appended, AppendError>>,
    /// How often it was sent.
    pub(super) tries: usize,
    /// Its share of the bytes that may be queued.
    pub(super) _share: OwnedSemaphorePermit,
}

/// What became of an append.
enum Fate {
    /// There is no such universe.
    Open,
    /// It was appended, to the universe of this number.
    Landed(i64),
    /// The head did not fit.
    Found(Head),
}

/// Some appends on their way.
pub(super) struct Batch(Vec<(Job, Fate)>);

impl Batch {
    /// Takes what can go together, in the order in which it came.
    pub(super) fn take(waiting: &mut VecDeque<Job>) -> Self {
        let (mut taken, mut left) = (Vec::new(), VecDeque::new());
        let (mut ids, mut bytes) = (HashSet::new(), 0_usize);
        for mut job in waiting.drain(..) {
            let is_full =
                taken.len() >= MOST || (bytes > 0 && bytes.saturating_add(job.size) > BYTES);
            if is_full || !ids.insert(job.id.clone()) {
                // One that waits lets no later one of its universe overtake it.
                ids.insert(job.id.clone());
                left.push_back(job);
                continue;
            }
            bytes = bytes.saturating_add(job.size);
            job.tries += 1;
            taken.push((job, Fate::Open));
        }
        *waiting = left;
        Self(taken)
    }

    /// What it weighs.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|(job, _)| job.size).sum()
    }

    /// Its parts as the parameters of [`sql`].
    pub(super) fn columns(&self) -> Columns<'_> {
        let mut columns = Columns::default();
        for (n, (job, _)) in (0_i64..).zip(&self.0) {
            let Append { expected, entries, name } = &job.append;
            let last = entries.last();
            columns.id.push(job.id.as_str());
            columns.expected.push(expected.0.cast_signed());
            let next = expected.0.saturating_add(entries.len() as u64);
            columns.next.push(next.cast_signed());
            columns.last.push(last.map(|entry| entry.command_id.0));
            columns.updated.push(last.map(|entry| entry.at.as_millis()));
            columns.name.push(name.as_ref().map(String::as_bytes));
            let mut revision = *expected;
            for entry in entries {
                revision = revision.next();
                columns.of.push(n);
                columns.revision.push(revision.0.cast_signed());
                columns.at.push(entry.at.as_millis());
                columns.command.push(entry.command_id.0);
                columns.keyed.push(entry.keyed);
                columns.body.push(&entry.body);
                let (rev, at) = (revision.0.cast_signed(), entry.at.as_millis());
                let command = Some(entry.command_id.0);
                columns.sum.push(frame::sum(job.id.as_str(), rev, at, command, &entry.body));
            }
        }
        columns
    }

    /// What became of the append of a place: it has landed in the universe of this number, or met this head.
    pub(super) fn fated(&mut self, place: i64, landed: Option<i64>, head: Head) {
        let place = usize::try_from(place).ok();
        if let Some((_, fate)) = place.and_then(|place| self.0.get_mut(place)) {
            *fate = landed.map_or(Fate::Found(head), Fate::Landed);
        }
    }

    /// Answers everything, and wakes readers. Returns the jobs that were refused by a head that fits them since.
    pub(super) fn settle(self, channels: &Channels) -> Vec<Job> {
        let mut again = Vec::new();
        for (job, fate) in self.0 {
            let answer = match fate {
                Fate::Landed(uni) => Ok(landed(&job, uni, channels)),
                Fate::Found(head) => match head.admit(&job.append) {
                    Ok(Admission::Landed) => {
                        Ok(Appended { revision: head.revision, stored: false })
                    }
                    Ok(Admission::Proceed(_)) if job.tries < TRIES => {
                        again.push(job);
                        continue;
                    }
                    Ok(Admission::Proceed(_)) => Err(AppendError::Unavailable),
                    Err(conflict) => Err(conflict),
                },
                Fate::Open => Err(AppendError::NotFound),
            };
            // A caller who has gone does not want to know.
            let _ = job.reply.send(answer);
        }
        again
    }

    /// Whether none of it was sent too often.
    pub(super) fn may_try_again(&self) -> bool {
        self.0.iter().all(|(job, _)| job.tries < TRIES)
    }

    pub(super) fn into_jobs(self) -> Vec<Job> {
        self.0.into_iter().map(|(job, _)| job).collect()
    }

    /// The statement has failed.
    pub(super) fn fail(self, failure: Failure) {
        for (job, _) in self.0 {
            let _ = job.reply.send(Err(failure.into()));
        }
    }
}

/// Notifies readers of an append that was stored now, and gives its answer.
fn landed(job: &Job, uni: i64, channels: &Channels) -> Appended {
    let Append { expected, entries, .. } = &job.append;
    channels.appended(uni, *expected, entries);
    Appended { revision: Revision(expected.0.saturating_add(entries.len() as u64)), stored: true }
}

/// The appends, a column for each of their parts, and their entries.
#[derive(Default)]
pub(super) struct Columns<'a> {
    id: Vec<&'a str>,
    expected: Vec<i64>,
    next: Vec<i64>,
    last: Vec<Option<Uuid>>,
    updated: Vec<Option<i64>>,
    name: Vec<Option<&'a [u8]>>,
    /// Of which append an entry is.
    of: Vec<i64>,
    revision: Vec<i64>,
    at: Vec<i64>,
    command: Vec<Uuid>,
    keyed: Vec<bool>,
    body: Vec<&'a [u8]>,
    sum: Vec<i64>,
}

impl Columns<'_> {
    pub(super) fn parameters(&self) -> [&(dyn ToSql + Sync); 13] {
        [
            &self.id,
            &self.expected,
            &self.next,
            &self.last,
            &self.updated,
            &self.name,
            &self.of,
            &self.revision,
            &self.at,
            &self.command,
            &self.keyed,
            &self.body,
            &self.sum,
        ]
    }
}

/// The types of these.
pub(super) const TYPES: [Type; 13] = [
    Type::TEXT_ARRAY,
    Type::INT8_ARRAY,
    Type::INT8_ARRAY,
    Type::UUID_ARRAY,
    Type::INT8_ARRAY,
    Type::BYTEA_ARRAY,
    Type::INT8_ARRAY,
    Type::INT8_ARRAY,
    Type::INT8_ARRAY,
    Type::UUID_ARRAY,
    Type::BOOL_ARRAY,
    Type::BYTEA_ARRAY,
    Type::INT8_ARRAY,
];

/// The statement: it locks the rows in one order, so that nodes do not wait for each other in a circle, moves the heads
/// that fit, appends the entries of those, and notifies all nodes at the commit. What has met another head learns
/// which, as it is after the wait for the lock; if that is all, the commit does not wait for the disk: the others that
/// write the same universe wait for its lock meanwhile.
pub(super) fn sql() -> String {
    format!(
        "WITH wanted AS MATERIALIZED ( \
           SELECT n - 1 AS n, id, expected, next, command, updated_at, name \
           FROM unnest($1, $2, $3, $4, $5, $6) \
             WITH ORDINALITY AS w(id, expected, next, command, updated_at, name, n)), \
         held AS MATERIALIZED ( \
           SELECT universe.uni, wanted.n, rev, universe.command, universe.updated_at FROM wanted JOIN universe USING (id) \
           ORDER BY universe.uni FOR NO KEY UPDATE OF universe), \
         moved AS ( \
           UPDATE universe u SET rev = w.next, command = coalesce(w.command, u.command), \
             updated_at = coalesce(w.updated_at, u.updated_at), name = coalesce(w.name, u.name) \
           FROM wanted w JOIN held USING (n) \
           WHERE u.uni = held.uni AND u.rev = w.expected \
             AND (w.command IS NULL OR u.command IS DISTINCT FROM w.command) \
           RETURNING w.n, u.uni, u.rev), \
         written AS ( \
           INSERT INTO log (uni, rev, at, command, keyed, body, sum) \
           SELECT moved.uni, e.rev, e.at, e.command, e.keyed, e.body, e.sum \
           FROM unnest($7, $8, $9, $10, $11, $12, $13) AS e(n, rev, at, command, keyed, body, sum) \
             JOIN moved USING (n)), \
         notified AS ( \
           SELECT pg_notify('{CHANNEL}', string_agg(uni || ':' || rev, ' '))::text AS sent \
           FROM moved HAVING count(*) > 0), \
         idle AS ( \
           SELECT set_config('synchronous_commit', 'off', true) AS waits FROM moved HAVING count(*) = 0) \
         SELECT n, moved.uni, held.rev, held.command, held.updated_at, notified.sent, idle.waits \
         FROM held LEFT JOIN moved USING (n) LEFT JOIN notified ON true LEFT JOIN idle ON true"
    )
}
