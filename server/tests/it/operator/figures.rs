//! Figures in the format that a collector reads: grafana/oncall#4512, prometheus/prometheus#13214,
//! meilisearch/meilisearch#5875, pretix/pretix#5133.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::harness::{Client, Server, tick};

const OPEN: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

async fn figures(client: Client, accept: &[(&str, &str)]) -> (String, String) {
    let reply = client.call("GET", "/metrics", accept, &Value::Null).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let kind = reply.header("content-type").to_owned();
    (kind, String::from_utf8(reply.body.to_vec()).unwrap())
}

#[tokio::test]
async fn figures_come_in_the_format_that_is_asked_for() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    for (accept, expected) in [
        ("text/plain;version=0.0.4", PLAIN),
        ("*/*", PLAIN),
        ("text/html,application/xhtml+xml,*/*;q=0.8", PLAIN),
        ("application/openmetrics-text", OPEN),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
            OPEN,
        ),
        ("application/openmetrics-text;q=0.2,text/plain;version=0.0.4;q=0.9", PLAIN),
        ("application/openmetrics-text;q=0", PLAIN),
        (
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
             application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,\
             text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
            OPEN,
        ),
    ] {
        let (kind, text) = figures(server.client, &[("accept", accept)]).await;
        assert_eq!(kind, expected, "{accept}");
        assert_eq!(text.ends_with("# EOF\n"), expected == OPEN, "{accept}");
    }
    assert_eq!(figures(server.client, &[]).await.0, PLAIN);
}

/// The older format, line by line: each sample belongs to the family above it, whose kind that format knows.
#[tokio::test]
async fn the_older_format_is_one() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo"]).await;
    server.client.command("sol", &tick()).await;
    let (_, text) = figures(server.client, &[]).await;
    let (_, open) = figures(server.client, &[("accept", "application/openmetrics-text")]).await;
    let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
    let (mut helped, mut family) = (BTreeSet::new(), ("", ""));
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            assert!(helped.insert(help.split(' ').next().unwrap()), "twice: {line}");
        } else if let Some(said) = line.strip_prefix("# TYPE ") {
            family = said.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&family.1), "{line}");
            assert!(helped.contains(family.0), "{line}");
            assert_eq!(kinds.insert(family.0, family.1), None, "twice: {line}");
        } else {
            let name = line.split(['{', ' ']).next().unwrap();
            let endings: &[&str] =
                if family.1 == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            let is_of = |ending: &&str| name.strip_suffix(*ending) == Some(family.0);
            assert!(endings.iter().any(is_of), "{line} is not of {family:?}");
            assert_eq!(family.1 == "counter", name.ends_with("_total"), "{line}");
            let value = line.rsplit(' ').next().unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
    }
    assert_eq!(kinds["universe_commands_total"], "counter");
    assert_eq!(kinds["universe_server_info"], "gauge");
    // Nothing is left out.
    let names = |text: &str| -> BTreeSet<String> {
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        samples.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
    };
    assert!(names(&open).difference(&names(&text)).all(|name| name.contains("/metrics")));

    let checker = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut checker) = checker else {
        eprintln!("not compared with promtool, which is not installed");
        return;
    };
    checker.stdin.take().unwrap().write_all(text.as_bytes()).await.unwrap();
    let judged = checker.wait_with_output().await.unwrap();
    assert!(judged.status.success(), "{judged:?}");
}
