//! `snapshot` and `diff`: what changed, in words, and whether it breaks callers.

use std::fs;

use mcp_conformance::{Contract, ContractDiff, Impact, Target};
use mcp_proto::{CallToolResult, Context, Server, StreamableHttpService, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::check::correct;
use crate::command_line::run;
use crate::serve::serve;

/// What changed from one list of tools to another, each with its impact.
fn changes(old: &Value, new: &Value) -> Vec<(Impact, String)> {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = [("old", old), ("new", new)].map(|(name, tools)| {
        let path = folder.path().join(format!("{name}.json"));
        fs::write(&path, json!({ "tools": tools }).to_string()).unwrap();
        Contract::read(&path).unwrap()
    });
    let diff = ContractDiff::between(&old, &new);
    let changes = diff.changes.into_iter();
    changes.map(|it| (it.impact, format!("{}: {}", it.name, it.what))).collect()
}

/// The changes between two input schemas of a tool.
fn arguments(old: Value, new: Value) -> Vec<(Impact, String)> {
    let tool = |schema: Value| json!([{"name": "t", "inputSchema": schema}]);
    changes(&tool(old), &tool(new))
}

/// The changes between two output schemas of a tool.
fn results(old: Value, new: Value) -> Vec<(Impact, String)> {
    let tool = |schema: Value| json!([{"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}]);
    changes(&tool(old), &tool(new))
}

fn of(property: &Value) -> Value {
    json!({"type": "object", "properties": {"x": property}})
}

#[track_caller]
fn is(found: &[(Impact, String)], impact: Impact, what: &str) {
    assert_eq!(found, [(impact, format!("t: {what}"))]);
}

const BREAKING: Impact = Impact::Breaking;
const COMPATIBLE: Impact = Impact::Compatible;

/// What users want to read: NousResearch/hermes-agent#110298, modelcontextprotocol/inspector#1034.
#[test]
fn arguments_that_are_narrower_break_callers() {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    let text = || json!({"type": "string"});
    for (old, new, impact, what) in [
        (
            object(json!({"x": text()}), json!([])),
            object(json!({"x": text()}), json!(["x"])),
            BREAKING,
            "argument `x` is now required",
        ),
        (
            object(json!({"x": text()}), json!(["x"])),
            object(json!({"x": text()}), json!([])),
            COMPATIBLE,
            "argument `x` is now optional",
        ),
        (
            object(json!({}), json!([])),
            object(json!({"x": text()}), json!(["x"])),
            BREAKING,
            "required argument `x` was added",
        ),
        (
            object(json!({}), json!([])),
            object(json!({"x": text()}), json!([])),
            COMPATIBLE,
            "optional argument `x` was added",
        ),
        (
            object(json!({"x": text()}), json!([])),
            object(json!({}), json!([])),
            BREAKING,
            "argument `x` was removed",
        ),
        (
            object(json!({"path": text()}), json!(["path"])),
            object(json!({"file": text()}), json!(["file"])),
            BREAKING,
            "argument `path` was renamed to `file`",
        ),
    ] {
        is(&arguments(old, new), impact, what);
    }
    for (old, new, impact, what) in [
        (
            text(),
            json!({"type": "integer"}),
            BREAKING,
            "argument `x` is now integer instead of string",
        ),
        (
            json!({"type": "integer"}),
            json!({"type": "number"}),
            COMPATIBLE,
            "argument `x` is now number instead of integer",
        ),
        (text(), json!({"type": ["string", "null"]}), COMPATIBLE, "argument `x` may be null"),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            text(),
            BREAKING,
            "argument `x` is no longer null",
        ),
        (
            json!({"enum": ["a", "b"]}),
            json!({"enum": ["a", "c"], "description": ""}),
            BREAKING,
            "argument `x` is no longer \"b\"",
        ),
        (
            json!({"type": "string", "enum": ["a"]}),
            text(),
            COMPATIBLE,
            "argument `x` may be more than \"a\"",
        ),
        (
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "minimum": 5}),
            BREAKING,
            "argument `x`: minimum is 5 instead of 1",
        ),
        (
            json!({"type": "integer", "maximum": 10}),
            json!({"type": "integer", "maximum": 20}),
            COMPATIBLE,
            "argument `x`: maximum is 20 instead of 10",
        ),
        (
            text(),
            json!({"type": "string", "default": "a"}),
            COMPATIBLE,
            "argument `x`: default is now \"a\"",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "integer"}}),
            BREAKING,
            "argument `x[]` is now integer instead of string",
        ),
        (
            text(),
            json!({"type": "string", "x-mcp-header": "Region"}),
            BREAKING,
            "argument `x` must also be sent in the header Mcp-Param-Region",
        ),
    ] {
        let found = arguments(of(&old), of(&new));
        let found: Vec<_> =
            found.into_iter().filter(|(impact, _)| *impact != Impact::Text).collect();
        let found = found.into_iter().filter(|(_, it)| !it.contains("may also be"));
        is(&found.collect::<Vec<_>>(), impact, what);
    }
}

