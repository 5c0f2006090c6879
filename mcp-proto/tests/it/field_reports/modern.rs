//! 2026-07-28 over HTTP: listens to which nothing can follow, headers given twice, marks of two eras.

use mcp_proto::{Change, Server, StreamableHttpService};
use serde_json::{Value, json};

use super::{WATCHED, reporter};
use crate::common::{Raw, open_session, request, say, service, with_meta};
use crate::events::get;
use crate::listen::{SUBSCRIPTION, listen, next, open, rest};
use crate::peer::Peer;
use crate::resume::session_of;

const VERSION: &str = "mcp-protocol-version";

/// modelcontextprotocol/typescript-sdk#2650
#[tokio::test]
async fn a_listen_to_which_nothing_can_follow_ends() {
    let service = StreamableHttpService::new(reporter());
    for filter in [
        json!({}),
        json!({"toolsListChanged": false}),
        json!({"toolsListChanged": null}),
        json!({"promptsListChanged": true}),
        json!({"resourceSubscriptions": []}),
        json!({"resourceSubscriptions": ["nosuch://x"]}),
        json!({"unknownKind": true}),
    ] {
        let messages = rest(open(&service, listen("s1", &filter)).await).await;
        let mut peer = Peer::new(reporter());
        let params = with_meta(json!({ "notifications": filter }));
        peer.send(&request("s1", "subscriptions/listen", &params)).await;
        // The revision has a notification before the result on this transport.
        let piped = [peer.next().await, peer.next().await, peer.next().await];
        assert_eq!(piped[1]["method"], "notifications/cancelled");
        for (first, last) in [(&messages[0], &messages[1]), (&piped[0], &piped[2])] {
            assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{filter}");
            assert_eq!(last["id"], "s1");
            assert_eq!(last["result"]["resultType"], "complete");
            assert_eq!(last["result"]["_meta"][SUBSCRIPTION], "s1");
        }
        assert_eq!(messages.len(), 2);
    }
}

/// modelcontextprotocol/inspector#2385, thunder-id/thunderid#5441
#[tokio::test]
async fn a_posted_cancellation_is_taken_and_ends_nothing_of_others() {
    let server: Server = reporter();
    let service = StreamableHttpService::new(server.clone());
    let wanted = json!({"toolsListChanged": true});
    let mut stream = open(&service, listen("s1", &wanted)).await;
    next(&mut stream).await;
    for id in ["s1", "of nothing"] {
        let params = json!({ "requestId": id });
        let plain =
            Raw::notification("notifications/cancelled", &params).set(VERSION, "2026-07-28");
        let full = Raw::notification("notifications/cancelled", &with_meta(params));
        let full = full.set(VERSION, "2026-07-28");
        let method = full.clone().set("mcp-method", "notifications/cancelled");
        for raw in [plain, full, method.clone(), method.set("mcp-name", id)] {
            let reply = raw.send(&service).await;
            assert_eq!((reply.status.as_u16(), reply.body.len()), (202, 0));
        }
    }
    server.notify(Change::ToolsListChanged);
    assert_eq!(next(&mut stream).await["params"]["_meta"][SUBSCRIPTION], "s1");
}

/// wso2/gateway-controllers#308
#[tokio::test]
async fn a_name_that_only_seems_to_be_the_same_is_a_mismatch() {
    let service = service();
    let code = async |name: &str, headers: &[&str]| {
        let mut params = say("x");
        params["name"] = name.into();
        let mut raw = Raw::modern("tools/call", params).unset("mcp-name");
        for header in headers {
            raw = raw.add("mcp-name", header);
        }
        let reply = raw.send(&service).await;
        reply.json()["error"]["code"].as_i64()
    };
    for header in [
        "=?base64??=",
        "",
        "=?base64?ZWNobw?=",
        "=?base64?ZWNo bw==?=",
        "=?BASE64?ZWNobw==?=",
        "=?base64?//4=?=",
        "echo, echo",
    ] {
        assert_eq!(code("echo", &[header]).await, Some(-32020), "{header}");
    }
    // A proxy that compares the joined value with what it forbids would let it pass.
    assert_eq!(code("echo", &["echo", "echo"]).await, Some(-32020));
    assert_eq!(code("??>>??", &["=?base64?Pz8-Pj8_?="]).await, Some(-32020));
    assert_eq!(code("=?base64?eA==?=", &["=?base64?eA==?="]).await, Some(-32020));
    assert_eq!(code("", &["=?base64??="]).await, Some(-32602));
    assert_eq!(code("echo", &["=?base64?ZWNobw==?="]).await, None);
}

