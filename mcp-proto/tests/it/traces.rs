//! Trace context of the caller, as handlers and the log see it; keys of `_meta` and identifiers of extensions.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use mcp_proto::{
    CallToolResult, Context, GetPromptResult, Prompt, Resource, ResourceContents, ResourceTemplate,
    Server, StreamableHttpService, Tool,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::common::{Raw, every_client, open_session, subscribe};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

/// Writes down the spans of the library and what is said within them, up to a level.
#[derive(Debug, Clone)]
struct Notes(Arc<Mutex<Vec<String>>>, Level);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Notes {
    fn new(level: Level) -> Self {
        Self(Arc::default(), level)
    }

    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let own = ["mcp_proto::server", "it::traces"].contains(&metadata.target());
        own && *metadata.level() <= self.1
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(format!("{}:", span.metadata().name()));
        span.record(&mut fields);
        self.note(fields.0);
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        self.note("said".to_owned());
    }
    fn enter(&self, _: &Id) {
        self.note("in".to_owned());
    }
    fn exit(&self, _: &Id) {
        self.note("out".to_owned());
    }
}

/// A server whose tool tells the trace of its call.
fn server() -> Server {
    let tool = Tool::new("trace", "").with_input_schema(json!({"type": "object"}));
    Server::builder("s", "1", ())
        .raw_tool(tool, async |(), _, context: Context| {
            tracing::info!("called");
            CallToolResult::structured(&json!({
                "parent": context.trace_parent(),
                "state": context.trace_state(),
                "baggage": context.baggage(),
            }))
        })
        .build()
        .unwrap()
}

fn call(meta: &Value) -> Value {
    json!({"name": "trace", "arguments": {}, "_meta": meta})
}

#[tokio::test]
async fn a_handler_sees_the_trace_of_its_caller() {
    let meta = json!({"traceparent": PARENT, "tracestate": "congo=t61rcWkgMzE", "baggage": "user=a%20b;p=1"});
    let (clients, _served) = every_client(&server()).await;
    for (name, client) in &clients {
        let result = client.request("tools/call", call(&meta)).await.unwrap();
        let seen =
            json!({"parent": PARENT, "state": "congo=t61rcWkgMzE", "baggage": "user=a%20b;p=1"});
        assert_eq!(result["structuredContent"], seen, "{name}");
    }
}

#[tokio::test]
async fn the_log_follows_a_request_by_its_trace() {
    let service = StreamableHttpService::new(server());
    let session = open_session(&service).await;
    let said = |meta| {
        [Raw::modern("tools/call", call(&meta)), Raw::legacy(&session, "tools/call", &call(&meta))]
    };
    let traced = json!({"traceparent": PARENT});
    let malformed = json!({"traceparent": PARENT.to_uppercase()});
    let span = "request: id=7 method=\"tools/call\"";
    let with_parent = format!("{span} traceparent=\"{PARENT}\"");
    for (level, meta, wanted) in [
        (Level::INFO, &traced, Some(with_parent.as_str())),
        (Level::DEBUG, &traced, Some(with_parent.as_str())),
        (Level::INFO, &json!({}), None),
        (Level::INFO, &malformed, None),
        (Level::DEBUG, &json!({}), Some(span)),
        (Level::DEBUG, &malformed, Some(span)),
        (Level::WARN, &traced, None),
    ] {
        for raw in said(meta.clone()) {
            let notes = Notes::new(level);
            let here = subscribe(notes.clone());
            raw.send(&service).await.result();
            drop(here);
            let taken = notes.taken();
            let spans: Vec<_> = taken.iter().filter(|note| note.starts_with("request:")).collect();
            assert_eq!(spans, wanted.iter().collect::<Vec<_>>(), "{level} {meta}");
            let said = taken.iter().position(|note| note == "said");
            assert_eq!(said.is_some(), level >= Level::INFO);
            if let (Some(_), Some(said)) = (wanted, said) {
                // What the handler says is said within the span.
                assert_eq!(taken[said - 1], "in", "{taken:?}");
            }
        }
    }
}

/// The context of a request with one member of `_meta`.
fn context(key: &str, value: &Value) -> Context {
    let mut context = Context::test();
    context.meta.insert("traceparent".to_owned(), json!(PARENT));
    context.meta.insert(key.to_owned(), value.clone());
    context
}

