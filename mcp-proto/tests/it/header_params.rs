//! Headers that repeat parameters (`x-mcp-header`): which calls are taken.

use http::Method;
use mcp_proto::{CallToolResult, Json, Server, StreamableHttpService, Tool};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::common::{Raw, every_client, open_session};

/// Where a query runs.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Query {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
    limit: Option<Limit>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Limit {
    /// The most rows.
    #[schemars(extend("x-mcp-header" = "Max-Rows"))]
    rows: u32,
}

fn encoded(text: &str) -> String {
    format!("=?base64?{}?=", data_encoding::BASE64.encode(text.as_bytes()))
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "x-mcp-header": "Text"},
            "n": {"type": "integer", "x-mcp-header": "N"},
            "deep": {"type": "object", "properties": {
                "flag": {"type": "boolean", "x-mcp-header": "X-Flag"},
            }},
            "free": {},
        },
    })
}

fn server() -> Server {
    let tool = |name: &str| Tool::new(name, "");
    Server::builder("s", "1", ())
        .raw_tool(tool("mirrored").with_input_schema(schema()), async |(), _, _| {
            Ok(CallToolResult::text("served"))
        })
        .raw_tool(tool("plain").with_input_schema(json!({"type": "object"})), async |(), _, _| {
            Ok(CallToolResult::text("served"))
        })
        .tool(tool("typed"), async |query: Query| Json(query))
        .build()
        .unwrap()
}

fn service() -> StreamableHttpService {
    StreamableHttpService::new(server())
}

#[expect(clippy::needless_pass_by_value, reason = "it reads better without")]
fn call(tool: &str, arguments: Value, headers: &[(&str, &str)]) -> Raw {
    let raw = Raw::modern("tools/call", json!({"name": tool, "arguments": arguments}));
    headers.iter().fold(raw, |raw, &(name, value)| raw.set(name, value))
}

/// Whether the call was taken: what the tool says, or 400 with −32020.
async fn is_taken(service: &StreamableHttpService, raw: Raw) -> bool {
    let reply = raw.send(service).await;
    if reply.status == 400 {
        assert_eq!(reply.refusal(), (400, -32020, Some(7.into())));
        return false;
    }
    assert!(reply.result()["content"].is_array());
    true
}

#[tokio::test]
async fn a_header_says_what_the_argument_says() {
    let service = service();
    let text = "mcp-param-text";
    for (arguments, header, value, good) in [
        (json!({"text": "eu"}), text, "eu".to_owned(), true),
        (json!({"text": "eu"}), "MCP-Param-TEXT", "eu".to_owned(), true),
        (json!({"text": "eu"}), text, "  eu\t".to_owned(), true),
        (json!({"text": "eu"}), text, "EU".to_owned(), false),
        (json!({"text": "eu"}), text, String::new(), false),
        (json!({"text": ""}), text, String::new(), true),
        (json!({"text": ""}), text, encoded(""), true),
        (json!({"text": " eu "}), text, encoded(" eu "), true),
        (json!({"text": " eu "}), text, " eu ".to_owned(), false),
        (json!({"text": "größer\n"}), text, encoded("größer\n"), true),
        (json!({"text": "größer"}), text, "größer".to_owned(), false),
        (json!({"text": "5"}), text, "5".to_owned(), true),
        (json!({"text": "5"}), text, "5.0".to_owned(), false),
        // A value of another type is compared as well, and then refused by the schema.
        (json!({"text": 5}), text, "5".to_owned(), true),
        (json!({"text": 5}), text, "6".to_owned(), false),
        (json!({"text": ["eu"]}), text, "eu".to_owned(), false),
        (json!({"n": 42}), "mcp-param-n", "42".to_owned(), true),
        (json!({"n": 42}), "mcp-param-n", "42.0".to_owned(), true),
        (json!({"n": 42.0}), "mcp-param-n", "42".to_owned(), true),
        (json!({"n": 42}), "mcp-param-n", encoded("42"), true),
        (json!({"n": -7}), "mcp-param-n", "-7".to_owned(), true),
        (json!({"n": 0}), "mcp-param-n", "-0".to_owned(), true),
        (json!({"n": 42}), "mcp-param-n", "43".to_owned(), false),
        (json!({"n": 42}), "mcp-param-n", "42.00000000000000000001".to_owned(), false),
        (json!({"n": 42}), "mcp-param-n", "4.2e1".to_owned(), false),
        (json!({"n": 42}), "mcp-param-n", "0x2a".to_owned(), false),
        (json!({"n": 42}), "mcp-param-n", "+42".to_owned(), false),
        (json!({"n": 42}), "mcp-param-n", "42.".to_owned(), false),
        (json!({"n": 42}), "mcp-param-n", String::new(), false),
        (
            json!({"n": 9_007_199_254_740_991_u64}),
            "mcp-param-n",
            "9007199254740991".to_owned(),
            true,
        ),
        (
            json!({"n": -9_007_199_254_740_991_i64}),
            "mcp-param-n",
            "-9007199254740991".to_owned(),
            true,
        ),
        (
            json!({"n": 9_007_199_254_740_993_u64}),
            "mcp-param-n",
            "9007199254740993".to_owned(),
            false,
        ),
        (json!({"deep": {"flag": true}}), "mcp-param-x-flag", "true".to_owned(), true),
        (json!({"deep": {"flag": false}}), "mcp-param-x-flag", "false".to_owned(), true),
        (json!({"deep": {"flag": true}}), "mcp-param-x-flag", "True".to_owned(), false),
        (json!({"deep": {"flag": true}}), "mcp-param-x-flag", "1".to_owned(), false),
    ] {
        let raw = call("mirrored", arguments.clone(), &[(header, &value)]);
        assert_eq!(is_taken(&service, raw).await, good, "{arguments} {header}: {value:?}");
    }
}

