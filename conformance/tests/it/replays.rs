//! What the runner sends and how it judges answers, shown on servers of a few lines.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use mcp_conformance::{Body, BoxError, Era, Target};
use serde_json::{Value, json};

use crate::small_server::{echo, events, fails, json, replay, server};

const OPEN: &str = r#"{"open":"main"}"#;
const CALL: &str =
    r#"{"mcp":{"method":"tools/call","params":{"name":"t"}},"expect":{"result":{"content":[]}}}"#;

#[tokio::test]
async fn a_legacy_client_shakes_hands_once_and_names_its_session() {
    let (target, asked) = server(echo);
    replay(&target, Era::Legacy, &format!("{OPEN}\n{CALL}\n{CALL}")).await.unwrap();
    let asked = asked.lock().unwrap();
    let methods: Vec<&str> =
        asked.iter().map(|(_, _, body)| body["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/call", "tools/call"]);
    assert_eq!(asked[0].2["params"]["protocolVersion"], "2025-11-25");
    assert!(!asked[0].1.contains_key("mcp-session-id"));
    for (line, headers, body) in &asked[1..] {
        assert_eq!(line, "POST /mcp");
        assert_eq!(headers["mcp-session-id"], "s-1");
        assert_eq!(
            headers["mcp-protocol-version"], "2025-06-18",
            "the version that the server chose"
        );
        assert_eq!(headers["accept"], "application/json, text/event-stream");
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["host"], "127.0.0.1");
        assert!(body["params"].get("_meta").is_none());
    }
    assert_ne!(asked[2].2["id"], asked[3].2["id"]);
}

