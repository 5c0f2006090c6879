//! The model: what every adapter should answer, and asking it.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::stream::StreamExt;
use universe_store::{
    Append, AppendError, Base, CommandId, CreateError, DeleteError, Entry, Head, Meta, NewEntry,
    Page, ReadError, Record, Revision, Snapshot, SnapshotError, TailError, Timestamp, TrimError,
};
use uuid::Uuid;

use super::{NAMES, Step};
use crate::{Subject, Tail, before, id, meta, next, next_entry, stored};

/// What there should be of one universe. It stays when the universe is deleted.
struct Expected {
    record: Record,
    base: Base,
    entries: Vec<Entry>,
    snapshot: Option<Snapshot>,
    last_batch: Option<Append>,
    deleted: bool,
}

struct Reader {
    tail: Tail,
    /// Which of the universes there ever were.
    universe: usize,
    /// How many entries it has passed.
    seen: usize,
    started: bool,
}

#[derive(Default)]
pub(super) struct Model {
    /// Every universe there ever was.
    universes: Vec<Expected>,
    by_name: BTreeMap<usize, usize>,
    readers: Vec<Reader>,
    commands: u128,
}

fn shifted(revision: Revision, off: i64) -> Revision {
    Revision(revision.0.saturating_add_signed(off))
}

impl Model {
    fn present(&mut self, who: usize) -> Option<&mut Expected> {
        self.by_name.get(&who).map(|&number| &mut self.universes[number])
    }

    pub(super) async fn take(&mut self, step: Step, subject: &mut dyn Subject) {
        match step {
            Step::Create { who, created_at } => self.create(who, created_at, subject).await,
            Step::Append { who, off, count, size, rename } => {
                let expected = shifted(
                    self.present(who).map_or(Revision(0), |it| it.record.head.revision),
                    off,
                );
                let entries = (0..count)
                    .map(|n| {
                        self.commands += 1;
                        let body = format!("{n}").repeat(size).into_bytes();
                        NewEntry {
                            command_id: CommandId(Uuid::from_u128(self.commands)),
                            at: Timestamp::from_millis(self.commands as i64),
                            body: body.into(),
                            keyed: false,
                        }
                    })
                    .collect();
                let name = rename.then(|| format!("name {}", self.commands));
                self.append(who, Append { expected, entries, name }, subject).await;
            }
            Step::Retry { who, off } => {
                let Some(it) = self.present(who) else { return };
                let Some(mut append) = it.last_batch.clone() else {
                    return;
                };
                append.expected = shifted(it.record.head.revision, off);
                self.append(who, append, subject).await;
            }
            Step::Delete { who, off } => self.delete(who, off, subject).await,
            Step::Snapshot { who, off } => self.put_snapshot(who, off, subject).await,
            Step::Trim { who, back, wrong } => self.trim(who, back, wrong, subject).await,
            Step::Tail { who, back } => self.open_tail(who, back, subject).await,
            Step::Drain { which } => {
                if which < self.readers.len() {
                    let mut reader = self.readers.swap_remove(which);
                    if self.drain(&mut reader).await {
                        self.readers.push(reader);
                    }
                }
            }
            Step::List { limit } => self.list(limit, subject).await,
            Step::Reopen => {
                if subject.reopen() {
                    for reader in std::mem::take(&mut self.readers) {
                        self.ends(reader, &[TailError::Unavailable, TailError::Deleted]).await;
                    }
                }
            }
        }
    }

    async fn create(&mut self, who: usize, created_at: i64, subject: &dyn Subject) {
        let meta =
            Meta { name: format!("{}", self.universes.len()), ..meta(&id(NAMES[who]), created_at) };
        let genesis = Bytes::from(format!("genesis {}", self.universes.len()));
        let created = subject.log().create(meta.clone(), genesis.clone()).await;
        if self.present(who).is_some() {
            assert_eq!(created, Err(CreateError::Exists));
            return;
        }
        assert_eq!(created, Ok(()));
        self.by_name.insert(who, self.universes.len());
        let head =
            Head { revision: Revision(0), last_command_id: None, updated_at: meta.created_at };
        self.universes.push(Expected {
            record: Record { meta, head, oldest: Revision(0) },
            base: Base { revision: Revision(0), at: head.updated_at, body: genesis },
            entries: Vec::new(),
            snapshot: None,
            last_batch: None,
            deleted: false,
        });
    }

