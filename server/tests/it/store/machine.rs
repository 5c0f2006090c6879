//! Random histories, followed by a model: whatever is done in whatever order, every adapter gives
//! the model's answers.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::stream::StreamExt;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use universe_server::store::{
    Append, AppendError, CommandId, CreateError, DeleteError, Entry, Head, MemoryStore, Meta,
    NewEntry, Page, ReadError, Record, Revision, Snapshot, SnapshotError, TailError, Timestamp,
};
use uuid::Uuid;

use super::{OnDisk, Subject, Tail, id, meta, next, next_entry};

const NAMES: [&str; 3] = ["sol", "a", "ü~ 1"];

#[derive(Debug, Clone)]
enum Step {
    Create {
        who: usize,
        created_at: i64,
    },
    /// `off` is how far from the head the expected revision is.
    Append {
        who: usize,
        off: i64,
        count: usize,
        size: usize,
        rename: bool,
    },
    /// The last batch once more, with an expected revision that is `off` the head.
    Retry {
        who: usize,
        off: i64,
    },
    Delete {
        who: usize,
        off: Option<i64>,
    },
    Snapshot {
        who: usize,
        off: i64,
    },
    Tail {
        who: usize,
        back: u64,
    },
    Drain {
        which: usize,
    },
    List {
        limit: usize,
    },
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = 0..NAMES.len();
    let off = || prop_oneof![8 => Just(0i64), 1 => Just(-1), 1 => Just(1)];
    // Enough at times to pass the marks by which histories are found.
    let count = prop_oneof![1 => Just(0usize), 12 => 1..4usize, 2 => 250..520usize];
    let size = prop_oneof![8 => 0..40usize, 1 => Just(20_000usize)];
    let step = prop_oneof![
        4 => (who.clone(), 0..3i64).prop_map(|(who, created_at)| Step::Create { who, created_at }),
        12 => (who.clone(), off(), count, size, any::<bool>()).prop_map(
            |(who, off, count, size, rename)| {
                // Either many or large.
                let size = if count > 9 { size % 40 } else { size };
                Step::Append { who, off, count, size, rename }
            }
        ),
        2 => (who.clone(), off()).prop_map(|(who, off)| Step::Retry { who, off }),
        1 => (who.clone(), proptest::option::of(off())).prop_map(|(who, off)| Step::Delete { who, off }),
        4 => (who.clone(), -3..2i64).prop_map(|(who, off)| Step::Snapshot { who, off }),
        4 => (who, 0..600u64).prop_map(|(who, back)| Step::Tail { who, back }),
        6 => (0..8usize).prop_map(|which| Step::Drain { which }),
        1 => (0..6usize).prop_map(|limit| Step::List { limit }),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..100)
}

/// What there should be of one universe. It stays when the universe is deleted.
struct Expected {
    record: Record,
    genesis: Bytes,
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
struct Model {
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
        self.by_name
            .get(&who)
            .map(|&number| &mut self.universes[number])
    }

