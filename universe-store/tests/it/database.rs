//! What nodes on a database of PostgreSQL have to themselves.

use std::time::{Duration, Instant};

use bytes::Bytes;
use universe_store::postgres::{PostgresError, PostgresOptions, PostgresStore};
use universe_store::{Revision, TailError, UniverseLog};
use uuid::Uuid;

use crate::cluster::shared;
use crate::{HANG, after, engines, entry, id, meta, next, next_entry};

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
    node.create(meta(&id("sol"), 1), Bytes::new()).await.unwrap();
    let mut tail = node.tail(&id("sol"), Revision(0));
    node.append(&id("sol"), after(0, vec![entry("x")])).await.unwrap();
    next_entry(&mut tail).await;
    // As another node writes it, but for the notification.
    let client = connect(&url).await;
    let silent = "WITH moved AS (UPDATE universe SET rev = 2 RETURNING uni) \
                  INSERT INTO log SELECT uni, 2, 0, gen_random_uuid(), false, 'silent' FROM moved";
    client.execute(silent, &[]).await.unwrap();
    assert_eq!(next_entry(&mut tail).await.body, "silent");
    client.execute("DELETE FROM universe", &[]).await.unwrap();
    assert_eq!(next(&mut tail).await, Some(Err(TailError::Deleted)));
}

/// While the database was away no node could make its lease longer. One that was about to do so loses it sooner than
/// one that had just done so, and is not taken for dead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_takes_none_for_dead_whose_lease_ends_with_a_gap_in_its_own() {
    const LEASE: Duration = Duration::from_secs(2);
    let Some(cluster) = shared() else {
        return;
    };
    let url = cluster.database();
    let node = engines::with_lease(&url, LEASE).await.nodes();
    let (own, other, unknown) = (node.id(), Uuid::new_v4(), Uuid::new_v4());
    let begun = Instant::now();
    while !node.alive(&[unknown]).await.unwrap().is_empty() {
        assert!(begun.elapsed() < HANG, "it does not judge");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // From now on the node cannot make its lease longer.
    let client = connect(&url).await;
    let refuse = format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''refused''; END'; \
         CREATE TRIGGER refuse BEFORE INSERT ON universe_node FOR EACH ROW WHEN (NEW.id = '{own}') \
           EXECUTE FUNCTION refuse()"
    );
    client.batch_execute(&refuse).await.unwrap();
    let sooner = "INSERT INTO universe_node \
                  SELECT $1, alive_until - make_interval(secs => $2) FROM universe_node WHERE id = $3";
    let interval = LEASE.as_secs_f64() / 5.0;
    client.execute(sooner, &[&other, &interval, &own]).await.unwrap();
    loop {
        let alive = node.alive(&[other, unknown]).await.unwrap();
        assert!(alive.contains(&other), "it is taken for dead");
        if alive.contains(&unknown) {
            break;
        }
        assert!(begun.elapsed() < HANG, "it judges for ever");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, driver) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(driver);
    client
}

#[tokio::test]
async fn what_cannot_be_opened_says_why_and_tells_no_password() {
    let Some(cluster) = shared() else {
        return;
    };
    let refused = |url: String| async move {
        let options = PostgresOptions::default();
        let problem = PostgresStore::open(&url, &options).await.expect_err("it opens");
        assert!(!format!("{problem} {problem:?}").contains("geheim"));
        problem
    };
    for url in ["postgres://u:geheim@h:x/d", "postgres://u:geheim@h/d?sslmod=require"] {
        let unreadable = refused(url.to_owned()).await;
        assert!(matches!(unreadable, PostgresError::Url(_)), "{unreadable}");
    }
    let missing = refused("postgres://nobody:geheim@%2Fnowhere/d".to_owned()).await;
    assert!(matches!(missing, PostgresError::Unreachable(_)), "{missing}");
    let url = cluster.database();
    drop(open(&url).await);
    let client = connect(&url).await;
    client.execute("UPDATE universe_format SET format = 99", &[]).await.unwrap();
    let newer = refused(url.clone()).await;
    assert!(matches!(newer, PostgresError::Newer { found: 99, .. }), "{newer}");
    // A database that has other things under these names is left as it is.
    client.batch_execute("DROP TABLE universe_format").await.unwrap();
    let other = refused(url).await;
    assert!(matches!(other, PostgresError::Tables(_)), "{other}");
}
