//! What good requests get back: members of results in each era, ids, and bodies that must be empty.

use std::time::Duration;

use http::StatusCode;
use mcp_proto::http::HttpConfig;
use mcp_proto::schema::Finding;
use mcp_proto::session::{SessionId, StreamFate, StreamWrite};
use mcp_proto::task::NewTaskRecord;
use mcp_proto::{Change, Context, Icon, Tool};
use serde_json::json;

use crate::common::{Raw, messages, open_session, request, say, service, with_meta};

#[tokio::test]
async fn every_modern_result_says_what_it_is_and_whose() {
    let service = service();
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", say("x")),
        ("tools/call", json!({"name": "echo", "arguments": {"text": 1}})),
    ] {
        let result = Raw::modern(method, params).send(&service).await.result();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(
            result["_meta"]["io.modelcontextprotocol/serverInfo"],
            json!({"name": "bench", "version": "1.0.0"}),
            "{method}"
        );
    }
}

#[tokio::test]
async fn discover_tells_all_that_is_served() {
    let result = Raw::modern("server/discover", json!({})).send(&service()).await.result();
    assert_eq!(
        result["supportedVersions"],
        json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    );
    assert_eq!(result["capabilities"], json!({"tools": {"listChanged": true}}));
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(60_000), &json!("public")));
}

#[tokio::test]
async fn lists_are_in_order_and_may_be_kept_for_a_while() {
    let service = service();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let result = Raw::modern("tools/list", json!({})).send(&service).await.result();
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(60_000), &json!("public")));
        seen.push(result["tools"].clone());
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    assert_eq!(seen[0][0]["name"], "echo");
    assert_eq!(seen[0][4]["name"], "gate");
}

#[tokio::test]
async fn legacy_results_have_nothing_modern() {
    let service = service();
    let session = open_session(&service).await;
    for (method, params) in
        [("tools/list", json!({})), ("tools/call", say("x")), ("ping", json!({}))]
    {
        let result = Raw::legacy(&session, method, &params).send(&service).await.result();
        for member in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert!(result.get(member).is_none(), "{method}: {result}");
        }
    }
}

#[tokio::test]
async fn unknown_members_are_passed_over() {
    let mut params = with_meta(say("x"));
    params["extra"] = json!({"a": [1]});
    params["_meta"]["traceparent"] = "00-1-1-00".into();
    let mut body = request(7, "tools/call", &params);
    body["another"] = true.into();
    let raw = Raw { body: body.to_string().into(), ..Raw::modern("tools/call", say("x")) };
    let result = raw.send(&service()).await.result();
    assert_eq!(result["structuredContent"], json!({"text": "x"}));
}

#[tokio::test]
async fn notifications_get_202_and_no_body() {
    let service = service();
    let session = open_session(&service).await;
    let modern = Raw::notification("notifications/cancelled", &with_meta(json!({"requestId": 1})));
    for raw in [
        modern.set("mcp-protocol-version", "2026-07-28"),
        Raw::notification("notifications/initialized", &json!({})).set("mcp-session-id", &session),
        Raw::notification("notifications/unheard-of", &json!({})).set("mcp-session-id", &session),
        Raw::post(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).set("mcp-session-id", &session),
    ] {
        let reply = raw.send(&service).await;
        assert_eq!((reply.status, &reply.body[..]), (StatusCode::ACCEPTED, &b""[..]));
    }
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let service = service();
    for id in [json!(0), json!(-1), json!(i64::MAX), json!(""), json!("7"), json!("ä \"quoted\"")]
    {
        let reply = Raw::modern_id(&id, "tools/list", json!({})).send(&service).await;
        assert_eq!(reply.json()["id"], id);
    }
}

#[tokio::test]
async fn nothing_with_an_id_and_a_method_leaves_the_server() {
    let params =
        json!({"name": "progress", "arguments": {"steps": 3}, "_meta": {"progressToken": 1}});
    let reply = Raw::modern("tools/call", params).send(&service()).await;
    for message in messages(&reply.body) {
        assert!(message.get("id").is_none() || message.get("method").is_none(), "{message}");
    }
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    assert!(!text.lines().any(|line| line.starts_with("id:")), "{text}");
}

#[test]
fn what_other_crates_receive_they_can_make() {
    let id = SessionId::random();
    assert_eq!(StreamWrite::new(id, "s", StreamFate::Open).first, 0);
    assert_eq!(NewTaskRecord::new("t", Duration::from_secs(1), Vec::new()).owner, None);
    assert_eq!(Finding::new("/n", "must be a number").path, "/n");
    let lists = [
        Change::tools_list_changed(),
        Change::prompts_list_changed(),
        Change::resources_list_changed(),
    ];
    let names = ["ToolsListChanged", "PromptsListChanged", "ResourcesListChanged"];
    assert_eq!(lists.map(|change| format!("{change:?}")), names);
    let config = HttpConfig::default().with(|it| it.max_body_bytes = 10);
    assert_eq!(config.serving().with(|it| it.max_headers = 5).max_headers, 5);
    let tool = Tool::new("t", "").with_meta("a/b", 1).with_icon(Icon::new("https://x/i.png"));
    let listed = serde_json::to_value(&tool).unwrap();
    assert_eq!(
        (&listed["_meta"]["a/b"], listed["icons"].as_array().unwrap().len()),
        (&json!(1), 1)
    );
    let context = Context::test().with_extension("user-17");
    assert_eq!(context.extension::<&str>(), Some(&"user-17"));
}