#[tokio::test]
async fn the_base64_form_is_read_strictly_and_what_only_looks_like_it_is_itself() {
    let service = service();
    for (text, header, good) in [
        ("Hello", "=?base64?SGVsbG8=?=", true),
        ("Hello", "=?base64?SGVsbG8?=", false),
        ("Hello", "=?base64?SGVs!!!bG8=?=", false),
        ("Hello", "=?base64?SGVsbG9=?=", false),
        ("Hello", "=?BASE64?SGVsbG8=?=", false),
        ("SGVsbG8=", "SGVsbG8=", true),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8=", true),
        ("SGVsbG8=?=", "SGVsbG8=?=", true),
        ("=?base64?SGVsbG8=?=", "=?base64?SGVsbG8=?=", false),
    ] {
        let raw = call("mirrored", json!({"text": text}), &[("mcp-param-text", header)]);
        assert_eq!(is_taken(&service, raw).await, good, "{text:?} {header:?}");
    }
    let bytes = format!("=?base64?{}?=", data_encoding::BASE64.encode(b"\xff"));
    let raw = call("mirrored", json!({"text": "\u{fffd}"}), &[("mcp-param-text", &bytes)]);
    assert!(!is_taken(&service, raw).await);
}

#[tokio::test]
async fn a_value_without_its_header_and_a_header_without_its_value_are_refused() {
    let service = service();
    let header = ("mcp-param-text", "eu");
    for (arguments, headers, good) in [
        (json!({}), &[][..], true),
        (json!({"text": null}), &[][..], true),
        (json!({"deep": {}}), &[][..], true),
        (json!({"deep": 5}), &[][..], true),
        (json!({"free": "x"}), &[][..], true),
        // No header can repeat an array: the schema is what refuses it.
        (json!({"text": []}), &[][..], true),
        (json!({"text": "eu"}), &[][..], false),
        (json!({"text": ""}), &[][..], false),
        (json!({"n": 0}), &[][..], false),
        (json!({"deep": {"flag": false}}), &[][..], false),
        (json!({}), &[header][..], false),
        (json!({"text": null}), &[header][..], false),
        (json!({"n": 1}), &[header, ("mcp-param-n", "1")][..], false),
        (json!({"text": "eu", "n": 1}), &[header, ("mcp-param-n", "1")][..], true),
        (json!({"text": "eu"}), &[header, ("mcp-param-other", "x")][..], true),
    ] {
        let raw = call("mirrored", arguments.clone(), headers);
        assert_eq!(is_taken(&service, raw).await, good, "{arguments} {headers:?}");
    }
    let without = Raw::modern("tools/call", json!({"name": "mirrored"}));
    assert!(is_taken(&service, without.clone()).await);
    assert!(!is_taken(&service, without.set("mcp-param-n", "1")).await);
    let twice = call("mirrored", json!({"text": "eu"}), &[header]).add("mcp-param-text", "eu");
    assert!(!is_taken(&service, twice).await);
}

#[tokio::test]
async fn a_refusal_says_what_would_be_right() {
    let service = service();
    for (arguments, headers, told) in [
        (
            json!({"text": "eu"}),
            &[][..],
            "the header mcp-param-text is missing: it must be \"eu\" as in the body",
        ),
        (
            json!({"text": "eu"}),
            &[("mcp-param-text", "us")][..],
            "the header mcp-param-text is \"us\", but the body says \"eu\"",
        ),
        (
            json!({"deep": {}}),
            &[("mcp-param-x-flag", "true")][..],
            "the header mcp-param-x-flag is given, but the body has no params.arguments.deep.flag that a header can repeat",
        ),
        (
            json!({"n": 9_007_199_254_740_993_u64}),
            &[("mcp-param-n", "9007199254740993")][..],
            "params.arguments.n is beyond ±(2^53−1), which mcp-param-n cannot repeat",
        ),
    ] {
        let reply = call("mirrored", arguments, headers).send(&service).await;
        assert_eq!(reply.message(), told);
    }
}

