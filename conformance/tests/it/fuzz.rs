//! `fuzz`: nothing found on servers that bear it, and for each oracle a server that does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use http::Method;
use mcp_conformance::{BoxError, Fuzz, FuzzReport, Oracle, Replay, Revision, Target, Transcript};
use serde_json::{Value, json};

use crate::check::correct::{correct, everything};
use crate::command_line::run;
use crate::mutation::{Answer, Fault, SentRequest, answer, answer_to, ask, broken, instead};
use crate::serve::serve;

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

async fn fuzzed(target: Target, revision: Revision) -> FuzzReport {
    let fuzz = Fuzz::new(target).seed(1).iterations(400);
    let fuzz = fuzz.revisions(vec![revision]);
    fuzz.run(|_, _| ()).await.unwrap()
}

fn text(report: &FuzzReport) -> String {
    let mut text = Vec::new();
    report.write_text(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn oracles(report: &FuzzReport) -> Vec<Oracle> {
    let mut oracles: Vec<_> = report.findings.iter().map(|it| it.oracle).collect();
    oracles.sort_unstable();
    oracles.dedup();
    oracles
}

/// The request after one that fits is answered by `spoil`.
fn afterwards(
    fits: fn(&SentRequest) -> bool,
    spoil: impl Fn(&SentRequest) -> Answer + Send + Sync + 'static,
) -> Fault {
    let harmed = AtomicBool::new(false);
    instead(move |asked| {
        let was_harmed = harmed.swap(fits(asked), Ordering::SeqCst);
        was_harmed.then(|| spoil(asked))
    })
}

fn is_old(asked: &SentRequest) -> bool {
    asked.body["jsonrpc"] == "1.0"
}

#[tokio::test]
async fn a_server_that_bears_it_is_clean_in_both_eras() {
    let fuzz = Fuzz::new(correct()).seed(3).iterations(1_000);
    let report = fuzz.run(|_, _| ()).await.unwrap();
    assert!(report.findings.is_empty(), "{}", text(&report));
    assert_eq!(report.unconfirmed, 0, "{}", text(&report));
    assert_eq!(report.revisions, [MODERN, LEGACY]);
    assert_eq!(report.cases + report.left_out, 1_000);
}

#[tokio::test]
async fn a_program_that_bears_it_is_clean() {
    let program = everything().await;
    let fuzz = Fuzz::new(Target::command(program, ["--stdio"])).seed(3);
    let report = fuzz.iterations(300).run(|_, _| ()).await.unwrap();
    assert!(report.findings.is_empty(), "{}", text(&report));
}

#[tokio::test]
async fn each_oracle_finds_a_server_that_breaks_it() {
    let servers: Vec<(Oracle, Revision, Fault)> = vec![
        (
            Oracle::ServerError,
            LEGACY,
            instead(|asked| is_old(asked).then(|| Answer::new(500, Value::Null))),
        ),
        (
            Oracle::BaseRule,
            LEGACY,
            answer(|asked, answer| {
                if asked.body["id"].is_string() && answer.body["error"].is_object() {
                    answer.body["error"]["code"] = "none".into();
                }
            }),
        ),
        (
            Oracle::BaseRule,
            MODERN,
            answer_to(
                |asked| asked.body["extra"].is_null() && asked.body["id"].is_string(),
                |answer| answer.body["id"] = 1.into(),
            ),
        ),
        (
            Oracle::Truncated,
            MODERN,
            instead(|asked| {
                let result = json!({"resultType": "complete"});
                let body = json!({"jsonrpc": "2.0", "id": 1, "result": result});
                let broken = asked.method == Method::POST && asked.body.is_null();
                broken.then(|| Answer::new(200, body))
            }),
        ),
        (
            Oracle::Dead,
            MODERN,
            afterwards(|asked| asked.body.is_array(), |_| Answer::new(404, Value::Null)),
        ),
        (
            Oracle::Changed,
            LEGACY,
            afterwards(is_old, |asked| {
                asked.answered(json!({"tools": [], "resources": [], "prompts": []}))
            }),
        ),
    ];
    for (oracle, revision, fault) in servers {
        let report = fuzzed(broken(correct(), fault), revision).await;
        assert_eq!(oracles(&report), [oracle], "{oracle}: {}", text(&report));
    }
}

/// Time is made to pass when there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_is_found() {
    let target = correct();
    let silent =
        Target::in_process(move |request: http::Request<http_body_util::Full<bytes::Bytes>>| {
            let target = target.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = http_body_util::BodyExt::collect(body).await?.to_bytes();
                if body.first() == Some(&b'[') {
                    std::future::pending::<()>().await;
                }
                Ok::<_, BoxError>(target.send(http::Request::from_parts(head, body)).await?)
            }
        });
    let fuzz = Fuzz::new(silent).seed(1).iterations(150);
    let fuzz = fuzz.revisions(vec![MODERN]).timeout(Duration::from_secs(1));
    let report = fuzz.run(|_, _| ()).await.unwrap();
    assert_eq!(oracles(&report), [Oracle::NoAnswer], "{}", text(&report));
}

