//! What one caller has begun is of no use to another, whose token is as good.

use http::Method;
use mcp_proto::TasksConfig;
use mcp_proto::http::authorize::jwt::IssuerKeys;
use serde_json::{Value, json};

use crate::authorize_common::{
    Signer, challenge, claims, guarded, over, set, status_over, tokens, with_token,
};
use crate::common::{Raw, Reply, Served, probe};
use crate::tasks_common::{able, accept, builder, call};

/// A server with tasks, questions and pages, and two callers of the same issuer.
struct Callers {
    served: Served,
    ada: String,
    eve: String,
}

async fn callers() -> Callers {
    let signer = Signer::new();
    let keys = IssuerKeys::from_text(&set(&[signer.named("one")])).unwrap();
    let (probe, _events) = probe();
    let server =
        builder(&probe, TasksConfig::default()).page_size(2).tools_list_changed().build().unwrap();
    Callers {
        served: guarded(server, tokens(keys)).await,
        ada: signer.token(&claims("ada")),
        eve: signer.token(&claims("eve")),
    }
}

impl Callers {
    async fn send(&self, raw: Raw, token: &str) -> Reply {
        over(self.served.address, with_token(raw, token), "/mcp").await
    }

    async fn session(&self, token: &str) -> String {
        let opened = self.send(Raw::initialize("2025-11-25"), token).await;
        opened.header("mcp-session-id").unwrap().to_owned()
    }

    /// One request of each: by a stranger it is refused with this code, by its owner it is answered, and without a
    /// token nobody looks at it.
    async fn is_of_ada(&self, by_eve: Raw, by_ada: Raw, status: u16, code: i64) -> Value {
        let refused = self.send(by_eve, &self.eve).await;
        let (seen, seen_code, _) = refused.refusal();
        assert_eq!((seen, seen_code), (status, code));
        let bare = over(self.served.address, by_ada.clone(), "/mcp").await;
        assert_eq!(bare.status, 401);
        assert!(challenge(&bare).starts_with("Bearer scope="));
        self.send(by_ada, &self.ada).await.result()
    }
}

fn modern(method: &str, mut params: Value) -> Raw {
    params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": able() });
    let raw = Raw::modern(method, params.clone());
    match params["taskId"].as_str() {
        Some(id) => raw.set("mcp-name", id),
        None => raw,
    }
}

#[tokio::test]
async fn what_the_modern_era_gives_one_caller_is_refused_from_another() {
    let callers = callers().await;
    let same = |raw: Raw| (raw.clone(), raw);
    // A cursor.
    let first = callers.send(modern("tools/list", json!({})), &callers.ada).await;
    let cursor = first.result()["nextCursor"].clone();
    let (eve, ada) = same(modern("tools/list", json!({ "cursor": cursor })));
    callers.is_of_ada(eve, ada, 200, -32602).await;
    // The state of a request.
    let asked = modern("tools/call", call("named", &json!({})));
    let asked = callers.send(asked, &callers.ada).await.result();
    assert_eq!(asked["resultType"], "input_required");
    let mut params = call("named", &json!({}));
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({ "user_name": accept(&json!({ "name": "Ada" })) });
    let (eve, ada) = same(modern("tools/call", params));
    callers.is_of_ada(eve, ada, 200, -32602).await;
    // A task.
    let begun = modern("tools/call", call("hang", &json!({})));
    let task = callers.send(begun, &callers.ada).await.result()["taskId"].clone();
    assert!(task.is_string());
    for method in ["tasks/get", "tasks/cancel"] {
        let (eve, ada) = same(modern(method, json!({ "taskId": task })));
        callers.is_of_ada(eve, ada, 200, -32602).await;
    }
}

#[tokio::test]
async fn what_a_session_has_is_refused_from_another_caller() {
    let callers = callers().await;
    let (of_ada, of_eve) =
        (callers.session(&callers.ada).await, callers.session(&callers.eve).await);
    let by_both = |method: &str, params: &Value| {
        let raw = |session: &str| Raw::legacy(session, method, params);
        (raw(&of_eve), raw(&of_ada))
    };
    // The session itself: another's is as one that is not.
    for (method, params) in
        [("ping", json!({})), ("tools/list", json!({})), ("tools/call", call("greet", &json!({})))]
    {
        let raw = Raw::legacy(&of_ada, method, &params);
        callers.is_of_ada(raw.clone(), raw, 404, -32600).await;
    }
    for method in [Method::GET, Method::DELETE] {
        let raw = Raw::bare(method).set("mcp-session-id", &of_ada);
        let raw = raw.set("accept", "text/event-stream");
        assert_eq!(callers.send(raw, &callers.eve).await.status, 404);
    }
    // A cursor.
    let (_, first) = by_both("tools/list", &json!({}));
    let cursor = callers.send(first, &callers.ada).await.result()["nextCursor"].clone();
    let (eve, ada) = by_both("tools/list", &json!({ "cursor": cursor }));
    callers.is_of_ada(eve, ada, 200, -32602).await;
    // A task.
    let mut params = call("hang", &json!({}));
    params["task"] = json!({});
    let (_, begun) = by_both("tools/call", &params);
    let created = callers.send(begun, &callers.ada).await.result();
    let params = json!({ "taskId": created["task"]["taskId"] });
    for method in ["tasks/get", "tasks/cancel"] {
        let (eve, ada) = by_both(method, &params);
        callers.is_of_ada(eve, ada, 200, -32602).await;
    }
    // The stream of the session, to its owner.
    let stream = Raw::bare(Method::GET).set("mcp-session-id", &of_ada);
    let stream = with_token(stream.set("accept", "text/event-stream"), &callers.ada);
    assert_eq!(status_over(callers.served.address, stream).await, 200);
}
