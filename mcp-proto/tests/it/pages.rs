//! Lists in pages: every item once, cursors that are good for their list and caller alone, and lists that change
//! between two pages.

use std::sync::{Arc, Mutex};

use mcp_proto::jsonrpc::{ErrorObject, Request};
use mcp_proto::{
    CallToolResult, Context, GetPromptResult, Keys, Page, PageRequest, Principal, Prompt, Resource,
    ResourceContents, ResourceTemplate, Server, ServerBuilder, Tool,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{every_client, refused};

/// The lists, their member and what tells their items apart.
const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/list", "resources", "uri"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
];

/// A server with these items in each of its lists.
fn with_items(names: &[&str]) -> ServerBuilder<()> {
    let mut builder = Server::builder("s", "1", ()).page_size(2);
    for name in names {
        let text = ResourceContents::text("x:x", "");
        let other = text.clone();
        builder = builder
            .raw_tool(
                Tool::new(*name, "").with_input_schema(json!({"type": "object"})),
                async |(), _, _| Ok(CallToolResult::text("")),
            )
            .raw_prompt(Prompt::new(*name, ""), async |(), _, _| Ok(GetPromptResult::text("")))
            .resource(Resource::new(format!("x:{name}"), *name), move |(), _| {
                let text = text.clone();
                async { Ok(text) }
            })
            .resource_template(
                ResourceTemplate::new(format!("y:{name}/{{v}}"), *name),
                move |(), _, _| {
                    let text = other.clone();
                    async { Ok(text) }
                },
            );
    }
    builder
}

/// What the items of a list are called in [`with_items`].
fn named(list: &str, names: &[&str]) -> Vec<String> {
    let name = |name: &&str| match list {
        "resources/list" => format!("x:{name}"),
        "resources/templates/list" => format!("y:{name}/{{v}}"),
        _ => (*name).to_owned(),
    };
    names.iter().map(name).collect()
}

fn keys(result: &Value, member: &str, key: &str) -> Vec<String> {
    let items = result[member].as_array().unwrap().iter();
    items.map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

/// A request without a transport, by somebody or nobody.
async fn ask(
    server: &Server,
    who: Option<&str>,
    method: &str,
    params: Value,
) -> Result<Value, ErrorObject> {
    let mut context = Context::test();
    if let Some(who) = who {
        context.extensions.insert(Principal(who.to_owned()));
    }
    let answer = server.handle(Request::new(1, method, params), context).await;
    answer.outcome.map(|result| result.to_value())
}

/// The items of each page.
async fn walk(server: &Server, list: (&str, &str, &str)) -> Vec<Vec<String>> {
    let (method, member, key) = list;
    let mut pages = Vec::new();
    let mut params = json!({});
    loop {
        let result = ask(server, None, method, params).await.unwrap();
        pages.push(keys(&result, member, key));
        match result.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return pages,
        }
        assert!(pages.len() < 100, "no end of {method}: {pages:?}");
    }
}

#[tokio::test]
async fn every_item_is_listed_once_in_order_by_every_transport() {
    let names = ["e", "d", "c", "b", "a"];
    let server = with_items(&names).build().unwrap();
    let (clients, _served) = every_client(&server).await;
    for (how, client) in &clients {
        for (method, member, key) in LISTS {
            let mut seen = Vec::new();
            let mut sizes = Vec::new();
            let mut params = json!({});
            loop {
                let result = client.request(method, params).await.unwrap();
                let page = keys(&result, member, key);
                sizes.push(page.len());
                seen.extend(page);
                match result.get("nextCursor") {
                    Some(cursor) => params = json!({ "cursor": cursor }),
                    None => break,
                }
            }
            assert_eq!(sizes, [2, 2, 1], "{how} {method}");
            assert_eq!(seen, named(method, &names), "{how} {method}");
        }
    }
}

#[tokio::test]
async fn a_list_that_fills_its_pages_has_no_empty_page_behind_them() {
    let server = with_items(&["a", "b", "c", "d"]).build().unwrap();
    for list in LISTS {
        let sizes: Vec<_> = walk(&server, list).await.iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 2], "{list:?}");
    }
}

