//! What a lenient reader would let pass or misread: capabilities, ids, two kinds of message in one, versions. Over HTTP
//! and over stdio alike.

use mcp_proto::jsonrpc::MAX_REQUEST_ID_BYTES;
use mcp_proto::stdio::{StdioConfig, serve};
use serde_json::{Value, json};

use crate::common::{Raw, call, meta, open_session, probe, request, server, service, with_meta};
use crate::peer::Peer;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The answers to one text: over HTTP with the status, then over stdio.
async fn answers(raw: Raw) -> (u16, Value, Value) {
    let mut output = Vec::new();
    let input = raw.body.to_vec();
    serve(server(), &*input, &mut output, StdioConfig::default()).await.unwrap();
    let reply = raw.send(&service()).await;
    let answer = serde_json::from_slice(&output).expect("one line");
    (reply.status.as_u16(), reply.json(), answer)
}

/// A good modern `tools/list` whose id is written like this.
fn with_id(id: &str) -> Raw {
    let raw = Raw::modern("tools/list", json!({}));
    let body = String::from_utf8(raw.body.to_vec()).unwrap();
    Raw { body: body.replace("\"id\":7", &format!("\"id\":{id}")).into(), ..raw }
}

#[tokio::test]
async fn the_value_of_a_known_capability_is_an_object_or_absent() {
    let wrong = [json!(true), json!([1]), json!("x"), json!(0)];
    let known = ["elicitation", "sampling", "roots", "tasks", "experimental", "extensions"];
    let mut refused = Vec::new();
    for value in &wrong {
        refused.extend(known.map(|name| (name.to_owned(), json!({ name: value }))));
        for (name, inner) in [
            ("elicitation", "form"),
            ("elicitation", "url"),
            ("sampling", "tools"),
            ("sampling", "context"),
            ("extensions", "io.modelcontextprotocol/tasks"),
        ] {
            refused.push((format!("{name}.{inner}"), json!({ name: { inner: value } })));
        }
    }
    let taken = [
        json!({ "elicitation": null, "sampling": {"tools": null}, "extensions": {"x/y": null}, "roots": null }),
        json!({ "roots": {"listChanged": true}, "tasks": {"list": {}}, "experimental": {"x": 1} }),
        // So PHP writes an empty object.
        json!({ "roots": [], "elicitation": {"form": []} }),
        // Nobody knows what it is.
        json!({ "telepathy": true }),
    ];
    let modern = |capabilities: &Value| {
        let mut params = json!({});
        params["_meta"][CAPABILITIES] = capabilities.clone();
        Raw::modern("tools/list", params)
    };
    let legacy = |capabilities: &Value| {
        let client = json!({"name": "c", "version": "1"});
        let params = json!({
            "protocolVersion": "2025-11-25", "clientInfo": client, "capabilities": capabilities,
        });
        Raw::post(request(7, "initialize", &params).to_string())
    };
    for (path, capabilities) in refused {
        for (raw, status) in [(modern(&capabilities), 400), (legacy(&capabilities), 0)] {
            let (got, http, stdio) = answers(raw).await;
            assert!(status == 0 || got == status, "{capabilities}: {got}");
            for answer in [http, stdio] {
                assert_eq!(answer["id"], 7, "{capabilities}: {answer}");
                assert_eq!(answer["error"]["code"], -32602, "{capabilities}: {answer}");
                let message = answer["error"]["message"].as_str().unwrap();
                assert!(message.contains(&format!(".{path} must be an object")), "{message}");
            }
        }
    }
    for capabilities in taken {
        for raw in [modern(&capabilities), legacy(&capabilities)] {
            let (status, http, stdio) = answers(raw).await;
            assert_eq!(status, 200, "{capabilities}");
            assert!(http["result"].is_object() && stdio["result"].is_object());
        }
    }
}

#[tokio::test]
async fn an_integer_is_one_however_it_is_written() {
    for (written, read) in [
        ("1.0", 1),
        ("1e2", 100),
        ("-0", 0),
        ("-0.0", 0),
        ("-1.2E1", -12),
        ("9007199254740992.0", 9_007_199_254_740_992),
    ] {
        let (status, http, stdio) = answers(with_id(written)).await;
        assert_eq!(status, 200, "{written}");
        for answer in [http, stdio] {
            assert_eq!(answer["id"].as_i64(), Some(read), "{written}");
            assert!(answer["result"]["tools"].is_array());
        }
    }
    for written in ["1.5", "1e-1", "1e19", "9007199254740994.0", "18446744073709551615"] {
        let reply = with_id(written).send(&service()).await;
        assert_eq!(reply.refusal(), (400, -32600, None), "{written}");
    }
}

#[tokio::test]
async fn a_call_is_cancelled_by_its_id_however_that_is_written() {
    let cancel = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )
    };
    let (probe, mut events) = probe();
    let server = crate::common::builder(&probe).build().unwrap();
    let mut peer = Peer::new(server.clone());
    peer.send(&request(100, "tools/call", &with_meta(call("hang")))).await;
    events.expect("started").await;
    peer.send_raw(format!("{}\n", cancel("1e2")).as_bytes()).await;
    events.expect("dropped").await;
    assert!(peer.end().await.is_empty());

    let service = mcp_proto::StreamableHttpService::new(server);
    let session = open_session(&service).await;
    let running = Raw::legacy(&session, "tools/call", &call("hang"));
    let running = running.send(&service);
    let cancelling = async {
        events.expect("started").await;
        let raw = Raw::post(cancel("7.0")).set("mcp-session-id", &session);
        assert_eq!(raw.send(&service).await.status, 202);
        events.expect("dropped").await;
    };
    tokio::join!(running, cancelling);
}

