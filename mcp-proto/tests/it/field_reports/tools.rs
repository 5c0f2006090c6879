//! Tools and templates as programs register them, and arguments as clients send them, in both eras over HTTP and pipes.

use mcp_proto::{
    CallToolResult, Context, Json, RequestError, ResourceContents, ResourceTemplate, ResourceUri,
    Server, StreamableHttpService, Tool, ToolError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::common::{Raw, Served, open_session, request, server, service, with_meta};
use crate::events::{dial, get};
use crate::peer::Peer;
use crate::resume::session_of;

#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    query: String,
    after: Option<String>,
    limit: Option<u32>,
    tags: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Strict {
    text: String,
    #[serde(default)]
    limit: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    test: String,
}

/// The result of a request in both eras, over HTTP and pipes.
pub(super) async fn everywhere(server: &Server, method: &str, params: &Value) -> Vec<Value> {
    let service = StreamableHttpService::new(server.clone());
    let session = session_of(&service, "2025-11-25").await;
    let legacy = Raw::legacy(&session, method, params).send(&service).await.result();
    let modern = Raw::modern(method, params.clone()).send(&service).await.result();
    let mut pipe = Peer::new(server.clone());
    pipe.send(&request(7, method, &with_meta(params.clone()))).await;
    let mut old = Peer::new(server.clone());
    old.send(&serde_json::from_slice(&Raw::initialize("2025-06-18").body).unwrap()).await;
    old.next().await;
    old.send(&request(7, method, params)).await;
    let piped = [pipe.next().await, old.next().await].map(|answer| answer["result"].clone());
    [legacy, modern].into_iter().chain(piped).collect()
}

pub(super) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn searching() -> Server {
    Server::builder("reports", "1", ())
        .tool(Tool::new("now", "Takes nothing."), async || "now")
        .tool(Tool::new("search", "Searches."), async |asked: Search| {
            let Search { query, after, limit, tags } = asked;
            format!("{query} {after:?} {limit:?} {tags:?}")
        })
        .tool(Tool::new("strict", "Takes no more than it names."), async |asked: Strict| {
            format!("{} {}", asked.text, asked.limit)
        })
        .build()
        .unwrap()
}

/// modelcontextprotocol/typescript-sdk#2012, NVIDIA/NeMo-Agent-Toolkit#1269, modelcontextprotocol/inspector#328,
/// modelcontextprotocol/php-sdk#284, elgorro/aiquila#442
#[tokio::test]
async fn nulls_in_place_of_nothing_are_nothing() {
    let server = searching();
    for params in [
        json!({"name": "now"}),
        json!({"name": "now", "arguments": null}),
        json!({"name": "now", "arguments": []}),
    ] {
        for result in everywhere(&server, "tools/call", &params).await {
            assert_eq!((text(&result), &result["isError"]), ("now", &Value::Null));
        }
    }
    let nulls = json!({"query": "a", "after": null, "limit": null, "tags": null});
    let params = json!({"name": "search", "arguments": nulls});
    for result in everywhere(&server, "tools/call", &params).await {
        assert_eq!(text(&result), "a None None None");
    }
    // What is required is said to be, by its name.
    for arguments in [json!(null), json!({}), json!([]), json!({"after": "b"})] {
        let params = json!({"name": "search", "arguments": arguments});
        for result in everywhere(&server, "tools/call", &params).await {
            assert_eq!(result["isError"], true);
            assert!(text(&result).contains("query"), "{result}");
        }
    }
}

/// c0tton-fluff/caido-mcp-server#34, c0tton-fluff/caido-mcp-server#1, anthropics/claude-code#3966
#[tokio::test]
async fn schemas_have_properties_and_one_type_each() {
    for result in everywhere(&searching(), "tools/list", &json!({})).await {
        for tool in result["tools"].as_array().unwrap() {
            let schema = &tool["inputSchema"];
            assert_eq!(schema["type"], "object");
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(property["type"].is_string(), "{name}: {property}");
            }
        }
    }
}

