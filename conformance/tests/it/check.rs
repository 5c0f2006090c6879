//! `check`: clean on servers that keep the rules, and for each rule a server that breaks it and is found out.

mod allowed;
mod calls;
mod command_line;
pub(crate) mod correct;
mod mutants;
mod odd;
mod reported;
mod reports;
mod schema;
mod small;
mod threads;
mod unclear;

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use mcp_conformance::{
    Check, CheckReport, Format, Results, Revision, Subject, Target, Tool, Verdict, rules,
};

use crate::mutation::broken;
use crate::serve::serve;

/// What breaks a server on pipes, and in which revision that is seen: `$0` is the program.
const ON_PIPES: [(&str, Revision, &str); 4] = [
    ("stdio.messages-only", Revision::V2026_07_28, "echo listening; exec \"$0\" --stdio"),
    ("stdio.end", Revision::V2026_07_28, "\"$0\" --stdio; exec sleep 60"),
    // The server is in another group of processes, and does not hear of it.
    (GRACEFUL, Revision::V2026_07_28, "setsid \"$0\" --stdio; exit"),
    // Who asks what is newer than it meets a server that has ended.
    (
        "stdio.fallback",
        Revision::V2025_11_25,
        "read -r line; case \"$line\" in *server/discover*) exit 1;; esac; { printf '%s\\n' \"$line\"; cat; } | \"$0\" --stdio",
    ),
];

/// The rule that sends most.
const LARGE: &str = "robust.large-message";
/// The rule that waits longest: for a comment on a quiet stream.
const KEEP_ALIVE: &str = "http.keep-alive";
/// The rule about programs that are asked to end.
const GRACEFUL: &str = "listen.graceful-end";
/// What can be broken only where there are connections, hosts and lengths.
const CONNECTED: [&str; 5] = ["http2.", "http.origin", "http.host", "http.parse-status", "robust."];
/// Servers that are built without optimisation take their time beside others.
const PATIENT: Duration = Duration::from_secs(120);

/// A check that has another caller besides.
fn of_two_callers(target: Target) -> Check {
    let other = target.clone().header("authorization", "Bearer another");
    Check::url(target).other(other.unwrap())
}

fn over_http(target: Target) -> Check {
    Check::url(Target::url(&format!("{}/mcp", serve(target))).unwrap())
}

fn found(report: &CheckReport) -> BTreeSet<&'static str> {
    report.findings().map(|judged| judged.rule.id).collect()
}

/// Checks that these rules were found to be broken, and no others.
#[track_caller]
fn finds(report: &CheckReport, rules: &[&str]) {
    let rules: BTreeSet<_> = rules.iter().copied().collect();
    assert_eq!(found(report), rules, "{}", text(report));
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
    let on_pipes = ON_PIPES.map(|(rule, ..)| rule).into_iter();
    let on_pipes = on_pipes.chain(small::FAULTS.map(|(rule, _)| rule));
    let logins = crate::login::BROKEN.map(|(rule, ..)| rule);
    let broken: BTreeSet<_> = over_http.chain(on_pipes).chain(logins).collect();
    let rules: BTreeSet<_> = rules().map(|rule| rule.id).collect();
    assert_eq!(broken, rules);
}