#[test]
fn a_malformed_parent_counts_as_none() {
    let ids = "-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-";
    for (text, good) in [
        (PARENT.to_owned(), true),
        (format!("00{ids}00"), true),
        (format!("00{ids}ff"), true),
        (format!("01{ids}01"), true),
        (format!("cc{ids}01-what-comes-later"), true),
        (format!("cc{ids}01-{}", "x".repeat(200)), true),
        (format!("cc{ids}01-{}", "x".repeat(201)), false),
        (format!("cc{ids}01-a b"), false),
        (format!("cc{ids}01-a\nb"), false),
        (format!("cc{ids}01-ä"), false),
        (format!("00{ids}01-more"), false),
        (format!("00{ids}01-"), false),
        (format!("ff{ids}01"), false),
        (format!("0{ids}01"), false),
        (format!("00{ids}1"), false),
        (format!("00{ids}0x"), false),
        (format!(" 00{ids}01"), false),
        (PARENT.to_uppercase(), false),
        (PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)), false),
        (PARENT.replace("00f067aa0ba902b7", &"0".repeat(16)), false),
        (PARENT.replace('-', ""), false),
        (PARENT.replace("0af7", "0äf7"), false),
        (String::new(), false),
    ] {
        let context = context("traceparent", &json!(text));
        assert_eq!(context.trace_parent(), good.then_some(text.as_str()), "{text:?}");
    }
    for value in [json!(5), json!(null), json!([PARENT])] {
        assert_eq!(context("traceparent", &value).trace_parent(), None);
    }
    let mut without = context("tracestate", &json!("a=b"));
    assert_eq!(without.trace_state(), Some("a=b"));
    without.meta.remove("traceparent");
    assert_eq!((without.trace_parent(), without.trace_state()), (None, None));
}

#[test]
fn a_malformed_state_counts_as_none() {
    let many = |count: usize| {
        let members: Vec<_> = (0..count).map(|index| format!("k{index}=v")).collect();
        members.join(",")
    };
    for (text, good) in [
        ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE".to_owned(), true),
        ("fw529a3039@dt=FfFfFfFf , 0t@s=1".to_owned(), true),
        ("a=b,,c=d,".to_owned(), true),
        ("a_-*/0=!\"#$%&'()*+-./:;<>?@[\\]^_`{|}~".to_owned(), true),
        (format!("{}={}", "k".repeat(256), "v".repeat(256)), true),
        (many(32), true),
        (many(33), false),
        (format!("{}=v", "k".repeat(257)), false),
        (format!("k={}", "v".repeat(257)), false),
        ("a=b,a=c".to_owned(), false),
        ("A=b".to_owned(), false),
        ("0a=b".to_owned(), false),
        ("a@0b=c".to_owned(), false),
        (format!("a@{}=c", "s".repeat(15)), false),
        ("a@b@c=d".to_owned(), false),
        ("a".to_owned(), false),
        ("a=".to_owned(), false),
        ("=b".to_owned(), false),
        ("a=b=c".to_owned(), false),
        ("a=bä".to_owned(), false),
        (String::new(), false),
        (" , ".to_owned(), false),
    ] {
        let context = context("tracestate", &json!(text));
        assert_eq!(context.trace_state(), good.then_some(text.as_str()), "{text:?}");
    }
}

