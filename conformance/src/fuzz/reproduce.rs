//! What sends a finding once more: a command of a shell, and a transcript.

use http::Method;
use serde_json::{Map, Value, json};

use super::template::Template;
use crate::json::put;
use crate::probe::{Bench, Endpoint, Raw};

/// The longest request that stands in a command, in bytes.
const MAX_INLINE: usize = 8 * 1024;

/// Lines for a shell; for a request that is too long for one, only where to find it.
pub(super) fn command(bench: &Bench, raw: &Raw, template: &Template) -> String {
    if raw.body.len() > MAX_INLINE {
        return format!(
            "# the request has {} bytes: repeat it with mcp-conformance fuzz --seed and --case, or write it to a file with --output",
            raw.body.len()
        );
    }
    match &bench.endpoint {
        Endpoint::Http(target) => curl(&target.to_string(), bench, raw),
        Endpoint::Command(program, arguments) => {
            let words: Vec<String> = [program]
                .into_iter()
                .chain(arguments)
                .map(|word| quoted(&word.to_string_lossy()))
                .collect();
            piped(&words.join(" "), bench, raw, template)
        }
    }
}

fn curl(url: &str, bench: &Bench, raw: &Raw) -> String {
    let mut lines = String::new();
    let with_session = raw
        .headers
        .iter()
        .any(|(name, value)| name == "mcp-session-id" && Some(value.as_str()) == bench.session());
    if with_session {
        let url = quoted(url);
        let json =
            "-H 'content-type: application/json' -H 'accept: application/json, text/event-stream'";
        let opening = opening(bench);
        lines += &format!(
            "SESSION=$(curl -si {url} {json} --data-binary {} | sed -n 's/^mcp-session-id: *//Ip' | tr -d '\\r')\n",
            quoted(&opening[0])
        );
        lines += &format!(
            "curl -s {url} {json} -H \"mcp-session-id: $SESSION\" --data-binary {}\n",
            quoted(&opening[1])
        );
    }
    lines += &format!("{} | curl -i -X {} {}", printed(&raw.body), raw.method, quoted(url));
    for name in ["content-type", "accept", "expect"] {
        if !raw.headers.iter().any(|(known, _)| known == name) {
            // Otherwise curl puts one there.
            lines += &format!(" -H '{name}:'");
        }
    }
    for (name, value) in &raw.headers {
        lines += &match value.as_str() {
            "" => format!(" -H '{name};'"),
            value if name == "mcp-session-id" && Some(value) == bench.session() => {
                format!(" -H \"{name}: $SESSION\"")
            }
            value => format!(" -H {}", quoted(&format!("{name}: {value}"))),
        };
    }
    lines + " --data-binary @-"
}

/// What opens a conversation of an older revision.
fn opening(bench: &Bench) -> [String; 2] {
    let params = json!({
        "protocolVersion": bench.revision.as_str(),
        "capabilities": {},
        "clientInfo": {"name": "curl", "version": "0"},
    });
    let first = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let second = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    [first.to_string(), second.to_string()]
}

fn piped(program: &str, bench: &Bench, raw: &Raw, template: &Template) -> String {
    let mut before = String::new();
    if !bench.revision.is_modern() {
        let lines: Vec<_> = opening(bench).iter().map(|line| quoted(line)).collect();
        before = format!("printf '%s\\n' {}; ", lines.join(" "));
    }
    let after = if template.is_notification {
        String::new()
    } else {
        let after = template.with_id(json!("after"));
        format!("; printf '%s\\n' {}", quoted(&after.to_string()))
    };
    let body = printed(&raw.body);
    format!("({before}{body}; echo{after}; sleep 2) | {program}")
}

/// A command that prints these bytes.
fn printed(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => format!("printf %s {}", quoted(text)),
        _ => {
            let escaped = bytes.iter().map(|byte| match byte {
                b'%' => "%%".to_owned(),
                b' '..=b'~' if !b"'\\".contains(byte) => char::from(*byte).to_string(),
                byte => format!("\\{byte:03o}"),
            });
            format!("printf '{}'", escaped.collect::<String>())
        }
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A transcript that a server passes once the finding is gone; nothing for what no transcript can say.
pub(super) fn transcript(
    bench: &Bench,
    raw: &Raw,
    template: &Template,
    case: u64,
) -> Option<String> {
    let text = std::str::from_utf8(&raw.body).ok()?;
    if !bench.endpoint.is_http()
        && (raw.method != Method::POST || serde_json::from_str::<Value>(text).is_err())
    {
        return None;
    }
    let mut headers = Map::new();
    for (name, value) in &raw.headers {
        let value = match bench.session() {
            Some(session) if name == "mcp-session-id" && value == session => {
                "${main.session}".to_owned()
            }
            _ => value.replace("${", "$${"),
        };
        if headers.insert(name.clone(), value.into()).is_some() {
            return None;
        }
    }
    let era = if bench.revision.is_modern() { "modern" } else { "legacy" };
    let mut lines = vec![
        json!({"transcript": 1, "name": format!("fuzz-{case}"), "title": "A broken request, and the same valid request before and after it", "eras": [era]}),
    ];
    let mut open = json!({"open": "main"});
    if !bench.revision.is_modern() {
        put(&mut open, "version", bench.revision.as_str());
    }
    lines.push(open);
    let good = if template.is_notification || template.expected.is_none() {
        json!({"method": bench.revision.ping(), "params": {}})
    } else {
        let mut params = template.message.get("params").cloned().unwrap_or_default();
        // A replay adds its own description of the sender.
        params.as_object_mut()?.remove("_meta");
        json!({"method": template.method(), "params": params})
    };
    let is_error = template.expected.as_ref().is_some_and(|it| it.get("error").is_some());
    let member = if is_error { "error" } else { "result" };
    lines.push(json!({"mcp": good, "expect": {member: {"$capture": "before"}}}));
    let mut request = json!({"method": raw.method.as_str(), "path": "/mcp", "headers": headers});
    if !raw.body.is_empty() {
        put(&mut request, "text", text.replace("${", "$${"));
    }
    let failing: Vec<u16> = (500..=511).collect();
    let expect = json!({"status": {"$not": {"$oneOf": failing}}});
    lines.push(json!({"http": request, "expect": expect}));
    lines.push(json!({"mcp": good, "expect": {member: {"$var": "before"}}}));
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    Some(lines.join("\n") + "\n")
}