/// Time is made to pass when there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn each_broken_server_breaks_its_rule_and_no_other() {
    let mut wrong = String::new();
    let table = mutants::table().into_iter();
    for mutant in table.filter(|it| !is_connected(it.rule)) {
        let mut check = of_two_callers(broken(correct::correct(), mutant.fault));
        if mutant.rule.starts_with("rounds.") {
            check = check.call(["write".to_owned()]);
        }
        wrong += &breaks(check, mutant.rule, mutant.revision).await;
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn each_server_that_is_broken_behind_a_socket_breaks_its_rule_and_no_other() {
    let mut wrong = String::new();
    let table = mutants::table().into_iter();
    for mutant in table.filter(|it| is_connected(it.rule)) {
        let check = over_http(broken(correct::correct(), mutant.fault));
        let check = check.skip([KEEP_ALIVE.to_owned()]);
        wrong += &breaks(check, mutant.rule, mutant.revision).await;
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn is_connected(rule: &str) -> bool {
    CONNECTED.iter().any(|it| rule.starts_with(it))
}

/// What a check says if it does not find this one rule broken.
async fn breaks(check: Check, rule: &'static str, revision: Revision) -> String {
    let mut check = check.revisions(vec![revision]).timeout(PATIENT);
    if rule != LARGE {
        // It takes longer than all others together.
        check = check.skip([LARGE.to_owned()]);
    }
    let report = check.run(|_| {}).await.unwrap();
    if found(&report) == BTreeSet::from([rule]) {
        String::new()
    } else {
        format!("{rule}:\n{}\n", text(&report))
    }
}

#[tokio::test]
async fn each_broken_server_on_pipes_breaks_its_rule_and_no_other() {
    let program = correct::everything().await;
    let checks = ON_PIPES.map(|(rule, revision, script)| {
        let arguments = ["-c", script, &program].map(Into::into).to_vec();
        let check = Check::command("sh", arguments).timeout(PATIENT);
        let check = check.revisions(vec![revision]);
        // The shell receives SIGTERM, not the server below it.
        let skipped = [OF_THE_FIXTURE, GRACEFUL].into_iter();
        let skipped = skipped.filter(|it| *it != rule).map(str::to_owned);
        let check = check.skip(skipped).skip([LARGE.to_owned()]);
        async move { (rule, check.run(|_| {}).await.unwrap()) }
    });
    for (rule, report) in join_all(checks).await {
        assert_eq!(found(&report), BTreeSet::from([rule]), "{}", text(&report));
    }
}

/// The official suite wants a tool of the example whose schema has `allOf` at its root.
const OF_THE_FIXTURE: &str = "schemas.root";

#[tokio::test]
async fn a_program_that_answers_its_subscriptions_before_it_ends_keeps_the_rule() {
    let program = correct::everything().await;
    let check = Check::command(&program, vec!["--stdio".into()]).timeout(PATIENT);
    let check = check.revisions(vec![Revision::V2026_07_28]);
    let check = check.only([GRACEFUL.to_owned()]);
    let report = check.run(|_| {}).await.unwrap();
    assert!(text(&report).contains("1 hold,"), "{}", text(&report));
}

#[track_caller]
fn is_clean(report: &CheckReport) {
    let text = text(report);
    assert!(found(report).is_empty() && !text.contains("not judged "), "{text}");
    assert_eq!(report.revisions, Revision::ALL, "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_the_rules_is_clean() {
    let check = Check::url(correct::correct());
    is_clean(&check.run(|_| {}).await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn servers_that_ask_and_that_stream_and_keep_the_rules_are_clean() {
    for (fault, rule) in [
        (mutants::rounds::asking("nothing"), "rounds."),
        (mutants::resumption::streaming("nothing"), "http.resume-own"),
    ] {
        let check = of_two_callers(broken(correct::correct(), fault));
        let check = check.call(["write".to_owned()]);
        let report = check.run(|_| {}).await.unwrap();
        is_clean(&report);
        let own = report.judged.iter().filter(|it| it.rule.id.starts_with(rule));
        for judged in own {
            assert!(matches!(judged.verdict, Verdict::Holds), "{}", text(&report));
        }
    }
}

#[tokio::test]
async fn servers_that_keep_the_rules_are_clean_over_http() {
    let check = over_http(correct::correct()).skip([KEEP_ALIVE.to_owned()]);
    is_clean(&check.run(|_| {}).await.unwrap());
    let (_server, url) = correct::everything_over_http().await;
    let check = Check::url(Target::url(&url).unwrap());
    let check = check.timeout(PATIENT).skip([KEEP_ALIVE.to_owned()]);
    is_clean(&check.run(|_| {}).await.unwrap());
}

#[tokio::test]
async fn servers_that_keep_the_rules_are_clean_on_pipes() {
    let program = correct::everything().await;
    let checks = Revision::ALL.map(|revision| {
        let check = Check::command(&program, vec!["--stdio".into(), "--portable".into()]);
        let check = check.revisions(vec![revision]).timeout(PATIENT);
        async move { check.run(|_| {}).await.unwrap() }
    });
    for report in join_all(checks).await {
        is_clean(&report);
    }
}
