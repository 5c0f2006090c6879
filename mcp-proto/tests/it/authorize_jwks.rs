//! The keys of an issuer: fetched when they are needed, seldom, in bounds, and kept while they cannot be.

use std::time::Duration;

use futures_util::future::join_all;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::HttpConfig;
use mcp_proto::http::authorize::Authorization;
use mcp_proto::http::authorize::jwt::{
    IssuerKeys, KEYS_FRESH, KEYS_INTERVAL, KEYS_KEPT, KEYS_TIMEOUT,
};
use serde_json::json;
use tokio::time::{advance, pause};

use crate::authorize_common::{Endpoint, Signer, challenge, claims, set, tokens, with_token};
use crate::common::{Raw, Reply, server};

/// A service that takes the tokens of an issuer with these keys.
fn service(keys: &Endpoint) -> StreamableHttpService {
    let mut config = HttpConfig::default();
    let keys = IssuerKeys::fetched(keys.clone());
    config.authorization = Some(Authorization::new(tokens(keys)));
    StreamableHttpService::with_config(server(), config)
}

async fn ask(service: &StreamableHttpService, token: &str) -> Reply {
    let raw = Raw::modern("tools/list", json!({}));
    with_token(raw, token).send(service).await
}

async fn status(service: &StreamableHttpService, token: &str) -> u16 {
    ask(service, token).await.status.as_u16()
}

