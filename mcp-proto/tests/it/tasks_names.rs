//! Names of tasks: who may use them, what those that are none are answered, and how they are made.

use mcp_proto::{Era, StreamableHttpService};
use mcp_proto_client::{Client, ClientConfig};
use serde_json::json;

use crate::common::{Served, probe};
use crate::tasks_common::{Caller, EXTENSION, able, accept, server};

#[tokio::test]
async fn an_unknown_task_is_an_error_of_the_params() {
    for mut caller in Caller::modern_ones(&server(&probe().0)) {
        for (method, more) in [
            ("tasks/get", json!({})),
            ("tasks/cancel", json!({})),
            ("tasks/update", json!({ "inputResponses": {} })),
        ] {
            for id in ["nonexistent-12345", "", &"x".repeat(10_000)] {
                let mut params = more.clone();
                params["taskId"] = json!(id);
                let answer = caller.answer(method, &params).await;
                assert_eq!(answer["error"]["code"], -32602, "{method} {id}");
                let message = answer["error"]["message"].as_str().unwrap();
                assert!(message.len() < 300 && message.contains("taskId"), "{message}");
            }
        }
    }
    // Without a name there is none to find; over HTTP the header says so before.
    let mut caller = Caller::modern_pipe(&server(&probe().0));
    assert_eq!(caller.code("tasks/get", json!({})).await, -32602);
    assert_eq!(caller.code("tasks/get", json!({ "taskId": 5 })).await, -32602);
}

#[tokio::test]
async fn the_methods_of_the_other_form_do_not_exist() {
    for mut caller in Caller::modern_ones(&server(&probe().0)) {
        let id = caller.start("hang", json!({})).await;
        assert_eq!(caller.code("tasks/result", json!({ "taskId": id })).await, -32601);
        assert_eq!(caller.code("tasks/list", json!({})).await, -32601);
    }
}

#[tokio::test]
async fn the_client_names_the_task_in_the_header() {
    let served = Served::new(server(&probe().0)).await;
    let mut config = ClientConfig::new(Era::Modern);
    let extensions = json!({ EXTENSION: {} });
    config.capabilities.insert("extensions".to_owned(), extensions);
    let client = Client::http(&served.url(), config).await.unwrap();
    let task = client.call_tool_raw("hang", json!({})).await.unwrap();
    for (method, more) in [
        ("tasks/get", json!({})),
        ("tasks/update", json!({ "inputResponses": {} })),
        ("tasks/cancel", json!({})),
    ] {
        let mut params = more;
        params["taskId"] = task["taskId"].clone();
        client.request(method, params).await.unwrap();
    }
}

#[tokio::test]
async fn the_name_in_the_header_is_that_of_the_task() {
    let service = StreamableHttpService::new(server(&probe().0));
    let mut caller = Caller::modern(&service, able());
    let id = caller.start("hang", json!({})).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for name in [Some("another"), None] {
            let mut http = caller.http(method, &json!({ "taskId": id }));
            http.headers_mut().remove("mcp-name");
            if let Some(name) = name {
                http.headers_mut().insert("mcp-name", name.parse().unwrap());
            }
            let refused = service.handle(http).await;
            assert_eq!(refused.status(), 400, "{method} {name:?}");
        }
    }
    assert_eq!(caller.get(&id).await["status"], "working");
}

#[tokio::test]
async fn a_task_belongs_to_the_principal_who_created_it() {
    let service = StreamableHttpService::new(server(&probe().0));
    let by = |principal| {
        let mut caller = Caller::modern(&service, able());
        caller.principal = principal;
        caller
    };
    for (owner, strangers) in
        [(Some("ann"), vec![Some("bob"), Some(""), None]), (None, vec![Some("ann"), Some("")])]
    {
        let id = by(owner).start("confirm", json!({})).await;
        let task = by(owner).until(&id, "input_required").await;
        for stranger in strangers {
            let mut stranger = by(stranger);
            let answer = json!({ "confirm": accept(&json!({ "word": "stolen" })) });
            for (method, responses) in
                [("tasks/get", None), ("tasks/cancel", None), ("tasks/update", Some(answer))]
            {
                let mut params = json!({ "taskId": id });
                if let Some(responses) = responses {
                    params["inputResponses"] = responses;
                }
                let refused = stranger.answer(method, &params).await["error"].clone();
                // As if there were none.
                params["taskId"] = json!("none");
                let unknown = stranger.answer(method, &params).await["error"].clone();
                assert_eq!(refused["code"], -32602, "{method}");
                let message = refused["message"].as_str().unwrap();
                assert_eq!(message.replace(&id, "none"), unknown["message"].as_str().unwrap());
            }
        }
        assert_eq!(by(owner).get(&id).await, task);
    }
    // The other era is another world, for the same principal too.
    let id = by(Some("ann")).start("hang", json!({})).await;
    let mut legacy = Caller::legacy(&service, "2025-11-25", Some("ann")).await;
    assert_eq!(legacy.code("tasks/get", json!({ "taskId": id })).await, -32602);
}

#[tokio::test]
async fn names_have_128_random_bits() {
    let service = StreamableHttpService::new(server(&probe().0));
    let mut caller = Caller::modern(&service, able());
    let mut seen = std::collections::BTreeSet::new();
    let mut bits = [0_u32; 128];
    for _ in 0..200 {
        let id = caller.start("hang", json!({})).await;
        let number = u128::from_str_radix(&id, 16).unwrap();
        assert_eq!(id.len(), 32);
        (0..128).for_each(|bit| bits[bit] += u32::from(number >> bit & 1 == 1));
        assert!(seen.insert(id));
    }
    // A bit that is fixed would be 0 or 200; a fair one is outside of this once in 10^18 runs.
    assert!(bits.iter().all(|ones| (30..170).contains(ones)), "{bits:?}");
}
