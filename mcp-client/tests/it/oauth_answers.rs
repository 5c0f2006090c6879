//! What comes back by the browser, and the loopback port that it comes to (row A12).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto_client::authorize::{Browser, Grant, Loopback, OAuth};
use serde_json::{Value, json};

use crate::oauth_common::{Rules, World, follow};

/// Why an answer with these members is refused; nothing is asked of the token endpoint then.
async fn refused(server: Value, answer: Value) -> String {
    let world = World::new(Rules { server, answer, ..Rules::default() });
    let world = world.await;
    let failure = world.failure().await;
    assert_eq!(world.asked().len(), 1);
    assert!(world.grants().is_empty());
    failure
}

#[tokio::test]
async fn an_answer_must_belong_to_the_request() {
    for state in [json!(null), json!("made up"), json!("")] {
        let failure = refused(json!({}), json!({ "state": state })).await;
        assert!(failure.contains("its state is not the one that was sent"), "{failure}");
    }
    for code in [json!(null), json!("")] {
        let failure = refused(json!({}), json!({ "code": code })).await;
        assert!(failure.contains("no code and no error"), "{failure}");
    }
}

#[tokio::test]
async fn an_answer_must_be_of_the_issuer() {
    let silent = json!({ "authorization_response_iss_parameter_supported": null });
    for server in [json!({}), silent.clone()] {
        let failure = refused(server.clone(), json!({ "iss": "https://evil.example" })).await;
        assert!(failure.contains("to the letter (RFC 9207)"), "{failure}");
        // What a stranger says of an error is not shown as the server's own.
        let error =
            json!({ "iss": "https://evil.example", "code": null, "error": "access_denied" });
        let failure = refused(server, error).await;
        assert!(failure.contains("to the letter (RFC 9207)"), "{failure}");
    }
    let failure = refused(json!({}), json!({ "iss": null })).await;
    assert!(failure.contains("names no issuer (iss)"), "{failure}");
    // The same URL in other letters is another issuer.
    let world = World::new(Rules::default()).await;
    world.rules().answer = json!({ "iss": format!("{}/", world.issuer()) });
    assert!(world.failure().await.contains("to the letter (RFC 9207)"));
    // One that never said it would need not say.
    let world =
        World::new(Rules { server: silent, answer: json!({ "iss": null }), ..Rules::default() });
    let world = world.await;
    world.client(world.oauth()).await.list_tools().await.unwrap();
}

#[tokio::test]
async fn a_person_who_declines_is_told_and_not_asked_again() {
    let denied =
        json!({ "code": null, "error": "access_denied", "error_description": "no\u{7} thanks" });
    let failure = refused(json!({}), denied.clone()).await;
    assert!(failure.contains("answered access_denied: no thanks"), "{failure}");
    // Of many requests at once one asks, and all fail alike.
    let world = World::new(Rules { answer: denied, ..Rules::default() });
    let world = world.await;
    let client = world.client(world.oauth()).await;
    let calls = (0..8).map(|_| client.list_tools());
    let outcomes = futures_util::future::join_all(calls).await;
    assert!(outcomes.iter().all(Result::is_err));
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn many_requests_at_once_ask_a_person_once() {
    let world = World::new(Rules::default()).await;
    let client = world.client(world.oauth()).await;
    let calls = (0..8).map(|_| client.list_tools());
    let outcomes = futures_util::future::join_all(calls).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!((world.asked().len(), world.grants().len()), (1, 1));
}

#[tokio::test]
async fn the_loopback_port_takes_the_answer_that_it_waits_for_and_no_other() {
    let world = World::new(Rules::default()).await;
    let opened = Arc::new(Mutex::new(Vec::new()));
    let (open, calling) = tokio::sync::mpsc::unbounded_channel();
    let seen = Arc::clone(&opened);
    let browser = Loopback::bind(0, move |url| {
        seen.lock().unwrap().push(url.to_owned());
        open.send(url.to_owned()).map_err(|problem| problem.to_string())
    });
    let browser = Arc::new(browser.await.unwrap());
    let redirect = browser.redirect_uri();
    assert!(redirect.starts_with("http://127.0.0.1:") && redirect.ends_with("/callback"));
    let surfing = tokio::spawn(surf(calling, redirect.clone()));
    let oauth = OAuth::new(&world.url(), Grant::Browser(browser)).unwrap();
    oauth.sign_in().await.unwrap();
    assert_eq!(opened.lock().unwrap().len(), 1);
    assert_eq!(surfing.await.unwrap(), [404, 404, 404, 200]);
    let asked = &world.asked()[0];
    assert_eq!(asked["redirect_uri"], redirect);
    assert_eq!(world.grants()[0].form["redirect_uri"], redirect);
}

/// Sends a browser to the port: from other pages first, then with the answer. Gives the statuses.
async fn surf(
    mut calling: tokio::sync::mpsc::UnboundedReceiver<String>,
    redirect: String,
) -> Vec<u16> {
    let url = calling.recv().await.unwrap();
    let answer = follow(&url).await;
    let root = redirect.trim_end_matches("/callback");
    let mut statuses = Vec::new();
    for url in [
        format!("{root}/favicon.ico"),
        redirect.clone(),
        format!("{redirect}?code=evil&state=guessed"),
        answer,
    ] {
        let client =
            hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
                .build_http::<http_body_util::Empty<bytes::Bytes>>();
        statuses.push(client.get(url.parse().unwrap()).await.unwrap().status().as_u16());
    }
    statuses
}

#[tokio::test]
async fn a_person_who_does_nothing_is_not_waited_for_for_ever() {
    let world = World::new(Rules::default()).await;
    let browser = Loopback::bind(0, |_| Ok(())).await.unwrap();
    let browser = browser.with_timeout(Duration::ZERO);
    let oauth = OAuth::new(&world.url(), Grant::Browser(Arc::new(browser))).unwrap();
    let failure = oauth.sign_in().await.unwrap_err().to_string();
    assert!(failure.contains("no answer came within 0 s"), "{failure}");
    let browser = Loopback::bind(0, |_| Err("no browser here".to_owned())).await.unwrap();
    let oauth = OAuth::new(&world.url(), Grant::Browser(Arc::new(browser))).unwrap();
    let failure = oauth.sign_in().await.unwrap_err().to_string();
    assert!(failure.contains("no browser here"), "{failure}");
    assert!(world.grants().is_empty());
}