/// zuke-build/zuke#491, modelcontextprotocol/php-sdk#306
#[tokio::test]
async fn copies_of_a_header_that_agree_are_one_value() {
    let service = service();
    let session = open_session(&service).await;
    let ping = || Raw::legacy(&session, "ping", &json!({}));
    let twice = format!("{session}, {session}");
    for raw in [
        ping().set(VERSION, "2025-11-25, 2025-11-25"),
        ping().set(VERSION, "2025-11-25").add(VERSION, "2025-11-25"),
        ping().set(VERSION, "2025-11-25  "),
        ping().set("mcp-session-id", &twice),
        ping().add("mcp-session-id", &session),
        ping().set("content-type", "application/json, application/json"),
    ] {
        raw.send(&service).await.result();
    }
    let get =
        get(&session, None).set("mcp-session-id", &twice).set(VERSION, "2025-11-25,2025-11-25");
    assert_eq!(service.handle(get.request()).await.status(), 200);
    for version in [
        "2025-11-25, 2025-06-18",
        "\"2025-11-25\"",
        "2025-11-25;x=1",
        "2025-11-25,",
        "1900-01-01",
        "not-a-version",
        "",
    ] {
        assert_eq!(ping().set(VERSION, version).send(&service).await.refusal().0, 400, "{version}");
    }
    let other = ping().set("mcp-session-id", &format!("{session}, x"));
    assert!(other.send(&service).await.status.is_client_error());

    let list = || Raw::modern("tools/list", json!({}));
    for raw in [list().set(VERSION, "2026-07-28, 2026-07-28"), list().add(VERSION, "2026-07-28")] {
        raw.send(&service).await.result();
    }
    for raw in [
        list().add(VERSION, "2025-11-25"),
        list().set(VERSION, "2025-11-25").add(VERSION, "2026-07-28"),
        list().set("mcp-method", "tools/list, tools/list"),
    ] {
        assert_eq!(raw.send(&service).await.refusal(), (400, -32020, Some(7.into())));
    }
}

/// HelpCode-ai/anythingmcp#529, stephnangue/warden#592
#[tokio::test]
async fn the_era_follows_the_version_and_no_other_mark() {
    let service = service();
    let opened = Raw::initialize("2025-06-18").set("mcp-method", "initialize").send(&service).await;
    assert_eq!(opened.result()["protocolVersion"], "2025-06-18");
    let session = session_of(&service, "2025-06-18").await;
    let list = || Raw::legacy(&session, "tools/list", &json!({}));
    let old = list().set(VERSION, "2025-06-18");
    // Headers that the revision does not have say nothing in it, even if they are wrong.
    for (method, name) in [("tools/list", ""), ("tools/call", "x")] {
        for raw in [list(), old.clone()] {
            raw.set("mcp-method", method).set("mcp-name", name).send(&service).await.result();
        }
    }
    let modern = Raw::modern("tools/list", json!({})).set(VERSION, "2025-06-18");
    for raw in [modern.clone(), modern.set("mcp-session-id", &session)] {
        assert_eq!(raw.send(&service).await.refusal(), (400, -32020, Some(7.into())));
    }
    let lone = Raw::modern("tools/list", Value::Null).unset(VERSION);
    let lone = Raw { body: request(7, "tools/list", &json!({})).to_string().into(), ..lone };
    assert_eq!(lone.send(&service).await.refusal(), (400, -32600, Some(7.into())));
}

/// agentgateway/agentgateway#3357, Graylog2/graylog2-server#25956
#[tokio::test]
async fn a_version_header_without_its_members_names_both() {
    let service = service();
    let session = open_session(&service).await;
    let body = request("agw-resolve-0", "tools/list", &json!({})).to_string();
    let raw = Raw::post(body).set(VERSION, "2026-07-28").set("mcp-method", "tools/list");
    for raw in [raw.clone(), raw.set("mcp-session-id", &session)] {
        let reply = raw.send(&service).await;
        assert_eq!(reply.refusal(), (400, -32602, Some("agw-resolve-0".into())));
        for needed in ["/protocolVersion", "/clientCapabilities", "initialize returned"] {
            assert!(reply.message().contains(needed), "{}", reply.message());
        }
    }
    let one =
        json!({ "_meta": { "io.modelcontextprotocol/clientCapabilities": {} }, "uri": WATCHED });
    let raw = Raw::post(request(7, "tools/list", &one).to_string()).set(VERSION, "2026-07-28");
    let message = raw.send(&service).await.message();
    assert!(message.contains("/protocolVersion") && !message.contains("/clientCapabilities"));
}