    async fn append(&mut self, who: usize, append: Append, subject: &dyn Subject) {
        let answer = subject.log().append(&id(NAMES[who]), append.clone()).await;
        let Some(it) = self.present(who) else {
            assert_eq!(answer, Err(AppendError::NotFound));
            return;
        };
        let head = &mut it.record.head;
        let last = append.entries.last().map(|entry| entry.command_id);
        if last.is_some() && last == head.last_command_id {
            assert_eq!(answer, before(head.revision), "a retry is the same entry");
            return;
        }
        if append.expected != head.revision {
            assert_eq!(answer, Err(AppendError::Conflict { head: *head }));
            return;
        }
        for entry in &append.entries {
            let NewEntry { command_id, at, body, keyed: _ } = entry.clone();
            let revision = Revision(head.revision.0 + 1);
            *head = Head { revision, last_command_id: Some(command_id), updated_at: at };
            it.entries.push(Entry { revision, at, command_id, body });
        }
        assert_eq!(answer, stored(head.revision));
        if let Some(name) = &append.name {
            it.record.meta.name.clone_from(name);
        }
        it.last_batch = Some(append);
    }

    async fn delete(&mut self, who: usize, off: Option<i64>, subject: &dyn Subject) {
        let head = self.present(who).map(|it| it.record.head);
        let revision = head.map_or(Revision(0), |head| head.revision);
        let expected = off.map(|off| shifted(revision, off));
        let answer = subject.log().delete(&id(NAMES[who]), expected).await;
        let Some(head) = head else {
            assert_eq!(answer, Err(DeleteError::NotFound));
            return;
        };
        if expected.is_some_and(|expected| expected != revision) {
            assert_eq!(answer, Err(DeleteError::Conflict { head }));
            return;
        }
        assert_eq!(answer, Ok(()));
        let number = self.by_name.remove(&who).unwrap();
        self.universes[number].deleted = true;
        // A tail that has given nothing yet may not have found its universe before it went.
        self.readers.retain(|reader| reader.universe != number || reader.started);
    }

    async fn put_snapshot(&mut self, who: usize, off: i64, subject: &dyn Subject) {
        let revision =
            shifted(self.present(who).map_or(Revision(0), |it| it.record.head.revision), off);
        let snapshot = Snapshot { revision, body: Bytes::from(format!("state at {revision}")) };
        let answer = subject.log().put_snapshot(&id(NAMES[who]), snapshot.clone()).await;
        let Some(it) = self.present(who) else {
            assert_eq!(answer, Err(SnapshotError::NotFound));
            return;
        };
        let head = it.record.head.revision;
        if revision > head {
            assert_eq!(answer, Err(SnapshotError::Ahead { head }));
            return;
        }
        assert_eq!(answer, Ok(()));
        let newer = |kept: &Snapshot| kept.revision < revision;
        if revision >= it.record.oldest && it.snapshot.as_ref().is_none_or(newer) {
            it.snapshot = Some(snapshot);
        }
        assert_eq!(subject.log().snapshot(&id(NAMES[who])).await.as_ref(), Ok(&it.snapshot));
    }

    async fn trim(&mut self, who: usize, back: u64, wrong: bool, subject: &dyn Subject) {
        let name = id(NAMES[who]);
        let Some(it) = self.present(who) else {
            let base =
                Base { revision: Revision(1), at: Timestamp::from_millis(1), body: Bytes::new() };
            let answer = subject.log().trim(&name, CommandId::random(), base).await;
            assert_eq!(answer, Err(TrimError::NotFound));
            return;
        };
        let head = it.record.head.revision;
        let revision = Revision(head.0.saturating_sub(back));
        let entry = revision.0.checked_sub(1).map(|n| &it.entries[n as usize]);
        let base = Base {
            revision,
            at: entry.map_or(Timestamp::from_millis(1), |entry| entry.at),
            body: Bytes::from(format!("base at {revision}")),
        };
        let last = entry.map(|entry| entry.command_id).filter(|_| !wrong);
        let last = last.unwrap_or_else(CommandId::random);
        let answer = subject.log().trim(&name, last, base.clone()).await;
        if revision <= it.record.oldest {
            assert_eq!(answer, Ok(()));
        } else if wrong || revision >= head {
            assert_eq!(answer, Err(TrimError::NotThere));
        } else {
            assert_eq!(answer, Ok(()));
            it.record.oldest = revision;
            it.base = base;
            it.snapshot = it.snapshot.take().filter(|kept| kept.revision > revision);
        }
        assert_eq!(subject.log().base(&name).await.as_ref(), Ok(&it.base));
    }

