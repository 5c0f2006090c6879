//! Tools are called with arguments that fit, and each report says how many were.

use std::fs;

use mcp_conformance::{Check, Format, Results, Revision, Subject, Target, Tool, ToolCall};
use serde_json::{Value, json};

use super::correct::correct;
use super::text;
use crate::command_line::run;
use crate::mutation::{Fault, SentRequest, broken, instead, result};
use crate::serve::serve;

/// Tools besides `look` and `write`: three that can be called, one whose argument cannot be made, one that is not
/// read-only. Each answers with its arguments.
fn tools() -> Target {
    let schema = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    let tools = [
        (
            "add",
            schema(
                json!({"a": {"type": "integer"}, "b": {"type": "integer", "minimum": 7}}),
                json!(["a", "b"]),
            ),
        ),
        (
            "pick",
            schema(
                json!({"of": {"enum": ["red", "blue"]}, "day": {"type": "string", "examples": ["Monday"]}}),
                json!(["of", "day"]),
            ),
        ),
        ("nested", schema(json!({"at": {"$ref": "#/$defs/Point"}}), json!(["at"]))),
        ("odd", schema(json!({"x": {"type": "string", "pattern": "^Q[0-9]{40}$"}}), json!(["x"]))),
    ];
    let added: Vec<_> = tools
        .into_iter()
        .map(|(name, mut schema)| {
            schema["$defs"] = json!({"Point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}});
            json!({
                "name": name, "description": name, "inputSchema": schema,
                "annotations": {"readOnlyHint": true},
            })
        })
        .collect();
    let listed = result("tools/list", move |result| {
        result["tools"].as_array_mut().unwrap().extend(added.clone());
    });
    broken(correct(), listed.and(answering(|asked| asked.body["params"]["arguments"].clone())))
}

/// Calls of the added tools are answered with this as structured content.
fn answering(content: fn(&SentRequest) -> Value) -> Fault {
    instead(move |asked| {
        let own = ["add", "pick", "nested", "odd"].iter().any(|it| asked.is_call(it));
        let text = json!([{"type": "text", "text": "done"}]);
        let result = json!({"content": text, "structuredContent": content(asked)});
        own.then(|| asked.answered(result))
    })
}

fn check(target: Target) -> Check {
    let check = Check::url(target).revisions(vec![Revision::V2025_11_25]);
    check.only(["tools.structured-content".to_owned()])
}

#[tokio::test(start_paused = true)]
async fn arguments_are_made_from_schemas_and_every_report_says_what_was_called() {
    let report = check(tools()).run(|_| {}).await.unwrap();
    let calls = report.calls.clone().unwrap();
    assert_eq!((calls.called, calls.tools), (4, 6), "{calls}");
    assert_eq!(calls.need_arguments, ["odd"]);
    assert_eq!(calls.not_read_only, ["write"]);
    let says = "called 4 of 6 tools; 1 needs arguments (--call NAME={…}): odd; \
                1 is not marked as read-only (--call NAME): write; ";
    assert!(calls.to_string().starts_with(says), "{calls}");
    let mut results = Results::new(Tool::Check);
    results.targets.push(Subject::from(&report));
    for format in [Format::Text, Format::Junit, Format::Html, Format::Markdown] {
        let mut text = Vec::new();
        results.write(format, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("called 4 of 6 tools"), "{format:?}\n{text}");
    }
    for (format, says) in [(Format::Json, "\"needArguments\": ["), (Format::Sarif, "called 4 of 6")]
    {
        let mut text = Vec::new();
        results.write(format, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(says), "{format:?}\n{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn results_are_held_against_the_output_schema() {
    let with_schema = result("tools/list", |result| {
        for tool in result["tools"].as_array_mut().unwrap() {
            if tool["name"] != "look" && tool["name"] != "write" {
                let of = json!({"type": "string", "maxLength": 3});
                tool["outputSchema"] =
                    json!({"type": "object", "properties": {"day": of, "a": {"const": 1}}});
            }
        }
    });
    let report = check(broken(tools(), with_schema)).run(|_| {}).await.unwrap();
    let text = text(&report);
    assert!(text.contains("seen: pick: /day \"Monday\" is longer than 3 characters"), "{text}");
    assert!(!text.contains("add:"), "{text}");
}

#[tokio::test]
async fn calls_are_given_by_name_in_a_file_or_in_a_transcript() {
    let url = format!("{}/mcp", serve(tools()));
    let only = ["--only", "tools.structured-content", "--revision", "2025-11-25"];
    let check = async |more: &[&str]| {
        run(&[&["check", "--url", &url, "--format", "json"], &only[..], more].concat()).await
    };
    let called = |out: &str| {
        let report: Value = serde_json::from_str(out).unwrap();
        report["targets"][0]["calls"]["called"].as_u64().unwrap()
    };
    let (code, out, err) = check(&["--call", "odd={\"x\":\"Q\"}", "--call", "write"]).await;
    assert_eq!((code, called(&out)), (0, 6), "{out}{err}");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let step = |arguments: Value| json!({"mcp": {"method": "tools/call", "params": {"name": "odd", "arguments": arguments}}});
    // What depends on an earlier answer cannot be called alone.
    let steps =
        [json!({"x": {"$var": "v"}}), json!({"x": "${v}"}), json!({"x": "$${v}"})].map(step);
    let steps = steps.map(|it| it.to_string()).join("\n");
    for file in [
        path("lines.jsonl", "{\"name\":\"odd\",\"arguments\":{}}\n\n{\"name\":\"odd\"}\n"),
        path("array.json", "[{\"name\":\"odd\",\"arguments\":{\"x\":\"$var\"}}]"),
        path("recorded.jsonl", &format!("{{\"transcript\":1,\"name\":\"r\"}}\n{steps}\n")),
    ] {
        let (code, out, err) = check(&["--calls", &file]).await;
        assert_eq!((code, called(&out)), (0, 5), "{out}{err}");
    }
    let recorded = ToolCall::read(&folder.path().join("recorded.jsonl")).unwrap();
    assert_eq!(recorded, ["odd={\"x\":\"${v}\"}".parse().unwrap()]);
    for (arguments, says) in [
        (&["--call", "ad"][..], "has no tool called \"ad\"; the most similar one is \"add\""),
        (&["--call", "add=1"], "the arguments are not a JSON object"),
        (&["--call", "add={"], "is not JSON"),
        (&["--calls", "missing.jsonl"], "missing.jsonl: cannot be read"),
        (&["--calls", &path("bad.jsonl", "{\"tool\":1}")], "bad.jsonl:1: the line is not a call"),
        (&["--calls", &path("empty.jsonl", "")], "there is no call of a tool in it"),
    ] {
        let (code, _, err) = check(arguments).await;
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert!(err.contains(says), "{arguments:?}: {err}");
    }
}

/// A definition that refers to itself in two places has no end if it is only followed.
#[tokio::test(start_paused = true)]
async fn schemas_that_refer_to_themselves_are_checked_once() {
    let node = json!({"$ref": "#/$defs/Node"});
    let list = json!({"left": node, "right": node, "list": {"type": "array"}});
    let schema = json!({
        "type": "object", "properties": {"x": node},
        "$defs": {"Node": {"type": "object", "properties": list}},
    });
    let listed =
        result("tools/list", move |result| result["tools"][0]["inputSchema"] = schema.clone());
    let check = Check::url(broken(correct(), listed)).revisions(vec![Revision::V2025_11_25]);
    let report = check.only(["schemas.".to_owned()]).run(|_| {}).await.unwrap();
    let text = text(&report);
    assert!(text.contains("/$defs/Node/properties/list is an array without items"), "{text}");
}

#[test]
fn a_call_is_written_as_it_is_read() {
    for text in ["add", "add={\"a\":1}"] {
        assert_eq!(text.parse::<ToolCall>().unwrap().to_string(), text);
    }
}
