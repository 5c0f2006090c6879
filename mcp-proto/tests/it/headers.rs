//! The headers of a request: those that repeat the body, the Base64 form, `Accept` and `Content-Type`.

use http::Method;
use serde_json::{Value, json};

use crate::common::{Raw, open_session, say, service};

fn encoded(text: &[u8]) -> String {
    format!("=?base64?{}?=", data_encoding::BASE64.encode(text))
}

/// A call of a tool of that name; there is none such, so a header that matches gives −32602, any other −32020.
fn named(name: &str, header: &str) -> Raw {
    Raw::modern("tools/call", json!({ "name": name })).set("mcp-name", header)
}

async fn code(raw: Raw) -> i64 {
    raw.send(&service()).await.refusal().1
}

#[tokio::test]
async fn headers_are_compared_with_the_body() {
    let service = service();
    let list = || Raw::modern("tools/list", json!({}));
    for (what, raw, good) in [
        ("as it is", list(), true),
        ("blanks around", list().set("mcp-method", "  tools/list\t"), true),
        ("another case", list().set("mcp-method", "TOOLS/LIST"), false),
        ("empty", list().set("mcp-method", ""), false),
        ("another method", list().set("mcp-method", "tools/call"), false),
        ("not ASCII", list().set("mcp-method", "tools/lïst"), false),
        ("a name where none is due", list().set("mcp-name", "anything"), true),
        ("the same version twice", list().add("mcp-protocol-version", "2026-07-28"), true),
        ("two versions", list().add("mcp-protocol-version", "2025-11-25"), false),
        ("two methods", list().add("mcp-method", "tools/call"), false),
        ("blanks around the version", list().set("mcp-protocol-version", " 2026-07-28 "), true),
        ("encoded method", list().set("mcp-method", &encoded(b"tools/list")), false),
    ] {
        let reply = raw.send(&service).await;
        if good {
            assert_eq!(reply.status, 200, "{what}");
        } else {
            assert_eq!(reply.refusal(), (400, -32020, Some(Value::from(7))), "{what}");
        }
    }
}

#[tokio::test]
async fn names_may_come_in_base64() {
    for (name, header, good) in [
        ("nope", "nope".to_owned(), true),
        ("nope", encoded(b"nope"), true),
        ("späte Möwe", encoded("späte Möwe".as_bytes()), true),
        (" blank ", encoded(b" blank "), true),
        ("=?base64?bm9wZQ==?=", encoded(b"=?base64?bm9wZQ==?="), true),
        ("", encoded(b""), true),
        ("=?BASE64?bm9wZQ==?=", "=?BASE64?bm9wZQ==?=".to_owned(), true),
        ("=?base64?bm9wZQ==", "=?base64?bm9wZQ==".to_owned(), true),
        ("bm9wZQ==?=", "bm9wZQ==?=".to_owned(), true),
        ("=?base64?=", "=?base64?=".to_owned(), true),
        ("nope", encoded(b"other"), false),
        ("nope", "NOPE".to_owned(), false),
        ("nope", "=?base64?bm9wZQ?=".to_owned(), false),
        ("nope", "=?base64?bm9wZQ===?=".to_owned(), false),
        ("nope", "=?base64?bm9*ZQ==?=".to_owned(), false),
        ("nope", encoded(b"\xff\xfe"), false),
        ("=?base64?bm9wZQ==?=", "=?base64?bm9wZQ==?=".to_owned(), false),
    ] {
        let wanted = if good { -32602 } else { -32020 };
        assert_eq!(code(named(name, &header)).await, wanted, "{name:?} {header:?}");
    }
}

#[tokio::test]
async fn a_mismatch_says_what_would_be_right() {
    let reply = named("echo", "ecco").send(&service()).await;
    assert_eq!(reply.message(), "the header mcp-name is \"ecco\", but the body says \"echo\"");
}

#[tokio::test]
async fn every_accept_that_allows_an_answer_is_served() {
    let service = service();
    for (accept, json) in [
        (None, true),
        (Some("*/*"), true),
        (Some("application/json"), true),
        (Some("text/event-stream"), false),
        (Some("application/json, text/event-stream"), true),
        (Some("text/event-stream;q=0.5, application/json;q=0.9"), true),
        (Some("APPLICATION/JSON"), true),
        (Some("application/*"), true),
        (Some("text/*"), false),
        (Some("application/json;q=0, text/event-stream"), false),
        (Some(""), true),
    ] {
        let raw = Raw::modern("tools/call", say("x")).unset("accept");
        let raw = match accept {
            None => raw,
            Some(accept) => raw.set("accept", accept),
        };
        let reply = raw.send(&service).await;
        let answer = if json { reply.json() } else { reply.events().remove(0) };
        assert_eq!(answer["result"]["structuredContent"]["text"], "x", "{accept:?}");
    }
}