#[tokio::test]
async fn a_modern_client_says_in_each_request_who_it_is() {
    let (target, asked) = server(echo);
    replay(&target, Era::Modern, &format!("{OPEN}\n{CALL}")).await.unwrap();
    let asked = asked.lock().unwrap();
    let [(_, headers, body)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!(headers["mcp-method"], "tools/call");
    assert_eq!(headers["mcp-name"], "t");
    assert!(!headers.contains_key("mcp-session-id"));
    let meta = &body["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "mcp-conformance");
}

#[tokio::test]
async fn an_answer_may_come_as_a_stream() {
    let (target, _) = server(|_, body| {
        let note =
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hm"}});
        let done = json!({"jsonrpc": "2.0", "id": body["id"], "result": {"resultType": "complete", "tools": []}});
        events(
            &["id: 1\ndata:\n\n", &format!(":\n\ndata: {note}\n"), &format!("\ndata: {done}\n\n")],
            true,
        )
    });
    let call = |notifications: &str| {
        format!(
            r#"{{"mcp":{{"method":"tools/list"}},"expect":{{"result":{{"tools":[]}},"notifications":{notifications}}}}}"#
        )
    };
    let one = call(r#"[{"$contains":{"method":"notifications/message"}}]"#);
    replay(&target, Era::Modern, &format!("{OPEN}\n{one}")).await.unwrap();
    let none = call("[]");
    fails(replay(&target, Era::Modern, &format!("{OPEN}\n{none}")).await, 3, "/notifications");
}

/// Answers what the request has as its parameter, with the request's id unless that has one.
fn dictated(_: &str, body: &Value) -> Response<Body> {
    let mut answer = body["params"]["answer"].clone();
    if answer.get("id").is_none() {
        answer["id"] = body["id"].clone();
    }
    json(200, &answer)
}

#[tokio::test]
async fn the_frame_of_an_answer_is_judged() {
    for (answer, says) in [
        (r#"{"jsonrpc":"2.0","id":99,"result":{"resultType":"complete"}}"#, "\"/id\""),
        (r#"{"result":{"resultType":"complete"}}"#, "\"/jsonrpc\""),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "/result/resultType"),
        (r#"{"jsonrpc":"2.0","result":{"resultType":"complete","ttlMs":-1}}"#, "/result/ttlMs"),
        (r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"}}"#, "\"/error\""),
    ] {
        let list = format!(
            r#"{{"mcp":{{"method":"tools/list","params":{{"answer":{answer}}}}},"expect":{{"result":{{}}}}}}"#
        );
        let (target, _) = server(dictated);
        fails(replay(&target, Era::Modern, &format!("{OPEN}\n{list}")).await, 3, says);
    }
}

#[tokio::test]
async fn a_pattern_may_judge_the_envelope_itself() {
    let (target, _) = server(echo);
    let steps = format!(
        r#"{OPEN}
{{"mcp":{{"method":"tools/list"}},"expect":{{"result":{{"tools":[],"ttlMs":5}}}}}}"#
    );
    replay(&target, Era::Modern, &steps).await.unwrap();
    fails(replay(&target, Era::Modern, &steps.replace("5}", "6}")).await, 3, "/result/ttlMs");
}

#[tokio::test]
async fn a_wrong_head_is_shown_with_its_body() {
    let (target, _) = server(|_, _| json(500, &json!({"error": "out of order"})));
    let get = r#"{"note":"it works","http":{"method":"GET","path":"/x"},"expect":{"status":200,"headers":{"etag":{"$any":true}},"json":{}}}"#;
    let failure = replay(&target, Era::Legacy, get).await.unwrap_err();
    assert_eq!((failure.step.as_str(), failure.note.as_deref()), ("GET /x", Some("it works")));
    assert_eq!(
        failure.problem,
        "answered 500 Internal Server Error with {\"error\":\"out of order\"}"
    );
    let paths: Vec<&str> =
        failure.mismatches.iter().map(|mismatch| mismatch.path.as_str()).collect();
    assert_eq!(paths, ["/status", "/headers/etag"]);
}

#[tokio::test]
async fn requests_are_filled_with_what_was_captured() {
    let (target, asked) = server(|path, _| {
        json(200, &if path == "/new" { json!({"id": "u-1", "n": 3}) } else { json!("${id}") })
    });
    let steps = r#"{"http":{"method":"POST","path":"/new"},"expect":{"status":200,"json":{"id":{"$capture":"u"},"n":{"$capture":"n"}}}}
{"http":{"method":"PUT","path":"/at/${u}/${n}","headers":{"x-id":"<${u}>"},"json":{"n":{"$var":"n"},"s":"n=${n}","l":{"$literal":{"$var":"u"}}}},"expect":{"status":200,"json":"$${id}"}}"#;
    replay(&target, Era::Legacy, steps).await.unwrap();
    let asked = asked.lock().unwrap();
    let (line, headers, body) = &asked[1];
    assert_eq!(line, "PUT /at/u-1/3");
    assert_eq!(headers["x-id"], "<u-1>");
    assert_eq!(*body, json!({"n": 3, "s": "n=3", "l": {"$var": "u"}}));
}

#[tokio::test]
async fn steps_of_the_other_era_are_left_out() {
    let (target, asked) = server(|_, _| json(200, &json!({})));
    let steps = r#"{"era":"legacy","http":{"method":"GET","path":"/old"},"expect":{"status":200}}
{"era":"modern","http":{"method":"GET","path":"/new"},"expect":{"status":200}}"#;
    replay(&target, Era::Modern, steps).await.unwrap();
    let lines: Vec<String> = asked.lock().unwrap().iter().map(|(line, ..)| line.clone()).collect();
    assert_eq!(lines, ["GET /new"]);
}

#[tokio::test]
async fn no_answer_is_a_failure() {
    let target = Target::in_process(|_: Request<Full<Bytes>>| async {
        Err::<Response<Body>, BoxError>("down".into())
    });
    let get = r#"{"http":{"method":"GET","path":"/"},"expect":{"status":200}}"#;
    fails(
        replay(&target, Era::Legacy, get).await,
        2,
        "no answer from the server in this process: down",
    );
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = Target::url(&format!("http://{unused}/base/")).unwrap();
    fails(
        replay(&target, Era::Legacy, get).await,
        2,
        &format!("http://{unused}/base/ cannot be reached"),
    );
}

#[test]
fn urls_are_checked() {
    for (url, says) in [
        ("ftp://x", "scheme"),
        ("127.0.0.1:1", "scheme"),
        ("http://user:word@x/mcp", "user name"),
        ("no url", "invalid"),
    ] {
        let error = Target::url(url).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
