//! What must hold for every input: nothing panics, chunks do not matter, what is valid round-trips, and what is
//! accepted is read.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::str::FromStr as _;
use std::task::{Context as TaskContext, Poll};

use http::Method;
use mcp_proto::http::EventReader;
use mcp_proto::jsonrpc::{
    ErrorObject, Message, Notification, Payload, Request, RequestId, Response,
};
use mcp_proto::stdio::{StdioConfig, serve};
use mcp_proto::{Context, Json, ProtocolVersion, Server, Tool};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::runtime::Runtime;

use crate::common::{Raw, request, server, service, with_meta};

fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            btree_map(".{0,6}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Map<String, Value>> {
    btree_map(".{0,6}", any_json(), 0..5).prop_map(|members| members.into_iter().collect())
}

fn any_id() -> impl Strategy<Value = RequestId> {
    prop_oneof![
        any::<i64>().prop_map(RequestId::Number),
        ".{0,9}".prop_map(|id| RequestId::from(id.as_str()))
    ]
}

fn any_message() -> impl Strategy<Value = Message> {
    let error = (
        any::<i64>(),
        ".{0,9}",
        proptest::option::of(any_json().prop_filter("null is none", |data| !data.is_null())),
    );
    prop_oneof![
        (any_id(), ".{0,9}", any_object())
            .prop_map(|(id, method, params)| Message::Request(Request { id, method, params })),
        (".{0,9}", any_object())
            .prop_map(|(method, params)| Message::Notification(Notification { method, params })),
        (any_id(), any_json()).prop_map(|(id, result)| Message::Response(Response::result(
            id,
            Payload::of(&result).unwrap()
        ))),
        (proptest::option::of(any_id()), error).prop_map(|(id, (code, message, data))| {
            Message::Response(Response::error(id, ErrorObject { code, message, data }))
        }),
    ]
}