#[test]
fn malformed_baggage_counts_as_none() {
    let many = |count: usize| vec!["k=v"; count].join(",");
    for (text, good) in [
        ("key1=value1,key2=value2;property1;property2, key3 = value3; p = v".to_owned(), true),
        ("userId=Am%C3%A9lie,serverNode=DF%2028".to_owned(), true),
        ("a=".to_owned(), true),
        ("a==".to_owned(), true),
        (many(180), true),
        (many(181), false),
        (format!("k={}", "v".repeat(8190)), true),
        (format!("k={}", "v".repeat(8191)), false),
        ("a".to_owned(), false),
        ("=b".to_owned(), false),
        ("a=b,".to_owned(), false),
        ("a=b;".to_owned(), false),
        ("a b=c".to_owned(), false),
        ("a=b c".to_owned(), false),
        ("a=\"b\"".to_owned(), false),
        ("a=b\\c".to_owned(), false),
        ("a=é".to_owned(), false),
        ("a=b;p q".to_owned(), false),
        (String::new(), false),
    ] {
        let context = context("baggage", &json!(text));
        assert_eq!(context.baggage(), good.then_some(text.as_str()), "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is taken has the form it must have, judged by other means.
    #[test]
    fn any_text_is_a_trace_context_or_none(text in "\\PC{0,60}|[-0-9a-f]{50,60}|[a-z0-9=,;@ ]{0,40}|0[0-9a-f]-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?") {
        let value = json!(text);
        if let Some(parent) = context("traceparent", &value).trace_parent() {
            prop_assert!(parent.is_ascii() && parent.len() >= 55);
            prop_assert_eq!(parent.len() == 55, parent.split('-').count() == 4);
            prop_assert!(u128::from_str_radix(&parent[3..35], 16).unwrap() != 0);
            prop_assert!(u64::from_str_radix(&parent[36..52], 16).unwrap() != 0);
        }
        if let Some(state) = context("tracestate", &value).trace_state() {
            prop_assert!(state.is_ascii() && state.contains('='));
        }
        if let Some(baggage) = context("baggage", &value).baggage() {
            prop_assert!(baggage.is_ascii() && baggage.split(',').all(|member| member.contains('=')));
        }
    }
}

#[test]
fn an_extension_has_an_identifier_with_a_prefix() {
    for (id, good) in [
        ("com.example/thing", true),
        ("io.modelcontextprotocol/ui", true),
        ("a/b", true),
        ("a-b.c1/x_y.z-0", true),
        ("thing", false),
        ("com.example/", false),
        ("/thing", false),
        ("", false),
        ("com..example/thing", false),
        ("1com/thing", false),
        ("com-/thing", false),
        ("-com/thing", false),
        ("com.example/-thing", false),
        ("com.example/thing_", false),
        ("com.example/a/b", false),
        ("com.exämple/thing", false),
        ("com.example/th ing", false),
    ] {
        let built = Server::builder("s", "1", ()).extension(id, Map::new()).build();
        match built {
            Ok(_) => assert!(good, "{id:?} was taken"),
            Err(error) => {
                assert!(!good, "{id:?}: {error}");
                assert!(
                    error.to_string().contains(&format!("the extension {id:?} needs")),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn keys_of_meta_are_judged_when_the_server_is_built() {
    let meta = |key: &str| Some(Map::from_iter([(key.to_owned(), json!(1))]));
    let built = |place: &str, key: &str| {
        let mut tool = Tool::new("t", "").with_input_schema(json!({"type": "object"}));
        let mut resource = Resource::new("x://r", "r");
        let mut template = ResourceTemplate::new("x://t/{a}", "t");
        let mut prompt = Prompt::new("p", "");
        match place {
            "tool \"t\"" => tool.meta = meta(key),
            "resource \"x://r\"" => resource.meta = meta(key),
            "resource \"x://t/{a}\"" => template.meta = meta(key),
            _ => prompt.meta = meta(key),
        }
        Server::builder("s", "1", ())
            .raw_tool(tool, async |(), _, _| Ok(CallToolResult::text("x")))
            .resource(resource, async |(), _| Ok(ResourceContents::text("x://r", "x")))
            .resource_template(template, async |(), _, _| {
                Ok(ResourceContents::text("x://t/a", "x"))
            })
            .raw_prompt(prompt, async |(), _, _| Ok(GetPromptResult::text("x")))
            .build()
    };
    for place in ["tool \"t\"", "resource \"x://r\"", "resource \"x://t/{a}\"", "prompt \"p\""] {
        for key in
            ["com.example/x", "x", "a.b-c.d/x.y_z-1", "openai/outputTemplate", "com.example/"]
        {
            assert!(built(place, key).is_ok(), "{place} {key:?}");
        }
        for key in ["com.example/x/y", "/x", "1a/x", "a-/x", "x y", "-x", "x.", "ä"] {
            let error = built(place, key).expect_err(key).to_string();
            assert!(
                error.starts_with(&format!("{place}: {key:?} is not a key for _meta")),
                "{error}"
            );
        }
    }
}