/// modelcontextprotocol/go-sdk#747, modelcontextprotocol/go-sdk#283, modelcontextprotocol/servers#3051
#[tokio::test]
async fn a_schema_of_ones_own_stays_as_it_is_or_is_refused_by_name() {
    let with = |schema: Value| {
        Server::builder("reports", "1", ())
            .raw_tool(Tool::new("go_workspace", "").with_input_schema(schema), async |(), _, _| {
                Ok(CallToolResult::text("ok"))
            })
            .build()
    };
    let empty = json!({"type": "object", "properties": {}});
    for result in everywhere(&with(empty.clone()).unwrap(), "tools/list", &json!({})).await {
        assert_eq!(result["tools"][0]["inputSchema"], empty);
    }
    for wrong in [
        json!({"type": "string"}),
        json!({"type": ["object", "null"]}),
        json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
        json!([]),
    ] {
        let error = with(wrong.clone()).unwrap_err().to_string();
        assert!(error.contains("go_workspace") && error.contains("object"), "{wrong}: {error}");
    }
}

/// Effect-TS/effect#8218
#[tokio::test]
async fn a_misspelt_argument_can_be_refused_by_its_name() {
    let arguments = json!({"text": "hi", "limti": 5});
    let params = json!({"name": "strict", "arguments": arguments});
    for result in everywhere(&searching(), "tools/call", &params).await {
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains("limti"), "{result}");
    }
    for result in everywhere(&searching(), "tools/list", &json!({})).await {
        let tools = result["tools"].as_array().unwrap();
        let strict = tools.iter().find(|tool| tool["name"] == "strict").unwrap();
        assert_eq!(strict["inputSchema"]["additionalProperties"], false);
    }
}

/// modelcontextprotocol/typescript-sdk#654, modelcontextprotocol/python-sdk#2429,
/// modelcontextprotocol/typescript-sdk#2748, modelcontextprotocol/go-sdk#417
#[tokio::test]
async fn a_tool_with_an_output_schema_fails_in_its_own_words() {
    let output =
        json!({"type": "object", "properties": {"test": {"type": "string"}}, "required": ["test"]});
    let raw = Tool::new("raw", "").with_input_schema(json!({"type": "object"}));
    let server = Server::builder("reports", "1", ())
        .tool(Tool::new("typed", "Fails."), async || {
            Err::<Json<Found>, _>(ToolError::new("NOT_FOUND", "There is no such test."))
        })
        .raw_tool(raw.with_output_schema(output), async |(), _, _| {
            Ok(CallToolResult::text("There is no such test.").with_error())
        })
        .tool(Tool::new("plain", "Says a word."), async || "word")
        .tool(Tool::new("found", "Finds."), async || Json(Found { test: "a".to_owned() }))
        .build()
        .unwrap();
    for tool in ["typed", "raw"] {
        for result in everywhere(&server, "tools/call", &json!({ "name": tool })).await {
            assert_eq!(result["isError"], true);
            assert!(text(&result).contains("There is no such test."), "{result}");
            // Some clients judge it by the schema of results, although it is none.
            assert_eq!(result.get("structuredContent"), None, "{result}");
        }
    }
    for result in everywhere(&server, "tools/call", &json!({"name": "plain"})).await {
        assert_eq!(result.get("structuredContent"), None);
    }
    for result in everywhere(&server, "tools/call", &json!({"name": "found"})).await {
        assert_eq!(result["structuredContent"], json!({"test": "a"}));
    }
}

