//! Tokens that are worth keeping are kept, and those that are not good enough are not used (rows A10, A14).

use std::sync::Arc;

use futures_util::future::BoxFuture;
use mcp_proto_client::authorize::{MemoryStore, StoreKey, TokenStore};
use serde_json::json;
use tokio::sync::{Notify, Semaphore};

use crate::oauth_common::{Reply, Rules, Seen, World};

/// A store that saves as many tokens as it has permits, and then waits; once closed, it fails.
#[derive(Debug)]
struct Slow {
    kept: MemoryStore,
    permits: Semaphore,
    waits: Notify,
}

impl Slow {
    fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self {
            kept: MemoryStore::default(),
            permits: Semaphore::new(permits),
            waits: Notify::new(),
        })
    }
}

impl TokenStore for Slow {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<String>, String>> {
        self.kept.load(key)
    }

    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        text: Option<String>,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            if key.resource.is_some() {
                if self.permits.available_permits() == 0 {
                    self.waits.notify_one();
                }
                let permit = self.permits.acquire().await;
                permit.map_err(|_| "the disk is full".to_owned())?.forget();
            }
            self.kept.save(key, text).await
        })
    }
}

/// Tokens by number, the first of which runs out at once. Each refresh token is good once.
fn rotating(number: usize, grant: &Seen) -> Option<Reply> {
    let shown = grant.form.get("refresh_token");
    if shown.is_some_and(|it| *it != format!("r{}", number - 1)) {
        return Some(Reply::json(400, &json!({ "error": "invalid_grant" })));
    }
    let token = json!({
        "access_token": format!("t{number}"), "token_type": "Bearer",
        "expires_in": if number == 1 { 0 } else { 3600 },
        "refresh_token": format!("r{number}"),
    });
    Some(Reply::json(200, &token))
}

fn kinds(world: &World) -> Vec<String> {
    let grants = world.grants().into_iter();
    grants.map(|it| it.form["grant_type"].clone()).collect()
}

fn last(world: &World) -> Option<String> {
    world.shown().pop().unwrap()
}

#[tokio::test]
async fn a_refresh_is_kept_when_its_call_is_dropped() {
    let world = World::new(Rules { refuse: rotating, ..Rules::default() });
    let world = world.await;
    let store = Slow::new(1);
    let oauth = Arc::new(world.oauth().with_store(Arc::clone(&store) as _));
    let client = world.sharing(&oauth).await;
    tokio::select! {
        biased;
        listed = client.list_tools() => panic!("the store waits: {listed:?}"),
        () = store.waits.notified() => {}
    }
    store.permits.add_permits(1);
    client.list_tools().await.unwrap();
    assert_eq!(last(&world).as_deref(), Some("Bearer t2"));
    // It waits for its turn, and so for the store.
    oauth.sign_in().await.unwrap();
    let next = world.oauth().with_store(store as _);
    world.client(next).await.list_tools().await.unwrap();
    assert_eq!(last(&world).as_deref(), Some("Bearer t2"));
    assert_eq!(kinds(&world), ["authorization_code", "refresh_token"]);
}

#[tokio::test]
async fn a_store_that_fails_costs_no_token() {
    let world = World::new(Rules { refuse: rotating, ..Rules::default() });
    let world = world.await;
    let store = Slow::new(0);
    store.permits.close();
    let client = world.client(world.oauth().with_store(Arc::clone(&store) as _)).await;
    let failure = client.list_tools().await.unwrap_err().to_string();
    assert!(failure.contains("the disk is full"), "{failure}");
    // The token of the person's consent is there, and what it is refreshed to as well.
    client.list_tools().await.unwrap();
    client.list_tools().await.unwrap();
    assert_eq!(last(&world).as_deref(), Some("Bearer t2"));
    assert_eq!(kinds(&world), ["authorization_code", "refresh_token"]);
}

#[tokio::test]
async fn a_refreshed_token_is_bound_as_well_where_it_must_be() {
    let takes = json!({ "dpop_signing_alg_values_supported": ["ES256"] });
    for (required, resource) in
        [(true, json!({})), (false, json!({ "dpop_bound_access_tokens_required": true }))]
    {
        let world = World::new(Rules {
            server: takes.clone(),
            resource,
            refuse: |number, grant| {
                let is_refresh = grant.form["grant_type"] == "refresh_token";
                let token = json!({
                    "access_token": format!("t{number}"),
                    "token_type": if is_refresh { "Bearer" } else { "DPoP" },
                    "expires_in": if is_refresh { 3600 } else { 0 },
                    "refresh_token": "again",
                });
                Some(Reply::json(200, &token))
            },
            ..Rules::default()
        });
        let world = world.await;
        let oauth = if required { world.oauth().with_proofs_required() } else { world.oauth() };
        let failed = world.client(oauth).await.list_tools().await;
        let failed = failed.unwrap_err().to_string();
        assert!(failed.contains("not bound to a key"), "{failed}");
        assert!(kinds(&world).contains(&"refresh_token".to_owned()));
        assert!(world.shown().iter().all(Option::is_none));
    }
}

#[tokio::test]
async fn kept_tokens_that_are_not_bound_are_not_used_where_they_must_be() {
    let takes = json!({ "dpop_signing_alg_values_supported": ["ES256"] });
    for (server, outcome) in [
        (takes, Ok("DPoP t2")),
        // The token that is kept is no way out.
        (json!({}), Err("dpop_signing_alg_values_supported")),
    ] {
        let world =
            World::new(Rules { token: json!({ "refresh_token": "again" }), ..Rules::default() });
        let world = world.await;
        let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::default());
        let oauth = world.oauth().with_store(Arc::clone(&store));
        oauth.sign_in().await.unwrap();
        world.rules().server = server;
        let oauth = world.oauth().with_store(store).with_proofs_required();
        let listed = world.client(oauth).await.list_tools().await;
        match outcome {
            Ok(shown) => assert_eq!((listed.is_ok(), last(&world).as_deref()), (true, Some(shown))),
            Err(part) => {
                let failed = listed.unwrap_err().to_string();
                assert!(failed.contains(part), "{failed}");
                assert_eq!(last(&world), None);
            }
        }
        assert!(!kinds(&world).contains(&"refresh_token".to_owned()));
    }
}

#[tokio::test]
async fn signing_out_forgets_what_an_earlier_process_kept() {
    let world = World::new(Rules {
        challenge: r#"Bearer resource_metadata="{mcp}/here""#.to_owned(),
        resource_at: Some("/here"),
        ..Rules::default()
    });
    let world = world.await;
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::default());
    let oauth = || world.oauth().with_store(Arc::clone(&store));
    oauth().sign_in().await.unwrap();
    let keys =
        [Some(world.url()), None].map(|resource| StoreKey { issuer: world.issuer(), resource });
    for key in &keys {
        assert!(store.load(key).await.unwrap().is_some(), "{key:?}");
    }
    // What is there cannot be found for now.
    world.rules().resource_at = None;
    let failure = oauth().sign_out().await.unwrap_err().to_string();
    assert!(failure.contains("/here"), "{failure}");
    assert!(store.load(&keys[0]).await.unwrap().is_some());
    world.rules().resource_at = Some("/here");
    oauth().sign_out().await.unwrap();
    for key in &keys {
        assert_eq!(store.load(key).await.unwrap(), None, "{key:?}");
    }
    world.client(oauth()).await.list_tools().await.unwrap();
    assert_eq!((world.asked().len(), world.login.at("/register").len()), (2, 2));
}
