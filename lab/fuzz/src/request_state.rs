//! Multi round-trip requests: nothing completes by a forged request state, and no answer makes the server fail.
//!
//! The first byte of the input says what the server asks for (`r`: a state with every answer; `1`: and each state once;
//! else neither), the rest of the first line how the state is forged ([`forge`]), the second line is `inputResponses`
//! and the third, if there is one, the arguments of the call.

use std::sync::{Arc, OnceLock};

use mcp_proto::jsonrpc::{ErrorObject, Request};
use mcp_proto::lifecycle::ClientCapabilities;
use mcp_proto::{Context, InputConfig, Principal, Server};
use serde_json::{Map, Value, json};

use super::forge::forge;
use super::pieces::{first, line, run as wait};
use super::server::{builder, error, result};

/// See the module.
///
/// # Panics
/// When a rule is broken.
pub fn run(data: &[u8]) {
    let (forgery, rest) = line(data);
    let (responses, arguments) = line(rest);
    let (how, forgery) = first(forgery);
    let (server, needs_state) = match how {
        b'r' => (strict(), true),
        b'1' => (once(), true),
        _ => (lenient(), false),
    };
    let usual = json!({ "amount": 7 });
    let arguments = serde_json::from_slice(arguments).unwrap_or_else(|_| usual.clone());
    let given = asked(server, "ada", &usual);
    let other = match forgery.get(1) {
        Some(b'p') => asked(server, "alan", &usual),
        _ => asked(server, "ada", &json!({ "amount": 8 })),
    };
    let state = forge(forgery, &given, &other);
    let mut params = Map::new();
    params.insert("name".to_owned(), "pay".into());
    params.insert("arguments".to_owned(), arguments.clone());
    params.extend(state.clone().map(|state| ("requestState".to_owned(), state)));
    if !responses.is_empty() {
        let text = || String::from_utf8_lossy(responses).into();
        let responses = serde_json::from_slice(responses).unwrap_or_else(|_| text());
        params.insert("inputResponses".to_owned(), responses);
    }
    let answers = params.get("inputResponses").cloned();
    let params = Value::Object(params);

    let is_given = state.as_ref().and_then(Value::as_str) == Some(&given) && arguments == usual;
    let completed = call(server, &params);
    match &state {
        None => assert!(!completed || !needs_state, "completed without a state"),
        Some(state) => assert!(!completed || is_given, "completed by {state}"),
    }
    if completed {
        let action = answers.as_ref().map(|answers| &answers["confirm"]["action"]);
        let action = action.and_then(Value::as_str);
        assert!(
            ["accept", "decline", "cancel"].map(Some).contains(&action),
            "completed by {answers:?}"
        );
    }
    if how == b'1' && completed {
        assert!(!call(server, &params), "completed twice by one state");
    }
}

/// Whether a call completes. It may be refused or ask instead; the arguments may be wrong, which is a result too.
fn call(server: &Server, params: &Value) -> bool {
    let request = Request::new(1, "tools/call", params.clone());
    let response = wait(server.handle(request, caller("ada")));
    if let Some(error) = error(&response) {
        assert_eq!(error.code, ErrorObject::INVALID_PARAMS, "{error:?}");
    }
    let result = result(&response);
    result.is_some_and(|result| match result["resultType"].as_str() {
        Some("input_required") => {
            assert!(result["requestState"].is_string());
            assert!(result["inputRequests"]["confirm"].is_object());
            false
        }
        _ => result["isError"] != true,
    })
}

/// The state of a question that was just asked.
fn asked(server: &Server, name: &str, arguments: &Value) -> String {
    let params = json!({ "name": "pay", "arguments": arguments });
    let response = wait(server.handle(Request::new(1, "tools/call", params), caller(name)));
    let result = response.outcome.expect("a question").to_value();
    result["requestState"].as_str().expect("a state").to_owned()
}

fn caller(name: &str) -> Context {
    let mut context = Context::test();
    let capabilities = Map::from_iter([("elicitation".to_owned(), json!({ "form": {} }))]);
    context.client_capabilities = Arc::new(ClientCapabilities::from(capabilities));
    context.extensions.insert(Principal(name.to_owned()));
    context
}

fn lenient() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| build(InputConfig::default()))
}

fn strict() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let mut input = InputConfig::default();
        input.require_state = true;
        build(input)
    })
}

fn once() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let mut input = InputConfig::default();
        input.require_state = true;
        input.single_use = true;
        build(input)
    })
}

fn build(input: InputConfig) -> Server {
    builder(input).build().expect("a server")
}