/// Lets a fetch that nobody waits for come to its end.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_not_known_is_looked_for_once_in_a_while() {
    let (old, new) = (Signer::new(), Signer::new());
    let endpoint = Endpoint::new();
    endpoint.set(Ok(set(&[old.named("one")])));
    let service = service(&endpoint);
    assert_eq!(endpoint.count(), 0, "nobody has asked");
    let token = old.token(&claims("ada"));
    // Those who come at once share one fetch.
    let first = join_all((0..20).map(|_| status(&service, &token))).await;
    assert!(first.iter().all(|it| *it == 200), "{first:?}");
    assert_eq!(endpoint.count(), 1);
    // The issuer changes its key.
    endpoint.set(Ok(set(&[old.named("one"), new.named("two")])));
    let header = json!({ "alg": "ES256", "kid": "two" });
    let rotated = new.sign(&header, &claims("ada"));
    advance(KEYS_INTERVAL).await;
    assert_eq!(status(&service, &rotated).await, 200);
    assert_eq!(endpoint.count(), 2);
    // Keys that nobody publishes make no storm, and refuse nobody else.
    let made_up = |at: usize| {
        let header = json!({ "alg": "ES256", "kid": format!("made up {at}") });
        new.sign(&header, &claims("eve"))
    };
    advance(KEYS_INTERVAL).await;
    for at in 0..50 {
        let reply = ask(&service, &made_up(at)).await;
        assert_eq!(reply.status, 401);
        assert!(challenge(&reply).contains("does not publish"));
        assert_eq!(status(&service, &token).await, 200);
    }
    let strangers: Vec<_> = (0..50).map(made_up).collect();
    join_all(strangers.iter().map(|it| status(&service, it))).await;
    assert_eq!(endpoint.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn old_keys_serve_while_new_ones_come_and_a_withdrawn_key_goes() {
    let (old, new) = (Signer::new(), Signer::new());
    let endpoint = Endpoint::new();
    endpoint.set(Ok(set(&[old.named("one")])));
    let service = service(&endpoint);
    let token = old.token(&claims("ada"));
    assert_eq!(status(&service, &token).await, 200);
    endpoint.set(Ok(set(&[new.named("one")])));
    advance(KEYS_FRESH - Duration::from_secs(1)).await;
    assert_eq!(status(&service, &token).await, 200);
    assert_eq!(endpoint.count(), 1);
    advance(Duration::from_secs(1)).await;
    // The request that finds them old does not wait.
    assert_eq!(status(&service, &token).await, 200);
    settle().await;
    assert_eq!(endpoint.count(), 2);
    assert_eq!(status(&service, &token).await, 401);
    // And again, though nobody has waited for the fetch before.
    let token = new.token(&claims("ada"));
    for round in 3..6 {
        advance(KEYS_FRESH).await;
        assert_eq!(status(&service, &token).await, 200);
        settle().await;
        assert_eq!(endpoint.count(), round);
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_is_down_is_the_servers_trouble_and_no_tokens() {
    let signer = Signer::new();
    let endpoint = Endpoint::new();
    endpoint.set(Err("connection refused"));
    let service = service(&endpoint);
    let token = signer.token(&claims("ada"));
    for _ in 0..10 {
        let reply = ask(&service, &token).await;
        assert_eq!(reply.refusal(), (503, -32600, None));
        assert_eq!(reply.header("www-authenticate"), None);
        assert!(reply.header("retry-after").is_some());
    }
    assert_eq!(endpoint.count(), 1);
    // It comes up.
    endpoint.set(Ok(set(&[signer.named("one")])));
    advance(KEYS_INTERVAL).await;
    assert_eq!(status(&service, &token).await, 200);
    // It goes down again: what is known is good, what is not cannot be judged.
    for answer in [
        Err("connection refused"),
        Ok("<html>".to_owned()),
        Ok(set(&[])),
        Ok(set(&vec![signer.named("one"); 101])),
        Ok(format!("{}{}", set(&[signer.named("one")]), " ".repeat(256 * 1024))),
    ] {
        endpoint.set(answer);
        advance(KEYS_INTERVAL).await;
        let other = signer.sign(&json!({ "alg": "ES256", "kid": "two" }), &claims("ada"));
        assert_eq!(status(&service, &other).await, 503);
        assert_eq!(status(&service, &token).await, 200);
    }
    advance(KEYS_KEPT).await;
    assert_eq!(status(&service, &token).await, 503);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_is_slow_is_given_up() {
    let signer = Signer::new();
    let endpoint = Endpoint::new();
    let service = service(&endpoint);
    let token = signer.token(&claims("ada"));
    let begun = tokio::time::Instant::now();
    let replies = join_all((0..10).map(|_| status(&service, &token))).await;
    assert!(replies.iter().all(|it| *it == 503), "{replies:?}");
    assert!(begun.elapsed() < KEYS_TIMEOUT + Duration::from_secs(1));
    assert_eq!(endpoint.count(), 1);
}

#[tokio::test]
async fn who_goes_away_does_not_use_up_the_fetch() {
    pause();
    let signer = Signer::new();
    let endpoint = Endpoint::new();
    let service = service(&endpoint);
    let token = signer.token(&claims("ada"));
    {
        let gone = ask(&service, &token);
        tokio::select! {
            biased;
            reply = gone => panic!("{reply:?}"),
            () = settle() => {}
        }
        assert_eq!(endpoint.count(), 1);
    }
    endpoint.set(Ok(set(&[signer.named("one")])));
    assert_eq!(status(&service, &token).await, 200);
    assert_eq!(endpoint.count(), 1);
}

#[cfg(feature = "jwks")]
mod fetched {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use mcp_proto::http::authorize::jwt::{FetchKeys as _, HttpsKeys};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::{Signer, set};

    /// Answers every connection with these bytes, and counts them.
    async fn endpoint(answer: Vec<u8>) -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let mut head = [0; 1024];
                let read = stream.read(&mut head).await.unwrap();
                assert!(head[..read].starts_with(b"GET /keys HTTP/1.1\r\n"));
                // A client that has heard enough goes away.
                let _written = stream.write_all(&answer).await;
            }
        });
        (url, count)
    }

    fn response(head: &str, body: &str) -> Vec<u8> {
        let length = body.len();
        format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
    }

    #[tokio::test]
    async fn a_key_set_is_fetched_from_its_url_and_from_no_other_place() {
        let keys = set(&[Signer::new().named("one")]);
        let (url, _) = endpoint(response("200 OK", &keys)).await;
        assert_eq!(HttpsKeys::new(&url).unwrap().fetch().await, Ok(keys));
        let (elsewhere, followed) = endpoint(response("200 OK", "{}")).await;
        let moved = format!("302 Found\r\nlocation: {elsewhere}");
        for (answer, problem) in [
            (response(&moved, ""), "302"),
            (response("404 Not Found", ""), "404"),
            (response("500 Internal Server Error", ""), "500"),
            (response("200 OK", &" ".repeat(256 * 1024 + 1)), "no whole answer"),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{".to_vec(), "no whole answer"),
            (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n\xff".to_vec(), "UTF-8"),
            (b"nonsense".to_vec(), "no answer"),
        ] {
            let (url, _) = endpoint(answer).await;
            let refused = HttpsKeys::new(&url).unwrap().fetch().await.unwrap_err();
            assert!(refused.contains(problem), "{refused}");
        }
        assert_eq!(followed.load(Ordering::SeqCst), 0);
        // Nobody listens there.
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/keys", free.local_addr().unwrap());
        drop(free);
        assert!(HttpsKeys::new(&url).unwrap().fetch().await.is_err());
    }

    #[test]
    fn keys_come_over_https_or_from_this_machine() {
        for url in ["http://localhost:1/k", "http://127.0.0.9/k", "http://[::1]:1/k"] {
            assert!(HttpsKeys::new(url).is_ok(), "{url}");
        }
        for url in [
            "http://login.example/k",
            "http://localhost.example/k",
            "ftp://login.example/k",
            "login.example/k",
            "nonsense url",
        ] {
            let refused = HttpsKeys::new(url).unwrap_err().to_string();
            assert!(refused.contains(url), "{refused}");
        }
    }
}
