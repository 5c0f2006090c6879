//! Where a server is busy, silent or free to choose, a check does not say that it breaks a rule.

use http::{HeaderValue, Method, Request};
use http_body_util::BodyExt as _;
use mcp_conformance::{BoxError, Check, Revision, Target, Verdict};
use serde_json::{Value, json};

use super::correct::correct;
use super::{over_http, text};
use crate::mutation::{Answer, Fault, SentRequest, answer, ask, broken, instead, result};
use crate::serve::serve;

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

/// What a check says of one rule in one revision.
async fn verdict(check: Check, revision: Revision, rule: &str) -> Verdict {
    let check = check.revisions(vec![revision]).only([rule.to_owned()]);
    let report = check.run(|_| {}).await.unwrap();
    println!("{}", text(&report));
    let [judged] = report.judged.as_slice() else {
        panic!("{rule} was asked {} times", report.judged.len());
    };
    judged.verdict.clone()
}

async fn of(fault: Fault, revision: Revision, rule: &str) -> Verdict {
    verdict(over_http(broken(correct(), fault)), revision, rule).await
}

/// A token that no server issued gets this status and these lines of WWW-Authenticate, in which `HOST` is the server.
/// Metadata is at `/meta`, and where it belongs for an endpoint `/v1/tools`.
fn guarded(status: u16, lines: &'static [&'static str]) -> Fault {
    let answer = move |asked: &SentRequest| {
        let metadata = json!({"authorization_servers": ["https://example.com"]});
        let own = "/.well-known/oauth-protected-resource/v1/tools";
        if asked.path == "/meta" || asked.path == own {
            return Some(Answer::new(200, metadata));
        }
        let token = asked.headers.get("authorization")?;
        let mut refusal = Answer::new(status, Value::Null);
        let host = asked.headers["host"].to_str().unwrap();
        for line in lines {
            let line = line.replace("HOST", host).parse::<HeaderValue>().unwrap();
            refusal.headers.append("www-authenticate", line);
        }
        (token == "Bearer no-such-token").then_some(refusal)
    };
    let endpoint = ask(|asked| {
        if asked.path == "/v1/tools" {
            asked.path = "/mcp".to_owned();
        }
    });
    instead(answer).and(endpoint)
}

#[tokio::test]
async fn a_server_that_is_busy_breaks_no_rule_of_tokens() {
    for status in [429, 503] {
        for rule in ["access.challenge", "access.metadata"] {
            let seen = of(guarded(status, &[]), LEGACY, rule).await;
            assert!(matches!(seen, Verdict::Unclear(_)), "{rule}: {seen:?}");
        }
    }
}

#[tokio::test]
async fn authorization_of_another_kind_is_free() {
    for rule in ["access.challenge", "access.metadata"] {
        let basic = guarded(401, &["Basic realm=\"bearer\"", "Digest realm=x"]);
        let seen = of(basic, MODERN, rule).await;
        assert!(matches!(seen, Verdict::Inapplicable(_)), "{rule}: {seen:?}");
    }
}

#[tokio::test]
async fn challenges_are_read_from_all_lines_and_without_quotes() {
    const LINES: &[&str] = &[
        "Basic realm=\"x\"",
        "bearer error_description=\"no \\\"resource_metadata=x, or\", Resource_Metadata = http://HOST/meta, scope=\"a b\"",
    ];
    for rule in ["access.challenge", "access.metadata"] {
        let seen = of(guarded(401, LINES), LEGACY, rule).await;
        assert!(matches!(seen, Verdict::Holds), "{rule}: {seen:?}");
    }
}

#[tokio::test]
async fn metadata_is_sought_at_the_path_of_the_endpoint_and_on_its_server_alone() {
    const ELSEWHERE: &[&str] = &["Bearer resource_metadata=\"https://example.com/meta\""];
    let server = serve(broken(correct(), guarded(401, &["Bearer"])));
    let check = |path| Check::url(Target::url(&format!("{server}{path}")).unwrap());
    let seen = verdict(check("/v1/tools"), MODERN, "access.metadata").await;
    assert!(matches!(seen, Verdict::Holds), "{seen:?}");
    let seen = verdict(check("/mcp"), MODERN, "access.metadata").await;
    assert!(matches!(seen, Verdict::Finding(_)), "{seen:?}");
    let elsewhere = guarded(401, ELSEWHERE);
    let seen = of(elsewhere, MODERN, "access.metadata").await;
    assert!(matches!(seen, Verdict::Unclear(_)), "{seen:?}");
}

#[tokio::test]
async fn a_get_without_any_answer_is_unclear() {
    let server = correct();
    let silent = Target::in_process(move |request| {
        let server = server.clone();
        async move {
            if request.method() == Method::GET {
                return Err(BoxError::from("the connection was lost"));
            }
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok(server.send(Request::from_parts(head, body)).await?)
        }
    });
    let seen = verdict(Check::url(silent), LEGACY, "http.get").await;
    assert!(matches!(seen, Verdict::Unclear(_)), "{seen:?}");
}