/// Nearly messages: members of messages with anything in them.
fn nearly_a_message() -> impl Strategy<Value = Value> {
    let member = select(vec!["jsonrpc", "id", "method", "params", "result", "error", "other"]);
    let value = prop_oneof![
        Just(json!("2.0")),
        Just(json!(1)),
        Just(json!({})),
        Just(json!(null)),
        any_json()
    ];
    btree_map(member, value, 0..6).prop_map(|members| {
        Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

/// The bytes of a reader, cut where the test says.
struct Chunks(Vec<Vec<u8>>);

impl AsyncRead for Chunks {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if !self.0.is_empty() {
            let chunk = self.0.remove(0);
            assert!(chunk.len() <= buffer.remaining());
            buffer.put_slice(&chunk);
        }
        Poll::Ready(Ok(()))
    }
}

/// Cuts bytes at these places; no piece is empty.
fn cut(bytes: &[u8], places: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut places: Vec<_> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.dedup();
    places.windows(2).map(|ends| bytes[ends[0]..ends[1]].to_vec()).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bytes_are_a_message_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        if let Err(broken) = Message::from_slice(&bytes) {
            prop_assert!([ErrorObject::PARSE, ErrorObject::INVALID_REQUEST].contains(&broken.error.code));
            prop_assert!(!broken.error.message.is_empty());
        }
    }

    #[test]
    fn any_nearly_json_text_is_a_message_or_an_error(text in "[\\[\\]{}\",:0-9eE+.tfn \\\\u-]{0,60}") {
        let _classified = Message::from_slice(text.as_bytes());
    }

    #[test]
    fn every_message_round_trips(message in any_message()) {
        let text = serde_json::to_vec(&message).unwrap();
        let read = Message::from_slice(&text).unwrap();
        prop_assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&message).unwrap());
        prop_assert_eq!(std::mem::discriminant(&read), std::mem::discriminant(&message));
    }

    #[test]
    fn every_value_is_classified_as_its_text_is(value in prop_oneof![nearly_a_message(), any_json()]) {
        let by_text = Message::from_slice(value.to_string().as_bytes());
        let by_value = Message::from_value(value.clone());
        match (by_text, by_value) {
            (Ok(text), Ok(value)) => prop_assert_eq!(serde_json::to_value(text).unwrap(), serde_json::to_value(value).unwrap()),
            (Err(text), Err(value)) => {
                prop_assert_eq!(text.error.code, ErrorObject::INVALID_REQUEST);
                prop_assert_eq!(text, value);
            }
            (text, value) => prop_assert!(false, "{:?} but {:?}", text, value),
        }
    }

    #[test]
    fn only_the_five_dates_are_versions(text in prop_oneof!["[0-9-]{0,12}", ".{0,12}", select(vec!["2025-06-18".to_owned(), "2026-07-28".to_owned()])]) {
        match ProtocolVersion::from_str(&text) {
            Ok(version) => prop_assert_eq!(version.to_string(), text),
            Err(unknown) => {
                prop_assert!(ProtocolVersion::ALL.iter().all(|version| version.as_str() != text));
                prop_assert_eq!(unknown.0, text);
            }
        }
    }

    #[test]
    fn events_do_not_depend_on_chunks_or_line_ends(
        events in vec((".{0,9}", vec("[^\r\n]{0,9}", 1..4), select(vec!["\n", "\r\n", "\r"])), 0..6),
        places in vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut stream = String::new();
        for (name, data, end) in &events {
            let name: String = name.chars().filter(|c| !c.is_control()).collect();
            stream += &format!(": a comment{end}event: {name}{end}");
            for line in data {
                stream += &format!("data: {line}{end}");
            }
            stream += end;
        }
        let whole = EventReader::new(10_000).push(stream.as_bytes()).unwrap();
        prop_assert_eq!(whole.len(), events.len());
        for (event, (_, data, _)) in whole.iter().zip(&events) {
            prop_assert_eq!(&event.data, &data.join("\n"));
        }
        let mut reader = EventReader::new(10_000);
        let mut cut_up = Vec::new();
        for chunk in cut(stream.as_bytes(), &places) {
            cut_up.extend(reader.push(&chunk).unwrap());
        }
        prop_assert_eq!(cut_up, whole);
    }

    #[test]
    fn any_bytes_are_events_or_too_large(bytes in vec(any::<u8>(), 0..200), max in 0_usize..100) {
        let _events = EventReader::new(max).push(&bytes);
    }
}

