//! Universes whose logs begin later than at revision 0, as copies of trimmed ones do.

use bytes::Bytes;
use universe_store::{
    Base, CreateError, Head, Revision, Snapshot, TailError, Timestamp, TrimError,
};

use super::{after, entry, id, meta, next, next_entry, stored, subjects};

/// No multiple of what a store may count by.
const BEGIN: u64 = 1_021;

#[tokio::test]
async fn a_log_begins_where_it_is_made_to_begin() {
    for mut subject in subjects().await {
        let sol = id("sol");
        let base = Base {
            revision: Revision(BEGIN),
            at: Timestamp::from_millis(5),
            body: Bytes::from_static(b"state"),
        };
        let made = subject.log().create_from(meta(&sol, 1), base.clone());
        assert_eq!(made.await, Ok(()));
        let again = subject.log().create_from(meta(&sol, 1), base.clone());
        assert_eq!(again.await, Err(CreateError::Exists));
        let head = Head {
            revision: Revision(BEGIN),
            last_command_id: None,
            updated_at: Timestamp::from_millis(5),
        };
        let record = subject.log().record(&sol).await.unwrap();
        assert_eq!((record.head, record.oldest), (head, Revision(BEGIN)));
        assert_eq!(subject.log().base(&sol).await, Ok(base.clone()));
        let mut expected = Vec::new();
        for n in 0..600 {
            let new = entry(format!("{n}"));
            expected.push((Revision(BEGIN + n + 1), new.command_id));
            let appended = subject.log().append(&sol, after(BEGIN + n, vec![new])).await;
            assert_eq!(appended, stored(Revision(BEGIN + n + 1)));
        }
        for _ in 0..2 {
            let log = subject.log();
            for from in [0, 1, 599] {
                let mut tail = log.tail(&sol, Revision(BEGIN + from));
                for wanted in &expected[from as usize..] {
                    let entry = next_entry(&mut tail).await;
                    assert_eq!((entry.revision, entry.command_id), *wanted);
                }
            }
            let too_old = next(&mut log.tail(&sol, Revision(BEGIN - 1))).await;
            let oldest = Revision(BEGIN);
            let head = Revision(BEGIN + 600);
            assert_eq!(too_old, Some(Err(TailError::Trimmed { oldest, head })));
            if !subject.reopen() {
                break;
            }
        }
        // It is trimmed as any other, and takes no snapshot from before it.
        let log = subject.log();
        let body = Bytes::from_static(b"old");
        let revision = Revision(BEGIN - 1);
        log.put_snapshot(&sol, Snapshot { revision, body }).await.unwrap();
        assert_eq!(log.snapshot(&sol).await, Ok(None));
        let (revision, last) = expected[299];
        let later = Base { revision, ..base };
        assert_eq!(log.trim(&sol, expected[0].1, later.clone()).await, Err(TrimError::NotThere));
        assert_eq!(log.trim(&sol, last, later.clone()).await, Ok(()));
        assert_eq!(log.base(&sol).await, Ok(later));
        let mut tail = log.tail(&sol, revision);
        assert_eq!(next_entry(&mut tail).await.command_id, expected[300].1);
    }
}