#[test]
fn what_is_written_in_another_way_is_no_change_for_callers() {
    let plain =
        json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]});
    let referred = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/Text"}},
        "required": ["x"],
        "$defs": {"Text": {"type": "string"}},
    });
    assert_eq!(
        arguments(plain.clone(), referred),
        [(
            Impact::Text,
            "t: its inputSchema is written differently, without effect on callers".to_owned()
        )]
    );
    // A generator that writes the limits of an integer of its language.
    let integer = json!({"type": "integer"});
    let safe = json!({"type": "integer", "maximum": 9_007_199_254_740_991_u64});
    assert!(arguments(of(&integer), of(&safe)).iter().all(|(impact, _)| *impact == Impact::Text));
    let listed = |names: [&str; 2]| {
        let tools = names.map(|name| json!({"name": name, "inputSchema": plain}));
        Value::from(tools.to_vec())
    };
    assert_eq!(changes(&listed(["a", "b"]), &listed(["b", "a"])), []);
}

/// Definitions that refer to themselves, in several places, have no end if they are only followed.
#[test]
fn schemas_that_refer_to_themselves_are_compared_once() {
    let tree = |least: u64| {
        let node = json!({"$ref": "#/$defs/Node"});
        let node = json!({
            "type": "object",
            "properties": {"left": node, "right": node, "name": {"type": "string", "minLength": least}},
            "additionalProperties": node,
        });
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}})
    };
    is(&arguments(tree(1), tree(2)), BREAKING, "argument `x.name`: minLength is 2 instead of 1");
    assert_eq!(arguments(tree(1), tree(1)), []);
    // The definition is the same; another keyword beside it is not.
    let beside = |least: u64| {
        let mut schema = tree(1);
        schema["properties"]["y"] = json!({"type": "string", "minLength": least});
        schema
    };
    is(&arguments(beside(1), beside(0)), COMPATIBLE, "argument `y`: minLength 1 was dropped");
}

#[test]
fn nothing_is_called_without_effect_that_may_have_one() {
    let object = |kind: &str, more: Value| {
        let mut schema = json!({"type": "object", "properties": {"a": {"type": kind}, "b": {}}});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    // One of two arguments is needed, as many servers write it.
    let either = json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let found = arguments(object("string", either.clone()), object("integer", either.clone()));
    is(&found, BREAKING, "argument `a` is now integer instead of string");
    let found = arguments(object("string", json!({})), object("string", either));
    is(
        &found,
        BREAKING,
        "`anyOf` of the arguments changed; whether it is wider or narrower is not judged",
    );
    let found = arguments(
        object("string", json!({})),
        object("string", json!({"dependencies": {"title": ["b"]}})),
    );
    is(
        &found,
        BREAKING,
        "`dependencies` of the arguments changed; whether it is wider or narrower is not judged",
    );
    // A text of a definition is that of its argument.
    let inline = of(&json!({"type": "string", "description": "A path."}));
    let mut referred = of(&json!({"$ref": "#/$defs/Path"}));
    referred["$defs"] = json!({"Path": {"type": "string", "description": "A path."}});
    let what = "its inputSchema is written differently, without effect on callers";
    is(&arguments(inline, referred), Impact::Text, what);
}

#[test]
fn arguments_of_prompts_are_compared_as_those_of_tools() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, arguments: Value| {
        let path = folder.path().join(name);
        let prompts = json!({"prompts": [{"name": "p", "arguments": arguments}]});
        fs::write(&path, prompts.to_string()).unwrap();
        Contract::read(&path).unwrap()
    };
    let old = read("old.json", json!([{"name": "a", "description": "One."}, {"name": "gone"}]));
    let new = json!([
        {"name": "a", "description": "Two.", "required": true},
        {"name": "b", "required": true},
        {"name": "c"},
    ]);
    let diff = ContractDiff::between(&old, &read("new.json", new));
    let changes: Vec<_> = diff.changes.iter().map(|it| (it.impact, it.what.as_str())).collect();
    let expected = [
        (BREAKING, "argument `gone` was removed"),
        (BREAKING, "argument `a` is now required"),
        (BREAKING, "required argument `b` was added"),
        (COMPATIBLE, "optional argument `c` was added"),
        (Impact::Text, "description of `a` changed"),
    ];
    assert_eq!(changes, expected);
}

