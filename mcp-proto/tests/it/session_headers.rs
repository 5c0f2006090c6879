//! The headers of requests within a session, which all verbs read alike.

use http::Method;
use serde_json::json;

use crate::common::{Raw, open_session, service};
use crate::events::get;

fn delete(session: &str) -> Raw {
    Raw::bare(Method::DELETE).set("mcp-session-id", session)
}

#[tokio::test]
async fn any_version_with_sessions_may_be_named_and_no_other() {
    let service = service();
    let session = open_session(&service).await;
    let verbs = |session: &str| {
        [
            Raw::legacy(session, "ping", &json!({})),
            Raw::notification("notifications/initialized", &json!({}))
                .set("mcp-session-id", session),
            get(session, None),
            delete(session),
        ]
    };
    for version in ["2024-10-07", "1999-01-01", "nonsense", ""] {
        for raw in verbs(&session) {
            let reply = raw.set("mcp-protocol-version", version).send(&service).await;
            assert_eq!(reply.refusal().0, 400, "{version}");
            assert!(reply.message().contains("not served"), "{}", reply.message());
        }
    }
    // Bytes that are no text name none.
    for raw in verbs(&session) {
        let reply = raw.set("mcp-protocol-version", "2025-11-25é").send(&service).await;
        assert_eq!(reply.refusal().0, 400);
        assert!(reply.message().contains("not served"));
    }
    // A revision without sessions.
    for raw in [get(&session, None), delete(&session)] {
        let reply = raw.set("mcp-protocol-version", "2026-07-28").send(&service).await;
        assert_eq!(reply.refusal(), (405, -32600, None));
        assert_eq!(reply.header("allow"), Some("POST, OPTIONS"));
    }
    // The session's own revision counts, whichever is named.
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = open_session(&service).await;
        for (raw, status) in verbs(&session).into_iter().zip([200, 202, 200, 204]) {
            let raw = raw.set("mcp-protocol-version", version);
            let reply = service.handle(raw.request()).await;
            assert_eq!(reply.status(), status, "{version}");
        }
    }
}

#[tokio::test]
async fn two_different_versions_are_refused() {
    let service = service();
    let session = open_session(&service).await;
    let note = Raw::notification("notifications/initialized", &json!({}));
    for (raw, first, second) in [
        (Raw::legacy(&session, "ping", &json!({})), "2025-11-25", "2025-06-18"),
        (note.clone().set("mcp-session-id", &session), "2025-11-25", "1999-01-01"),
        (note, "2026-07-28", "2025-11-25"),
        (get(&session, None), "2025-11-25", "2025-06-18"),
        (get(&session, None), "2025-11-25", "2026-07-28"),
        (delete(&session), "2025-06-18", "2025-11-25"),
        (Raw::initialize("2025-11-25"), "2025-11-25", "2025-06-18"),
        (Raw::modern("tools/list", json!({})), "2026-07-28", "2025-11-25"),
    ] {
        let named = |second| {
            raw.clone().set("mcp-protocol-version", first).add("mcp-protocol-version", second)
        };
        let reply = named(second).send(&service).await;
        assert_eq!(reply.refusal().0, 400, "{raw:?}");
        assert!(reply.message().contains("given twice"), "{}", reply.message());
        // The same one twice says no more than once.
        if raw.method == Method::POST {
            assert!(service.handle(named(first).request()).await.status().is_success());
        }
    }
}

#[tokio::test]
async fn a_session_that_is_named_twice_is_refused() {
    let service = service();
    let (one, two) = (open_session(&service).await, open_session(&service).await);
    for raw in [Raw::legacy(&one, "ping", &json!({})), get(&one, None), delete(&one)] {
        let reply = raw.add("mcp-session-id", &two).send(&service).await;
        assert_eq!(reply.refusal().0, 400);
        assert!(reply.message().contains("twice"), "{}", reply.message());
    }
}