/// PrefectHQ/fastmcp#2322, PrefectHQ/fastmcp#2041, modelcontextprotocol/python-sdk#159, PrefectHQ/fastmcp#4250
#[tokio::test]
async fn templates_of_a_query_or_of_a_path_match_what_they_list() {
    let template = |uri: &str, name: &str| ResourceTemplate::new(uri, name);
    let read = async |(): (), uri: ResourceUri, _: Context| {
        let variable = |name| uri.variables.get(name).unwrap_or("-").to_owned();
        let text = ["format", "id", "path"].map(variable).join(" ");
        Ok::<_, RequestError>(ResourceContents::text(&uri.uri, text))
    };
    let server = Server::builder("reports", "1", ())
        .resource_template(template("data://config{?format}", "config"), read)
        .resource_template(template("item://{id}{?format}", "item"), read)
        .resource_template(template("content://files/{+path}", "file"), read)
        .build()
        .unwrap();
    for (uri, wanted) in [
        ("data://config", "- - -"),
        ("data://config?format=xml", "xml - -"),
        ("item://123?format=xml", "xml 123 -"),
        ("item://123", "- 123 -"),
        ("content://files/path/with/slashes.md", "- - path/with/slashes.md"),
    ] {
        for result in everywhere(&server, "resources/read", &json!({ "uri": uri })).await {
            assert_eq!(result["contents"][0]["text"], wanted, "{uri}");
            assert_eq!(result["contents"][0]["uri"], uri);
        }
    }
}

/// modelcontextprotocol/go-sdk#269
#[tokio::test]
async fn a_handshake_without_params_or_id_harms_nothing() {
    let service = service();
    let nothing = Raw::post(r#"{"jsonrpc": "2.0", "method": "initialize"}"#).send(&service).await;
    assert!([202, 400].contains(&nothing.status.as_u16()), "{}", nothing.status);
    assert_eq!(nothing.header("mcp-session-id"), None);
    let asked = json!({"jsonrpc": "2.0", "id": 7, "method": "initialize"});
    let refused = Raw::post(asked.to_string()).send(&service).await.refusal();
    assert_eq!((refused.1, refused.2), (-32602, Some(json!(7))));
    open_session(&service).await;
    let mut pipe = Peer::new(server());
    pipe.send(&json!({"jsonrpc": "2.0", "method": "initialize"})).await;
    pipe.send(&asked).await;
    assert_eq!(pipe.next().await["error"]["code"], -32602);
}

/// mark3labs/mcp-go#123, cognizant-ai-lab/neuro-san#526
#[tokio::test]
async fn a_panic_is_the_answer_of_its_call_alone_and_each_id_comes_back_as_it_was() {
    let server = Server::builder("reports", "1", ())
        .tool(Tool::new("panics", "Panics."), async |asked: Search| -> String {
            panic!("no {}", asked.query)
        })
        .tool(Tool::new("now", "Takes nothing."), async || "now")
        .build()
        .unwrap();
    let mut pipe = Peer::new(server.clone());
    let service = StreamableHttpService::new(server);
    for id in [json!(0), json!("0"), json!(-7), json!(9_007_199_254_740_993_u64), json!("a b")] {
        for (tool, failed) in [("panics", true), ("now", false)] {
            let params = json!({"name": tool, "arguments": {"query": "x"}});
            pipe.send(&request(&id, "tools/call", &with_meta(params.clone()))).await;
            let reply = Raw::modern_id(&id, "tools/call", params).send(&service).await.json();
            for answer in [pipe.next().await, reply] {
                assert_eq!(answer["id"], id);
                let is_failure =
                    answer.get("error").is_some() || answer["result"]["isError"] == true;
                assert_eq!(is_failure, failed, "{answer}");
                assert!(!answer.to_string().contains("no x"), "{answer}");
            }
        }
    }
}

/// moadim-io/daemon#342
#[tokio::test]
async fn an_open_stream_does_not_hold_up_the_end() {
    let mut served = Served::new(server()).await;
    let session = open_session(&served.service).await;
    let mut stream = dial(&served, get(&session, None)).await;
    served.stop();
    assert!(stream.rest().await.is_empty());
    served.ended().await;
}
