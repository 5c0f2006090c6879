//! What becomes of entries when servers of PostgreSQL die, are replaced, or cannot be written to.

use std::sync::Arc;

use bytes::Bytes;
use universe_store::{AppendError, Revision, UniverseLog};

use crate::cluster::Cluster;
use crate::database::open;
use crate::load::{Load, WHILE};
use crate::{after, aside, entry, id, meta};

/// Two nodes on one database.
async fn nodes(url: &str) -> [Arc<dyn UniverseLog>; 2] {
    [Arc::new(open(url).await), Arc::new(open(url).await)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_every_death_of_the_server() {
    const KILLS: u64 = 4;
    let Some(mut cluster) = aside(|| Cluster::start(&[])).await else {
        return;
    };
    let load = Load::start(nodes(&cluster.database()).await).await;
    for _ in 0..KILLS {
        tokio::time::sleep(WHILE).await;
        cluster = aside(move || {
            cluster.kill();
            cluster.restart();
            cluster
        })
        .await;
    }
    tokio::time::sleep(WHILE).await;
    load.judge().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_is_on_the_standby_that_takes_over() {
    let Some((mut cluster, url)) = aside(|| {
        let cluster = Cluster::start(&[])?;
        let url = cluster.database();
        Some((cluster, url))
    })
    .await
    else {
        return;
    };
    let standby;
    (cluster, standby) = aside(move || {
        let standby = cluster.standby();
        (cluster, standby)
    })
    .await;
    let url = url.replacen('@', &format!("@{},", standby.host()), 1);
    let load = Load::start(nodes(&url).await).await;
    tokio::time::sleep(WHILE).await;
    let _ended = aside(move || {
        cluster.kill();
        standby.promote();
        (cluster, standby)
    })
    .await;
    tokio::time::sleep(WHILE).await;
    load.judge().await;
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_read_and_refuses_clearly() {
    let Some(cluster) = aside(|| Cluster::start(&["fsync=off"])).await else {
        return;
    };
    let node = open(&cluster.database()).await;
    let sol = id("sol");
    node.create(meta(&sol, 1), Bytes::new()).await.unwrap();
    cluster.sql("ALTER SYSTEM SET default_transaction_read_only = on");
    cluster.sql("SELECT pg_reload_conf()");
    // From some moment on.
    let mut head = 0;
    let refused = loop {
        match node.append(&sol, after(head, vec![entry("x")])).await {
            Ok(appended) => head = appended.revision.0,
            Err(problem) => break problem,
        }
    };
    assert_eq!(refused, AppendError::Unavailable);
    assert_eq!(node.record(&sol).await.unwrap().head.revision, Revision(head));
    cluster.sql("ALTER SYSTEM RESET default_transaction_read_only");
    cluster.sql("SELECT pg_reload_conf()");
    loop {
        match node.append(&sol, after(head, vec![entry("x")])).await {
            Ok(appended) => break assert_eq!(appended.revision.0, head + 1),
            Err(problem) => assert_eq!(problem, AppendError::Unavailable),
        }
    }
}