#[tokio::test]
async fn what_is_no_cursor_of_that_list_is_refused_by_every_transport() {
    let server = with_items(&["a", "b", "c"]).build().unwrap();
    // All in one page: these lists are made before anybody asks.
    let small = with_items(&["a"]).page_size(500).build().unwrap();
    for server in [server, small] {
        let (clients, _served) = every_client(&server).await;
        for (how, client) in &clients {
            for (method, _, _) in LISTS {
                for cursor in [json!(""), json!("x"), json!("2"), json!(2), json!({}), json!([])] {
                    let answer = client.request(method, json!({ "cursor": cursor })).await;
                    let error = refused(answer);
                    assert_eq!(error.code, -32602, "{how} {method} {cursor}");
                    assert!(error.message.contains("params.cursor"), "{error:?}");
                }
                let first = client.request(method, json!({})).await;
                assert!(first.is_ok(), "{how} {method}");
            }
        }
    }
}

#[tokio::test]
async fn a_cursor_is_good_for_its_list_and_its_caller_alone() {
    let server = with_items(&["a", "b", "c"]).build().unwrap();
    for (method, _, _) in LISTS {
        let page = ask(&server, Some("ada"), method, json!({})).await.unwrap();
        let cursor = page["nextCursor"].as_str().unwrap();
        for (other, _, _) in LISTS {
            for who in [Some("ada"), Some("bob"), Some(""), None] {
                let answer = ask(&server, who, other, json!({ "cursor": cursor })).await;
                if (other, who) == (method, Some("ada")) {
                    assert!(answer.is_ok(), "{answer:?}");
                } else {
                    assert_eq!(answer.unwrap_err().code, -32602, "{method} {other} {who:?}");
                }
            }
        }
        // Altered, cut, lengthened.
        let half = &cursor[..cursor.len() / 2];
        let swapped: String = cursor.chars().rev().collect();
        for forged in [half, &swapped, &format!("{cursor}A"), &format!(" {cursor}")] {
            let answer = ask(&server, Some("ada"), method, json!({ "cursor": forged })).await;
            assert_eq!(answer.unwrap_err().code, -32602, "{forged}");
        }
        // Another server's.
        let other = with_items(&["a", "b", "c"]).build().unwrap();
        let answer = ask(&other, Some("ada"), method, json!({ "cursor": cursor })).await;
        assert_eq!(answer.unwrap_err().code, -32602);
    }
}

#[tokio::test]
async fn another_process_with_the_same_keys_goes_on_where_the_first_stopped() {
    let keys_of_both = Keys::new([1; 32]);
    let serve = |names: &[&str]| {
        let builder = with_items(names).keys(keys_of_both.clone());
        builder.build().unwrap()
    };
    let before = serve(&["a", "b", "c", "d", "e"]);
    for (now, rest) in [
        // Nothing has changed; the last that was seen is gone; one before it; the first that was not seen; new ones.
        (&["a", "b", "c", "d", "e"][..], &["c", "d"][..]),
        (&["a", "c", "d", "e"], &["c", "d"]),
        (&["b", "c", "d", "e"], &["c", "d"]),
        (&["a", "b", "d", "e"], &["d", "e"]),
        (&["a", "b", "new", "c", "d", "e"], &["new", "c"]),
        (&["new", "a", "b", "c", "d", "e"], &["c", "d"]),
        (&["a", "b"], &[]),
    ] {
        let after = serve(now);
        for (method, member, key) in LISTS {
            let first = ask(&before, None, method, json!({})).await.unwrap();
            let params = json!({ "cursor": first["nextCursor"] });
            let second = ask(&after, None, method, params).await.unwrap();
            assert_eq!(keys(&second, member, key), named(method, rest), "{now:?}");
        }
    }
    // Nobody knows where the next page begins: better an error than items that nobody sees.
    let after = serve(&["a", "d", "e"]);
    for (method, _, _) in LISTS {
        let first = ask(&before, None, method, json!({})).await.unwrap();
        let params = json!({ "cursor": first["nextCursor"] });
        let error = ask(&after, None, method, params).await.unwrap_err();
        assert_eq!(error.code, -32602);
        assert!(error.message.contains(method), "{}", error.message);
    }
}

/// Names that are listed in their own order, each page after the last name of the one before.
#[derive(Clone)]
struct Names(Arc<Mutex<Vec<String>>>);

impl Names {
    fn new(names: &[&str]) -> Self {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Self(Arc::new(Mutex::new(names)))
    }

    fn page(&self, asked: &PageRequest) -> Page<Resource> {
        let names = self.0.lock().unwrap();
        let page = asked.cut(&*names, |name| name);
        page.map(|name| Resource::new(format!("x:{name}"), name))
    }
}

