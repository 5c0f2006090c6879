//! `load`: answers are counted, timed and looked at, and two servers are set beside each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use mcp_conformance::{BoxError, Call, Load, LoadReport, LoadTarget, Revision, Target};
use serde_json::json;
use tokio::time::sleep;

use crate::check::correct::{correct, everything};
use crate::command_line::run;
use crate::mutation::{Answer, answer_to, ask, broken, instead, status};
use crate::serve::serve;

/// Short: what is tested is what is counted.
const SHORT: Duration = Duration::from_millis(200);

fn load(target: Target) -> Load {
    let load = Load::new(LoadTarget::new(target)).connections(4);
    load.duration(SHORT).rounds(2)
}

async fn measured(load: Load) -> LoadReport {
    load.run(|_, _| ()).await.unwrap()
}

#[tokio::test]
async fn every_call_is_counted_and_timed_in_both_eras() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let url = format!("{}/mcp", serve(correct()));
        let load = load(Target::url(&url).unwrap()).revisions(vec![revision]);
        let report = measured(load).await;
        assert!(!report.has_failures());
        let [target] = report.targets.as_slice() else {
            panic!("one server");
        };
        assert_eq!((target.revision, target.rounds.len()), (revision, 2));
        let calls: Vec<_> = target.calls.iter().map(|(call, _)| call.as_str()).collect();
        assert!(calls.contains(&"tools/list"), "{calls:?}");
        let requests: u64 = target.calls.iter().map(|(_, it)| it.requests()).sum();
        assert_eq!(requests, target.all.requests());
        for (call, figures) in &target.calls {
            assert!(figures.answered > 0, "{call}");
            let times = [0.5, 0.9, 0.99, 1.0].map(|part| figures.within(part));
            assert!(times.is_sorted() && times[0] > 0.0, "{times:?}");
        }
    }
}

#[tokio::test]
async fn connections_share_as_many_sessions_as_were_asked_for() {
    for (sessions, opened) in [(None, 4), (Some(2), 2)] {
        let opens = Arc::new(AtomicUsize::new(0));
        let count = opens.clone();
        let counting = ask(move |asked| {
            if asked.is_rpc("initialize") {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut load = load(broken(correct(), counting));
        load = load.revisions(vec![Revision::V2025_11_25]);
        if let Some(sessions) = sessions {
            load = load.sessions(sessions);
        }
        assert!(!measured(load).await.has_failures());
        assert_eq!(opens.load(Ordering::SeqCst), opened);
    }
}

#[tokio::test]
async fn wrong_answers_are_failures() {
    let wrong_id = answer_to(
        |asked| asked.is_rpc("prompts/list"),
        |answer| answer.body["id"] = "other".into(),
    );
    let refusal = instead(|asked| {
        let error = json!({"code": -32603, "message": "not today"});
        let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error});
        asked.is_rpc("prompts/list").then(|| Answer::new(200, body))
    });
    let busy = status(429, |asked| asked.is_rpc("prompts/list"));
    let call: Call = "prompts/list".parse().unwrap();
    for (fault, says) in [
        (wrong_id, "prompts/list: the answer has another id"),
        (refusal, "prompts/list: error -32603: not today"),
        (busy, "429"),
    ] {
        let load = load(broken(correct(), fault)).calls(vec![call.clone()]);
        let report = measured(load).await;
        let failures = &report.targets[0].all.failures;
        assert!(report.has_failures());
        assert!(failures.keys().all(|it| it.contains(says)), "{failures:?}");
    }
}

#[tokio::test]
async fn errors_count_as_answers_where_they_are_expected() {
    let unknown = Call::tool("no_such_tool", json!({})).unwrap();
    let load = load(correct()).calls(vec![unknown]);
    assert!(measured(load.clone()).await.has_failures());
    assert!(!measured(load.allow_errors()).await.has_failures());
}

/// A server that takes its time for each answer.
fn slow(time: Duration) -> Target {
    let target = correct();
    Target::in_process(move |request: Request<Full<Bytes>>| {
        let target = target.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            sleep(time).await;
            Ok::<_, BoxError>(target.send(Request::from_parts(head, body)).await?)
        }
    })
}

