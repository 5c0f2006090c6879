//! `check` on the command line: exit codes, filters, formats.

use std::process::Command;

use mcp_conformance::rules;
use serde_json::{Value, json};

use super::correct::correct;
use super::mutants;
use crate::command_line::run;
use crate::mutation::broken;
use crate::serve::serve;

pub(crate) fn good() -> String {
    format!("{}/mcp", serve(correct()))
}

/// A server that breaks this rule.
pub(crate) fn bad(rule: &str) -> String {
    let mut table = mutants::table().into_iter();
    let mutant = table.find(|mutant| mutant.rule == rule).unwrap();
    format!("{}/mcp", serve(broken(correct(), mutant.fault)))
}

#[tokio::test]
async fn the_exit_code_is_the_verdict() {
    let only = ["--only", "base.ping"];
    let (code, out, err) = run(&[&["check", "--url", &good()], &only[..]].concat()).await;
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let (code, out, _) = run(&[&["check", "--url", &bad("base.ping")], &only[..]].concat()).await;
    assert_eq!(code, 1, "{out}");
    for says in [
        "MUST base.ping (2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25; Ping)",
        "  change: answer ping with {\"result\":{}}",
        "    < {\"id\":",
        "\"method\":\"ping\"",
        "findings: 1 MUST, 0 SHOULD, 0 practice",
    ] {
        assert!(out.contains(says), "{says}\n{out}");
    }
    let (code, out, _) = run(&["check", "--url", &bad("handshake.speaks")]).await;
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("seen: status 404, no body"), "{out}");
}

#[tokio::test]
async fn a_level_decides_which_findings_fail() {
    let only = ["--only", "base.parse-error", "--revision", "2025-11-25", "--format", "junit"];
    let url = bad("base.parse-error");
    for (level, expected) in [("must", 0), ("should", 1), ("practice", 1)] {
        let fail_on = ["--fail-on", level];
        let (code, out, _) = run(&[&["check", "--url", &url], &only[..], &fail_on].concat()).await;
        assert_eq!(code, expected, "{level}: {out}");
        let as_skipped = "<skipped message=\"SHOULD: status ";
        assert_eq!(out.contains(as_skipped), expected == 0, "{level}: {out}");
    }
}

#[tokio::test]
async fn a_long_value_is_cut_in_a_report() {
    let only = ["--only", "robust.huge-id", "--revision", "2025-11-25"];
    let (_, out, _) = run(&[&["check", "--url", &bad("robust.huge-id")], &only[..]].concat()).await;
    assert!(out.contains("practice robust.huge-id") && out.contains("… (100000 bytes)"), "{out}");
    assert!(out.lines().all(|line| line.len() < 500), "{out}");
}

#[tokio::test]
async fn revisions_that_are_checked_at_the_same_time_are_reported_in_their_order() {
    let url = good();
    let only = ["--only", "base.", "--skip", "base.concurrent"];
    let (code, one, _) = judged(&url, &only).await;
    let (_, four, _) = judged(&url, &[&only[..], &["--jobs", "4"]].concat()).await;
    assert_eq!((code, one), (0, four));
}

#[tokio::test]
async fn what_cannot_be_used_ends_with_code_2() {
    for (arguments, says) in [
        (&["check"][..], "--url URL or --command COMMAND"),
        (&["check", "--url", "ftp://x"], "its scheme is not"),
        (&["check", "--command", "sh '"], "its quotes do not match"),
        (
            &["check", "--url", "http://x", "--revision", "2025-11-26"],
            "the revisions are 2024-11-05, ",
        ),
        (
            &["check", "--url", "http://x", "--only", "base.pong"],
            "the most similar one is base.ping",
        ),
        (&["check", "--url", "http://x", "--skip", "sesion."], "no rule begins with \"sesion.\""),
        (&["check", "--explain", "base.id-ecko"], "the most similar one is base.id-echo"),
    ] {
        let (code, _, err) = run(arguments).await;
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
}

#[tokio::test]
async fn no_server_there_ends_with_code_3() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let (code, out, _) = run(&["check", "--url", &url]).await;
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("cannot be reached"), "{out}");
    let (code, out, _) = run(&["check", "--command", "/no/such/server"]).await;
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("the program cannot be started"), "{out}");
}