proptest! {
    // Each case serves something.
    #![proptest_config(ProptestConfig { cases: 64, ..config() })]

    #[test]
    fn any_headers_are_judged(
        method in select(vec![Method::POST, Method::GET, Method::DELETE, Method::OPTIONS, Method::PUT]),
        headers in btree_map(
            select(vec!["host", "origin", "accept", "content-type", "content-length", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"]),
            prop_oneof![
                "[ -~]{0,20}".prop_map(String::into_bytes),
                "=\\?base64\\?[A-Za-z0-9+/=]{0,9}\\?=".prop_map(String::into_bytes),
                vec(prop_oneof![Just(9_u8), 32_u8..=126, 128_u8..=255], 0..20),
            ],
            0..4,
        ),
    ) {
        let mut raw = Raw { method, ..Raw::modern("tools/call", json!({"name": "echo", "arguments": {"text": "x"}})) };
        for (name, value) in headers {
            raw.headers.insert(name, http::HeaderValue::from_bytes(&value).unwrap());
        }
        let reply = runtime().block_on(raw.send(&service()));
        match reply.status.as_u16() {
            200 | 204 => {}
            400 | 403 | 404 | 405 | 406 | 413 | 415 => { reply.refusal(); }
            other => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn lines_do_not_depend_on_chunks(
        ends in vec(select(vec!["\n", "\r\n", "\n\n", "\nnoise\n"]), 1..20),
        places in vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let mut input = String::new();
        for (id, end) in ends.iter().enumerate() {
            input += &request(id, "tools/list", &with_meta(json!({}))).to_string();
            input += end;
        }
        let mut output = Vec::new();
        let reader = Chunks(cut(input.as_bytes(), &places));
        runtime().block_on(serve(server(), reader, &mut output, StdioConfig::default())).unwrap();
        let mut ids: Vec<_> = String::from_utf8(output).unwrap().lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap())
            .collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..ends.len() as u64).collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_over_stdio_end_well(bytes in vec(any::<u8>(), 0..300), places in vec(any::<prop::sample::Index>(), 0..9)) {
        let mut output = Vec::new();
        let mut config = StdioConfig::default();
        config.max_line_bytes = 50;
        runtime().block_on(serve(server(), Chunks(cut(&bytes, &places)), &mut output, config)).unwrap();
        for line in String::from_utf8(output).unwrap().lines() {
            prop_assert!(serde_json::from_str::<Value>(line).unwrap()["error"]["code"].is_i64());
        }
    }

    #[test]
    fn accepted_arguments_are_read(arguments in nearly_arguments()) {
        let params = json!({ "name": "take", "arguments": arguments });
        let taker = taker();
        let handled = taker.handle(Request::new(1, "tools/call", params), Context::test());
        let result = runtime().block_on(handled).outcome.unwrap().to_value();
        let text = result["content"][0]["text"].as_str().unwrap();
        if result["isError"] == true {
            let error: Value = serde_json::from_str(text).unwrap();
            prop_assert_eq!(&error["error"]["code"], "INVALID_ARGUMENTS");
            // Serde refused nothing that the schema let through: its findings have no path and another wording.
            for finding in error["error"]["data"]["findings"].as_array().unwrap() {
                let whole = finding["path"] == "";
                let required = finding["message"].as_str().unwrap().ends_with("is a required property");
                prop_assert!(!whole || required, "{}", finding);
            }
        } else {
            prop_assert!(serde_json::from_str::<Take>(text).is_ok());
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Take {
    text: String,
    count: u32,
    small: Option<i8>,
    #[serde(default)]
    ratio: f64,
    #[serde(default)]
    list: Vec<Option<bool>>,
    #[serde(default)]
    map: BTreeMap<String, i32>,
    choice: Option<Choice>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Choice {
    One { n: u16, label: Option<String> },
    Two,
}

fn taker() -> Server {
    Server::builder("taker", "1", ())
        .tool(Tool::new("take", "Takes."), async |take: Take| Json(take))
        .build()
        .unwrap()
}

/// Arguments that are right in most members.
fn nearly_arguments() -> impl Strategy<Value = Value> {
    // One fault in a call is enough to be refused, so faults are rare.
    let number = || {
        prop_oneof![
            20 => Just(json!(1)),
            10 => Just(json!(1.0)),
            5 => Just(json!(-0.0)),
            1 => select(vec![json!(255), json!(70_000), json!(-1), json!(1.5), json!(1e300)]),
            1 => select(vec![json!(4_294_967_295_u32), json!(4_294_967_296_u64)]),
        ]
    };
    let rarely = |good: BoxedStrategy<Value>| prop_oneof![40 => good, 1 => any_json(), 1 => Just(Value::Null)];
    let choice = prop_oneof![
        9 => number().prop_map(|n| json!({"type": "one", "n": n, "label": null})),
        9 => Just(json!({"type": "two", "extra": 1})),
        1 => Just(json!({"type": "three"})),
    ];
    let list =
        vec(prop_oneof![40 => any::<bool>().prop_map(Value::from), 1 => Just(Value::Null)], 0..3);
    let member = |strategy| proptest::option::weighted(0.95, rarely(strategy));
    (
        member(".{0,9}".prop_map(Value::from).boxed()),
        member(number().boxed()),
        member(number().boxed()),
        member(number().boxed()),
        member(list.prop_map(Value::from).boxed()),
        member(btree_map("[a-c/~]", number(), 0..3).prop_map(|map| json!(map)).boxed()),
        member(choice.boxed()),
    )
        .prop_map(|(text, count, small, ratio, list, map, choice)| {
            let members = [
                ("text", text),
                ("count", count),
                ("small", small),
                ("ratio", ratio),
                ("list", list),
                ("map", map),
                ("choice", choice),
            ];
            let given =
                members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Value::Object(given.collect())
        })
}
