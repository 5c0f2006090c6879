//! Caching hints: on six results of the modern era, the same scope on all pages, never public where it may depend on
//! the caller; nothing of the kind in the legacy era.

use std::time::Duration;

use mcp_proto::{
    CacheHint, Completion, Era, GetPromptResult, Page, PageRequest, Principal, Prompt,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Server, ServerBuilder, Tool,
};
use serde_json::{Value, json};

use crate::common::every_client;

async fn read(hint: CacheHint) -> Result<ReadResourceResult, mcp_proto::RequestError> {
    let contents = ResourceContents::text("x:x", "");
    Ok(ReadResourceResult::from(contents).with_cache(hint))
}

fn builder() -> ServerBuilder<()> {
    let mut builder = Server::builder("s", "1", ());
    for name in ["a", "b", "c"] {
        builder = builder
            .raw_tool(
                Tool::new(name, "").with_input_schema(json!({"type": "object"})),
                async |(), _, _| Ok(mcp_proto::CallToolResult::text("")),
            )
            .raw_prompt(Prompt::new(name, ""), async |(), _, _| Ok(GetPromptResult::text("")))
            .resource_template(
                ResourceTemplate::new(format!("{name}:{{v}}"), name),
                async |(), _, _| Ok(ResourceContents::text("x:x", "")),
            );
    }
    builder
        .resource(Resource::new("x:plain", "plain"), async |(), _| {
            Ok(ResourceContents::text("x:plain", ""))
        })
        .resource(Resource::new("x:public", "public"), async |(), _| {
            read(CacheHint::public(Duration::from_millis(1_500))).await
        })
        .resource(Resource::new("x:private", "private"), async |(), _| {
            read(CacheHint::private(Duration::from_micros(2_999))).await
        })
        .resource(Resource::new("x:forever", "forever"), async |(), _| {
            read(CacheHint::private(Duration::MAX)).await
        })
}

/// The hints of the results of each method, for a client of each transport and era.
async fn hints(server: &Server, method: &str, params: Value) -> Vec<(Era, Value, Value)> {
    let (clients, _served) = every_client(server).await;
    let mut hints = Vec::new();
    for (_, client) in &clients {
        let result = client.request(method, params.clone()).await.unwrap();
        let member = |name: &str| result.get(name).cloned().unwrap_or_default();
        hints.push((client.era(), member("ttlMs"), member("cacheScope")));
    }
    hints
}

async fn expect(server: &Server, method: &str, params: Value, ttl: u64, scope: &str) {
    for (era, found_ttl, found_scope) in hints(server, method, params.clone()).await {
        let wanted = match era {
            Era::Modern => (json!(ttl), json!(scope)),
            Era::Legacy => (Value::Null, Value::Null),
        };
        assert_eq!((found_ttl, found_scope), wanted, "{era:?} {method} {params}");
    }
}

const LISTS: [&str; 4] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

#[tokio::test]
async fn lists_are_everybodys_for_a_minute_and_a_resource_is_what_its_handler_says() {
    let server = builder().build().unwrap();
    for list in LISTS {
        expect(&server, list, json!({}), 60_000, "public").await;
    }
    for (uri, ttl, scope) in [
        ("x:plain", 0, "private"),
        ("x:public", 1_500, "public"),
        // Whole milliseconds.
        ("x:private", 2, "private"),
        // What every client can count.
        ("x:forever", (1 << 53) - 1, "private"),
    ] {
        expect(&server, "resources/read", json!({"uri": uri}), ttl, scope).await;
    }
}

#[tokio::test]
async fn results_that_are_nobodys_to_keep_have_no_hint() {
    let server = builder()
        .complete_template("a:{v}", "v", async |(), asked, _| {
            Ok(Completion::matching(&asked, ["v"]))
        })
        .build()
        .unwrap();
    let reference = json!({"type": "ref/resource", "uri": "a:{v}"});
    for (method, params) in [
        ("completion/complete", json!({"ref": reference, "argument": {"name": "v", "value": ""}})),
        ("tools/call", json!({"name": "a"})),
        ("prompts/get", json!({"name": "a"})),
    ] {
        for (_, ttl, scope) in hints(&server, method, params).await {
            assert_eq!((ttl, scope), (Value::Null, Value::Null), "{method}");
        }
    }
}

#[tokio::test]
async fn the_builder_decides_for_all_lists() {
    let hint = CacheHint::private(Duration::from_secs(5));
    let server = builder().list_cache(hint).build().unwrap();
    for list in LISTS {
        expect(&server, list, json!({}), 5_000, "private").await;
    }
}

/// Lists what belongs to the caller.
fn of_the_caller(builder: ServerBuilder<()>) -> ServerBuilder<()> {
    builder.list_resources(async |(), asked: PageRequest, context: mcp_proto::Context| {
        let who = context.principal().unwrap_or("nobody").to_owned();
        let number = asked.after.map_or(0, |after| after.parse::<u32>().unwrap());
        let items = vec![Resource::new(format!("x:{who}/{number}"), who)];
        Ok(match number {
            3 => Page::last(items),
            _ => Page::with_next(items, (number + 1).to_string()),
        })
    })
}

#[tokio::test]
async fn a_list_that_a_handler_makes_is_its_callers_own_whatever_the_builder_says() {
    let server = of_the_caller(builder()).build().unwrap();
    expect(&server, "resources/list", json!({}), 0, "private").await;
    expect(&server, "tools/list", json!({}), 60_000, "public").await;
    let server = of_the_caller(builder())
        .list_cache(CacheHint::public(Duration::from_secs(5)))
        .build()
        .unwrap();
    expect(&server, "resources/list", json!({}), 5_000, "private").await;
    expect(&server, "prompts/list", json!({}), 5_000, "public").await;
}

#[tokio::test]
async fn all_pages_have_the_scope_of_the_first_and_each_caller_has_its_own() {
    let server = of_the_caller(builder()).page_size(1).build().unwrap();
    for list in LISTS {
        let mut seen = Vec::new();
        for who in ["ada", "bob"] {
            let mut params = json!({});
            let mut scopes = Vec::new();
            loop {
                let mut context = mcp_proto::Context::test();
                context.extensions.insert(Principal(who.to_owned()));
                let request = mcp_proto::jsonrpc::Request::new(1, list, params);
                let page = server.handle(request, context).await.outcome.unwrap();
                let page = page.to_value();
                scopes.push(page["cacheScope"].clone());
                assert!(page["ttlMs"].is_u64());
                seen.push(page.to_string());
                match page.get("nextCursor") {
                    Some(cursor) => params = json!({ "cursor": cursor }),
                    None => break,
                }
            }
            assert!(scopes.len() >= 3, "{list}");
            assert!(scopes.iter().all(|scope| *scope == scopes[0]), "{scopes:?}");
            let scope = if list == "resources/list" { "private" } else { "public" };
            assert_eq!(scopes[0], scope, "{list}");
        }
        let told = |who: &str| seen.iter().filter(|page| page.contains(who)).count();
        if list == "resources/list" {
            assert_eq!((told("x:ada/"), told("x:bob/")), (4, 4));
        }
    }
}
