//! PostgreSQL, as an engine of the tests. Those of the universe server use it, too.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use universe_store::postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, ask, shared};
use crate::engines::{Engine, Kind, Mortal, Node, aside};

pub(crate) struct Postgres;

impl Engine for Postgres {
    fn scheme(&self) -> &'static str {
        "postgres"
    }

    fn url(&self) -> Option<String> {
        shared().map(Cluster::database)
    }

    fn open<'a>(&'a self, url: &'a str, lease: Duration) -> BoxFuture<'a, Node> {
        Box::pin(async move {
            let mut options = PostgresOptions::default();
            options.lease = lease;
            let opened = PostgresStore::open(url, &options).await;
            let store: Node = Arc::new(opened.unwrap_or_else(|problem| panic!("{problem}")));
            store
        })
    }

    fn start(&self) -> Option<(Box<dyn Mortal>, String)> {
        let cluster = Cluster::start(&[])?;
        let url = cluster.database();
        Some((Box::new(cluster), url))
    }

    fn age<'a>(
        &'a self,
        url: &'a str,
        kind: Kind,
        seconds: u32,
        owner: Option<&'a str>,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let (table, kind) = place(kind);
            let whose = owner.map(|owner| format!(" AND share = '{owner}'")).unwrap_or_default();
            let earlier = format!("ends = ends - make_interval(secs => {seconds})");
            let (url, sql) =
                (url.to_owned(), format!("UPDATE {table} SET {earlier} WHERE {kind}{whose}"));
            aside(move || ask(&url, &sql)).await;
        })
    }

    fn dump<'a>(&'a self, url: &'a str, kind: Kind) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            let (table, kind) = place(kind);
            let (url, sql) =
                (url.to_owned(), format!("SELECT t::text FROM {table} t WHERE {kind}"));
            let said = aside(move || ask(&url, &sql)).await;
            said.lines().map(str::to_owned).collect()
        })
    }
}

impl Mortal for Cluster {
    fn kill(&mut self) {
        Self::kill(self);
    }

    fn restart(&mut self) {
        Self::restart(self);
    }
}

/// The table of a kind, and which of its rows are of it.
fn place(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Sessions => ("client_record", "kind = 'session'"),
        Kind::Letters => ("client_record", "kind = 'letter'"),
        Kind::Tasks => ("client_record", "kind = 'task'"),
        Kind::Streams => ("session_stream", "true"),
        Kind::Events => ("session_event", "true"),
        Kind::Nodes => ("universe_node", "true"),
    }
}
