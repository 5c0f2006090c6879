//! What is declared works and what is not declared is not there, for every capability, transport and era; and what
//! every result and error has in common.

use std::collections::BTreeSet;

use mcp_proto::{
    BuildError, CallToolResult, Completion, Era, GetPromptResult, Prompt, PromptArgument, Resource,
    ResourceContents, ResourceTemplate, Server, ServerBuilder, StreamableHttpService, Tool,
};
use mcp_proto_client::Client;
use mcp_skills::{ServedSkills, Skill, Skills, SkillsExt as _};
use serde_json::{Map, Value, json};

use crate::common::{Raw, every_client, refused};

fn new() -> ServerBuilder<()> {
    Server::builder("s", "1", ())
}

fn tools(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    let tool = Tool::new("t", "").with_input_schema(json!({"type": "object"}));
    builder.raw_tool(tool, async |(), _, _| Ok(CallToolResult::text("")))
}

fn resources(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    builder
        .resource(Resource::new("x:1", "one"), async |(), _| Ok(ResourceContents::text("x:1", "")))
}

fn prompts(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    let prompt = Prompt::new("p", "").with_argument(PromptArgument::optional("a", ""));
    builder.raw_prompt(prompt, async |(), _, _| Ok(GetPromptResult::text("")))
}

fn completions(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    prompts(builder)
        .complete_prompt("p", "a", async |(), asked, _| Ok(Completion::matching(&asked, ["one"])))
}

fn skills(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    let skills = Skills::from_skills([Skill::new("a", "Does a.", "")]).unwrap();
    builder.skills(&ServedSkills::new(skills))
}

/// Every method with params that are right for the servers above, and the eras that know it.
fn methods() -> Vec<(&'static str, Value, &'static [Era])> {
    const BOTH: &[Era] = &[Era::Legacy, Era::Modern];
    vec![
        ("tools/list", json!({}), BOTH),
        ("tools/call", json!({"name": "t"}), BOTH),
        ("resources/list", json!({}), BOTH),
        ("resources/templates/list", json!({}), BOTH),
        ("resources/read", json!({"uri": "x:1"}), BOTH),
        ("resources/subscribe", json!({"uri": "x:1"}), &[Era::Legacy]),
        ("resources/unsubscribe", json!({"uri": "x:1"}), &[Era::Legacy]),
        ("resources/directory/read", json!({"uri": "skill://a"}), BOTH),
        ("prompts/list", json!({}), BOTH),
        ("prompts/get", json!({"name": "p"}), BOTH),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}),
            BOTH,
        ),
        ("logging/setLevel", json!({"level": "info"}), &[Era::Legacy]),
        ("skills/list", json!({}), BOTH),
        ("skills/get", json!({"uri": "skill://a/SKILL.md"}), BOTH),
        ("server/discover", json!({}), &[Era::Modern]),
        ("ping", json!({}), &[Era::Legacy]),
        ("roots/list", json!({}), &[]),
        ("sampling/createMessage", json!({}), &[]),
        ("elicitation/create", json!({}), &[]),
        ("notifications/initialized", json!({}), &[]),
        ("TOOLS/LIST", json!({}), &[]),
        ("", json!({}), &[]),
    ]
}

async fn capabilities(client: &Client, server: &Server) -> Value {
    match client.era() {
        Era::Modern => {
            let discovered = client.request("server/discover", json!({})).await.unwrap();
            discovered["capabilities"].clone()
        }
        Era::Legacy => {
            let service = StreamableHttpService::new(server.clone());
            let result = Raw::initialize("2025-11-25").send(&service).await.result();
            result["capabilities"].clone()
        }
    }
}

