//! Handshakes, params, cursors and media types as clients write them.

use http::Method;
use mcp_proto::stdio::{StdioConfig, serve};
use mcp_proto::{Server, StreamableHttpService};
use serde_json::{Value, json};

use crate::asking_common::{asker, greet};
use crate::common::{Raw, call, meta, open_session, request, server, service, with_meta};
use crate::resume::session_of;

/// What a server answers to the request over each transport.
async fn answers(server: Server, request: &Value) -> [Value; 2] {
    let body = request.to_string();
    let mut output = Vec::new();
    serve(server.clone(), body.as_bytes(), &mut output, StdioConfig::default()).await.unwrap();
    let reply = Raw::post(body).send(&StreamableHttpService::new(server)).await;
    [reply.json(), serde_json::from_slice(&output).unwrap()]
}

/// buildinternet/uploads#561, php-mcp/schema#2, modelcontextprotocol/java-sdk#30
#[tokio::test]
async fn a_handshake_with_little_in_it_is_taken() {
    let client = json!({"name": "c", "version": "1"});
    for (member, values) in [
        ("clientInfo", json!([{"name": "x"}, {"name": "x", "version": 1}, {}, [], null, "x"])),
        (
            "capabilities",
            json!([null, [], {"experimental": []}, {"roots": []}, {"tools": true}, {"elicitation": []}]),
        ),
    ] {
        let whole =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(member);
        let with = values.as_array().unwrap().iter().map(|value| {
            let mut params = whole.clone();
            params[member] = value.clone();
            params
        });
        for params in with.chain([without]) {
            for answer in answers(server(), &request(7, "initialize", &params)).await {
                assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{params} {answer}");
            }
        }
    }
    for (params, told) in [
        (json!({"protocolVersion": "2025-06-18"}), None),
        (
            json!({"protocolVersion": "2025-06-18", "capabilities": {"sampling": true}}),
            Some("capabilities.sampling"),
        ),
        (
            json!({"protocolVersion": "2025-06-18", "capabilities": [1]}),
            Some("params.capabilities"),
        ),
        (json!({"protocolVersion": null}), Some("params.protocolVersion")),
        (json!({}), Some("params.protocolVersion")),
    ] {
        for answer in answers(server(), &request(7, "initialize", &params)).await {
            assert_eq!(
                answer["error"]["code"],
                if told.is_some() { json!(-32602) } else { Value::Null }
            );
            let message = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(message.contains(told.unwrap_or_default()), "{params} {message}");
        }
    }
}

/// agentrust-io/cmcp#513, Graylog2/graylog2-server#25956
#[tokio::test]
async fn a_version_without_a_handshake_is_not_echoed() {
    let service = service();
    for version in ["2026-07-28", "2099-01-01", "1999-01-01", "", "2025-06-18 ", "DRAFT-2026-v1"] {
        for header in [None, Some("2026-07-28"), Some("2025-06-18")] {
            let raw = Raw::initialize(version);
            let raw = header.map_or(raw.clone(), |header| raw.set("mcp-protocol-version", header));
            let reply = raw.send(&service).await;
            assert_eq!(reply.result()["protocolVersion"], "2025-11-25");
            let session = reply.header("mcp-session-id").unwrap();
            let ping = Raw::legacy(session, "ping", &json!({}));
            ping.clone().set("mcp-protocol-version", "2025-11-25").send(&service).await.result();
            let pinned = ping.set("mcp-protocol-version", "2026-07-28").send(&service).await;
            assert_eq!(pinned.refusal(), (400, -32602, Some(7.into())));
        }
    }
}

/// MaterializeInc/materialize#38558, affaan-m/ECC#2670, BerriAI/litellm#32252, twentyhq/twenty#24559, laravel/mcp#135
#[tokio::test]
async fn params_that_a_method_does_not_know_are_no_reason_to_refuse_it() {
    let service = service();
    let session = session_of(&service, "2025-06-18").await;
    let params = [
        json!({}),
        json!({"_meta": {"progressToken": 0}}),
        json!({"_meta": null}),
        json!({"_meta": []}),
        json!({"_meta": {"progressToken": null}}),
        json!({"_meta": {"progressToken": 1.5}}),
        json!({"_meta": {"a/b/c": 1, "": 2}}),
        json!({"cursor": null}),
        json!({"unknown": 1}),
        json!([]),
    ];
    for params in &params {
        for method in ["ping", "tools/list"] {
            Raw::legacy(&session, method, params).send(&service).await.result();
        }
        let unknown = Raw::legacy(&session, "x/y", params).send(&service).await;
        assert_eq!(unknown.refusal().1, -32601);
        let note = Raw::notification("notifications/initialized", params);
        assert_eq!(note.set("mcp-session-id", &session).send(&service).await.status, 202);
        let modern = Raw::modern("tools/list", json!({}));
        if params.is_array() {
            continue;
        }
        if params.get("_meta").is_none_or(Value::is_object) {
            let body = request(7, "tools/list", &with_meta(params.clone())).to_string();
            Raw { body: body.into(), ..modern }.send(&service).await.result();
        } else {
            let body = request(7, "tools/list", params).to_string();
            let reply = Raw { body: body.into(), ..modern }.send(&service).await;
            assert_eq!(reply.refusal(), (400, -32602, Some(7.into())));
        }
    }
    // Zero is a token, and without one nothing is reported.
    let steps = |meta: Value| json!({"name": "progress", "arguments": {"steps": 1}, "_meta": meta});
    let zero = Raw::legacy(&session, "tools/call", &steps(json!({"progressToken": 0})));
    assert_eq!(zero.send(&service).await.events()[0]["params"]["progressToken"], 0);
    for meta in [json!({}), json!({"progressToken": null}), Value::Null] {
        Raw::legacy(&session, "tools/call", &steps(meta)).send(&service).await.result();
    }
}