fn listing(names: &Names, registered: &[&str]) -> Server {
    let mut builder = Server::builder("s", "1", names.clone()).page_size(2);
    for name in registered {
        let resource = Resource::new(format!("x:{name}"), *name);
        builder = builder.resource(resource, async |_, _| Ok(ResourceContents::text("x:x", "")));
    }
    builder.list_resources(async |names: Names, asked, _| Ok(names.page(&asked))).build().unwrap()
}

#[tokio::test]
async fn what_a_handler_lists_comes_behind_what_is_registered() {
    for (registered, listed, pages) in [
        (&[][..], &[][..], vec![vec![]]),
        (&["1"], &[], vec![vec!["x:1"]]),
        (&[], &["a", "b", "c"], vec![vec!["x:a", "x:b"], vec!["x:c"]]),
        (&["1"], &["a", "b"], vec![vec!["x:1", "x:a"], vec!["x:b"]]),
        (&["1", "2"], &["a", "b", "c"], vec![vec!["x:1", "x:2"], vec!["x:a", "x:b"], vec!["x:c"]]),
        (&["1", "2", "3"], &["a"], vec![vec!["x:1", "x:2"], vec!["x:3", "x:a"]]),
    ] {
        let server = listing(&Names::new(listed), registered);
        assert_eq!(walk(&server, LISTS[2]).await, pages);
    }
}

#[tokio::test]
async fn a_handlers_list_may_change_between_two_pages() {
    let names = Names::new(&["a", "b", "c", "d"]);
    let server = listing(&names, &[]);
    let first = ask(&server, None, "resources/list", json!({})).await.unwrap();
    names.0.lock().unwrap().retain(|name| name != "b" && name != "a");
    names.0.lock().unwrap().insert(1, "cc".to_owned());
    let params = json!({ "cursor": first["nextCursor"] });
    let second = ask(&server, None, "resources/list", params).await.unwrap();
    assert_eq!(keys(&second, "resources", "uri"), ["x:c", "x:cc"]);
}

#[tokio::test]
async fn an_empty_key_of_a_handler_is_a_key() {
    let server = Server::builder("s", "1", ())
        .list_resources(async |(), asked: PageRequest, _| {
            Ok(match asked.after.as_deref() {
                None => Page::with_next(vec![Resource::new("x:first", "first")], ""),
                Some("") => Page::last(vec![Resource::new("x:second", "second")]),
                Some(other) => panic!("{other}"),
            })
        })
        .build()
        .unwrap();
    assert_eq!(walk(&server, LISTS[2]).await, [["x:first"], ["x:second"]]);
}

#[tokio::test]
async fn a_list_that_fails_is_an_error_and_tells_nothing_of_the_inside() {
    let server = Server::builder("s", "1", ())
        .list_resources(async |(), _, _| panic!("the password is 1234"))
        .build()
        .unwrap();
    let (clients, _served) = every_client(&server).await;
    for (how, client) in &clients {
        let error = refused(client.request("resources/list", json!({})).await);
        assert_eq!(error.code, -32603, "{how}");
        assert!(!error.message.contains("1234"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn whatever_stays_is_listed_once_wherever_one_item_goes(
        length in 1_usize..12,
        size in 1_usize..5,
        gone in any::<proptest::sample::Index>(),
        pages_before in 0_usize..6,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let names: Vec<String> = (0..length).map(|number| format!("n{number}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let gone = names[gone.index(length)];
            let left: Vec<&str> = names.iter().copied().filter(|name| *name != gone).collect();
            let keys_of_both = Keys::random();
            let serve = |names: &[&str]| {
                with_items(names).page_size(size).keys(keys_of_both.clone()).build().unwrap()
            };
            let (before, after) = (serve(&names), serve(&left));
            for (method, member, key) in LISTS {
                let mut seen = Vec::new();
                let mut params = json!({});
                for page in 0.. {
                    let server = if page <= pages_before { &before } else { &after };
                    let result = ask(server, None, method, params).await.unwrap();
                    seen.extend(keys(&result, member, key));
                    match result.get("nextCursor") {
                        Some(cursor) => params = json!({ "cursor": cursor }),
                        None => break,
                    }
                }
                let gone = &named(method, &[gone])[0];
                seen.retain(|name| name != gone);
                assert_eq!(seen, named(method, &left), "{method}");
            }
        });
    }
}
