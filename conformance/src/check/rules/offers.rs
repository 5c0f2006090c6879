//! Tools, resources, prompts and log levels, asked for what is there and for what is not.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::rule::{Rule, Verdict, finding, holds_if, invalid_params};
use super::{EVERYWHERE, LEGACY, MUST, SHOULD};
use crate::probe::Bench;

/// The most resources that are subscribed to.
const MOST_SUBSCRIBED: usize = 20;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tools.unknown",
        level: SHOULD,
        section: "Tools, Error handling",
        title: "A call of an unknown tool is refused with error −32602",
        fix: "answer with code −32602, not with a result that has isError",
        scope: EVERYWHERE,
        probe: |bench| unknown_tool(bench).boxed(),
    },
    Rule {
        id: "resources.read",
        level: MUST,
        section: "Resources, Reading resources",
        title: "A listed resource can be read",
        fix: "answer resources/read for every uri that resources/list names",
        scope: EVERYWHERE,
        probe: |bench| read(bench).boxed(),
    },
    Rule {
        id: "resources.subscribe",
        level: MUST,
        section: "Resources, Capabilities, Subscriptions",
        title: "If resources.subscribe is declared, resources/subscribe is known",
        fix: "answer resources/subscribe, or do not declare resources.subscribe",
        scope: LEGACY,
        probe: |bench| subscribe(bench).boxed(),
    },
    Rule {
        id: "resources.unknown",
        level: SHOULD,
        section: "Resources, Error handling",
        title: "An unknown resource is refused with an error: −32602 from 2026-07-28 on, −32002 before",
        fix: "answer with that code, never with empty contents",
        scope: EVERYWHERE,
        probe: |bench| unknown_resource(bench).boxed(),
    },
    Rule {
        id: "prompts.unknown",
        level: SHOULD,
        section: "Prompts, Error handling",
        title: "An unknown prompt is refused with −32602",
        fix: "answer with code −32602",
        scope: EVERYWHERE,
        probe: |bench| unknown_prompt(bench).boxed(),
    },
    Rule {
        id: "logging.level",
        level: SHOULD,
        section: "Logging, Error handling",
        title: "An unknown log level is refused with −32602",
        fix: "answer logging/setLevel, or a request with that logLevel in _meta, with code −32602 if the level is not one of the eight levels",
        scope: EVERYWHERE,
        probe: |bench| log_level(bench).boxed(),
    },
    Rule {
        id: "capabilities.undeclared",
        level: SHOULD,
        section: "Lifecycle, Operation",
        title: "The list of a capability that is not declared is refused with −32601",
        fix: "declare the capability, or answer its methods with code −32601",
        scope: EVERYWHERE,
        probe: |bench| undeclared(bench).boxed(),
    },
];

fn without(capability: &str) -> Verdict {
    Verdict::Inapplicable(format!("the server does not declare {capability}"))
}

/// Whether a request of a declared capability is refused for its parameters.
async fn refused(bench: &mut Bench, capability: &str, method: &str, params: Value) -> Verdict {
    if !bench.offers(capability) {
        return without(capability);
    }
    invalid_params(&bench.ask(method, params).await)
}

async fn unknown_tool(bench: &mut Bench) -> Verdict {
    let params = json!({"name": "no_such_tool_of_this_server", "arguments": {}});
    refused(bench, "tools", "tools/call", params).await
}

async fn read(bench: &mut Bench) -> Verdict {
    let uri = bench.items("resources/list").first().and_then(|it| it.get("uri")).cloned();
    let Some(uri) = uri else {
        return Verdict::Inapplicable("no resource is listed".to_owned());
    };
    let exchange = bench.ask("resources/read", json!({ "uri": uri })).await;
    match exchange.code() {
        _ if exchange.result().is_some() => Verdict::Holds,
        // It may be out of reach today.
        Some(-32603) => Verdict::Unclear(format!("{uri}: {}", exchange.outcome())),
        _ => finding(format!("{uri}: {}", exchange.outcome()), &exchange),
    }
}

async fn subscribe(bench: &mut Bench) -> Verdict {
    let declared = bench.greeting.result().and_then(|it| it.pointer("/capabilities/resources"));
    if declared.and_then(|it| it.get("subscribe")) != Some(&json!(true)) {
        return without("resources.subscribe");
    }
    let uris = bench.items("resources/list").iter().filter_map(|it| it.get("uri").cloned());
    let uris: Vec<_> = uris.take(MOST_SUBSCRIBED).collect();
    if uris.is_empty() {
        return Verdict::Inapplicable("no resource is listed".to_owned());
    }
    for uri in uris {
        let exchange = bench.ask("resources/subscribe", json!({ "uri": uri })).await;
        if exchange.result().is_some() {
            bench.ask("resources/unsubscribe", json!({ "uri": uri })).await;
        }
        // A resource that never changes may be refused.
        if exchange.code() == Some(-32601) {
            return finding(exchange.outcome(), &exchange);
        }
    }
    Verdict::Holds
}

async fn unknown_resource(bench: &mut Bench) -> Verdict {
    if !bench.offers("resources") {
        return without("resources");
    }
    let params = json!({"uri": "no-such-scheme://no/such/resource"});
    let exchange = bench.ask("resources/read", params).await;
    let wanted = if bench.revision.is_modern() { -32602 } else { -32002 };
    // Before 2026-07-28 the code was an example; what harms clients is a result.
    let good = exchange.code().is_some_and(|code| code == wanted || !bench.revision.is_modern());
    holds_if(good, exchange.outcome(), &exchange)
}

async fn unknown_prompt(bench: &mut Bench) -> Verdict {
    let params = json!({"name": "no_such_prompt_of_this_server"});
    refused(bench, "prompts", "prompts/get", params).await
}

async fn log_level(bench: &mut Bench) -> Verdict {
    let (method, params) = if bench.revision.is_modern() {
        (bench.plain(), json!({"_meta": {"io.modelcontextprotocol/logLevel": "loud"}}))
    } else {
        ("logging/setLevel", json!({"level": "loud"}))
    };
    refused(bench, "logging", method, params).await
}

async fn undeclared(bench: &mut Bench) -> Verdict {
    for (capability, method) in
        [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")]
    {
        if bench.offers(capability) {
            continue;
        }
        let exchange = bench.ask(method, json!({})).await;
        let items = exchange.result().and_then(|it| it.get(capability)).and_then(Value::as_array);
        // An empty list offers nothing.
        if items.is_some_and(|items| !items.is_empty()) {
            return finding(
                format!("{method} lists items, although {capability} is not declared"),
                &exchange,
            );
        }
    }
    Verdict::Holds
}