    async fn open_tail(&mut self, who: usize, back: u64, subject: &dyn Subject) {
        let name = id(NAMES[who]);
        let Some(&universe) = self.by_name.get(&who) else {
            let mut tail = subject.log().tail(&name, Revision(0));
            assert_eq!(next(&mut tail).await, Some(Err(TailError::NotFound)));
            assert_eq!(next(&mut tail).await, None);
            return;
        };
        let head = self.universes[universe].record.head.revision;
        let mut beyond = subject.log().tail(&name, Revision(head.0 + 1));
        assert_eq!(next(&mut beyond).await, Some(Err(TailError::Ahead { head })));
        assert_eq!(next(&mut beyond).await, None);
        let after = Revision(head.0.saturating_sub(back));
        let oldest = self.universes[universe].record.oldest;
        if after < oldest {
            let mut tail = subject.log().tail(&name, after);
            let trimmed = TailError::Trimmed { oldest, head };
            assert_eq!(next(&mut tail).await, Some(Err(trimmed)));
            assert_eq!(next(&mut tail).await, None);
            return;
        }
        let seen = after.0 as usize;
        let mut reader =
            Reader { tail: subject.log().tail(&name, after), universe, seen, started: false };
        if let Some(first) = self.universes[universe].entries.get(seen) {
            assert_eq!(&next_entry(&mut reader.tail).await, first);
            reader.seen += 1;
            reader.started = true;
        }
        self.readers.push(reader);
    }

    /// Reads all there is, and no more. Tells whether the tail goes on.
    async fn drain(&self, reader: &mut Reader) -> bool {
        let it = &self.universes[reader.universe];
        if it.deleted {
            let tail = std::mem::replace(&mut reader.tail, futures_util::stream::empty().boxed());
            let reader = Reader { tail, ..*reader };
            self.ends(reader, &[TailError::Deleted]).await;
            return false;
        }
        for entry in &it.entries[reader.seen..] {
            let found = next(&mut reader.tail).await.expect("the tail goes on");
            if found == Err(trimmed(it, reader.seen)) {
                assert!(entry.revision <= it.record.oldest, "{found:?}");
                return false;
            }
            assert_eq!(found.as_ref(), Ok(entry));
            reader.seen += 1;
            reader.started = true;
        }
        assert_eq!(reader.tail.next().now_or_never(), None, "nothing more was appended");
        true
    }

    /// Reads on to the end, which must be one of these, through nothing but what there was.
    async fn ends(&self, mut reader: Reader, errors: &[TailError]) {
        let it = &self.universes[reader.universe];
        loop {
            match next(&mut reader.tail).await.expect("a tail ends with an error") {
                Ok(entry) => assert_eq!(Some(&entry), it.entries.get(reader.seen)),
                Err(error) => {
                    let trimmed = error == trimmed(it, reader.seen);
                    assert!(trimmed || errors.contains(&error), "{error:?}");
                    break;
                }
            }
            reader.seen += 1;
        }
        assert_eq!(next(&mut reader.tail).await, None);
    }

    async fn list(&mut self, limit: usize, subject: &dyn Subject) {
        let mut expected: Vec<_> =
            self.by_name.values().map(|&it| self.universes[it].record.clone()).collect();
        expected.sort_by_key(|it| (it.meta.created_at, it.meta.id.clone()));
        expected.reverse();
        let mut listed: Vec<Record> = Vec::new();
        loop {
            // By way of text, as it goes to clients and comes back.
            let after = listed.last().map(|last| last.position().to_string().parse().unwrap());
            let page = subject.log().list(Page { after, limit }).await.unwrap();
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            listed.extend(page);
        }
        if limit > 0 {
            assert_eq!(listed, expected);
        }
    }

    /// Everything there is, asked for once more.
    pub(super) async fn check(&mut self, subject: &dyn Subject) {
        self.list(3, subject).await;
        for reader in std::mem::take(&mut self.readers) {
            self.drain(&mut { reader }).await;
        }
        for (who, name) in NAMES.iter().enumerate() {
            let (log, name) = (subject.log(), id(name));
            let Some(it) = self.present(who) else {
                assert_eq!(log.record(&name).await, Err(ReadError::NotFound));
                assert_eq!(log.base(&name).await, Err(ReadError::NotFound));
                assert_eq!(log.snapshot(&name).await, Err(ReadError::NotFound));
                continue;
            };
            assert_eq!(log.record(&name).await.as_ref(), Ok(&it.record));
            assert_eq!(log.base(&name).await.as_ref(), Ok(&it.base));
            assert_eq!(log.snapshot(&name).await.as_ref(), Ok(&it.snapshot));
            let oldest = it.record.oldest;
            let mut tail = log.tail(&name, oldest);
            for entry in &it.entries[oldest.0 as usize..] {
                assert_eq!(&next_entry(&mut tail).await, entry);
            }
        }
    }
}

/// How a tail may end whose next entry is no longer kept.
fn trimmed(it: &Expected, seen: usize) -> TailError {
    let Record { oldest, head, .. } = it.record;
    if Revision(seen as u64) < oldest {
        TailError::Trimmed { oldest, head: head.revision }
    } else {
        TailError::NotFound
    }
}
