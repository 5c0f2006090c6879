//! What tools give back, against their own schemas and in each era; content of every kind.

use http::StatusCode;
use mcp_proto::content::IconTheme;
use mcp_proto::json::escaped;
use mcp_proto::stdio::{StdioConfig, serve};
use mcp_proto::{
    Annotations, CallToolResult, ContentBlock, Icon, Json, PreparedJson, Resource,
    ResourceContents, Server, StreamableHttpService, Tool, ToolAnnotations, ToolError,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::common::{Raw, call, open_session, request, with_meta};

/// Requires nothing, so that a failure fits its schema.
#[derive(Serialize, JsonSchema)]
struct Open {
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<u32>,
}

fn server() -> Server {
    let tool = |name: &str| Tool::new(name, "").with_input_schema(json!({"type": "object"}));
    let schema =
        || json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    Server::builder("s", "1", ())
        .raw_tool(tool("wrong").with_output_schema(schema()), async |(), _, _| {
            CallToolResult::structured(&json!({"n": "one"}))
        })
        .raw_tool(tool("nothing").with_output_schema(schema()), async |(), _, _| {
            Ok(CallToolResult::text("no structure"))
        })
        .raw_tool(tool("right").with_output_schema(schema()), async |(), _, _| {
            CallToolResult::structured(&json!({"n": 1}))
        })
        .raw_tool(
            tool("trusted").with_output_schema(schema()).with_trusted_output(),
            async |(), _, _| CallToolResult::structured(&json!({"n": "one"})),
        )
        .tool(Tool::new("content", "").with_output_schema(schema()), async || {
            CallToolResult::structured(&json!({"n": "one"}))
        })
        .raw_tool(tool("failed").with_output_schema(schema()), async |(), _, _| {
            Ok(CallToolResult::structured(&json!({"why": "no"}))?.with_error())
        })
        .raw_tool(tool("open").with_output_schema(json!({"type": "object"})), async |(), _, _| {
            Ok(CallToolResult::structured(&json!({"why": "no"}))?.with_error())
        })
        .tool(Tool::new("typed", ""), async || {
            Err::<Json<Open>, _>(ToolError::new("NO", "not now"))
        })
        .raw_tool(tool("list"), async |(), _, _| CallToolResult::structured(&json!([1, 2])))
        .raw_tool(tool("prepared"), async |(), _, _| {
            let mut json = PreparedJson::default();
            for piece in [r#"{"n":[1,"two"],"why":"\"#, r#""no\""}"#] {
                json.push(piece.into(), escaped(piece).into());
            }
            Ok(CallToolResult::prepared(json).with_error())
        })
        .raw_tool(tool("prepared-failed").with_output_schema(schema()), async |(), _, _| {
            let mut json = PreparedJson::default();
            json.push(r#"{"why":"no"}"#.into(), escaped(r#"{"why":"no"}"#).into());
            Ok(CallToolResult::prepared(json).with_error())
        })
        .raw_tool(tool("unprepared"), async |(), _, _| {
            let value = json!({"n": [1, "two"], "why": "\"no\""});
            Ok(CallToolResult::structured(&value)?.with_error())
        })
        .raw_tool(tool("pretty"), async |(), _, _| {
            let text = "{\n  \"says\": \"a\\nb\",\r\n\t\"n\": [\r1\n]\n}";
            Ok(CallToolResult::from_json(RawValue::from_string(text.to_owned()).unwrap()))
        })
        .build()
        .unwrap()
}

/// The results of a call in the modern and in the legacy era.
async fn results(tool: &str) -> [Value; 2] {
    let service = StreamableHttpService::new(server());
    let session = open_session(&service).await;
    let mut results = [Value::Null, Value::Null];
    for (result, raw) in results.iter_mut().zip([
        Raw::modern("tools/call", call(tool)),
        Raw::legacy(&session, "tools/call", &call(tool)),
    ]) {
        let reply = raw.send(&service).await;
        assert_eq!(reply.status, StatusCode::OK);
        *result = reply.result();
    }
    results
}

#[tokio::test]
async fn a_raw_result_that_breaks_its_own_schema_is_a_failure_of_the_tool() {
    for tool in ["wrong", "nothing", "content"] {
        for result in results(tool).await {
            assert_eq!(result["isError"], true, "{result}");
            assert!(result.get("structuredContent").is_none());
            assert!(result.to_string().contains("INTERNAL_ERROR"));
        }
    }
    for result in results("right").await {
        assert_eq!(result["structuredContent"], json!({"n": 1}));
    }
}

#[tokio::test]
async fn json_in_prepared_parts_gives_the_same_result() {
    let (prepared, whole) = (results("prepared").await, results("unprepared").await);
    assert_eq!(prepared, whole);
    for result in prepared {
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["structuredContent"]["why"], "\"no\"");
    }
}

#[tokio::test]
async fn a_failure_has_structure_only_where_the_output_schema_allows_it() {
    for tool in ["failed", "prepared-failed"] {
        for result in results(tool).await {
            assert_eq!(result["isError"], true, "{result}");
            assert!(result.get("structuredContent").is_none(), "{result}");
            assert_eq!(result["content"][0]["text"], r#"{"why":"no"}"#);
        }
    }
    for result in results("open").await {
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["structuredContent"], json!({"why": "no"}));
        assert_eq!(result["content"][0]["text"], r#"{"why":"no"}"#);
    }
    let failure = json!({"error": {"code": "NO", "message": "not now"}});
    for result in results("typed").await {
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["structuredContent"], failure);
        assert_eq!(result["content"][0]["text"], failure.to_string());
    }
}

#[tokio::test]
async fn a_tool_that_trusts_itself_is_checked_in_debug_builds_alone() {
    for result in results("trusted").await {
        let failed = result.get("isError").is_some();
        assert_eq!(failed, cfg!(debug_assertions), "{result}");
    }
}

#[tokio::test]
async fn structured_content_that_is_no_object_is_for_the_modern_era() {
    let [modern, legacy] = results("list").await;
    assert_eq!(modern["structuredContent"], json!([1, 2]));
    assert!(legacy.get("structuredContent").is_none(), "{legacy}");
    assert_eq!(legacy["content"], modern["content"]);
    assert_eq!(legacy["content"][0]["text"], "[1,2]");
}

#[test]
fn content_of_every_kind_is_made_by_its_constructor() {
    let mut link = Resource::new("file:///a", "a");
    link.size = Some(3);
    let blocks = [
        (
            ContentBlock::image(b"png", "image/png"),
            json!({"type": "image", "data": "cG5n", "mimeType": "image/png"}),
        ),
        (
            ContentBlock::audio([0xff, 0xfe], "audio/wav"),
            json!({"type": "audio", "data": "//4=", "mimeType": "audio/wav"}),
        ),
        (
            ContentBlock::resource_link(link),
            json!({"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3}),
        ),
        (
            ContentBlock::resource(ResourceContents::text("file:///a", "abc")),
            json!({"type": "resource", "resource": {"uri": "file:///a", "text": "abc"}}),
        ),
        (
            ContentBlock::resource(ResourceContents::blob("file:///a", b"png")),
            json!({"type": "resource", "resource": {"uri": "file:///a", "blob": "cG5n"}}),
        ),
    ];
    let hints = Annotations::default().with_priority(0.5);
    let meta = Map::from_iter([("com.example/a".to_owned(), json!(1))]);
    for (block, wire) in blocks {
        let mut told = wire.clone();
        told["annotations"] = json!({"priority": 0.5});
        told["_meta"] = json!({"com.example/a": 1});
        let block_told = block.clone().with_annotations(hints.clone());
        let block_told = block_told.with_meta(meta.clone());
        assert_eq!(serde_json::to_value(&block_told).unwrap(), told);
        assert_eq!(serde_json::to_value(&block).unwrap(), wire);
        assert_eq!(serde_json::from_value::<ContentBlock>(wire).unwrap(), block);
    }
}

#[test]
fn hints_have_a_title_and_icons_a_theme() {
    let hints = ToolAnnotations::default().with_title("Look");
    assert_eq!(serde_json::to_value(&hints).unwrap(), json!({"title": "Look"}));
    let mut icon = Icon::new("https://x/i.png");
    icon.theme = Some(IconTheme::Dark);
    let wire = json!({"src": "https://x/i.png", "theme": "dark"});
    assert_eq!(serde_json::to_value(&icon).unwrap(), wire);
    assert_eq!(serde_json::from_value::<Icon>(wire).unwrap(), icon);
}

#[tokio::test]
async fn a_list_is_the_same_text_for_everybody() {
    let server = server();
    let list = || async {
        let request = mcp_proto::jsonrpc::Request::new(1, "tools/list", json!({}));
        let context = mcp_proto::Context::test();
        server.handle(request, context).await.outcome.unwrap()
    };
    let (first, second) = (list().await, list().await);
    assert_eq!(first.as_str().as_ptr(), second.as_str().as_ptr());
    let value = first.to_value();
    assert_eq!(value["tools"].as_array().unwrap().len(), 13);
}

#[tokio::test]
async fn json_that_is_written_over_several_lines_breaks_no_message() {
    let wanted = json!({"says": "a\nb", "n": [1]});
    let service = StreamableHttpService::new(server());
    let session = open_session(&service).await;
    for raw in [
        Raw::modern("tools/call", call("pretty")),
        Raw::legacy(&session, "tools/call", &call("pretty")),
    ] {
        let reply = raw.set("accept", "text/event-stream").send(&service).await;
        let answer = reply.events().pop().unwrap();
        assert_eq!(answer["result"]["structuredContent"], wanted);
    }
    let calls = request(1, "tools/call", &with_meta(call("pretty")));
    let mut said = Vec::new();
    serve(server(), format!("{calls}\n").as_bytes(), &mut said, StdioConfig::default())
        .await
        .unwrap();
    let said = String::from_utf8(said).unwrap();
    let [line] = said.lines().collect::<Vec<_>>()[..] else {
        panic!("{said}");
    };
    let answer: Value = serde_json::from_str(line).unwrap();
    assert_eq!(answer["result"]["structuredContent"], wanted);
}

#[test]
fn a_priority_is_a_number_between_0_and_1() {
    let written = |priority| json!(Annotations::default().with_priority(priority));
    assert_eq!(written(2.0), json!({"priority": 1.0}));
    assert_eq!(written(f64::NEG_INFINITY), json!({"priority": 0.0}));
    // JSON has none, and a null is refused by clients.
    assert_eq!(written(f64::NAN), json!({}));
}