#[tokio::test]
async fn an_id_has_at_most_256_bytes() {
    let text = |bytes: usize| format!("\"{}\"", "é".repeat(bytes / 2));
    assert_eq!(MAX_REQUEST_ID_BYTES, 256);
    let (status, http, stdio) = answers(with_id(&text(256))).await;
    assert_eq!(status, 200);
    assert_eq!(http["id"], stdio["id"]);
    assert_eq!(http["id"].as_str().map(str::len), Some(256));
    for bytes in [258, 100_000] {
        let (status, http, stdio) = answers(with_id(&text(bytes))).await;
        assert_eq!(status, 400);
        for answer in [http, stdio] {
            assert!(answer.get("id").is_none(), "{answer}");
            assert_eq!(answer["error"]["code"], -32600);
            assert_eq!(answer["error"]["message"], "the member \"id\" must have at most 256 bytes");
        }
    }
}

#[tokio::test]
async fn a_message_is_a_request_or_an_answer_and_not_both() {
    for more in [
        json!({"result": {}}),
        json!({"result": null}),
        json!({"error": {"code": 1, "message": "m"}}),
    ] {
        let mut message = request(7, "tools/list", &json!({ "_meta": meta() }));
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let raw = Raw { body: message.to_string().into(), ..Raw::modern("tools/list", json!({})) };
        let (status, http, stdio) = answers(raw).await;
        assert_eq!(status, 400);
        for answer in [http, stdio] {
            assert_eq!(answer["id"], 7);
            assert_eq!(answer["error"]["code"], -32600, "{answer}");
        }
    }
}

#[tokio::test]
async fn a_refused_version_is_told_what_discovery_tells() {
    let (_, http, stdio) = answers(Raw::modern("server/discover", json!({}))).await;
    let known = &http["result"]["supportedVersions"];
    assert_eq!(known.as_array().map(Vec::len), Some(5));
    assert_eq!(known, &stdio["result"]["supportedVersions"]);
    let params = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2099-01-01", CAPABILITIES: {} } });
    let raw = Raw {
        body: request(7, "tools/list", &params).to_string().into(),
        ..Raw::modern("tools/list", json!({}))
    };
    let raw = raw.set("mcp-protocol-version", "2099-01-01");
    let (status, http, stdio) = answers(raw).await;
    assert_eq!(status, 400);
    for answer in [http, stdio] {
        assert_eq!(answer["error"]["code"], -32022, "{answer}");
        assert_eq!(&answer["error"]["data"]["supported"], known);
    }
}

#[tokio::test]
async fn a_text_that_is_told_back_is_cut() {
    let name = "n".repeat(100_000);
    let body = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","{name}":1,"{name}":2}}"#);
    let (_, http, stdio) = answers(Raw::post(body)).await;
    let error = json!({ "code": name, "message": "" });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "error": error }).to_string();
    let (_, answered, _) = answers_of_http(Raw::post(body)).await;
    for answer in [http, stdio, answered] {
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.len() < 500, "{} bytes", message.len());
    }
}

async fn answers_of_http(raw: Raw) -> (u16, Value, ()) {
    let reply = raw.send(&service()).await;
    (reply.status.as_u16(), reply.json(), ())
}

#[tokio::test]
async fn a_body_is_not_compressed_and_of_one_type() {
    let service = service();
    let list = || Raw::modern("tools/list", json!({}));
    for encoding in ["gzip", "br", "identity, gzip", "x"] {
        let reply = list().set("content-encoding", encoding).send(&service).await;
        assert_eq!(reply.refusal(), (415, -32600, None), "{encoding}");
        assert_eq!(reply.header("accept-encoding"), Some("identity"));
        assert!(reply.message().contains("Content-Encoding"));
    }
    for encoding in ["identity", "Identity", ""] {
        let reply = list().set("content-encoding", encoding).send(&service).await;
        assert_eq!(reply.status, 200, "{encoding}");
    }
    for (other, status) in
        [("text/plain", 400), ("application/json; charset=utf-8", 400), ("application/json", 200)]
    {
        let reply = list().add("content-type", other).send(&service).await;
        assert_eq!(reply.status, status, "{other}");
        if status == 400 {
            assert_eq!(reply.refusal(), (400, -32600, None));
            assert_eq!(reply.message(), "the header content-type is given twice");
        }
    }
}

#[tokio::test]
async fn a_weight_of_zero_is_zero_however_it_is_written() {
    for zero in ["q=0", "Q=0", "q=0.", "q=0.000", "Q = 0.0", "\tq=0.00 "] {
        let events = format!("application/json ;{zero}, text/event-stream");
        let reply =
            Raw::modern("tools/list", json!({})).set("accept", &events).send(&service()).await;
        assert_eq!(reply.header("content-type"), Some("text/event-stream"), "{zero:?}");
    }
    for more in ["q=0.001", "q=1", "q=0.5", "x=0", "q"] {
        let reply = Raw::modern("tools/list", json!({}))
            .set("accept", &format!("application/json;{more}"))
            .send(&service())
            .await;
        assert_eq!(reply.status, 200, "{more}");
    }
}
