//! Several on one directory: one writes, all read.

use chat_server::index::{Followed, FoundChat, Index, MessageQuery, find_among};
use chat_server::source::Batch;

use super::samples::{Fixture, chat, ids, keep, message, open, said};

async fn count(index: &Index) -> usize {
    let found = index.messages(&MessageQuery::default()).await.unwrap();
    found.messages.len()
}

#[tokio::test]
async fn the_second_reads_what_the_first_writes() {
    let fixture = Fixture::new();
    let second = open(&fixture.dir);
    assert!(fixture.index.is_writer());
    assert!(!second.is_writer());
    let mut follower = second.follow().await.unwrap();
    let events = vec![chat("1", "Antti"), said("1", message("a", 1, "Bob", "hi"))];
    fixture.keep("telegram", events).await;
    assert_eq!(count(&second).await, 1);
    assert!(matches!(find_among(second.chats(None).await.unwrap(), "antti"), FoundChat::Found(_)));
    match follower.next().await {
        Some(Followed::Message(found)) => assert_eq!(found.message.id, "a"),
        other => panic!("{other:?}"),
    }
    let refused = second.sink("telegram").keep(Batch::default()).await.unwrap_err();
    assert!(refused.0.contains("another process writes"), "{refused}");
    assert_eq!(second.promote(), Ok(false));
    // Cursors are of the index, not of the process.
    let page = MessageQuery { limit: 1, ..MessageQuery::default() };
    fixture.keep("telegram", vec![said("1", message("b", 2, "Bob", "hi"))]).await;
    let next = fixture.page(&page).await.next;
    let page = second.messages(&MessageQuery { cursor: next, ..page }).await.unwrap();
    assert_eq!(ids(&page.messages), ["a"]);
}

#[tokio::test]
async fn the_second_goes_on_when_the_first_is_gone() {
    let Fixture { dir, index } = Fixture::new();
    keep(&index.sink("telegram"), vec![chat("1", "Antti")]).await;
    let second = open(&dir);
    let mut follower = second.follow().await.unwrap();
    index.close();
    assert_eq!(count(&second).await, 0);
    assert_eq!(second.promote(), Ok(true));
    assert!(second.is_writer());
    keep(&second.sink("telegram"), vec![said("1", message("a", 1, "Bob", "hi"))]).await;
    match follower.next().await {
        Some(Followed::Message(found)) => assert_eq!(found.sequence, 1),
        other => panic!("{other:?}"),
    }
    let third = open(&dir);
    assert!(!third.is_writer());
    assert_eq!(count(&third).await, 1);
}

#[tokio::test]
async fn many_open_a_new_directory_at_once() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("new");
    let opened: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || Index::open(&path, Default::default()).unwrap())
        })
        .collect();
    let opened: Vec<Index> = opened.into_iter().map(|one| one.join().unwrap()).collect();
    assert_eq!(opened.iter().filter(|index| index.is_writer()).count(), 1);
    for index in &opened {
        assert_eq!(count(index).await, 0);
    }
}