#[tokio::test]
async fn an_accept_that_excludes_every_answer_is_told_what_would_do() {
    let service = service();
    for accept in ["text/html", "application/xml, image/*", "application/json;q=0", "*/*;q=0"] {
        let reply = Raw::modern("tools/list", json!({})).set("accept", accept).send(&service).await;
        assert_eq!(reply.refusal(), (406, -32600, None), "{accept}");
        assert_eq!(
            reply.message(),
            "the Accept header must allow application/json, text/event-stream"
        );
    }
    let session = open_session(&service).await;
    let get =
        Raw::bare(Method::GET).set("mcp-session-id", &session).set("accept", "application/json");
    assert_eq!(get.send(&service).await.refusal().0, 406);
}

#[tokio::test]
async fn only_json_is_json() {
    let service = service();
    for (media, good) in [
        ("application/json", true),
        ("application/json; charset=utf-8", true),
        ("Application/JSON;charset=UTF-8", true),
        (" application/json ", true),
        ("application/jsonp", false),
        ("text/json", false),
        ("application/x-www-form-urlencoded", false),
        ("", false),
    ] {
        let reply =
            Raw::modern("tools/list", json!({})).set("content-type", media).send(&service).await;
        assert_eq!(reply.status.as_u16(), if good { 200 } else { 415 }, "{media:?}");
    }
}

#[tokio::test]
async fn a_legacy_version_header_is_judged_and_may_be_missing() {
    let service = service();
    let session = open_session(&service).await;
    let ping = || Raw::legacy(&session, "ping", &json!({}));
    for (version, status) in [
        (None, 200),
        (Some("2025-11-25"), 200),
        (Some("2025-03-26"), 200),
        (Some("1999-01-01"), 400),
        (Some("2099-01-01"), 400),
        (Some("nonsense"), 400),
    ] {
        let raw = match version {
            None => ping(),
            Some(version) => ping().set("mcp-protocol-version", version),
        };
        assert_eq!(raw.send(&service).await.status.as_u16(), status, "{version:?}");
    }
}

#[tokio::test]
async fn a_name_in_the_header_alone_is_a_mismatch() {
    let service = service();
    for params in [json!({}), json!({"name": 5})] {
        let raw = Raw::modern("tools/call", params.clone());
        let reply = raw.clone().set("mcp-name", "evil").send(&service).await;
        assert_eq!(reply.refusal(), (400, -32020, Some(7.into())), "{params}");
        // Without the header it is the params that are wrong.
        assert_eq!(raw.send(&service).await.refusal().1, -32602);
    }
}

#[tokio::test]
async fn only_a_date_is_the_version_of_a_revision_to_come() {
    let service = service();
    let note = |version: &str| {
        Raw::notification("notifications/initialized", &json!({}))
            .set("mcp-protocol-version", version)
            .set("mcp-session-id", "dead")
    };
    for version in ["bogus", "9", "2026-07-2x", "2026-07-281", "20260728"] {
        let refusal = note(version).send(&service).await.refusal();
        assert_eq!(refusal, (400, -32600, None), "{version}");
        let request = Raw::legacy("dead", "ping", &json!({})).set("mcp-protocol-version", version);
        assert_eq!(request.send(&service).await.refusal().1, -32600);
    }
    let reply = note("2099-01-01").send(&service).await;
    assert_eq!(reply.refusal(), (400, -32022, None));
    assert_eq!(reply.json()["error"]["data"]["requested"], "2099-01-01");
    assert_eq!(note("2026-07-28").send(&service).await.status, 202);
    let claimed = |version: &str| {
        let meta = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": version}});
        Raw::notification("notifications/cancelled", &meta)
    };
    assert_eq!(claimed("2026-07-28").send(&service).await.status, 202);
    let reply = claimed("2099-01-01").send(&service).await;
    assert_eq!(reply.refusal(), (400, -32022, None));
}
