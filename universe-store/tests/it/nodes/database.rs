//! What nodes on a database of PostgreSQL have to themselves.

use bytes::Bytes;
use universe_store::postgres::{PostgresError, PostgresOptions, PostgresStore};
use universe_store::{Revision, TailError, UniverseLog};

use crate::cluster::shared;
use crate::{after, entry, id, meta, next, next_entry};

pub(crate) async fn open(url: &str) -> PostgresStore {
    let opened = PostgresStore::open(url, &PostgresOptions::default()).await;
    opened.unwrap_or_else(|problem| panic!("{problem}"))
}

/// Notifications are hints only: without any, a look finds what they would have said.
#[tokio::test]
async fn a_reader_finds_what_nothing_notified_it_of() {
    let Some(cluster) = shared() else {
        return;
    };
    let url = cluster.database();
    let node = open(&url).await;
    node.create(meta(&id("sol"), 1), Bytes::new())
        .await
        .unwrap();
    let mut tail = node.tail(&id("sol"), Revision(0));
    node.append(&id("sol"), after(0, vec![entry("x")]))
        .await
        .unwrap();
    next_entry(&mut tail).await;
    // As another node writes it, but for the notification.
    let (client, driver) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(driver);
    let silent = "WITH moved AS (UPDATE universe SET rev = 2 RETURNING uni) \
                  INSERT INTO log SELECT uni, 2, 0, gen_random_uuid(), false, 'silent' FROM moved";
    client.execute(silent, &[]).await.unwrap();
    assert_eq!(next_entry(&mut tail).await.body, "silent");
    client.execute("DELETE FROM universe", &[]).await.unwrap();
    assert_eq!(next(&mut tail).await, Some(Err(TailError::Deleted)));
}

#[tokio::test]
async fn what_cannot_be_opened_says_why_and_tells_no_password() {
    let Some(cluster) = shared() else {
        return;
    };
    let refused = |url: String| async move {
        let options = PostgresOptions::default();
        let problem = PostgresStore::open(&url, &options)
            .await
            .expect_err("it opens");
        assert!(!format!("{problem} {problem:?}").contains("geheim"));
        problem
    };
    for url in [
        "postgres://u:geheim@h:x/d",
        "postgres://u:geheim@h/d?sslmod=require",
    ] {
        let unreadable = refused(url.to_owned()).await;
        assert!(matches!(unreadable, PostgresError::Url(_)), "{unreadable}");
    }
    let missing = refused("postgres://nobody:geheim@%2Fnowhere/d".to_owned()).await;
    assert!(
        matches!(missing, PostgresError::Unreachable(_)),
        "{missing}"
    );
    let url = cluster.database();
    drop(open(&url).await);
    let (client, driver) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(driver);
    client
        .execute("UPDATE universe_format SET format = 99", &[])
        .await
        .unwrap();
    let newer = refused(url.clone()).await;
    assert!(
        matches!(newer, PostgresError::Newer { found: 99, .. }),
        "{newer}"
    );
    // A database that has other things under these names is left as it is.
    client
        .batch_execute("DROP TABLE universe_format")
        .await
        .unwrap();
    let other = refused(url).await;
    assert!(matches!(other, PostgresError::Tables(_)), "{other}");
}
