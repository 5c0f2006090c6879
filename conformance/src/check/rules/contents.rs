//! Values with a form in every result that came: the name of the server, data in base64, URIs, and what a resource is
//! read as.

use data_encoding::{BASE64, BASE64_NOPAD};
use futures_util::FutureExt as _;
use serde_json::Value;

use super::super::heard::{Heard, every};
use super::super::rule::Probe::{Asks, Hears};
use super::super::rule::{Outcome, Rule};
use super::{EVERYWHERE, MODERN, MUST, PRACTICE, SHOULD};
use crate::probe::Bench;

/// How deep a result is searched.
const DEEP: usize = 12;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "modern.server-info",
        level: SHOULD,
        section: "2026-07-28, Base protocol, _meta",
        title: "Every result names the server in _meta",
        fix: "put io.modelcontextprotocol/serverInfo into the _meta of every result",
        scope: MODERN,
        probe: Hears(server_info),
    },
    Rule {
        id: "contents.base64",
        level: MUST,
        section: "Schema reference (ImageContent, AudioContent, BlobResourceContents)",
        title: "The data of images, audio and blobs is base64",
        fix: "send plain base64 (RFC 4648 §4), without a prefix such as data:image/png;base64,",
        scope: EVERYWHERE,
        probe: Hears(base64),
    },
    Rule {
        id: "contents.uri",
        level: MUST,
        section: "Schema reference (format uri), Resources, Common URI schemes (RFC 3986)",
        title: "The uri of a resource, or of a link to one, is an absolute URI",
        fix: "begin it with a scheme, as in file:///a/b, and encode spaces as %20",
        scope: EVERYWHERE,
        probe: Hears(uri),
    },
    Rule {
        id: "contents.own",
        level: PRACTICE,
        section: "Resources, Reading resources",
        title: "Reading a listed resource returns at least one content, and the first has the URI of the resource or one below it",
        fix: "return the uri of the request with the contents",
        scope: EVERYWHERE,
        probe: Asks(|bench| own(bench).boxed()),
    },
];

fn server_info(heard: &Heard<'_>) -> Option<String> {
    // A server that accepts a handshake answers it for an older revision.
    let method = heard.method().filter(|method| *method != "initialize")?;
    let name = "/_meta/io.modelcontextprotocol~1serverInfo/name";
    let is_good = heard.message.get("result")?.pointer(name).is_some_and(Value::is_string);
    (!is_good).then(|| format!("the result of {method} does not name the server"))
}

fn base64(heard: &Heard<'_>) -> Option<String> {
    search(result(heard)?, "/result", 0, &|value, path| {
        let kind = value.get("type").and_then(Value::as_str);
        match kind {
            Some("image" | "audio") => encoded(value, "data", path),
            _ if value.get("uri").is_some() => encoded(value, "blob", path),
            _ => None,
        }
    })
}

/// What is wrong with a member that has to be base64.
fn encoded(value: &Value, member: &str, path: &str) -> Option<String> {
    let text = value.get(member)?.as_str()?;
    // Lines of limited length, and an end without padding, are read by all known clients.
    let plain: String = text.chars().filter(|it| !it.is_ascii_whitespace()).collect();
    let is_good =
        BASE64.decode(plain.as_bytes()).is_ok() || BASE64_NOPAD.decode(plain.as_bytes()).is_ok();
    let start: String = plain.chars().take(40).collect();
    (!is_good).then(|| format!("{path}/{member} is not base64: {start}"))
}

fn uri(heard: &Heard<'_>) -> Option<String> {
    search(result(heard)?, "/result", 0, &|value, path| {
        let is_bad = |member, is_good: fn(&str) -> bool| {
            let text = value.get(member)?.as_str().filter(|it| !is_good(it))?;
            Some(format!("{path}/{member} is {text:?}"))
        };
        is_bad("uri", is_absolute).or_else(|| is_bad("uriTemplate", is_template))
    })
}

/// Whether a text is a scheme and something after it. Letters of all languages are let through, as clients do.
fn is_absolute(uri: &str) -> bool {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_scheme = scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme.chars().all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it));
    is_scheme && !uri.contains(|it: char| it.is_whitespace() || it.is_control())
}

/// Whether every brace of a template has its other one, and something between them.
fn is_template(template: &str) -> bool {
    let mut parts = template.split('{');
    let mut begins = parts.next().into_iter();
    let is_good = |(name, rest): (&str, &str)| !name.is_empty() && !rest.contains('}');
    begins.all(|it| !it.contains('}')) && parts.all(|it| it.split_once('}').is_some_and(is_good))
}

async fn own(bench: &mut Bench) -> Outcome {
    let listed: Vec<_> = bench.items("resources/list").iter().map(|it| it.get("uri")).collect();
    every(bench, |heard| {
        let request = heard.request().filter(|_| heard.method() == Some("resources/read"))?;
        let uri = request.pointer("/params/uri").filter(|uri| listed.contains(&Some(uri)))?;
        let contents = heard.message.pointer("/result/contents")?.as_array()?;
        let Some(first) = contents.first() else {
            return Some(format!("{uri}: no contents came"));
        };
        let (wanted, given) = (uri.as_str()?, first.get("uri")?.as_str()?);
        let is_own = given.starts_with(wanted.trim_end_matches('/'));
        (!is_own).then(|| format!("{wanted}: the first content has the URI {given}"))
    })
}

/// The result of a method that brings contents or resources.
fn result<'a>(heard: &Heard<'a>) -> Option<&'a Value> {
    let methods = [
        "tools/call",
        "resources/read",
        "resources/list",
        "resources/templates/list",
        "prompts/get",
    ];
    methods.contains(&heard.method()?).then(|| heard.message.get("result")).flatten()
}

/// What `wrong` says first of a value or of one inside it. What a tool returns in its own form is not searched.
fn search(
    value: &Value,
    path: &str,
    depth: usize,
    wrong: &dyn Fn(&Value, &str) -> Option<String>,
) -> Option<String> {
    if depth > DEEP {
        return None;
    }
    wrong(value, path).or_else(|| match value {
        Value::Object(members) => members.iter().find_map(|(name, inner)| {
            let is_own = matches!(name.as_str(), "structuredContent" | "_meta");
            let inner = (!is_own).then_some(inner)?;
            search(inner, &format!("{path}/{name}"), depth + 1, wrong)
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, inner)| search(inner, &format!("{path}/{index}"), depth + 1, wrong)),
        _ => None,
    })
}