#[tokio::test]
async fn one_of_many_requests_may_be_too_much_but_not_be_lost() {
    let busy = |status| {
        instead(move |asked| {
            (asked.body["id"] == "together-5").then(|| Answer::new(status, Value::Null))
        })
    };
    for status in [429, 503] {
        let seen = of(busy(status), MODERN, "base.concurrent").await;
        assert!(matches!(seen, Verdict::Unclear(_)), "{status}: {seen:?}");
    }
    let seen = of(busy(200), MODERN, "base.concurrent").await;
    assert!(matches!(seen, Verdict::Finding(_)), "{seen:?}");
}

/// A handshake that says that it is of 2026-07-28 is taken in this revision.
fn taking(version: &'static str) -> Fault {
    instead(move |asked| {
        let meta = &asked.body["params"]["_meta"];
        let is_modern = !meta["io.modelcontextprotocol/protocolVersion"].is_null();
        let server = json!({"name": "both", "version": "1"});
        let result = json!({"protocolVersion": version, "capabilities": {}, "serverInfo": server});
        (asked.is_rpc("initialize") && is_modern).then(|| asked.answered(result))
    })
}

#[tokio::test]
async fn a_server_of_both_eras_may_take_a_handshake_in_its_newest_older_revision() {
    let rule = "modern.removed-methods";
    let seen = of(taking("2025-11-25"), MODERN, rule).await;
    assert!(matches!(seen, Verdict::Holds), "{seen:?}");
    // Its result fits the schema of that revision, not of this one.
    let check = over_http(broken(correct(), taking("2025-11-25")));
    let check = check.revisions(vec![MODERN]);
    let check = check.only([rule.to_owned(), "messages.schema".to_owned()]);
    let report = check.run(|_| {}).await.unwrap();
    assert_eq!(report.findings().count(), 0, "{}", text(&report));
    for version in ["2026-07-28", "2025-06-18"] {
        let seen = of(taking(version), MODERN, rule).await;
        assert!(matches!(seen, Verdict::Finding(_)), "{version}: {seen:?}");
    }
}

/// A tool whose result is a list that begins with a string and goes on with integers.
fn listing(values: Value) -> Fault {
    let schema =
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": {"list": schema}});
    let listed = result("tools/list", move |result| {
        for tool in result["tools"].as_array_mut().unwrap() {
            if tool["name"] == "look" {
                tool["outputSchema"] = schema.clone();
            }
        }
    });
    listed.and(instead(move |asked| {
        let result = json!({"content": [], "structuredContent": {"list": values}});
        asked.is_call("look").then(|| asked.answered(result))
    }))
}

#[tokio::test]
async fn items_begin_after_those_that_are_named_one_by_one() {
    let rule = "tools.structured-content";
    let seen = of(listing(json!(["one", 2, 3])), LEGACY, rule).await;
    assert!(matches!(seen, Verdict::Holds), "{seen:?}");
    let seen = of(listing(json!(["one", 2, "three"])), LEGACY, rule).await;
    assert!(matches!(seen, Verdict::Finding(_)), "{seen:?}");
}

/// The middleware of the Python SDK refuses tokens so, as RFC 6750 permits.
#[tokio::test]
async fn a_refused_token_need_not_be_answered_as_a_call() {
    let refusal = instead(|asked| {
        let token = asked.headers.get("authorization")?;
        let mut refusal = Answer::new(401, json!({"error": "invalid_token"}));
        refusal.headers.insert("www-authenticate", HeaderValue::from_static("Bearer"));
        (token == "Bearer no-such-token").then_some(refusal)
    });
    let check = over_http(broken(correct(), refusal)).revisions(vec![LEGACY]);
    let only = ["access.challenge", "base.id-echo", "base.once"].map(str::to_owned);
    let report = check.only(only).run(|_| {}).await.unwrap();
    assert_eq!(report.findings().count(), 0, "{}", text(&report));
}

/// tari-project/universe#3320, crewrig/crewrig#983: one refused start is read as a verdict.
#[tokio::test]
async fn a_revision_whose_handshake_was_refused_once_is_said_not_to_be_judged() {
    let is_asked = |asked: &SentRequest| {
        asked.body["params"]["protocolVersion"] == "2025-06-18" && asked.is_rpc("initialize")
    };
    let busy = instead(move |asked| is_asked(asked).then(|| Answer::new(503, Value::Null)));
    let check = over_http(broken(correct(), busy))
        .only(["base.ping".to_owned(), "handshake.speaks".to_owned()]);
    let report = check.run(|_| {}).await.unwrap();
    let unclear = report.judged.iter().find(|it| matches!(it.verdict, Verdict::Unclear(_)));
    let unclear = unclear.unwrap_or_else(|| panic!("{}", text(&report)));
    assert_eq!((unclear.rule.id, unclear.revision), ("handshake.speaks", Revision::V2025_06_18));
}

/// openai/codex#37228, UsefulSoftwareCo/executor#1399: a proxy compresses answers unless the request refuses that.
#[tokio::test]
async fn answers_are_asked_for_without_an_encoding_and_one_is_named() {
    let encoded = answer(|asked, answer| {
        assert_eq!(asked.headers["accept-encoding"], "identity");
        if asked.is_rpc("ping") {
            answer.headers.insert("content-encoding", "br".parse().unwrap());
        }
    });
    let check = over_http(broken(correct(), encoded)).revisions(vec![LEGACY]);
    let report = check.only(["base.ping".to_owned()]).run(|_| {}).await.unwrap();
    assert!(text(&report).contains("encoding \"br\""), "{}", text(&report));
}