#[test]
fn results_that_are_wider_break_callers() {
    let with = |required: &[&str]| json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": required});
    is(&results(with(&["x"]), with(&[])), BREAKING, "`x` of the result is now optional");
    is(&results(with(&[]), with(&["x"])), COMPATIBLE, "`x` of the result is now required");
    is(
        &results(of(&json!({"enum": ["a"]})), of(&json!({"enum": ["a", "b"]}))),
        BREAKING,
        "`x` of the result may also be \"b\"",
    );
    is(&results(with(&[]), json!({"type": "object"})), BREAKING, "`x` of the result was removed");
    is(&results(json!({"type": "object"}), with(&[])), COMPATIBLE, "`x` of the result was added");
}

/// What releases of published servers changed, and their authors would say of it.
#[test]
fn releases_of_published_servers_are_told_as_their_authors_would() {
    // server-filesystem 2025.8.18: a schema without a type; calls have an object of arguments all the same.
    let bare = json!({"$schema": "http://json-schema.org/draft-07/schema#"});
    let typed = json!({"type": "object", "properties": {}});
    let same = "its inputSchema is written differently, without effect on callers";
    is(&arguments(bare, typed), Impact::Text, same);
    // firecrawl-mcp 3.26.0: no header can be sent any more.
    let map = |others: Value| of(&json!({"type": "object", "additionalProperties": others}));
    for others in [json!({"type": "string"}), json!({}), json!(true)] {
        let found = arguments(map(others), map(json!(false)));
        is(&found, BREAKING, "members of argument `x` that are not listed are refused now");
    }
    // brave-search-mcp-server 2.0.62: values beside any text are suggestions.
    let any = of(&json!({"anyOf": [{"const": "pd"}, {"const": "pw"}, {"type": "string"}]}));
    is(&arguments(any.clone(), of(&json!({"type": "string"}))), Impact::Text, same);
    let some = of(&json!({"type": "string", "enum": ["pd", "pw"]}));
    let found = arguments(any, some);
    assert_eq!(found.len(), 1, "{found:?}");
    is(&found, BREAKING, "argument `x` is now one of \"pd\", \"pw\"");
    // tavily-mcp 0.2.22 and server-everything 2026.8.31: the same names with other separators.
    let tool = |name: &str, argument: &str| json!({"name": name, "inputSchema": of(&json!({"type": "string", "title": argument}))});
    let found = changes(
        &json!([tool("tavily-search", "a"), tool("getTinyImage", "b")]),
        &json!([tool("tavily_search", "c"), tool("get-tiny-image", "d"), tool("tavily_map", "e")]),
    );
    let renamed = |old: &str, new: &str| (BREAKING, format!("{old}: was renamed to `{new}`"));
    assert!(found.contains(&renamed("tavily-search", "tavily_search")), "{found:?}");
    assert!(found.contains(&renamed("getTinyImage", "get-tiny-image")), "{found:?}");
    assert!(found.contains(&(COMPATIBLE, "tavily_map: was added".to_owned())), "{found:?}");
}

#[test]
fn tools_come_go_and_get_other_names_and_hints() {
    let tool = |name: &str, description: &str| {
        json!({
            "name": name,
            "description": description,
            "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
        })
    };
    let old =
        json!([tool("read_file", "Reads a file."), tool("list", "Lists all the files there.")]);
    let new = json!([
        tool("read_text_file", "Reads a file, as a text."),
        tool("show", "Lists all the files there."),
        tool("write", "Writes."),
    ]);
    let found = changes(&old, &new);
    let expected = [
        (BREAKING, "list: was renamed to `show`"),
        (BREAKING, "read_file: was renamed to `read_text_file`"),
        (COMPATIBLE, "write: was added"),
        (Impact::Text, "read_file: description changed"),
    ];
    assert_eq!(found, expected.map(|(impact, what)| (impact, what.to_owned())));
    let hinted = |hints: Value| json!([{"name": "t", "inputSchema": {"type": "object"}, "annotations": hints}]);
    is(
        &changes(&hinted(json!({"readOnlyHint": true})), &hinted(json!({}))),
        BREAKING,
        "is no longer marked as read-only",
    );
    is(
        &changes(&hinted(json!({})), &hinted(json!({"destructiveHint": false}))),
        COMPATIBLE,
        "is marked as not destructive",
    );
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Add {
    #[expect(dead_code, reason = "the schema shows it")]
    a: i64,
}

/// A server whose tools are these, in this order, which adds only if it is asked.
fn server(names: &[&str]) -> Target {
    let mut server = Server::builder("adds", "1.0.0", ());
    for name in names {
        let tool = Tool::new(*name, "Adds one.").with_annotations(ToolAnnotations::read_only());
        let add = async |(), Add { .. }, _: Context| Ok(CallToolResult::text("1"));
        server = server.tool(tool, add);
    }
    Target::service(StreamableHttpService::new(server.build().unwrap()))
}

/// kubeflow/mcp-server#168: a snapshot that is kept, and a command that updates it.
#[tokio::test]
async fn a_server_is_held_against_its_lock_file() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("server.lock.json");
    let lock = lock.to_str().unwrap();
    let url = |names: &[&str]| format!("{}/mcp", serve(server(names)));
    let first = url(&["a", "b"]);
    let (code, out, err) = run(&["snapshot", "--url", &first, "--output", lock]).await;
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("2 tools, "), "{out}");
    // The same in another order.
    let (_, other, _) = run(&["snapshot", "--url", &url(&["b", "a"])]).await;
    assert_eq!(fs::read_to_string(lock).unwrap(), other);

    let (code, out, _) = run(&["diff", lock, &first]).await;
    assert_eq!(code, 0, "{out}");
    assert!(out.ends_with("no changes\n"), "{out}");
    let (code, out, _) = run(&["diff", lock, &url(&["a", "b", "c"])]).await;
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("not breaking:\n  tool `c` was added\n"), "{out}");
    let (code, out, _) = run(&["diff", lock, &url(&["a"])]).await;
    assert_eq!(code, 1, "{out}");
    assert!(out.starts_with("adds 1.0.0 ("), "{out}");
    assert!(out.contains("breaking:\n  tool `b` was removed\n"), "{out}");
    let (code, out, _) = run(&["diff", lock, &url(&["a"]), "--format", "json"]).await;
    assert_eq!(code, 1, "{out}");
    let diff: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(diff["changes"][0]["what"], "was removed");
    assert_eq!(diff["breaking"], true);
}

