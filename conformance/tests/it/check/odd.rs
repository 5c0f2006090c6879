//! Servers that answer oddly over HTTP: one cause is one finding, and what was not proved is not judged.

use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::BodyExt as _;
use mcp_conformance::{BoxError, Check, CheckReport, Revision, Target, Verdict};
use serde_json::{Value, json};

use super::correct::correct;
use super::{finds, over_http, text};
use crate::mutation::{Answer, Fault, SentRequest, answer, broken, instead, result};
use crate::serve::serve;
use crate::small_server;

async fn report(check: Check) -> CheckReport {
    let check = check.skip(["http.keep-alive".to_owned(), "robust.large-message".to_owned()]);
    check.run(|_| {}).await.unwrap()
}

fn refused(asked: &SentRequest, status: u16, code: i64) -> Answer {
    let error = json!({"code": code, "message": "no", "data": {"supported": ["2025-11-25"]}});
    Answer::new(status, json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error}))
}

/// Servers in Go that keep sessions answer server/discover, list the older revisions, and refuse the rest.
#[tokio::test]
async fn a_revision_that_is_not_listed_is_not_judged() {
    let listed = result("server/discover", |result| {
        result["supportedVersions"] = json!(["2025-06-18", "2025-11-25"]);
    });
    let fault = listed.and(instead(|asked| {
        let is_modern = asked.headers.contains_key("mcp-method");
        (is_modern && !asked.is_rpc("server/discover")).then(|| refused(asked, 400, -32022))
    }));
    let report = report(over_http(broken(correct(), fault))).await;
    finds(&report, &["modern.discover"]);
    assert!(!report.revisions.contains(&Revision::V2026_07_28));
    let newest = report.judged.iter().filter(|it| it.revision == Revision::V2026_07_28);
    assert_eq!(newest.count(), 1, "{}", text(&report));
}

#[tokio::test]
async fn a_handshake_in_an_unknown_revision_is_a_finding_though_nothing_else_is_answered() {
    let target =
        Target::in_process(|request: http::Request<http_body_util::Full<bytes::Bytes>>| async {
            let body = request.into_body().collect().await?.to_bytes();
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            if body["method"] != "initialize" {
                return Err(BoxError::from("connection closed before message completed"));
            }
            let server = json!({"name": "odd", "version": "1"});
            let result =
                json!({"protocolVersion": "2.0", "capabilities": {}, "serverInfo": server});
            let body = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
            Ok(small_server::json(200, &body))
        });
    let report = report(Check::url(target)).await;
    finds(&report, &["handshake.speaks"]);
    assert!(text(&report).contains("the server answered \"2.0\""), "{}", text(&report));
}

#[tokio::test]
async fn a_null_in_reply_to_a_notification_is_a_body_and_not_a_response() {
    let fault = answer(|asked, answer| {
        if asked.body["id"].is_null() && answer.status == 202 {
            answer.body = Value::String("null".to_owned());
            answer.headers.insert("content-type", "text/event-stream".parse().unwrap());
        }
    });
    let check = over_http(broken(correct(), fault)).revisions(vec![Revision::V2025_11_25]);
    finds(&report(check).await, &["http.accepted"]);
}

#[tokio::test]
async fn an_unknown_method_that_gets_plain_text_is_one_fault() {
    let fault = instead(|asked| {
        let mut answer = Answer::new(400, Value::String("unknown method".to_owned()));
        answer.headers.insert("content-type", "text/plain".parse().unwrap());
        asked.is_rpc("no/such/method").then_some(answer)
    });
    let check = over_http(broken(correct(), fault)).revisions(vec![Revision::V2025_11_25]);
    finds(&report(check).await, &["base.unknown-method"]);
}

fn without_ping(status: u16) -> Fault {
    instead(move |asked| asked.is_rpc("ping").then(|| refused(asked, status, -32601)))
}

#[tokio::test]
async fn a_server_without_ping_is_asked_for_a_list_instead() {
    for status in [200, 400] {
        let check = over_http(broken(correct(), without_ping(status)));
        let report = report(check.revisions(vec![Revision::V2025_11_25])).await;
        finds(&report, &["base.ping"]);
        let mut judged = report.judged.iter();
        let origin = judged.find(|it| it.rule.id == "http.origin").unwrap();
        assert!(matches!(origin.verdict, Verdict::Holds), "{}", text(&report));
    }
}

