//! More of what authors of servers and users of clients reported in public in 2026, each with its thread: what a check
//! says of it, over HTTP, on pipes, and of two versions.

use std::time::Duration;

use mcp_conformance::{Check, Revision};
use serde_json::{Value, json};

use super::correct::correct;
use super::{found, small, text};
use crate::mutation::{Answer, Fault, answer, answer_to, broken, instead, result, tool};

/// The thread, its revision, the server in it, and the rules that must find it and no others.
type Report = (&'static str, Revision, Fault, &'static [&'static str]);

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

/// Sessions that no server of this test opened get this status.
fn unknown_session(status: u16) -> Fault {
    answer(move |asked, answer| {
        if asked.session().is_some_and(|it| it.starts_with("00000000")) {
            *answer = Answer::new(status, Value::Null);
        }
    })
}

fn over_http() -> Vec<Report> {
    vec![
        (
            "Azure/data-api-builder#3599",
            LEGACY,
            tool("look", |result| {
                result["content"][0]["annotations"] = Value::Null;
                result["content"][0]["_meta"] = Value::Null;
            }),
            &["messages.schema"],
        ),
        (
            "Hmbown/Codewhale#5335",
            LEGACY,
            result("tools/list", |result| result["nextCursor"] = Value::Null),
            &["messages.schema"],
        ),
        (
            "cristianuibar/bricks-mcp#45",
            LEGACY,
            result("ping", |result| *result = json!([])),
            &["base.ping"],
        ),
        (
            "cristianuibar/bricks-mcp#45, koala73/worldmonitor#8330",
            LEGACY,
            result("tools/list", |result| {
                for tool in result["tools"].as_array_mut().unwrap() {
                    tool["outputSchema"] = json!({"type": "object", "required": ["x"]});
                }
            }),
            &["tools.structured-content"],
        ),
        ("markmhendrickson/neotoma#1923", LEGACY, unknown_session(503), &["session.unknown"]),
        ("apollographql/apollo-mcp-server#511", LEGACY, unknown_session(422), &["session.unknown"]),
        (
            "metabase/metabase#77107",
            LEGACY,
            instead(|asked| {
                asked.is_rpc("resources/templates/list").then(|| asked.refused(200, -32601))
            }),
            &[],
        ),
        (
            "browseros-ai/BrowserOS#2504",
            MODERN,
            result("tools/list", |result| {
                result.as_object_mut().unwrap().remove("ttlMs");
                result["cacheScope"] = "session".into();
            }),
            &["messages.schema"],
        ),
        (
            "jdevalk/specification.website#186",
            MODERN,
            answer(|asked, answer| {
                if asked.is_rpc("tools/list") || asked.is_rpc("prompts/list") {
                    let result = answer.body.get_mut("result").and_then(Value::as_object_mut);
                    result.map(|it| it.remove("resultType"));
                }
            }),
            &["messages.schema"],
        ),
        (
            "mostlygeek/llama-swap#1054, aws-samples/sample-voice-of-customer-datalake#360",
            MODERN,
            answer(|_, answer| {
                let is_mismatch = answer.body["error"]["code"] == -32020;
                if is_mismatch {
                    answer.body["error"]["code"] = json!(-32600);
                }
            }),
            &[
                "modern.method-header",
                "modern.name-encoding",
                "modern.name-header",
                "modern.version-header",
            ],
        ),
        (
            "GopherSecurity/gopher-mcp#206",
            LEGACY,
            result("resources/read", |result| {
                *result = json!({"contentCount": 1, "uri": "test://one"});
            }),
            &["messages.schema"],
        ),
        (
            "GopherSecurity/gopher-mcp#235",
            LEGACY,
            result("resources/read", |result| result["contents"] = json!([])),
            &["contents.own"],
        ),
        (
            "baruchiro/paperless-mcp#87",
            LEGACY,
            tool("look", |result| {
                let resource = json!({"uri": "document-1583.pdf", "blob": "AAAA"});
                result["content"] = json!([{"type": "resource", "resource": resource}]);
            }),
            &["contents.uri"],
        ),
        (
            "brightwave-inc/tidebreak#1464",
            LEGACY,
            instead(|asked| {
                let is_without = asked.body["params"].get("arguments").is_none();
                (asked.is_call("look") && is_without).then(|| asked.refused(200, -32602))
            }),
            &["habits.no-arguments"],
        ),
        (
            "DeusData/codebase-memory-mcp#1015, upstash/context7#2534, gustavoeenriquez/MakerAi#109",
            LEGACY,
            result("initialize", |result| {
                result["capabilities"].as_object_mut().unwrap().remove("prompts");
            })
            .and(instead(|asked| {
                let is_prompt = asked.body["method"].as_str()?.starts_with("prompts/");
                is_prompt.then(|| asked.refused(200, -32601))
            })),
            &[],
        ),
        (
            "pgEdge/pgedge-postgres-mcp#212, ronak-create/FableCut#59",
            LEGACY,
            answer(|asked, answer| {
                if asked.is_rpc("initialize") {
                    let wanted = asked.body["params"]["protocolVersion"].clone();
                    answer.body["result"]["protocolVersion"] = wanted;
                }
            }),
            &["handshake.unknown-version"],
        ),
        (
            "feichai0017/NoKV#384, milind-soni/OpenMausBot#517",
            LEGACY,
            instead(|asked| {
                let wanted = asked.body["params"]["protocolVersion"].as_str()?;
                let is_known = wanted.parse::<Revision>().is_ok();
                (asked.is_rpc("initialize") && !is_known).then(|| asked.refused(200, -32602))
            }),
            &["handshake.unknown-version"],
        ),
        // References that lead somewhere.
        (
            "gemini-cli-extensions/stitch#13",
            LEGACY,
            result("tools/list", |result| {
                result["tools"][0]["inputSchema"] = json!({
                    "type": "object",
                    "$defs": {"a/b": {"type": "string"}, "c": {"$anchor": "c", "type": "integer"}},
                    "properties": {
                        "a": {"$ref": "#/$defs/a~1b"},
                        "b": {"$ref": "#/%24defs/c"},
                        "c": {"$ref": "#c"},
                        "d": {"type": "array", "items": {"$ref": "#/properties/a"}},
                        "e": {"type": "array", "items": {"$ref": "#"}},
                    },
                });
            }),
            &[],
        ),
        (
            "JSONbored/metagraphed#9017",
            LEGACY,
            answer_to(|asked| asked.is_rpc("resources/subscribe"), |_| ()),
            &[],
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn more_reports_about_servers_over_http_are_confirmed_or_not() {
    let mut wrong = String::new();
    for (thread, revision, fault, rules) in over_http() {
        let check = Check::url(broken(correct(), fault)).revisions(vec![revision]);
        let check = check.skip(["robust.".to_owned()]);
        let report = check.run(|_| {}).await.unwrap();
        if !found(&report).into_iter().eq(rules.iter().copied()) {
            wrong += &format!("{thread}:\n{}\n", text(&report));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The same of programs, which are shell.
const ON_PIPES: [(&str, &str, &[&str]); 5] = [
    (
        "BaseIntelligence/bounty-challenge#51392",
        r#"taken() { case $line in '{"jsonrpc": "2.0", ') id=0; refuse -32700;; esac; }"#,
        &["base.once"],
    ),
    (
        "sbroenne/mcp-server-excel#636, Kapeli/dash-mcp-server#10, deverman/FocusRelayMCP#3",
        "printf 'info: Microsoft.Hosting.Lifetime[14]\\n      Application started.\\n'",
        &["stdio.messages-only"],
    ),
    ("anomalyco/opencode#24414", "echo", &["stdio.messages-only"]),
    (
        "MarkusPfundstein/mcp-gsuite#21",
        r#"taken() { case $line in *'"notifications/cancelled"'*) exit 1;; esac; }"#,
        &["base.cancel-unknown", "calls.left"],
    ),
    // The same without the newline is not understood at all.
    (
        "modelscope/FunASR#3216",
        r#"answer() { printf 'Content-Length: 9\r\n\r\n{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }"#,
        &["stdio.messages-only"],
    ),
];

#[tokio::test]
async fn more_reports_about_programs_are_confirmed() {
    small::confirm(&ON_PIPES).await;
}

/// microsoft/agent-governance-toolkit#3833: each message has a header as in the Language Server Protocol, and no
/// newline.
#[tokio::test]
async fn a_program_that_no_client_understands_is_not_reached() {
    let fault = r#"answer() { printf 'Content-Length: 9\r\n\r\n{"jsonrpc":"2.0","id":%s,%s}' "$id" "$1"; }"#;
    let check = small::check(fault).timeout(Duration::from_millis(300));
    let error = check.run(|_| {}).await.unwrap_err().to_string();
    assert!(error.contains("what came first is \"Content-Length: 9\""), "{error}");
}

/// modelcontextprotocol/csharp-sdk#1390, trpc-group/trpc-mcp-go#101: a server asks for a ping before it answers.
#[tokio::test]
async fn a_ping_of_the_server_is_answered() {
    let fault = r#"called() {
        echo '{"jsonrpc":"2.0","id":"p","method":"ping"}'
        IFS= read -r pong
        case $pong in '{"id":"p",'*'"result":{}}') result '{"content":[]}';; *) refuse -32603;; esac
    }"#;
    let only = ["base.answered", "tools.answered"].map(str::to_owned);
    let report = small::check(fault).only(only).run(|_| {}).await.unwrap();
    assert!(found(&report).into_iter().eq([""; 0]), "{}", text(&report));
}
