//! Subscriptions: `subscriptions/listen` of 2026-07-28.

use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};

use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Verdict, another, holds_for, inapplicable, invalid_params, proven,
};
use super::{MODERN, MUST};
use crate::probe::{Bench, Exchange};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "listen.acknowledged",
        level: MUST,
        section: "2026-07-28, Subscriptions",
        title: "A subscription is acknowledged before anything else, with its own id and with nothing that was not requested",
        fix: "before anything else, send notifications/subscriptions/acknowledged with the accepted notifications and the subscriptionId in _meta",
        scope: MODERN,
        probe: Asks(|bench| acknowledged(bench).boxed()),
    },
    Rule {
        id: "listen.filter",
        level: MUST,
        section: "2026-07-28, Subscriptions",
        title: "A subscription without params.notifications is refused with −32602",
        fix: "require params.notifications",
        scope: MODERN,
        probe: Asks(|bench| filter(bench).boxed()),
    },
    Rule {
        id: "listen.several",
        level: MUST,
        section: "2026-07-28, Subscriptions",
        title: "A client can have several subscriptions at once, and send other requests meanwhile",
        fix: "distinguish subscriptions by the id of their requests",
        scope: MODERN,
        probe: Asks(|bench| several(bench).boxed()),
    },
];

/// All that the server declares to notify of.
pub(in crate::check) fn wanted(bench: &Bench) -> Value {
    let capabilities = bench.greeting.result();
    let declares = |path: &str| {
        let declared = capabilities.and_then(|it| it.pointer(&format!("/capabilities/{path}")));
        declared == Some(&json!(true))
    };
    let mut wanted = Map::new();
    for (path, member) in [
        ("tools/listChanged", "toolsListChanged"),
        ("prompts/listChanged", "promptsListChanged"),
        ("resources/listChanged", "resourcesListChanged"),
    ] {
        if declares(path) {
            wanted.insert(member.to_owned(), json!(true));
        }
    }
    let uri = bench.items("resources/list").first();
    if let Some(uri) = uri.and_then(|it| it.get("uri"))
        && declares("resources/subscribe")
    {
        wanted.insert("resourceSubscriptions".to_owned(), json!([uri]));
    }
    Value::Object(wanted)
}

/// Not if the server takes no subscriptions, and declares nothing to subscribe to.
fn has_some(wanted: &Value, exchange: &Exchange) -> Outcome {
    let has_none = exchange.code().is_some() && wanted.as_object().is_some_and(Map::is_empty);
    if has_none { Err(none()) } else { Ok(()) }
}

pub(super) fn none() -> Verdict {
    inapplicable("the server has nothing to subscribe to")
}

/// What is wrong with how it began.
fn beginning(exchange: &Exchange, id: &Value, wanted: &Value) -> Option<String> {
    let Some(acknowledgement) = exchange.acknowledgement() else {
        return Some(exchange.outcome());
    };
    if exchange.messages.first() != Some(acknowledgement) {
        return Some("a message came before the acknowledgement".to_owned());
    }
    let own = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
    if acknowledgement.pointer(own) != Some(id) {
        let got = acknowledgement.pointer(own).unwrap_or(&Value::Null);
        return Some(format!("its subscriptionId is {got} instead of {id}"));
    }
    let Some(agreed) = acknowledgement.pointer("/params/notifications") else {
        return Some("the acknowledgement has no notifications".to_owned());
    };
    let agreed = agreed.as_object().into_iter().flatten();
    let mut more = agreed.filter(|(name, value)| {
        let is_nothing = **value == json!(false) || value.as_array().is_some_and(Vec::is_empty);
        !is_nothing && wanted.get(name.as_str()).is_none()
    });
    let (name, _) = more.next()?;
    Some(format!("the server accepted {name}, which was not requested"))
}

async fn acknowledged(bench: &mut Bench) -> Outcome {
    let wanted = wanted(bench);
    for id in [json!("a subscription"), json!(77)] {
        let mut fresh = another(bench).await?;
        let (exchange, _open) = fresh.listen(id.clone(), wanted.clone()).await;
        fresh.end().await;
        has_some(&wanted, &exchange)?;
        if let Some(seen) = beginning(&exchange, &id, &wanted) {
            return proven(seen, &exchange);
        }
    }
    Ok(())
}

async fn filter(bench: &mut Bench) -> Outcome {
    let mut fresh = another(bench).await?;
    let exchange = fresh.ask("subscriptions/listen", json!({})).await;
    fresh.end().await;
    has_some(&wanted(bench), &exchange)?;
    invalid_params(&exchange)
}

async fn several(bench: &mut Bench) -> Outcome {
    let wanted = wanted(bench);
    let mut fresh = another(bench).await?;
    let (first, _open) = fresh.listen(json!("first"), wanted.clone()).await;
    let (second, _also) = fresh.listen(json!("second"), wanted.clone()).await;
    let other = fresh.ask("server/discover", json!({})).await;
    fresh.end().await;
    has_some(&wanted, &first)?;
    // Whether the first is acknowledged correctly is a separate rule.
    if first.is_acknowledged() && !second.is_acknowledged() {
        return proven(format!("the second subscription: {}", second.outcome()), &second);
    }
    holds_for(other.result().is_some(), "a request beside the subscriptions", &other)
}
