//! What each path accepts, as users of other servers missed it.

use http::Method;
use serde_json::Value;

use crate::harness::{Ways, add_star};

/// eclipse-ee4j/jersey#3837: 405 named other methods than OPTIONS. cloudflare/privacypass-issuer#16: HEAD was refused
/// where GET is not.
#[tokio::test]
async fn the_methods_of_every_path_are_the_same_in_each_answer_about_them() {
    let ways = Ways::start(&["--demo"]).await;
    let client = ways.client;
    let described = client.get("/openapi.json").await.json();
    let paths = described["paths"].as_object().unwrap();
    assert!(paths.len() > 10);
    for (template, operations) in paths {
        let path = template.replace("{id}", "sol");
        let options = client.call("OPTIONS", &path, &[], &Value::Null).await;
        let allowed = options.header("allow").to_owned();
        assert_eq!(options.header("access-control-allow-methods"), allowed, "{template}");
        let refused = client.call("PATCH", &path, &[], &Value::Null).await;
        assert_eq!(
            (refused.status, refused.header("allow")),
            (405, allowed.as_str()),
            "{template}"
        );
        assert!(refused.error().contains(&allowed), "{refused:?}");
        let methods: Vec<_> = allowed.split(", ").collect();
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            let is_described = operations.get(method.as_str().to_lowercase()).is_some();
            assert_eq!(methods.contains(&method.as_str()), is_described, "{method} {template}");
        }
        assert_eq!(methods.contains(&"GET"), methods.contains(&"HEAD"), "{template}");
        if methods.contains(&"HEAD") && !template.ends_with("/events") {
            let (head, get) =
                (client.call("HEAD", &path, &[], &Value::Null).await, client.get(&path).await);
            assert_eq!(head.status, get.status, "{template}");
            assert_eq!(head.header("content-type"), get.header("content-type"), "{template}");
            assert!(head.body.is_empty(), "{template}");
        }
    }
    let list = client.post("/universes/sol/commands/", &add_star("x")).await;
    assert_eq!(list.status, 200, "a slash at the end makes no difference");
    let unknown = client.get("/universe/sol").await;
    for template in paths.keys() {
        assert!(unknown.error().contains(template.as_str()), "{template}");
    }
}