    async fn take(&mut self, step: Step, subject: &mut dyn Subject) {
        match step {
            Step::Create { who, created_at } => self.create(who, created_at, subject).await,
            Step::Append {
                who,
                off,
                count,
                size,
                rename,
            } => {
                let expected = shifted(
                    self.present(who)
                        .map_or(Revision(0), |it| it.record.head.revision),
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
                self.append(
                    who,
                    Append {
                        expected,
                        entries,
                        name,
                    },
                    subject,
                )
                .await;
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
                        self.ends(reader, &[TailError::Unavailable, TailError::Deleted])
                            .await;
                    }
                }
            }
        }
    }

    async fn create(&mut self, who: usize, created_at: i64, subject: &dyn Subject) {
        let meta = Meta {
            name: format!("{}", self.universes.len()),
            ..meta(&id(NAMES[who]), created_at)
        };
        let genesis = Bytes::from(format!("genesis {}", self.universes.len()));
        let created = subject.log().create(meta.clone(), genesis.clone()).await;
        if self.present(who).is_some() {
            assert_eq!(created, Err(CreateError::Exists));
            return;
        }
        assert_eq!(created, Ok(()));
        self.by_name.insert(who, self.universes.len());
        let head = Head {
            revision: Revision(0),
            last_command_id: None,
            updated_at: meta.created_at,
        };
        self.universes.push(Expected {
            record: Record { meta, head },
            genesis,
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
            assert_eq!(answer, Ok(head.revision), "a retry is the same entry");
            return;
        }
        if append.expected != head.revision {
            assert_eq!(answer, Err(AppendError::Conflict { head: *head }));
            return;
        }
        for entry in &append.entries {
            let NewEntry {
                command_id,
                at,
                body,
                keyed: _,
            } = entry.clone();
            let revision = Revision(head.revision.0 + 1);
            *head = Head {
                revision,
                last_command_id: Some(command_id),
                updated_at: at,
            };
            it.entries.push(Entry {
                revision,
                at,
                command_id,
                body,
            });
        }
        assert_eq!(answer, Ok(head.revision));
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
        self.readers
            .retain(|reader| reader.universe != number || reader.started);
    }

    async fn put_snapshot(&mut self, who: usize, off: i64, subject: &dyn Subject) {
        let revision = shifted(
            self.present(who)
                .map_or(Revision(0), |it| it.record.head.revision),
            off,
        );
        let snapshot = Snapshot {
            revision,
            body: Bytes::from(format!("state at {revision}")),
        };
        let answer = subject
            .log()
            .put_snapshot(&id(NAMES[who]), snapshot.clone())
            .await;
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
        if it
            .snapshot
            .as_ref()
            .is_none_or(|kept| kept.revision < revision)
        {
            it.snapshot = Some(snapshot);
        }
        assert_eq!(
            subject.log().snapshot(&id(NAMES[who])).await.as_ref(),
            Ok(&it.snapshot)
        );
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
        assert_eq!(
            next(&mut beyond).await,
            Some(Err(TailError::Ahead { head }))
        );
        assert_eq!(next(&mut beyond).await, None);
        let after = Revision(head.0.saturating_sub(back));
        let seen = after.0 as usize;
        let mut reader = Reader {
            tail: subject.log().tail(&name, after),
            universe,
            seen,
            started: false,
        };
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
            assert_eq!(&next_entry(&mut reader.tail).await, entry);
            reader.seen += 1;
            reader.started = true;
        }
        assert_eq!(
            reader.tail.next().now_or_never(),
            None,
            "nothing more was appended"
        );
        true
    }

    /// Reads on to the end, which must be one of these, through nothing but what there was.
    async fn ends(&self, mut reader: Reader, errors: &[TailError]) {
        let it = &self.universes[reader.universe];
        loop {
            match next(&mut reader.tail)
                .await
                .expect("a tail ends with an error")
            {
                Ok(entry) => assert_eq!(Some(&entry), it.entries.get(reader.seen)),
                Err(error) => {
                    assert!(errors.contains(&error), "{error:?}");
                    break;
                }
            }
            reader.seen += 1;
        }
        assert_eq!(next(&mut reader.tail).await, None);
    }

    async fn list(&mut self, limit: usize, subject: &dyn Subject) {
        let mut expected: Vec<_> = self
            .by_name
            .values()
            .map(|&it| self.universes[it].record.clone())
            .collect();
        expected.sort_by_key(|it| (it.meta.created_at, it.meta.id.clone()));
        expected.reverse();
        let mut listed: Vec<Record> = Vec::new();
        loop {
            // By way of text, as it goes to clients and comes back.
            let after = listed
                .last()
                .map(|last| last.position().to_string().parse().unwrap());
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
    async fn check(&mut self, subject: &dyn Subject) {
        self.list(3, subject).await;
        for reader in std::mem::take(&mut self.readers) {
            self.drain(&mut { reader }).await;
        }
        for (who, name) in NAMES.iter().enumerate() {
            let (log, name) = (subject.log(), id(name));
            let Some(it) = self.present(who) else {
                assert_eq!(log.record(&name).await, Err(ReadError::NotFound));
                assert_eq!(log.genesis(&name).await, Err(ReadError::NotFound));
                assert_eq!(log.snapshot(&name).await, Err(ReadError::NotFound));
                continue;
            };
            assert_eq!(log.record(&name).await.as_ref(), Ok(&it.record));
            assert_eq!(log.genesis(&name).await.as_ref(), Ok(&it.genesis));
            assert_eq!(log.snapshot(&name).await.as_ref(), Ok(&it.snapshot));
            let mut tail = log.tail(&name, Revision(0));
            for entry in &it.entries {
                assert_eq!(&next_entry(&mut tail).await, entry);
            }
        }
    }
}

fn judge(cases: u32, subject: impl Fn() -> Box<dyn Subject>) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&steps(), |steps| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (mut subject, mut model) = (subject(), Model::default());
            for step in steps {
                model.take(step, subject.as_mut()).await;
            }
            model.check(subject.as_ref()).await;
            if subject.reopen() {
                model.check(subject.as_ref()).await;
            }
        });
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn memory_follows_the_model() {
    judge(256, || Box::new(MemoryStore::default()));
}

#[test]
fn sqlite_follows_the_model() {
    judge(48, || Box::new(OnDisk::new()));
}