/// The rules and revisions in the JSON report.
async fn judged(url: &str, arguments: &[&str]) -> (i32, Vec<(String, String)>, Value) {
    let all = [&["check", "--url", url, "--format", "json"], arguments].concat();
    let (code, out, err) = run(&all).await;
    let mut report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let report = report["targets"][0].take();
    let text = |rule: &Value, member: &str| rule[member].as_str().unwrap().to_owned();
    let rules = report["cases"].as_array().unwrap().iter();
    let judged = rules.map(|rule| (text(rule, "name"), text(rule, "revision"))).collect();
    (code, judged, report)
}

#[tokio::test]
async fn rules_and_revisions_are_chosen() {
    let url = good();
    let pair = |rule: &str, revision: &str| (rule.to_owned(), revision.to_owned());
    let (code, some, _) =
        judged(&url, &["--only", "base.ping", "--only", "modern.no-session"]).await;
    let expected = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    let expected = expected.map(|revision| pair("base.ping", revision));
    assert_eq!(code, 0);
    assert_eq!(some[..4], expected);
    assert_eq!(some[4..], [pair("modern.no-session", "2026-07-28")]);

    let (_, some, _) = judged(&url, &["--skip", "base.", "--revision", "2025-06-18"]).await;
    assert!(
        some.iter().all(|(rule, revision)| !rule.starts_with("base.") && revision == "2025-06-18")
    );
    assert!(some.len() > 30, "{some:?}");
}

#[tokio::test]
async fn the_json_report_has_the_verdict_and_the_exchange() {
    let only = ["--only", "base.ping", "--revision", "2025-11-25"];
    let (code, _, report) = judged(&bad("base.ping"), &only).await;
    assert_eq!(code, 1);
    assert_eq!(report["revisions"].as_array().unwrap().len(), 5);
    let rule = &report["cases"][0];
    assert_eq!((&rule["verdict"], &rule["level"]), (&"finding".into(), &"MUST".into()));
    assert!(rule["exchange"].as_str().unwrap().contains("\"pong\":true"), "{rule}");
    let (code, _, report) = judged(&good(), &only).await;
    assert_eq!((code, &report["cases"][0]["verdict"]), (0, &"holds".into()));
}

#[test]
fn rules_are_listed_and_explained_without_a_server() {
    let run = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_mcp-conformance");
        let output = Command::new(program).arg("check").args(arguments).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let listed = run(&["--list"]);
    assert_eq!(listed.lines().count(), rules().count());
    for rule in rules() {
        assert!(listed.contains(rule.id), "{}", rule.id);
        let explained = run(&["--explain", rule.id]);
        for part in [rule.title, rule.section, rule.fix] {
            assert!(explained.contains(part), "{explained}");
        }
    }
}

#[tokio::test]
async fn tools_are_called_only_if_read_only_or_named() {
    let called = |call: &'static [&'static str]| async move {
        let only = ["--only", "tools.progress", "--revision", "2025-11-25"];
        let (_, _, report) = judged(&bad_tools(), &[&only, call].concat()).await;
        report["cases"][0]["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(called(&[]).await, "inapplicable");
    assert_eq!(called(&["--call", "write"]).await, "finding");
}

/// A server none of whose tools is read-only, and all of which report progress of another request.
fn bad_tools() -> String {
    let unmarked = crate::mutation::result("tools/list", |result| {
        for tool in result["tools"].as_array_mut().unwrap() {
            tool.as_object_mut().unwrap().remove("annotations");
        }
    });
    let progress = crate::mutation::instead(|asked| {
        let params = json!({"progressToken": "another", "progress": 1});
        let progress =
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        let own = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": {"content": []}});
        let called = asked.is_call("write");
        called.then(|| crate::mutation::Answer::new(200, json!([progress, own])))
    });
    format!("{}/mcp", serve(broken(correct(), unmarked.and(progress))))
}