#[tokio::test]
async fn a_request_that_is_due_waits_for_a_slow_server() {
    // At most 50 answers a second, and 400 are due.
    let calls = vec!["tools/list".parse().unwrap()];
    let load = load(slow(Duration::from_millis(20)));
    let load = load.calls(calls).connections(1).duration(Duration::from_secs(1));
    let closed = measured(load.clone().rounds(1)).await;
    let open = measured(load.rounds(1).rate(400.0)).await;
    let (closed, open) = (&closed.targets[0].all, &open.targets[0].all);
    assert_eq!(closed.unsent, 0);
    assert!(open.unsent >= 300, "{} never sent", open.unsent);
    // The last that was sent began late in the second, and was due in its first eighth.
    assert!(open.within(1.0) > 500.0, "{} ms", open.within(1.0));
}

#[tokio::test]
async fn two_servers_are_measured_in_turns() {
    let other = LoadTarget::new(slow(Duration::from_millis(10)));
    let calls = vec!["tools/list".parse().unwrap()];
    let load = load(slow(Duration::from_millis(40))).beside(other).calls(calls);
    let mut order = Vec::new();
    let report = load.rounds(3).duration(Duration::from_millis(600));
    let report = report.run(|_, round| order.push(round.all.within(0.5) > 30.0)).await.unwrap();
    assert_eq!(order.len(), 6, "{order:?}");
    let ratios = report.ratios();
    let (_, first, second, ratio) = ratios[0];
    assert!(first < second && ratio < 1.0, "{ratios:?}");
    let json = report.to_json();
    assert_eq!(json["targets"].as_array().unwrap().len(), 2);
    assert!(json["medians"]["p99"]["ratio"].as_f64().unwrap() > 1.0, "{json:#}");
}

#[tokio::test]
async fn programs_on_pipes_are_measured_with_their_cpu_and_memory() {
    let program = everything().await;
    let target = LoadTarget::new(Target::command(program, ["--stdio"]));
    let load = Load::new(target).connections(2).duration(SHORT).rounds(1);
    let report = measured(load).await;
    assert!(!report.has_failures());
    let usage = report.targets[0].usage;
    if cfg!(target_os = "linux") {
        let usage = usage.unwrap();
        assert!(usage.peak_bytes >= usage.bytes && usage.bytes > 1_000_000, "{usage:?}");
    }
}

#[tokio::test]
async fn the_command_line_reports_and_exits_like_the_others() {
    let url = format!("{}/mcp", serve(correct()));
    let short = ["--duration", "1", "--rounds", "2", "--connections", "2"];
    let with = |more: &[&'static str]| {
        let all = [&["load", "--url"][..], &short, more].concat();
        let mut all: Vec<String> = all.into_iter().map(str::to_owned).collect();
        all.insert(2, url.clone());
        all
    };
    for (more, code, says) in [
        (&["--tool", "look={}"][..], 0, "tools/call look"),
        (&["--method", "prompts/get={\"name\":\"greet\"}"], 0, "prompts/get greet"),
        (&["--rate", "20"], 0, "open loop, 20 requests/s"),
        (&["--tool", "no_such_tool"], 1, "error -32602"),
        (&["--tool", "no_such_tool", "--allow-errors"], 0, "tools/call no_such_tool"),
        (&["--format", "json"], 0, "\"perSecond\""),
        (&["--vs", "http://127.0.0.1:1/mcp"], 3, "cannot be reached"),
        (&["--revision", "2025-11-25"], 0, "2025-11-25"),
    ] {
        let arguments = with(more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (seen, out, err) = run(&arguments).await;
        assert_eq!(seen, code, "{more:?}\n{out}{err}");
        assert!(out.contains(says), "{says}\n{out}");
    }
    for (more, says) in [
        (&["--method", "notifications/initialized"][..], "no answer to measure"),
        (&["--method", "tools/list=[]"], "not a JSON object"),
        (&["--tool", "look={"], "not JSON"),
        (&["--rate", "0"], "0.01 to 1000000"),
        (&["--connections", "0"], "1 to 1024"),
        (&["--vs-start", "x"], "--vs"),
    ] {
        let arguments = [&["load", "--url", url.as_str()][..], more].concat();
        let (code, out, err) = run(&arguments).await;
        assert_eq!(code, 2, "{more:?}\n{out}{err}");
        assert!(err.contains(says), "{says}\n{err}");
    }
}
