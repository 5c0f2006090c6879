//! Tools, resources, prompts and log levels, asked for what is there and for what is not.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::rule::{Rule, Verdict, finding, holds_if};
use super::{EVERYWHERE, LEGACY, MUST, SHOULD};
use crate::probe::Bench;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tools.unknown",
        level: SHOULD,
        section: "Tools, Error handling",
        title: "A call of a tool that there is not is refused with a JSON-RPC error, −32602",
        fix: "answer with code −32602, not with a result that has isError",
        scope: EVERYWHERE,
        probe: |bench| unknown_tool(bench).boxed(),
    },
    Rule {
        id: "tools.result",
        level: MUST,
        section: "Tools, Calling tools",
        title: "The result of a call has content, an array of blocks of known types",
        fix: "answer with {\"content\":[{\"type\":\"text\",\"text\":…}]}",
        scope: EVERYWHERE,
        probe: |bench| tool_result(bench).boxed(),
    },
    Rule {
        id: "resources.read",
        level: MUST,
        section: "Resources, Reading resources",
        title: "A resource that is listed can be read, and its contents have a uri and either text or a blob",
        fix: "answer with {\"contents\":[{\"uri\":…,\"text\":…}]}",
        scope: EVERYWHERE,
        probe: |bench| read(bench).boxed(),
    },
    Rule {
        id: "resources.unknown",
        level: SHOULD,
        section: "Resources, Error handling",
        title: "A resource that there is not is refused with an error: −32002, from 2026-07-28 on −32602",
        fix: "answer with that code, never with empty contents",
        scope: EVERYWHERE,
        probe: |bench| unknown_resource(bench).boxed(),
    },
    Rule {
        id: "prompts.unknown",
        level: SHOULD,
        section: "Prompts, Error handling",
        title: "A prompt that there is not is refused with −32602",
        fix: "answer with code −32602",
        scope: EVERYWHERE,
        probe: |bench| unknown_prompt(bench).boxed(),
    },
    Rule {
        id: "logging.level",
        level: SHOULD,
        section: "Logging, Error handling",
        title: "A log level that there is not is refused with −32602",
        fix: "answer logging/setLevel with code −32602 where the level is none of the eight",
        scope: LEGACY,
        probe: |bench| log_level(bench).boxed(),
    },
    Rule {
        id: "capabilities.undeclared",
        level: SHOULD,
        section: "Lifecycle, Operation",
        title: "What is not declared is not offered: its list is refused with −32601",
        fix: "declare the capability, or answer its methods with code −32601",
        scope: EVERYWHERE,
        probe: |bench| undeclared(bench).boxed(),
    },
];

fn without(capability: &str) -> Verdict {
    Verdict::Inapplicable(format!("the server declares no {capability}"))
}

async fn unknown_tool(bench: &mut Bench) -> Verdict {
    if !bench.offers("tools") {
        return without("tools");
    }
    let params = json!({"name": "no_such_tool_of_this_server", "arguments": {}});
    let exchange = bench.ask("tools/call", params).await;
    holds_if(
        exchange.code() == Some(-32602),
        exchange.outcome(),
        &exchange,
    )
}

async fn tool_result(bench: &mut Bench) -> Verdict {
    // One that needs no arguments: what others would be good is not known.
    let needs_nothing = |tool: &&Value| {
        let required = tool
            .pointer("/inputSchema/required")
            .and_then(Value::as_array);
        required.is_none_or(|required| required.is_empty())
    };
    let tools = bench.items("tools/list").iter().filter(needs_nothing);
    let names = tools.filter_map(|tool| tool.get("name")?.as_str());
    let name = names
        .map(str::to_owned)
        .find(|name| bench.callable.contains(name));
    let Some(name) = name else {
        return Verdict::Inapplicable(
            "no tool is read-only or named by --call, and can be called without arguments"
                .to_owned(),
        );
    };
    let exchange = bench
        .ask("tools/call", json!({"name": name, "arguments": {}}))
        .await;
    let Some(result) = exchange.result() else {
        return Verdict::Unclear(format!("{name}: {}", exchange.outcome()));
    };
    if result
        .get("resultType")
        .is_some_and(|kind| kind != "complete")
    {
        return Verdict::Inapplicable(format!("{name} needs input or is a task"));
    }
    let Some(blocks) = result.get("content").and_then(Value::as_array) else {
        return finding(format!("{name}: there is no array content"), &exchange);
    };
    let kinds = ["text", "image", "audio", "resource", "resource_link"];
    let wrong = blocks.iter().find(|block| {
        let kind = block.get("type").and_then(Value::as_str);
        !kind.is_some_and(|kind| kinds.contains(&kind))
    });
    holds_if(
        wrong.is_none(),
        format!("{name}: a block of an unknown type"),
        &exchange,
    )
}