#[tokio::test]
async fn what_is_declared_works_and_nothing_else_is_there() {
    let skill_settings = json!({"io.modelcontextprotocol/skills": {"directoryRead": true}});
    let cases: Vec<(ServerBuilder<()>, Value, &[&str])> = vec![
        (new(), json!({}), &[]),
        (tools(new()), json!({"tools": {}}), &["tools/list", "tools/call"]),
        (new().tools_list_changed(), json!({"tools": {"listChanged": true}}), &["tools/list"]),
        (
            resources(new()),
            json!({"resources": {}}),
            &["resources/list", "resources/templates/list", "resources/read"],
        ),
        (
            resources(new()).subscriptions().resources_list_changed(),
            json!({"resources": {"subscribe": true, "listChanged": true}}),
            &[
                "resources/list",
                "resources/templates/list",
                "resources/read",
                "resources/subscribe",
                "resources/unsubscribe",
            ],
        ),
        (prompts(new()), json!({"prompts": {}}), &["prompts/list", "prompts/get"]),
        (
            new().prompts_list_changed(),
            json!({"prompts": {"listChanged": true}}),
            &["prompts/list"],
        ),
        (
            completions(new()),
            json!({"prompts": {}, "completions": {}}),
            &["prompts/list", "prompts/get", "completion/complete"],
        ),
        (new().logging(), json!({"logging": {}}), &["logging/setLevel"]),
        (
            skills(new()),
            json!({"resources": {}, "extensions": skill_settings}),
            &[
                "resources/list",
                "resources/templates/list",
                "resources/directory/read",
                "skills/list",
                "skills/get",
            ],
        ),
        (
            new().extension("com.example/thing", Map::new()),
            json!({"extensions": {"com.example/thing": {}}}),
            &[],
        ),
    ];
    for (builder, declared, offered) in cases {
        let server = builder.build().unwrap();
        let (clients, _served) = every_client(&server).await;
        for (how, client) in &clients {
            assert_eq!(capabilities(client, &server).await, declared, "{how}");
            for (method, params, eras) in methods() {
                // What belongs to a family, but names something that this server has not.
                let unknown = (method == "tools/call" && !offered.contains(&"tools/call"))
                    || (method == "resources/read" && !offered.contains(&"resources/read"))
                    || (method == "prompts/get" && !offered.contains(&"prompts/get"));
                let family = method.split('/').next().unwrap_or_default();
                let unknown = unknown && declared.get(family).is_some();
                let always = ["server/discover", "ping"].contains(&method);
                let there = eras.contains(&client.era()) && (offered.contains(&method) || always);
                let answer = client.request(method, params).await;
                if unknown {
                    let code = refused(answer).code;
                    assert!([-32602, -32002].contains(&code), "{how} {method}: {code}");
                } else if there {
                    assert!(answer.is_ok(), "{how} {method}: {answer:?}");
                } else {
                    assert_eq!(refused(answer).code, -32601, "{how} {method} {declared}");
                }
            }
        }
        let service = StreamableHttpService::new(server);
        for (method, params, _) in methods() {
            let family = method.split('/').next().unwrap_or_default();
            let offered = offered.contains(&method) || method == "server/discover";
            if !offered && declared.get(family).is_none() {
                let reply = Raw::modern(method, params).send(&service).await;
                assert_eq!(reply.refusal().0, 404, "{method}");
            }
        }
    }
}

#[tokio::test]
async fn a_server_may_have_no_tools_and_no_resources() {
    let server = prompts(new()).build().unwrap();
    let (clients, _served) = every_client(&server).await;
    for (how, client) in &clients {
        let listed = client.request("prompts/list", json!({})).await.unwrap();
        assert_eq!(listed["prompts"][0]["name"], "p", "{how}");
        for method in ["tools/list", "resources/list", "subscriptions/listen"] {
            if method != "subscriptions/listen" || client.era() == Era::Legacy {
                let error = refused(client.request(method, json!({})).await);
                assert_eq!(error.code, -32601, "{how} {method}");
            }
        }
    }
}

#[test]
fn an_extension_that_is_built_in_is_not_declared_by_hand() {
    let by_hand = new().extension("io.modelcontextprotocol/tasks", Map::new());
    let problem = "the extension io.modelcontextprotocol/tasks is declared by ServerBuilder::tasks, not by hand";
    assert_eq!(by_hand.build().unwrap_err(), BuildError::Server(problem.to_owned()));
}

/// A server that has everything.
fn everything() -> Server {
    skills(completions(resources(tools(new()))))
        .resource_template(ResourceTemplate::new("y:{a}", "y"), async |(), _, _| {
            Ok(ResourceContents::text("y:1", ""))
        })
        .subscriptions()
        .logging()
        .build()
        .unwrap()
}

#[tokio::test]
async fn every_modern_result_says_its_type_and_server_and_no_legacy_one_does() {
    let cached = [
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/directory/read",
        "skills/list",
        "skills/get",
        "resources/directory/read",
    ];
    let (clients, _served) = every_client(&everything()).await;
    let mut seen = 0;
    for (how, client) in &clients {
        for (method, params, eras) in methods() {
            if !eras.contains(&client.era()) {
                continue;
            }
            seen += 1;
            let result = client.request(method, params).await.unwrap();
            let modern = client.era() == Era::Modern;
            let has = |member: &str| result.get(member).is_some();
            assert_eq!(has("resultType"), modern, "{how} {method}");
            assert_eq!(has("_meta"), modern, "{how} {method}");
            let kept = modern && cached.contains(&method);
            assert_eq!((has("ttlMs"), has("cacheScope")), (kept, kept), "{how} {method}");
            if modern {
                assert_eq!(result["resultType"], "complete");
                let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
                assert_eq!(*server, json!({"name": "s", "version": "1"}));
            }
        }
    }
    assert_eq!(seen, 2 * (15 + 12));
}

#[tokio::test]
async fn errors_have_codes_of_their_era() {
    let (clients, _served) = every_client(&everything()).await;
    let mut codes = BTreeSet::new();
    for (how, client) in &clients {
        for (method, _, eras) in methods() {
            for params in [
                json!({}),
                json!({"name": "no", "uri": "no:1", "cursor": "no"}),
                json!({"name": 1, "uri": 1, "cursor": 1, "level": 1, "ref": 1}),
            ] {
                let Err(error) = client.request(method, params).await else {
                    continue;
                };
                let error = refused(Err(error));
                let known = eras.contains(&client.era());
                let modern = client.era() == Era::Modern;
                match error.code {
                    -32601 => assert!(!known, "{how} {method}"),
                    -32602 => assert!(known, "{how} {method}"),
                    -32002 => assert!(known && !modern, "{how} {method}"),
                    other => panic!("{how} {method}: {other} {}", error.message),
                }
                codes.insert((modern, error.code));
            }
        }
    }
    assert_eq!(codes.len(), 5, "{codes:?}");
}
