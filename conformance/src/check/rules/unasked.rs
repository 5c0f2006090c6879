//! Notifications that the client did not ask for: progress, log messages, changes.

use serde_json::{Value, json};

use super::super::heard::Heard;
use super::super::rule::Probe::Hears;
use super::super::rule::Rule;
use super::{EVERYWHERE, MODERN, MUST, SHOULD};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "messages.progress-unasked",
        level: MUST,
        section: "Progress, Progress flow",
        title: "Progress is reported only to a request that has a progressToken, and not after its response",
        fix: "send notifications/progress only if the request has a progressToken in _meta, and before the response",
        scope: EVERYWHERE,
        probe: Hears(progress_unasked),
    },
    Rule {
        id: "messages.log-unasked",
        level: MUST,
        section: "2026-07-28, Logging",
        title: "A log message comes only for a request that names a logLevel",
        fix: "send notifications/message only if _meta of the request has io.modelcontextprotocol/logLevel",
        scope: MODERN,
        probe: Hears(log_unasked),
    },
    Rule {
        id: "messages.changes-unasked",
        level: SHOULD,
        section: "Resources, Subscriptions; 2026-07-28, Subscriptions (a MUST there)",
        title: "A notification of a change comes only to clients that subscribed to it, and not after they unsubscribed",
        fix: "keep the subscriptions of each client, and notify only of what is in them",
        scope: EVERYWHERE,
        probe: Hears(changes_unasked),
    },
];

fn progress_unasked(heard: &Heard<'_>) -> Option<String> {
    let is_progress = heard.message.get("method")? == "notifications/progress";
    // A stream of its own tells what was asked elsewhere.
    heard.last().filter(|_| is_progress)?;
    let token = heard.message.pointer("/params/progressToken").unwrap_or(&Value::Null);
    let wanted = |it: &&Value| it.pointer("/params/_meta/progressToken").is_some();
    let mut wanted = heard.asked().rev().filter(wanted).peekable();
    if wanted.peek().is_none() {
        return Some(format!("progress came with the token {token}, which no request has"));
    }
    // Whose token it is, is another rule.
    let mut own = wanted.filter(|it| it.pointer("/params/_meta/progressToken") == Some(token));
    let is_late = heard.is_answered(own.next()?.get("id")?);
    is_late.then(|| format!("progress with the token {token} came after the response"))
}

fn log_unasked(heard: &Heard<'_>) -> Option<String> {
    // No request of this program names a level that exists.
    let is_log = heard.message.get("method")? == "notifications/message";
    is_log.then(|| "a log message came, and no request names a logLevel".to_owned())
}

fn changes_unasked(heard: &Heard<'_>) -> Option<String> {
    let is_modern = heard.revision.is_modern();
    let method = heard.message.get("method")?.as_str()?;
    // A stream of its own tells what was asked elsewhere.
    heard.last()?;
    let listened = |member: &str| {
        let at = format!("/params/notifications/{member}");
        heard.asked().filter_map(move |it| it.pointer(&at))
    };
    let list = match method {
        "notifications/resources/updated" => None,
        // Before, lists could change without a subscription.
        "notifications/tools/list_changed" if is_modern => Some("toolsListChanged"),
        "notifications/prompts/list_changed" if is_modern => Some("promptsListChanged"),
        "notifications/resources/list_changed" if is_modern => Some("resourcesListChanged"),
        _ => return None,
    };
    if let Some(list) = list {
        let is_wanted = listened(list).any(|it| *it == json!(true));
        return (!is_wanted).then(|| format!("{method} came, which no subscription has"));
    }
    let uri = heard.message.pointer("/params/uri")?.as_str()?;
    // What is below a resource belongs to it.
    let has = |it: &Value| it.as_str().is_some_and(|it| uri.starts_with(it));
    let mut lists = listened("resourceSubscriptions").filter_map(Value::as_array);
    if lists.any(|it| it.iter().any(has)) {
        return None;
    }
    let last = heard.asked().rev().find_map(|it| {
        it.pointer("/params/uri").filter(|it| has(it))?;
        match it.get("method")?.as_str()? {
            "resources/subscribe" => Some(true),
            "resources/unsubscribe" => heard.is_answered(it.get("id")?).then_some(false),
            _ => None,
        }
    });
    let why = match last {
        Some(true) => return None,
        Some(false) => "after its subscription ended",
        None => "to which no request subscribed",
    };
    Some(format!("{uri} was updated, {why}"))
}