async fn read(bench: &mut Bench) -> Verdict {
    let uri = bench
        .items("resources/list")
        .first()
        .and_then(|it| it.get("uri"))
        .cloned();
    let Some(uri) = uri else {
        return Verdict::Inapplicable("no resource is listed".to_owned());
    };
    let exchange = bench.ask("resources/read", json!({ "uri": uri })).await;
    let Some(result) = exchange.result() else {
        return match exchange.code() {
            // It may be out of reach today.
            Some(-32603) => Verdict::Unclear(format!("{uri}: {}", exchange.outcome())),
            _ => finding(format!("{uri}: {}", exchange.outcome()), &exchange),
        };
    };
    if result
        .get("resultType")
        .is_some_and(|kind| kind != "complete")
    {
        return Verdict::Inapplicable(format!("{uri} needs input"));
    }
    let contents = result.get("contents").and_then(Value::as_array);
    let is_good = |one: &Value| {
        let has = |member: &str| one.get(member).is_some_and(Value::is_string);
        has("uri") && (has("text") || has("blob"))
    };
    let good = contents.is_some_and(|contents| contents.iter().all(is_good));
    holds_if(
        good,
        format!("{uri}: contents without uri, text or blob"),
        &exchange,
    )
}

async fn unknown_resource(bench: &mut Bench) -> Verdict {
    if !bench.offers("resources") {
        return without("resources");
    }
    let params = json!({"uri": "no-such-scheme://no/such/resource"});
    let exchange = bench.ask("resources/read", params).await;
    let wanted = if bench.revision.is_modern() {
        -32602
    } else {
        -32002
    };
    // Before 2026-07-28 the code was an example; what harms clients is a result.
    let good = exchange
        .code()
        .is_some_and(|code| code == wanted || !bench.revision.is_modern());
    holds_if(good, exchange.outcome(), &exchange)
}

async fn unknown_prompt(bench: &mut Bench) -> Verdict {
    if !bench.offers("prompts") {
        return without("prompts");
    }
    let exchange = bench
        .ask(
            "prompts/get",
            json!({"name": "no_such_prompt_of_this_server"}),
        )
        .await;
    holds_if(
        exchange.code() == Some(-32602),
        exchange.outcome(),
        &exchange,
    )
}

async fn log_level(bench: &mut Bench) -> Verdict {
    if !bench.offers("logging") {
        return without("logging");
    }
    let exchange = bench
        .ask("logging/setLevel", json!({"level": "loud"}))
        .await;
    holds_if(
        exchange.code() == Some(-32602),
        exchange.outcome(),
        &exchange,
    )
}

async fn undeclared(bench: &mut Bench) -> Verdict {
    for (capability, method) in [
        ("tools", "tools/list"),
        ("resources", "resources/list"),
        ("prompts", "prompts/list"),
    ] {
        if bench.offers(capability) {
            continue;
        }
        let exchange = bench.ask(method, json!({})).await;
        let items = exchange
            .result()
            .and_then(|it| it.get(capability))
            .and_then(Value::as_array);
        // An empty list offers nothing.
        if items.is_some_and(|items| !items.is_empty()) {
            return finding(
                format!("{method} lists something though {capability} is not declared"),
                &exchange,
            );
        }
    }
    Verdict::Holds
}
