//! Many callers at once, over every dialect.

use futures_util::future::join_all;
use serde_json::json;

use crate::harness::{Era, Local, Mcp, add_star, tick};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_ticks_over_every_dialect_make_time_a_hundred() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let mut feed = client.feed(&id, None).await;
    let (legacy, modern) =
        (Mcp::new(client, Era::Legacy).await, Mcp::new(client, Era::Modern).await);
    let calls = (0..100).map(|n| {
        let (id, legacy, modern) = (id.clone(), legacy.clone(), modern.clone());
        tokio::spawn(async move {
            match n % 3 {
                0 => client.command(&id, &tick()).await,
                1 => legacy.command(&id, &tick()).await,
                _ => modern.command(&id, &tick()).await,
            }
        })
    });
    let mut times: Vec<_> = join_all(calls)
        .await
        .into_iter()
        .map(|answer| answer.unwrap()["nextState"]["time"].as_f64().unwrap())
        .collect();
    // Everyone was told a time of their own: none was lost, none counted twice.
    times.sort_by(f64::total_cmp);
    assert_eq!(times, (1..=100).map(f64::from).collect::<Vec<_>>());
    let universe = client.universe(&id).await;
    assert_eq!((&universe["state"]["time"], &universe["revision"]), (&json!(100.0), &json!(100)));
    for revision in 1..=100 {
        let event = feed.event().await.unwrap();
        assert_eq!((event.id, &event.data["type"]), (Some(revision), &json!("tick")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_bodies_added_at_once_are_all_there() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let adds = (0..50).map(|n| {
        let id = id.clone();
        tokio::spawn(async move { client.command(&id, &add_star(&format!("star-{n}"))).await })
    });
    for added in join_all(adds).await {
        added.unwrap();
    }
    let state = client.universe(&id).await["state"].take();
    let mut roots: Vec<_> =
        state["rootIds"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    roots.sort_unstable();
    let mut expected: Vec<_> = (0..50).map(|n| format!("star-{n}")).collect();
    expected.sort_unstable();
    assert_eq!(roots, expected);
    assert_eq!(state["stars"].as_object().unwrap().len(), 50);
}

#[tokio::test]
async fn refusals_are_neither_kept_nor_reported() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let mut feed = client.feed(&id, None).await;
    let mcp = Mcp::new(client, Era::Modern).await;
    let refused = json!({"type": "detachStar", "childId": "nobody"});
    assert_eq!(client.post(&format!("/universes/{id}/commands"), &refused).await.status, 422);
    let arguments = json!({"universeId": id, "command": refused});
    assert!(mcp.refusal("send_universe_command", arguments).await.contains("nobody"));
    let malformed = json!({"universeId": id, "command": {"type": "explode"}});
    mcp.refusal("send_universe_command", malformed).await;
    let last = client.command(&id, &tick()).await;
    assert_eq!(last["nextState"]["time"], 1.0);
    assert_eq!(feed.event().await.unwrap().id, Some(1), "the refused ones are not in the log");
    assert_eq!(client.universe(&id).await["revision"], 1);
}
