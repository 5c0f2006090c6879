//! Tools, resources, prompts and log levels, asked for what is there and for what is not.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, applies, declares, holds_if, inapplicable, invalid_params, served,
};
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
        probe: Asks(|bench| unknown_tool(bench).boxed()),
    },
    Rule {
        id: "resources.read",
        level: MUST,
        section: "Resources, Reading resources",
        title: "A listed resource can be read",
        fix: "answer resources/read for every uri that resources/list names",
        scope: EVERYWHERE,
        probe: Asks(|bench| read(bench).boxed()),
    },
    Rule {
        id: "resources.subscribe",
        level: MUST,
        section: "Resources, Capabilities, Subscriptions",
        title: "If resources.subscribe is declared, resources/subscribe is known",
        fix: "answer resources/subscribe, or do not declare resources.subscribe",
        scope: LEGACY,
        probe: Asks(|bench| subscribe(bench).boxed()),
    },
    Rule {
        id: "resources.unknown",
        level: SHOULD,
        section: "Resources, Error handling",
        title: "An unknown resource is refused with an error: −32602 from 2026-07-28 on, −32002 before",
        fix: "answer with that code, never with empty contents",
        scope: EVERYWHERE,
        probe: Asks(|bench| unknown_resource(bench).boxed()),
    },
    Rule {
        id: "prompts.unknown",
        level: SHOULD,
        section: "Prompts, Error handling",
        title: "An unknown prompt is refused with −32602",
        fix: "answer with code −32602",
        scope: EVERYWHERE,
        probe: Asks(|bench| unknown_prompt(bench).boxed()),
    },
    Rule {
        id: "logging.level",
        level: SHOULD,
        section: "Logging, Error handling",
        title: "An unknown log level is refused with −32602",
        fix: "answer logging/setLevel, or a request with that logLevel in _meta, with code −32602 if the level is not one of the eight levels",
        scope: EVERYWHERE,
        probe: Asks(|bench| log_level(bench).boxed()),
    },
    Rule {
        id: "capabilities.undeclared",
        level: SHOULD,
        section: "Lifecycle, Operation",
        title: "The list of a capability that is not declared is refused with −32601",
        fix: "declare the capability, or answer its methods with code −32601",
        scope: EVERYWHERE,
        probe: Asks(|bench| undeclared(bench).boxed()),
    },
];

/// Whether a request of a declared capability is refused for its parameters.
async fn refused(bench: &mut Bench, capability: &str, method: &str, params: Value) -> Outcome {
    declares(bench, capability)?;
    invalid_params(&bench.ask(method, params).await)
}

async fn unknown_tool(bench: &mut Bench) -> Outcome {
    let params = json!({"name": "no_such_tool_of_this_server", "arguments": {}});
    refused(bench, "tools", "tools/call", params).await
}

async fn read(bench: &mut Bench) -> Outcome {
    let uri = bench.items("resources/list").first().and_then(|it| it.get("uri")).cloned();
    let uri = uri.ok_or_else(|| inapplicable("no resource is listed"))?;
    let exchange = bench.ask("resources/read", json!({ "uri": uri })).await;
    served(uri, &exchange)
}

async fn subscribe(bench: &mut Bench) -> Outcome {
    let declared = bench.greeting.result().and_then(|it| it.pointer("/capabilities/resources"));
    let is_declared = declared.and_then(|it| it.get("subscribe")) == Some(&json!(true));
    applies(is_declared, "the server does not declare resources.subscribe")?;
    let uris = bench.items("resources/list").iter().filter_map(|it| it.get("uri").cloned());
    let uris: Vec<_> = uris.take(MOST_SUBSCRIBED).collect();
    applies(!uris.is_empty(), "no resource is listed")?;
    for uri in uris {
        let exchange = bench.ask("resources/subscribe", json!({ "uri": uri })).await;
        if exchange.result().is_some() {
            bench.ask("resources/unsubscribe", json!({ "uri": uri })).await;
        }
        // A resource that never changes may be refused.
        holds_if(exchange.code() != Some(-32601), exchange.outcome(), &exchange)?;
    }
    Ok(())
}

async fn unknown_resource(bench: &mut Bench) -> Outcome {
    declares(bench, "resources")?;
    let params = json!({"uri": "no-such-scheme://no/such/resource"});
    let exchange = bench.ask("resources/read", params).await;
    let wanted = if bench.revision.is_modern() { -32602 } else { -32002 };
    // Before 2026-07-28 the code was an example; what harms clients is a result.
    let good = exchange.code().is_some_and(|code| code == wanted || !bench.revision.is_modern());
    holds_if(good, exchange.outcome(), &exchange)
}

async fn unknown_prompt(bench: &mut Bench) -> Outcome {
    let params = json!({"name": "no_such_prompt_of_this_server"});
    refused(bench, "prompts", "prompts/get", params).await
}

async fn log_level(bench: &mut Bench) -> Outcome {
    let (method, params) = if bench.revision.is_modern() {
        (bench.plain(), json!({"_meta": {"io.modelcontextprotocol/logLevel": "loud"}}))
    } else {
        ("logging/setLevel", json!({"level": "loud"}))
    };
    refused(bench, "logging", method, params).await
}

async fn undeclared(bench: &mut Bench) -> Outcome {
    for (capability, method) in
        [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")]
    {
        if bench.offers(capability) {
            continue;
        }
        let exchange = bench.ask(method, json!({})).await;
        let items = exchange.result().and_then(|it| it.get(capability)).and_then(Value::as_array);
        // An empty list offers nothing.
        let seen = format!("{method} lists items, although {capability} is not declared");
        holds_if(items.is_none_or(Vec::is_empty), seen, &exchange)?;
    }
    Ok(())
}