#[tokio::test]
async fn a_program_that_ends_is_found() {
    let program = everything().await;
    // The server reads until a line begins with a bracket.
    let script = "sed -u '/^\\[/q' | \"$0\" --stdio";
    let server = Target::command("sh", ["-c", script, &program]);
    let fuzz = Fuzz::new(server).seed(1).iterations(60);
    let report = fuzz.revisions(vec![MODERN]).run(|_, _| ()).await.unwrap();
    assert_eq!(oracles(&report), [Oracle::Ended], "{}", text(&report));
    let finding = &report.findings[0];
    let exchange = &finding.exchange.sent;
    assert!(exchange.len() < 20, "it is not small: {exchange}");
    assert!(
        finding.reproduce.ends_with(&format!(
            "| 'sh' '-c' {} '{program}'",
            "'sed -u '\\''/^\\[/q'\\'' | \"$0\" --stdio'"
        )),
        "{}",
        finding.reproduce
    );
}

#[tokio::test]
async fn a_finding_is_small_and_its_transcript_shows_it() {
    let fault = || instead(|asked| is_old(asked).then(|| Answer::new(500, Value::Null)));
    for revision in [LEGACY, MODERN] {
        let report = fuzzed(broken(correct(), fault()), revision).await;
        let finding = &report.findings[0];
        let body = finding.exchange.sent.lines().last().unwrap();
        assert!(body.len() < 80, "it is not small: {body}");
        assert!(finding.reproduce.contains("\"1.0\""), "{}", finding.reproduce);
        let transcript = finding.transcript.as_deref().unwrap();
        let transcripts = [Transcript::parse("finding", transcript).unwrap()];
        let bad = Replay::new(broken(correct(), fault()));
        assert!(!bad.run(&transcripts, |_| ()).await.is_success());
        let good = Replay::new(correct()).run(&transcripts, |_| ()).await;
        assert!(good.is_success() && good.passed == 1, "{transcript}");
    }
}

#[tokio::test]
async fn the_same_seed_makes_the_same_cases() {
    let fault = || instead(|asked| is_old(asked).then(|| Answer::new(500, Value::Null)));
    let case = |report: FuzzReport| report.findings.first().map(|it| (it.case, it.how.clone()));
    let first = case(fuzzed(broken(correct(), fault()), LEGACY).await);
    let (number, _) = first.clone().unwrap();
    assert_eq!(case(fuzzed(broken(correct(), fault()), LEGACY).await), first);
    let alone = Fuzz::new(broken(correct(), fault())).seed(1).case(number);
    let alone = alone.revisions(vec![LEGACY]).run(|_, _| ()).await.unwrap();
    assert_eq!(alone.cases, 1);
    assert_eq!(case(alone), first);
}

#[tokio::test]
async fn tools_that_change_something_are_called_only_where_they_are_named() {
    for named in [false, true] {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        let counting = ask(move |asked| {
            if asked.body["params"]["name"] == "write" {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut fuzz = Fuzz::new(broken(correct(), counting)).seed(1).iterations(600);
        if named {
            fuzz = fuzz.call(["write".to_owned()]);
        }
        fuzz.run(|_, _| ()).await.unwrap();
        assert_eq!(calls.load(Ordering::SeqCst) > 0, named);
    }
}

#[tokio::test]
async fn the_command_line_names_the_seed_and_writes_findings() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let good = format!("{}/mcp", serve(correct()));
    let (code, out, err) = run(&["fuzz", "--url", &good, "--iterations", "40"]).await;
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("\nseed ") && out.contains("0 findings"), "{out}");

    let fault = instead(|asked| is_old(asked).then(|| Answer::new(500, Value::Null)));
    let bad = format!("{}/mcp", serve(broken(correct(), fault)));
    let arguments = ["fuzz", "--url", &bad, "--seed", "1", "--iterations", "400"];
    let output = ["--output", path, "--format", "json"];
    let (code, out, _) = run(&[&arguments[..], &output[..]].concat()).await;
    assert_eq!(code, 1, "{out}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&report["seed"], &report["findings"][0]["oracle"]),
        (&json!(1), &json!("server-error"))
    );
    let case = &report["findings"][0]["case"];
    let file = directory.path().join(format!("fuzz-1-{case}.jsonl"));
    let (code, out, _) = run(&["replay", "--url", &bad, file.to_str().unwrap()]).await;
    assert_eq!(code, 1, "{out}");
    let (code, out, _) = run(&["replay", "--url", &good, file.to_str().unwrap()]).await;
    assert_eq!(code, 0, "{out}");

    let (code, _, _) = run(&["fuzz", "--url", "http://127.0.0.1:1/mcp"]).await;
    assert_eq!(code, 3);
    let (code, _, err) = run(&["fuzz", "--url", &good, "--case", "1"]).await;
    assert!(code == 2 && err.contains("--seed"), "{err}");
}