#[tokio::test]
async fn without_a_request_that_is_served_nothing_is_said_of_refusals() {
    let fault = instead(|asked| {
        let is_plain = asked.is_rpc("ping") || asked.body["method"].as_str()?.ends_with("/list");
        is_plain.then(|| refused(asked, 400, -32601))
    });
    let report =
        report(over_http(broken(correct(), fault)).revisions(vec![Revision::V2025_11_25])).await;
    finds(&report, &["base.ping", "lists.declared"]);
    let text = text(&report);
    assert!(
        text.contains("not judged http.origin (2025-11-25): neither ping nor a list"),
        "{text}"
    );
}

#[tokio::test]
async fn a_busy_server_is_not_judged() {
    let fault = instead(|asked| {
        let is_late =
            asked.is_rpc("no/such/method") || asked.is_call("no_such_tool_of_this_server");
        is_late.then(|| Answer::new(503, Value::Null))
    });
    let report =
        report(over_http(broken(correct(), fault)).revisions(vec![Revision::V2025_11_25])).await;
    finds(&report, &[]);
    assert!(text(&report).contains("not judged tools.unknown (2025-11-25): status 503"));
}

/// @upstash/context7-mcp 4.1.1 declares nothing to subscribe to, and refuses subscriptions: its limit is none.
#[tokio::test]
async fn a_server_without_subscriptions_may_refuse_them_in_any_words() {
    let declared = result("server/discover", |result| {
        for name in ["tools", "prompts", "resources"] {
            result["capabilities"][name] = json!({"listChanged": false, "subscribe": false});
        }
    });
    let fault = declared.and(instead(|asked| {
        asked.is_rpc("subscriptions/listen").then(|| refused(asked, 200, -32603))
    }));
    let check = over_http(broken(correct(), fault)).revisions(vec![Revision::V2026_07_28]);
    finds(&report(check).await, &[]);
}

/// @supabase/mcp-server-supabase 0.13.0 asks its service for its tools, which is not reached here.
#[tokio::test]
async fn a_list_that_fails_is_not_one_that_is_missing() {
    let fault = instead(|asked| asked.is_rpc("tools/list").then(|| refused(asked, 200, -32603)));
    let report =
        report(over_http(broken(correct(), fault)).revisions(vec![Revision::V2025_11_25])).await;
    finds(&report, &[]);
    assert!(text(&report).contains("not judged lists.declared (2025-11-25): tools/list: "));
}

/// fetcher-mcp 0.3.9 has one server for all sessions, and a second one fails.
#[tokio::test]
async fn a_second_session_that_fails_says_nothing_of_versions() {
    let opened = AtomicUsize::new(0);
    let fault = instead(move |asked| {
        let is_second = asked.is_rpc("initialize")
            && opened.fetch_add(1, Ordering::Relaxed) > Revision::ALL.len();
        is_second.then(|| refused(asked, 500, -32603))
    });
    let report =
        report(over_http(broken(correct(), fault)).revisions(vec![Revision::V2025_11_25])).await;
    let text = text(&report);
    assert!(text.contains("not judged handshake.unknown-version (2025-11-25): another"), "{text}");
}

/// @softeria/ms-365-mcp-server 0.155.0 answers nobody over HTTP who has not logged in.
#[tokio::test]
async fn a_server_that_wants_a_login_is_not_judged_without_one() {
    let fault = instead(|_| Some(Answer::new(401, Value::Null)));
    let error = over_http(broken(correct(), fault)).run(|_| {}).await.unwrap_err().to_string();
    assert!(error.contains("every request gets status 401; give a token"), "{error}");

    let fault = instead(|_| Some(Answer::new(401, Value::Null)));
    let target = Target::url(&format!("{}/mcp", serve(broken(correct(), fault)))).unwrap();
    let sent = target.header("authorization", "Bearer of-another-server").unwrap();
    let error = Check::url(sent).run(|_| {}).await.unwrap_err().to_string();
    assert!(error.contains("does not accept the token that was sent"), "{error}");
}
