//! Cursors: whatever is brought to a list is −32602, unless the server gave it to this caller for this list. The first
//! byte says which list and in which era, the rest how the cursor is forged ([`forge`]).

use std::sync::OnceLock;

use mcp_proto::jsonrpc::{ErrorObject, Request};
use mcp_proto::{Context, InputConfig, Principal, ProtocolVersion, Server};
use serde_json::{Value, json};

use super::forge::forge;
use super::pieces::{first, run as wait};
use super::server::{builder, error, result};

/// The lists, and the members of their results.
const LISTS: [(&str, &str); 2] = [("tools/list", "tools"), ("resources/list", "resources")];

/// See the module.
///
/// # Panics
/// When a rule is broken.
pub fn run(data: &[u8]) {
    let (how, data) = first(data);
    let list = usize::from(how & 1);
    let is_modern = how & 2 == 0;
    let [tools, resources] = given();
    // The last is for somebody else.
    let (given, other) = match (list, how & 4) {
        (0, 0) => (&tools[0], &resources[0]),
        (0, _) => (&tools[0], &tools[1]),
        (_, 0) => (&resources[0], &tools[0]),
        _ => (&resources[0], &resources[1]),
    };
    let brought = forge(data, given, other);
    let params = match &brought {
        Some(cursor) => json!({ "cursor": cursor }),
        None => json!({}),
    };
    let response =
        wait(server().handle(Request::new(1, LISTS[list].0, params), caller("ada", is_modern)));
    // `null` stands for a member that is left out.
    let good = match &brought {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text == given,
        Some(_) => false,
    };
    match error(&response) {
        None => assert!(good, "a forged cursor was taken: {brought:?}"),
        Some(error) => {
            assert!(!good, "{error:?}");
            assert_eq!(error.code, ErrorObject::INVALID_PARAMS);
        }
    }
    if let Some(result) = result(&response) {
        let page = result[LISTS[list].1].as_array().expect("a list");
        let is_second = matches!(brought, Some(Value::String(_)));
        assert_eq!(page.len(), if is_second { 1 } else { 2 });
        assert_eq!(result.get("nextCursor").is_some(), !is_second);
    }
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let server = builder(InputConfig::default()).page_size(2);
        server.build().expect("a server")
    })
}

/// The cursors of each list's second page: the caller's, and somebody else's.
fn given() -> &'static [[String; 2]; 2] {
    static GIVEN: OnceLock<[[String; 2]; 2]> = OnceLock::new();
    GIVEN.get_or_init(|| {
        LISTS.map(|(method, _)| {
            ["ada", "alan"].map(|name| {
                let request = Request::new(1, method, json!({}));
                let response = wait(server().handle(request, caller(name, true)));
                let result = response.outcome.expect("a page").to_value();
                let cursor = result["nextCursor"].as_str();
                cursor.expect("another page").to_owned()
            })
        })
    })
}

fn caller(name: &str, is_modern: bool) -> Context {
    let mut context = Context::test();
    if !is_modern {
        context.protocol_version = ProtocolVersion::LATEST_LEGACY;
    }
    context.extensions.insert(Principal(name.to_owned()));
    context
}
