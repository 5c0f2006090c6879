//! Both readers agree, and the quick one takes what most clients write.

use proptest::prelude::*;

use super::*;
use crate::json::MAX_TREE_BYTES;

/// A modern call with everything in it, and one of the older era.
const MODERN: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a \"b\" é","n":[1,{}]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","title":"Bench","version":"1.0.0","description":"d"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"io.modelcontextprotocol/logLevel":"info","progressToken":1}}}"#;
const OLDER: &str = r#"{"params":{"_meta":{"progressToken":"a"},"arguments":{},"name":"echo"},"method":"tools/call","id":"x","jsonrpc":"2.0"}"#;

fn quick(text: &[u8]) -> Option<Box<CallToolRequest>> {
    CallToolRequest::read(text, &Meter::new(MAX_TREE_BYTES))
}

/// Whether a text is read at once. If so, it must be what the general reader makes of it.
fn agrees(text: &[u8]) -> bool {
    let Some(call) = quick(text) else {
        return false;
    };
    let Ok(Message::Request(request)) = Message::from_slice(text) else {
        panic!("only the quick reader takes {}", String::from_utf8_lossy(text));
    };
    let (mut call, mut general) = (Called::Tool(call), Called::from(request));
    assert_eq!(call.is_claimed(), general.is_claimed());
    assert_eq!(call.method(), general.method());
    assert_eq!(call.text("name"), general.text("name"));
    if call.is_claimed() {
        let text = |modern: ModernMeta| format!("{modern:?}");
        let modern = call.take_modern().map(text);
        assert_eq!(modern, general.take_modern().map(text));
        assert!(modern.is_ok());
    } else {
        assert_eq!(call.take_meta(), general.take_meta());
    }
    let (call, general) = (Request::from(call), Request::from(general));
    assert_eq!((call.id, call.method, call.params), (general.id, general.method, general.params));
    true
}

#[test]
fn calls_as_most_clients_write_them_are_read_at_once() {
    let calls = [
        MODERN,
        OLDER,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#,
        r#"{"jsonrpc":"2.0","id":-1,"method":"tools/call","params":{"name":"echo","arguments":null,"_meta":{}}}"#,
        r#"{"jsonrpc":"2.0","id":"\u0061","method":"tools\/call","params":{"na\u006de":"echo","arguments":{"\u0061":0.5}}}"#,
    ];
    for text in calls {
        assert!(agrees(text.as_bytes()), "{text}");
    }
}

#[test]
fn whatever_is_unusual_is_left_to_the_general_reader() {
    let replaced = [
        ("\"2.0\"", "\"1.0\""),
        ("7", "7.5"),
        ("7", "null"),
        ("7", "9223372036854775808"),
        ("tools/call", "tools/list"),
        ("\"echo\"", "1"),
        ("\"name\":\"echo\"", "\"name\":\"echo\",\"name\":\"echo\""),
        ("\"name\":\"echo\"", "\"name\":\"echo\",\"task\":{}"),
        ("\"id\":7", "\"id\":7,\"x\":1"),
        ("\"n\":[1,{}]", "\"n\":1,\"n\":1"),
        ("\"n\":[1,{}]", "\"n\":1e999"),
        ("{\"text\"", "[{\"text\""),
        ("2026-07-28", "2025-11-25"),
        ("\"2026-07-28\"", "{\"2026-07-28\":null}"),
        ("\"2026-07-28\"", "1"),
        ("{\"elicitation\":{\"form\":{}}}", "[]"),
        ("{\"form\":{}}", "1"),
        ("\"info\"", "\"loud\""),
        ("\"title\":\"Bench\"", "\"title\":null"),
        ("\"version\":\"1.0.0\",", ""),
        ("\"progressToken\":1", "\"progressToken\":1,\"progressToken\":1"),
        ("io.modelcontextprotocol/protocolVersion", "version"),
        ("}}}", "}}"),
        ("}}}", "}}}}"),
    ];
    for (from, to) in replaced {
        assert!(MODERN.contains(from), "{from}");
        let text = MODERN.replace(from, to);
        assert!(quick(text.as_bytes()).is_none(), "{text}");
    }
    assert!(quick(b"\xff").is_none());
    let deep = format!(r#"{{"text":{}0{}}}"#, "[".repeat(126), "]".repeat(126));
    let deep = OLDER.replace("{}", &deep);
    assert!(quick(deep.as_bytes()).is_none());
}

#[test]
fn what_is_not_read_at_once_costs_nothing() {
    let meter = Meter::new(MAX_TREE_BYTES);
    let text = MODERN.replace("\"2.0\"", "\"2.0\",\"x\":0");
    assert!(CallToolRequest::read(text.as_bytes(), &meter).is_none());
    assert_eq!(meter.used(), 0);
}

proptest! {
    #[test]
    fn both_readers_agree_on_damaged_calls(
        older in any::<bool>(),
        at in 0..400_usize,
        length in 0..4_usize,
        put in r#"[{}\[\]",:0-9.\\ a-z]{0,3}"#,
    ) {
        let text = if older { OLDER } else { MODERN };
        let at = text.floor_char_boundary(at.min(text.len()));
        let end = text.floor_char_boundary((at + length).min(text.len()));
        let damaged = format!("{}{put}{}", &text[..at], &text[end..]);
        agrees(damaged.as_bytes());
    }
}