#[tokio::test]
async fn they_are_judged_behind_the_name_and_before_the_arguments() {
    let service = service();
    let raw = || call("mirrored", json!({"text": "eu", "n": "x"}), &[]);
    let reply = raw().set("mcp-name", "plain").send(&service).await;
    assert!(reply.message().contains("mcp-name"), "{}", reply.message());
    let reply = raw().send(&service).await;
    assert_eq!(reply.refusal(), (400, -32020, Some(7.into())));
    let reply = raw().set("mcp-param-text", "eu").set("mcp-param-n", "x");
    let result = reply.send(&service).await.result();
    assert_eq!(result["isError"], true);
    assert!(result.to_string().contains("/n: "), "{result}");
}

#[tokio::test]
async fn tools_without_annotations_other_methods_and_other_transports_are_not_asked() {
    let service = service();
    let stray = [("mcp-param-text", "eu")];
    assert!(is_taken(&service, call("plain", json!({"text": "us"}), &stray)).await);
    let list = Raw::modern("tools/list", json!({})).set("mcp-param-text", "eu");
    assert_eq!(list.send(&service).await.status, 200);
    let params = json!({"name": "mirrored", "arguments": {"text": "us"}});
    let session = open_session(&service).await;
    let legacy = Raw::legacy(&session, "tools/call", &params).set("mcp-param-text", "eu");
    assert_eq!(legacy.send(&service).await.result()["content"][0]["text"], "served");
    let (clients, _served) = every_client(&server()).await;
    for (name, client) in &clients {
        let params = json!({"name": "mirrored", "arguments": {"text": "us"}});
        let taken = client.request("tools/call", params).await.is_ok();
        assert_eq!(taken, name != "http Modern", "{name}");
    }
}

#[tokio::test]
async fn a_typed_tool_may_mirror_its_members() {
    let service = service();
    let list = Raw::modern("tools/list", json!({})).send(&service).await.result();
    let typed = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "typed");
    let properties = &typed.unwrap()["inputSchema"]["properties"];
    assert_eq!(properties["region"], json!({"type": "string", "x-mcp-header": "Region"}));
    assert_eq!(properties["limit"]["properties"]["rows"]["x-mcp-header"], "Max-Rows");
    let arguments = json!({"region": "eu", "limit": {"rows": 10}});
    let headers = [("mcp-param-region", "eu"), ("mcp-param-max-rows", "10")];
    let reply = call("typed", arguments.clone(), &headers).send(&service).await;
    assert_eq!(reply.result()["structuredContent"], arguments);
    let raw = call("typed", arguments, &headers).set("mcp-param-max-rows", "11");
    assert!(!is_taken(&service, raw).await);
}

#[tokio::test]
async fn pages_may_send_the_headers_of_parameters() {
    let service = service();
    let preflight = |asked: &str| {
        Raw::bare(Method::OPTIONS)
            .set("origin", "http://localhost:6274")
            .set("access-control-request-method", "POST")
            .set("access-control-request-headers", asked)
    };
    let allowed = async |asked: &str| {
        let reply = preflight(asked).send(&service).await;
        assert_eq!(reply.status, 204);
        let value = reply.header("access-control-allow-headers").unwrap();
        value.split(", ").map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = allowed("content-type").await;
    assert!(!plain.iter().any(|name| name.starts_with("mcp-param-")));
    let more = allowed("content-type, Mcp-Param-Region,mcp-param-n, x-evil, mcp-param-a b").await;
    assert_eq!(more[..plain.len()], plain);
    assert_eq!(more[plain.len()..], ["mcp-param-region", "mcp-param-n"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// What a client says in the form that the revision wants is taken; any other text is not.
    #[test]
    fn the_text_of_a_header_means_one_value(text in "\\PC{0,12}|[ -~\t]{0,12}|=\\?base64\\?.{0,6}\\?=", other in "\\PC{0,12}") {
        let visible = |text: &str| text.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
        let form = |text: &str| {
            let literal = visible(text) && text.trim() == text && !text.starts_with("=?base64?");
            if literal { text.to_owned() } else { encoded(text) }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (service, arguments) = (service(), json!({"text": text}));
        let right = call("mirrored", arguments.clone(), &[("mcp-param-text", &form(&text))]);
        prop_assert!(runtime.block_on(is_taken(&service, right)));
        let wrong = call("mirrored", arguments, &[("mcp-param-text", &form(&other))]);
        prop_assert_eq!(runtime.block_on(is_taken(&service, wrong)), text == other);
    }

    /// Integers are compared as numbers, by every form of the same number and by no other.
    #[test]
    fn integers_are_compared_by_value(n in -(1_i64 << 53)..(1_i64 << 53), zeros in 0..4_usize, off in -2_i64..2) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let service = service();
        let said = n.saturating_add(off).to_string();
        let said = if zeros == 0 { said } else { format!("{said}.{}", "0".repeat(zeros)) };
        let raw = call("mirrored", json!({"n": n}), &[("mcp-param-n", &said)]);
        let good = off == 0 && n.unsigned_abs() < 1 << 53;
        prop_assert_eq!(runtime.block_on(is_taken(&service, raw)), good, "{} {}", n, said);
    }
}
