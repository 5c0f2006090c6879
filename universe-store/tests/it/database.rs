//! What nodes on a database of PostgreSQL have to themselves.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use universe_store::clients::SharedStore as _;
use universe_store::clients::logs::{Event, LogBounds, Tailed};
use universe_store::clients::sessions::{SessionBounds, SessionError};
use universe_store::clients::tasks::TaskBounds;
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

pub(crate) async fn connect(url: &str) -> tokio_postgres::Client {
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
    for (url, right) in [
        ("postgres://u:geheim@h:x/d", "postgres://user:password@host:5432/database"),
        ("postgres://u:geheim@h/d?sslmod=require", "sslmode"),
        ("postgres://u:geheim@h/d?sslmode=verify-full", "disable, prefer or require"),
        ("postgres://u:ge@geheim@h/d", "%40"),
    ] {
        let unreadable = refused(url.to_owned()).await;
        assert!(matches!(unreadable, PostgresError::Url(_)), "{unreadable}");
        assert!(unreadable.to_string().contains(right), "{unreadable}");
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

/// What clients had in format 5, in place of what they have now.
const FORMAT_5: &str = "
    DROP TABLE session_event, session_stream, client_record;
    CREATE TABLE session (
        key bytea PRIMARY KEY,
        owner text COLLATE \"C\",
        body bytea NOT NULL,
        version int8 NOT NULL DEFAULT 0,
        used timestamptz NOT NULL
    );
    CREATE INDEX session_age ON session (used);
    CREATE INDEX session_owner ON session (owner, used);
    CREATE TABLE session_letter (
        n int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key bytea NOT NULL REFERENCES session ON DELETE CASCADE,
        owner text COLLATE \"C\" NOT NULL,
        body bytea NOT NULL,
        at timestamptz NOT NULL
    );
    CREATE INDEX session_letter_key ON session_letter (key, n);
    CREATE INDEX session_letter_owner ON session_letter (owner);
    CREATE INDEX session_letter_age ON session_letter (at);
    CREATE TABLE session_stream (
        id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key bytea NOT NULL REFERENCES session ON DELETE CASCADE,
        name text COLLATE \"C\" NOT NULL,
        node uuid NOT NULL,
        about bytea NOT NULL,
        ended bool NOT NULL,
        touched timestamptz NOT NULL,
        watched timestamptz NOT NULL DEFAULT '-infinity',
        UNIQUE (key, name)
    );
    CREATE INDEX session_stream_age ON session_stream (touched);
    CREATE TABLE session_event (
        stream int8 NOT NULL REFERENCES session_stream ON DELETE CASCADE,
        n int8 NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (stream, n)
    );
    CREATE TABLE task (
        key bytea PRIMARY KEY,
        number int8 GENERATED ALWAYS AS IDENTITY,
        name text COLLATE \"C\",
        owner bytea,
        client bytea,
        node uuid NOT NULL,
        version int8 NOT NULL DEFAULT 0,
        expires timestamptz NOT NULL,
        bytes int8 NOT NULL,
        body bytea NOT NULL,
        result bytea
    );
    CREATE INDEX task_end ON task (expires);
    CREATE INDEX task_owner ON task (owner, number);
    CREATE INDEX task_client ON task (client);
    ALTER TABLE log DROP sum;
    ALTER TABLE base DROP sum;
    ALTER TABLE snap DROP sum;
    UPDATE universe_format SET format = 5;
    INSERT INTO session VALUES
        (sha256('used'), 'ann', 'body', 7, now() - interval '20 minutes'),
        (sha256('idle'), 'ann', 'body', 0, now() - interval '40 minutes'),
        (sha256('free'), NULL, 'body', 0, now());
    INSERT INTO session_letter (key, owner, body, at) SELECT sha256('used'), 'ann', n::text::bytea, now()
        FROM generate_series(1, 20) n;
    INSERT INTO session_stream (key, name, node, about, ended, touched)
        VALUES (sha256('used'), 'c1', gen_random_uuid(), 'about', true, now());
    INSERT INTO session_event SELECT id, n, n::text::bytea FROM session_stream, generate_series(1, 3) n;
    INSERT INTO task (key, name, owner, client, node, version, expires, bytes, body, result)
        SELECT sha256(('task ' || n)::bytea), n, sha256('ann'), sha256('ann'), gen_random_uuid(), n, now() + interval '1 hour',
            6, 'body', 'it' FROM generate_series(1, 3) n;
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_clients_had_in_the_format_before_is_taken_over() {
    let Some(cluster) = shared() else {
        return;
    };
    let url = cluster.database();
    drop(open(&url).await);
    let client = connect(&url).await;
    client.batch_execute(FORMAT_5).await.unwrap();
    for _ in 0..2 {
        let node = open(&url).await;
        let mut bounds = SessionBounds::default();
        bounds.sessions_per_owner = 1;
        let sessions = node.sessions(bounds);
        assert_eq!(sessions.load("used").await, Ok(Some(b"body".to_vec())));
        assert_eq!(sessions.load("free").await, Ok(Some(b"body".to_vec())));
        assert_eq!(sessions.load("idle").await, Ok(None));
        let full = SessionError::Full { is_share: true, max: 1 };
        assert_eq!(sessions.insert("new", Some("ann"), b"").await, Err(full));
        let logs = node.logs(LogBounds::default());
        let mut tail = logs.tail("used", "c1", 1).await.unwrap().unwrap();
        let event = |number: u64| Event { number, text: number.to_string().into() };
        let events = Tailed::Events(vec![event(2), event(3)]);
        assert_eq!(tail.next().await, Some(events));
        assert_eq!(tail.next().await, None);
        let mut bounds = TaskBounds::default();
        bounds.tasks_per_client = 3;
        let tasks = node.tasks(bounds);
        let listed = tasks.list("ann", 1, 10).await.unwrap();
        let found: Vec<_> = listed.iter().map(|task| (task.number, task.version)).collect();
        assert_eq!(found, [(2, 2), (3, 3)]);
        assert_eq!(listed[0].name.as_deref(), Some("2"));
        assert_eq!(tasks.result("3").await, Ok(Some(b"it".to_vec())));
        let (ann, hour) = (Some("ann"), Duration::from_secs(3_600));
        assert!(tasks.insert("4", ann, ann, hour, b"").await.is_err());
        let other = tasks.insert("5", None, None, hour, b"").await.unwrap();
        assert!(other > 3, "{other}");
        tasks.remove("5").await.unwrap();
    }
    // In the order in which they were sent.
    let letters = "SELECT string_agg(convert_from(body, 'UTF8'), ' ' ORDER BY number) FROM client_record \
                   WHERE kind = 'letter' AND above = sha256('used') AND share = 'ann'";
    let letters: String = client.query_one(letters, &[]).await.unwrap().get(0);
    let sent: Vec<_> = (1..=20).map(|n| n.to_string()).collect();
    assert_eq!(letters, sent.join(" "));
    // They end with their session.
    assert!(open(&url).await.sessions(SessionBounds::default()).remove("used").await.unwrap());
    let left = "SELECT (SELECT count(*) FROM session_event) \
                + (SELECT count(*) FROM client_record WHERE above IS NOT NULL)";
    let left: i64 = client.query_one(left, &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
}
