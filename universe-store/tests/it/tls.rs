//! TLS to a server of PostgreSQL.

use std::time::Duration;

use tempfile::TempDir;
use universe_store::UniverseLog as _;
use universe_store::postgres::{PostgresError, PostgresOptions, PostgresStore};

use crate::cluster::Cluster;

#[tokio::test]
async fn a_server_is_believed_by_its_certificate_alone() {
    let start = || Cluster::start(&["fsync=off", "listen_addresses=127.0.0.1"]);
    let Some(cluster) = tokio::task::spawn_blocking(start).await.unwrap() else {
        return;
    };
    let dir = TempDir::new().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let host = cluster.speak_tls(&made.cert.pem(), &made.signing_key.serialize_pem());
    let url = cluster.database().replace(&cluster.host(), &host) + "?sslmode=require";
    let open = async |authority: Option<&str>| {
        let mut options = PostgresOptions::default();
        options.authorities = authority.map(|text| {
            let file = dir.path().join("ca.pem");
            std::fs::write(&file, text).unwrap();
            file
        });
        PostgresStore::open(&url, &options).await
    };
    let store = open(Some(&made.cert.pem())).await.unwrap();
    assert_eq!(store.count().await, Ok(0));
    let plain = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                 WHERE application_name = 'universe-server' AND NOT ssl";
    assert_eq!(cluster.sql(plain), "0");
    for authority in [None, Some(other.cert.pem())] {
        let refused = open(authority.as_deref()).await.expect_err("it is believed");
        assert!(matches!(refused, PostgresError::Unreachable(_)), "{refused}");
        assert!(refused.to_string().contains("certificate"), "{refused}");
    }
    // Whoever does not ask for TLS on this machine gets none of a server that nobody vouches for, as Debian's package
    // sets it up; with an authority, it has to be that one.
    let plain = url.replace("?sslmode=require", "");
    let store = PostgresStore::open(&plain, &PostgresOptions::default()).await.unwrap();
    assert_eq!(store.count().await, Ok(0));
    let by_address = plain.replace("localhost", "127.0.0.1");
    PostgresStore::open(&by_address, &PostgresOptions::default()).await.expect("the same");
    let mut options = PostgresOptions::default();
    options.authorities = Some(dir.path().join("ca.pem"));
    PostgresStore::open(&plain, &options).await.expect_err("another authority was named");
    // Where TLS was asked for, or the server is on another machine, both ways out are named.
    let refused = PostgresStore::open(&url, &PostgresOptions::default()).await.expect_err("TLS");
    for way in ["--store-ca FILE", "sslmode=disable"] {
        assert!(refused.to_string().contains(way), "{refused}");
    }
    let refused = open(Some("nothing")).await.expect_err("it is believed");
    cluster.sql("ALTER SYSTEM SET ssl = off");
    cluster.sql("SELECT pg_reload_conf()");
    while cluster.sql("SHOW ssl") != "off" {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let none = open(Some(&made.cert.pem())).await.expect_err("it has no TLS").to_string();
    assert!(none.contains("ssl = on") && !none.contains("--store-ca"), "{none}");
    assert!(matches!(refused, PostgresError::Authorities { .. }), "{refused}");
}
