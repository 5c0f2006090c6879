//! `client`: the rules that servers see.

use std::time::Duration;

use mcp_conformance::{
    ClientCheck, ClientReport, Format, Results, Subject, Tool, Verdict, client_rules,
};
use mcp_proto::input::ElicitResult;
use mcp_proto_client::ClientConfig;
use serde_json::{Map, json};

use crate::command_line::run;
use crate::small_client::Client;

async fn judged(broken: &'static str, only: &str) -> ClientReport {
    ClientCheck::running(move |url| Client::run(url, broken))
        .only((!only.is_empty()).then(|| only.to_owned()))
        .timeout(Duration::from_secs(2))
        .run(|_| {})
        .await
        .unwrap()
}

fn text(report: &ClientReport) -> String {
    let mut results = Results::new(Tool::Client);
    results.targets.push(Subject::from(report));
    let mut text = Vec::new();
    results.write(Format::Text, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn a_client_that_keeps_every_rule_has_no_finding_and_shows_every_rule() {
    let report = judged("", "").await;
    for judged in &report.judged {
        assert!(matches!(judged.verdict, Verdict::Holds), "{}", text(&report));
    }
}

#[tokio::test]
async fn each_rule_is_broken_by_a_client_that_it_finds() {
    for rule in client_rules() {
        let report = judged(rule.id, rule.id).await;
        let found = report.findings().any(|judged| judged.rule.id == rule.id);
        assert!(found, "{}: {}", rule.id, text(&report));
    }
}

/// The client of this repository, given nothing but the address.
async fn ours(url: String) {
    let config = ClientConfig::default().with_elicitation(async |_| {
        ElicitResult::accept(Map::from_iter([("name".to_owned(), json!("Anna"))]))
    });
    let Ok(client) = mcp_proto_client::Client::http(&url, config).await else {
        return;
    };
    for tool in client.list_tools().await.unwrap_or_default() {
        let arguments = json!({ "text": "hello", "region": "north sea" });
        let _told = client.call_tool(&tool.name, arguments).await;
    }
    let _ended = client.close().await;
}

#[tokio::test]
async fn our_own_client_keeps_every_rule() {
    let report =
        ClientCheck::running(ours).timeout(Duration::from_secs(10)).run(|_| {}).await.unwrap();
    for judged in &report.judged {
        let rule = judged.rule.id;
        assert!(matches!(judged.verdict, Verdict::Holds), "{rule}: {}", text(&report));
    }
}

#[tokio::test]
async fn a_client_has_the_reports_of_a_server() {
    // It never connects, so that what needs its requests is not judged or does not apply.
    let client = ["--only", "client.accept", "--timeout", "1", "--", "true"];
    let (code, out, _) = run(&[&["client"], &client[..]].concat()).await;
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("findings: 0 MUST, 0 SHOULD, 0 practice"), "{out}");
    assert!(!out.contains("()") && !out.contains("supports"), "{out}");
    let (_, out, _) = run(&[&["client", "--format", "json"], &client[..]].concat()).await;
    let results = Results::from_json(&out).unwrap();
    assert_eq!(results.tool, Tool::Client);
    let (code, out, _) = run(&["client", "--format", "junit", "--", "no-such-program"]).await;
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("cannot run no-such-program"), "{out}");
}
