//! `check`: clean on servers that keep the rules, and for each rule a server that breaks it and is found out.

mod allowed;
mod command_line;
pub(crate) mod correct;
mod mutants;
mod reports;
mod unclear;

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream;
use mcp_conformance::{
    Check, CheckReport, Format, Results, Revision, Subject, Target, Tool, rules,
};

use crate::mutation::broken;
use crate::serve::serve;

/// What breaks a server on pipes: `$0` is the program.
const ON_PIPES: [(&str, &str); 2] = [
    ("stdio.messages-only", "echo listening; exec \"$0\" --stdio"),
    ("stdio.end", "\"$0\" --stdio; exec sleep 60"),
];

/// The rule that sends most.
const LARGE: &str = "robust.large-message";
/// How many servers are checked at once.
const AT_ONCE: usize = 6;
/// Servers that are built without optimisation take their time beside others.
const PATIENT: Duration = Duration::from_secs(120);

fn over_http(target: Target) -> Check {
    Check::url(Target::url(&format!("{}/mcp", serve(target))).unwrap())
}

fn found(report: &CheckReport) -> BTreeSet<&'static str> {
    report.findings().map(|judged| judged.rule.id).collect()
}

fn text(report: &CheckReport) -> String {
    let mut results = Results::new(Tool::Check);
    results.targets.push(Subject::from(report));
    let mut text = Vec::new();
    results.write(Format::Text, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn every_rule_has_a_server_that_breaks_it() {
    let table = mutants::table();
    let over_http = table.iter().map(|mutant| mutant.rule);
    let broken: BTreeSet<_> = over_http.chain(ON_PIPES.map(|(rule, _)| rule)).collect();
    let rules: BTreeSet<_> = rules().map(|rule| rule.id).collect();
    assert_eq!(broken, rules);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_broken_server_breaks_its_rule_and_no_other() {
    let checks = mutants::table().into_iter().map(|mutant| async move {
        let check = over_http(broken(correct::correct(), mutant.fault));
        let mut check = check.revisions(vec![mutant.revision]).timeout(PATIENT);
        if mutant.rule != LARGE {
            // It takes longer than all others together.
            check = check.skip([LARGE.to_owned()]);
        }
        let run = tokio::spawn(async move { check.run(|_| {}).await.unwrap() });
        (mutant.rule, run.await.unwrap())
    });
    let mut wrong = String::new();
    let mut checks = stream::iter(checks).buffer_unordered(AT_ONCE);
    while let Some((rule, report)) = checks.next().await {
        if found(&report) != BTreeSet::from([rule]) {
            wrong += &format!("{rule}:\n{}\n", text(&report));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn each_broken_server_on_pipes_breaks_its_rule_and_no_other() {
    let program = correct::everything().await;
    let checks = ON_PIPES.map(|(rule, script)| {
        let arguments = ["-c", script, &program].map(Into::into).to_vec();
        let check = Check::command("sh", arguments).timeout(PATIENT);
        let check = check.revisions(vec![Revision::V2026_07_28]);
        let check = check.skip(of_the_fixture()).skip([LARGE.to_owned()]);
        async move { (rule, check.run(|_| {}).await.unwrap()) }
    });
    for (rule, report) in join_all(checks).await {
        assert_eq!(found(&report), BTreeSet::from([rule]), "{}", text(&report));
    }
}

/// The official suite wants a tool of the example whose schema has `allOf` at its root.
fn of_the_fixture() -> [String; 1] {
    ["schemas.root".to_owned()]
}

#[track_caller]
fn is_clean(report: &CheckReport) {
    let text = text(report);
    assert!(
        found(report).is_empty() && !text.contains("unclear "),
        "{text}"
    );
    assert_eq!(report.revisions, Revision::ALL, "{text}");
}

#[tokio::test]
async fn servers_that_keep_the_rules_are_clean_over_http() {
    is_clean(&over_http(correct::correct()).run(|_| {}).await.unwrap());
    let (_server, url) = correct::everything_over_http().await;
    let check = Check::url(Target::url(&url).unwrap());
    let check = check.timeout(PATIENT).skip(of_the_fixture());
    is_clean(&check.run(|_| {}).await.unwrap());
}

#[tokio::test]
async fn servers_that_keep_the_rules_are_clean_on_pipes() {
    let program = correct::everything().await;
    let checks = Revision::ALL.map(|revision| {
        let check = Check::command(&program, vec!["--stdio".into()]);
        let check = check.revisions(vec![revision]).timeout(PATIENT);
        let check = check.skip(of_the_fixture());
        async move { check.run(|_| {}).await.unwrap() }
    });
    for report in join_all(checks).await {
        is_clean(&report);
    }
}