#[tokio::test]
async fn a_server_on_pipes_has_a_lock_file_too() {
    let command = format!("{} --stdio", correct::everything().await);
    let (code, lock, err) = run(&["snapshot", "--command", &command]).await;
    assert_eq!((code, err.as_str()), (0, ""));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock.json");
    fs::write(&path, lock).unwrap();
    let (code, out, _) = run(&["diff", &command, path.to_str().unwrap()]).await;
    assert_eq!(code, 0, "{out}");
    assert!(out.ends_with("no changes\n"), "{out}");
    for revision in ["2025-11-25", "2024-11-05"] {
        let old = ["diff", &command, &command, "--revision", revision];
        let (code, out, _) = run(&old).await;
        assert_eq!(code, 0, "{out}");
    }
}

#[tokio::test]
async fn a_transcript_is_an_older_contract() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorded.jsonl");
    let lines = [
        json!({"transcript": 1, "name": "r", "eras": ["legacy"]}),
        json!({"open": "main"}),
        json!({"mcp": {"method": "tools/list"}, "expect": {"result": {"tools": [
            {
                "name": "a",
                "description": {"$match": "^Adds"},
                "inputSchema": {"$literal": {"type": "object", "properties": {"a": {"type": "integer"}}}},
            },
            {"name": "gone", "inputSchema": {"type": "object"}},
        ]}}}),
    ];
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    fs::write(&path, lines.join("\n")).unwrap();
    let url = format!("{}/mcp", serve(server(&["a"])));
    let (code, out, _) = run(&["diff", path.to_str().unwrap(), &url]).await;
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("  tool `gone` was removed\n"), "{out}");
    assert!(out.contains("  tool `a`: argument `a` is now required\n"), "{out}");
    assert!(!out.contains("description"), "{out}");
}

#[tokio::test]
async fn what_cannot_be_compared_has_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = path("good.json", "{\"tools\":[]}");
    let (code, _, err) = run(&["diff", &good, "missing.json"]).await;
    assert_eq!(code, 2);
    assert!(err.contains("missing.json: cannot be read"), "{err}");
    let (code, _, err) = run(&["diff", &good, &path("bad.json", "{}")]).await;
    assert_eq!(code, 2);
    assert!(err.contains("neither a lock file"), "{err}");
    let (code, _, err) = run(&["diff", &good, &path("new.json", "{\"lock\":9}")]).await;
    assert_eq!(code, 2);
    assert!(err.contains("another version"), "{err}");
    let (code, _, err) =
        run(&["diff", &good, &path("odd.json", "{\"lock\":1,\"tools\":[]}")]).await;
    assert_eq!(code, 2);
    assert!(err.contains("not a lock file as `snapshot` writes it"), "{err}");
    assert_eq!(run(&["diff", &good]).await.0, 2);
    let (code, out, _) = run(&["diff", &good, "http://127.0.0.1:9/mcp"]).await;
    assert_eq!(code, 3);
    assert!(out.contains("cannot be reached"), "{out}");
    let (code, out, _) = run(&["snapshot", "--command", "no-such-program-of-mine"]).await;
    assert_eq!(code, 3, "{out}");
    // What was not read is not compared.
    let prompts = path("prompts.json", "{\"prompts\":[{\"name\":\"p\"}]}");
    let (code, out, _) = run(&["diff", &good, &prompts]).await;
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("note: the old contract does not say which prompts there are"), "{out}");
}
