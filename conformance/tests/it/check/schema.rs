//! What is said of messages that do not fit the official schemas.

use mcp_conformance::{Check, Revision, Verdict};
use serde_json::{Value, json};

use super::correct::correct;
use super::text;
use crate::mutation::{Fault, broken, result};

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

/// What is seen of a server that is broken so.
async fn seen(fault: Fault, revision: Revision) -> String {
    let check = Check::url(broken(correct(), fault)).revisions(vec![revision]);
    let check = check.only(["messages.schema".to_owned(), "resources.read".to_owned()]);
    let report = check.run(|_| {}).await.unwrap();
    let mut found = report.findings();
    let Some(Verdict::Finding(finding)) = found.next().map(|judged| &judged.verdict) else {
        panic!("{}", text(&report));
    };
    assert!(found.next().is_none(), "{}", text(&report));
    finding.seen.clone()
}

fn tool(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    result("tools/list", move |result| change(&mut result["tools"][0]))
}

#[tokio::test]
async fn a_misfit_names_its_place_its_definition_and_its_revision() {
    let untyped = tool(|tool| tool["inputSchema"] = json!({}));
    assert_eq!(
        seen(untyped, LEGACY).await,
        "tools/list: /result/tools/0/inputSchema has no type (ListToolsResult of 2025-11-25)"
    );
    let null = tool(|tool| tool["title"] = Value::Null);
    assert_eq!(
        seen(null, MODERN).await,
        "tools/list: /result/tools/0/title null is not of type \"string\" (ListToolsResult of 2026-07-28)"
    );
    let scope = result("tools/list", |result| result["cacheScope"] = "all".into());
    assert_eq!(
        seen(scope, MODERN).await,
        "tools/list: /result/cacheScope is \"all\", which is not one of \"private\", \"public\" (ListToolsResult of 2026-07-28)"
    );
}

#[tokio::test]
async fn of_alternatives_the_one_that_was_meant_is_explained() {
    let contents = |change: fn(&mut Value)| {
        result("resources/read", move |result| change(&mut result["contents"][0]))
    };
    let unnamed = contents(|it| {
        it.as_object_mut().unwrap().remove("uri");
    });
    assert_eq!(
        seen(unnamed, LEGACY).await,
        "resources/read: /result/contents/0 has no uri (ReadResourceResult of 2025-11-25)"
    );
    let number = contents(|it| it["text"] = 1.into());
    let said = seen(number, LEGACY).await;
    assert!(said.contains("/result/contents/0"), "{said}");
}