/// MCPJam/inspector#4462, modelcontextprotocol/java-sdk#575, modelcontextprotocol/csharp-sdk#770
#[tokio::test]
async fn an_empty_cursor_is_a_cursor_and_null_is_none() {
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        for (cursor, is_served) in
            [(Value::Null, true), (json!(""), false), (json!(0), false), (json!("x"), false)]
        {
            let params = json!({ "cursor": cursor });
            let modern = request(7, method, &with_meta(params.clone()));
            let [_, piped] = answers(super::reporter(), &modern).await;
            let service = StreamableHttpService::new(super::reporter());
            let session = open_session(&service).await;
            let posted = Raw::legacy(&session, method, &params).send(&service).await.json();
            let both = Raw::modern(method, params).send(&service).await.json();
            for answer in [piped, posted, both] {
                // The last page has no cursor, not an empty one.
                assert_eq!(answer["result"].get("nextCursor"), None);
                let code = if is_served { Value::Null } else { json!(-32602) };
                assert_eq!(answer["error"]["code"], code, "{method} {cursor}");
            }
        }
    }
}

/// helidon-io/helidon-mcp#186
#[tokio::test]
async fn no_form_is_sent_to_a_client_that_opens_urls_alone() {
    for (elicitation, is_asked) in
        [(json!({"url": {}}), false), (json!({}), true), (json!({"form": {}}), true)]
    {
        let service = StreamableHttpService::new(asker(greet).build().unwrap());
        let mut params = call("ask");
        params["_meta"] = meta();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "elicitation": elicitation });
        let body = request(7, "tools/call", &params).to_string();
        let raw = Raw::modern("tools/call", call("ask"));
        let answer = Raw { body: body.into(), ..raw }.send(&service).await.json();
        if is_asked {
            assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
        } else {
            assert_eq!(answer["error"]["code"], -32021);
            let required = &answer["error"]["data"]["requiredCapabilities"];
            assert_eq!(*required, json!({"elicitation": {"form": {}}}));
        }
    }
}

/// googleapis/mcp-toolbox#1049, modelcontextprotocol/csharp-sdk#1527
#[tokio::test]
async fn parameters_of_json_are_taken_and_other_types_are_named() {
    let service = service();
    for (kind, is_served) in [
        ("APPLICATION/JSON;Charset=\"UTF-8\"", true),
        ("application/json; charset=utf-8", true),
        ("application/json,application/json", true),
        ("application/json-rpc", false),
        ("application/jsonrequest", false),
        ("application/json, text/plain", false),
        ("", false),
    ] {
        let reply =
            Raw::modern("tools/list", json!({})).set("content-type", kind).send(&service).await;
        if is_served {
            reply.result();
        } else {
            assert_eq!(reply.refusal().0, 415, "{kind}");
            assert!(reply.message().contains("application/json"));
        }
    }
}

/// affaan-m/ECC#2539, brunoamaral/gregory-ai#829, tempoxyz/mpp#722
#[tokio::test]
async fn a_probe_without_a_session_is_told_so_whatever_it_accepts() {
    let service = service();
    for accept in ["*/*", "application/json", "text/html", "text/event-stream"] {
        let get = Raw::bare(Method::GET).set("accept", accept);
        assert_eq!(get.clone().send(&service).await.refusal(), (400, -32600, None));
        let modern = get.set("mcp-protocol-version", "2026-07-28").send(&service).await;
        assert_eq!(modern.refusal(), (405, -32600, None));
        let head = Raw::bare(Method::HEAD).set("accept", accept).send(&service).await;
        assert_eq!(head.status, 405);
    }
    let session = open_session(&service).await;
    let get = crate::events::get(&session, None).set("accept", "application/json");
    assert_eq!(get.send(&service).await.refusal().0, 406);
}
