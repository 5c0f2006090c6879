//! What the client sends of its caller over HTTP, where it lets itself be led, and its other ways to a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, Uri};
use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig, ClientError, Credentials, MAX_TRIES, Refusal};
use serde_json::json;

use crate::fake::{Answer, Fake, Seen, status};

fn config() -> ClientConfig {
    ClientConfig::new(Era::Modern)
}

fn listed(seen: &Seen) -> Answer {
    seen.result(json!({"tools": []}))
}

#[tokio::test]
async fn headers_of_the_caller_are_sent_and_the_protocols_stand_over_them() {
    let fake = Fake::new(|seen, _| listed(seen)).await;
    let mut config = config().with_bearer("abc.DEF-1").with_computed_headers(|method, url| {
        let computed = HeaderValue::from_str(&format!("{method} {}", url.path())).unwrap();
        HeaderMap::from_iter([
            ("x-computed".parse().unwrap(), computed),
            ("x-both".parse().unwrap(), HeaderValue::from_static("computed")),
        ])
    });
    for (name, value) in [
        ("x-api-key", "k"),
        ("x-both", "fixed"),
        ("accept", "nothing"),
        ("mcp-protocol-version", "1"),
        ("authorization", "Basic x"),
    ] {
        config.headers.insert(name, HeaderValue::from_static(value));
    }
    assert!(!format!("{config:?}").contains("abc.DEF-1"));
    let client = Client::http(&fake.url(), config).await.unwrap();
    client.list_tools().await.unwrap();
    let seen = &fake.seen()[0];
    for (name, value) in [
        ("x-api-key", "k"),
        ("x-both", "computed"),
        ("x-computed", "POST /mcp"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("authorization", "Bearer abc.DEF-1"),
    ] {
        assert_eq!(seen.header(name), value);
    }
    for broken in ["", "a b", "a\r\nb", "ä"] {
        let broken = ClientConfig::new(Era::Modern).with_bearer(broken);
        let refused = Client::http(&fake.url(), broken).await;
        assert!(matches!(refused, Err(ClientError::Unauthorized(_))));
    }
}

/// Gives a token that is one better with each refusal, up to a number.
#[derive(Debug)]
struct Counting {
    refusals: AtomicUsize,
    answers: AtomicUsize,
    most: usize,
}

impl Counting {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { refusals: AtomicUsize::new(0), answers: AtomicUsize::new(0), most })
    }
}

impl Credentials for Counting {
    fn headers<'a>(
        &'a self,
        _: &'a Method,
        _: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap, ClientError>> {
        let token = format!("Bearer {}", self.refusals.load(Ordering::SeqCst));
        let token = HeaderValue::from_str(&token).unwrap();
        let headers = HeaderMap::from_iter([(http::header::AUTHORIZATION, token)]);
        Box::pin(std::future::ready(Ok(headers)))
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async move {
            let count = self.refusals.fetch_add(1, Ordering::SeqCst) + 1;
            assert_eq!(refusal.tries, count);
            assert_eq!(refusal.headers["www-authenticate"], "Bearer scope=\"a\"");
            assert_eq!((&refusal.method, refusal.url.path()), (&Method::POST, "/mcp"));
            if count <= self.most {
                Ok(())
            } else {
                Err(ClientError::Unauthorized("that is all".to_owned()))
            }
        })
    }

    fn answered(&self, _: &Uri, headers: &HeaderMap) {
        assert_eq!(headers["content-type"], "application/json");
        self.answers.fetch_add(1, Ordering::SeqCst);
    }
}

fn challenge(seen: &Seen, enough: usize) -> Answer {
    if seen.header("authorization") == format!("Bearer {enough}") {
        return listed(seen);
    }
    let mut refused = status(401);
    let scope = HeaderValue::from_static("Bearer scope=\"a\"");
    refused.headers_mut().insert("www-authenticate", scope);
    refused
}

#[tokio::test]
async fn credentials_hear_of_refusals_and_try_again_within_a_limit() {
    // Better after two refusals.
    let fake = Fake::new(|seen, _| challenge(seen, 2)).await;
    let counting = Counting::new(9);
    let credentials = config().with_credentials(counting.clone());
    let client = Client::http(&fake.url(), credentials).await.unwrap();
    client.list_tools().await.unwrap();
    assert_eq!(fake.names().len(), 3);
    assert_eq!(counting.answers.load(Ordering::SeqCst), 1);
    // They give up.
    let fake = Fake::new(|seen, _| challenge(seen, 99)).await;
    let credentials = config().with_credentials(Counting::new(1));
    let client = Client::http(&fake.url(), credentials).await.unwrap();
    let error = client.list_tools().await.unwrap_err();
    assert_eq!(error, ClientError::Unauthorized("that is all".to_owned()));
    assert_eq!(fake.names().len(), 2);
    // They never do, but the client does.
    let fake = Fake::new(|seen, _| challenge(seen, 99)).await;
    let credentials = config().with_credentials(Counting::new(99));
    let client = Client::http(&fake.url(), credentials).await.unwrap();
    let error = client.list_tools().await.unwrap_err();
    assert!(matches!(error, ClientError::Http { status: 401, .. }), "{error}");
    assert_eq!(fake.names().len(), MAX_TRIES);
    // A token that does not change is refused once.
    let fake = Fake::new(|seen, _| challenge(seen, 99)).await;
    let constant = config().with_bearer("x");
    let client = Client::http(&fake.url(), constant).await.unwrap();
    let error = client.list_tools().await.unwrap_err();
    assert!(matches!(error, ClientError::Unauthorized(_)), "{error}");
    assert_eq!(fake.names().len(), 1);
}

/// Takes as long as it takes a person to log in.
#[derive(Debug, Default)]
struct Login {
    begun: tokio::sync::Notify,
    done: tokio::sync::Notify,
    is_in: std::sync::atomic::AtomicBool,
}

impl Credentials for Login {
    fn headers<'a>(
        &'a self,
        _: &'a Method,
        _: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap, ClientError>> {
        let token = if self.is_in.load(Ordering::SeqCst) { "Bearer 1" } else { "Bearer 0" };
        let token = HeaderValue::from_static(token);
        let headers = HeaderMap::from_iter([(http::header::AUTHORIZATION, token)]);
        Box::pin(std::future::ready(Ok(headers)))
    }

    fn refused<'a>(&'a self, _: &'a Refusal) -> BoxFuture<'a, Result<(), ClientError>> {
        Box::pin(async {
            self.begun.notify_one();
            self.done.notified().await;
            self.is_in.store(true, Ordering::SeqCst);
            Ok(())
        })
    }
}

#[tokio::test]
async fn the_time_of_a_call_does_not_run_while_somebody_logs_in() {
    let fake = Fake::new(|seen, _| challenge(seen, 1)).await;
    let login = Arc::new(Login::default());
    let config = config().with_credentials(login.clone());
    let client = Client::http(&fake.url(), config).await.unwrap();
    let listing = tokio::spawn(async move { client.list_tools().await });
    login.begun.notified().await;
    // Far beyond the limit at once; from there on time is real again.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(90)).await;
    tokio::time::resume();
    login.done.notify_one();
    assert_eq!(listing.await.unwrap(), Ok(Vec::new()));
}

fn redirect(code: u16, location: &str) -> Answer {
    let mut answer = status(code);
    let location = HeaderValue::from_str(location).unwrap();
    answer.headers_mut().insert("location", location);
    answer
}

#[tokio::test]
async fn redirects_are_followed_within_the_origin_and_not_for_ever() {
    for (code, location) in [(307, "/mcp/"), (308, "mcp/"), (301, "?"), (302, "/mcp/#x")] {
        let fake = Fake::new(move |seen, before| match before {
            0 => redirect(code, location),
            _ => listed(seen),
        })
        .await;
        let client = Client::http(&fake.url(), config()).await.unwrap();
        client.list_tools().await.unwrap();
        let seen = fake.seen();
        let wanted = if location == "?" { "/mcp" } else { "/mcp/" };
        assert_eq!(seen[1].path, wanted, "{location}");
        // The method and the message stay what they are.
        assert_eq!(seen[1].method, Method::POST);
        assert_eq!(seen[1].body, seen[0].body);
    }
    let round = Fake::new(|_, _| redirect(307, "/mcp")).await;
    let client = Client::http(&round.url(), config()).await.unwrap();
    let error = client.list_tools().await.unwrap_err();
    assert!(error.to_string().contains("more than 5 redirects"), "{error}");
    assert_eq!(round.names().len(), 6);
}

#[tokio::test]
async fn no_redirect_leads_to_another_origin() {
    let elsewhere = Fake::new(|seen, _| listed(seen)).await;
    let port = elsewhere.origin.rsplit(':').next().unwrap().to_owned();
    for target in [
        elsewhere.url(),
        format!("//127.0.0.1:{port}/mcp"),
        format!("https://127.0.0.1:{port}/mcp"),
    ] {
        let shown = target.clone();
        let fake = Fake::new(move |_, _| redirect(307, &target)).await;
        let secret = config().with_bearer("secret");
        let client = Client::http(&fake.url(), secret).await.unwrap();
        let error = client.list_tools().await.unwrap_err();
        assert!(error.to_string().contains("another origin"), "{shown}: {error}");
    }
    assert!(elsewhere.names().is_empty());
}

#[tokio::test]
async fn nothing_that_a_server_names_is_fetched() {
    let canary = Fake::new(|_, _| status(200)).await;
    let there = canary.url();
    let named = there.clone();
    let fake = Fake::new(move |seen, _| match seen.name() {
        "tools/list" => seen.result(json!({"tools": [{
            "name": "t",
            "inputSchema": {"type": "object", "$ref": named, "$schema": named},
            "outputSchema": {"type": "object", "$ref": named},
            "icons": [{"src": named}],
        }]})),
        "resources/read" => seen.result(json!({"contents": [{"uri": named, "text": ""}]})),
        _ => seen.result(json!({
            "content": [{"type": "resource_link", "uri": named, "name": "n"}],
            "structuredContent": {},
        })),
    })
    .await;
    let asked = config().with_elicitation(async |_| mcp_proto::input::ElicitResult::decline());
    let client = Client::http(&fake.url(), asked).await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
    client.read_resource("x:1").await.unwrap();
    client.call_tool_raw("t", json!({})).await.unwrap();
    // What would be needed to judge a result is not fetched either.
    let error = client.call_tool("t", json!({})).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert!(canary.names().is_empty());
}

#[tokio::test]
async fn calls_beyond_the_bound_wait_for_their_turn() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let server = mcp_proto::Server::builder("s", "1", ())
        .raw_tool(mcp_proto::Tool::new("t", "").with_input_schema(json!({"type": "object"})), {
            let (running, most) = (running.clone(), most.clone());
            move |(), _, _| {
                let (running, most) = (running.clone(), most.clone());
                async move {
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    Ok(mcp_proto::CallToolResult::text("done"))
                }
            }
        })
        .build()
        .unwrap();
    let mut config = config();
    config.max_calls = 3;
    let client = Client::memory(server, config).await.unwrap();
    let calls = (0..20).map(|_| client.call_tool("t", json!({})));
    for result in futures_util::future::join_all(calls).await {
        assert_eq!(result.unwrap().text(), "done");
    }
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[cfg(unix)]
mod unix {
    use mcp_proto::stdio::{UnixConfig, serve_unix};
    use mcp_proto_client::Stderr;
    use tokio::process::Command;

    use super::*;
    use crate::common::{PATIENCE, server};

    #[tokio::test]
    async fn a_unix_socket_is_spoken_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp");
        let listener = tokio::net::UnixListener::bind(&path).unwrap();
        let serving = serve_unix(server(), listener, UnixConfig::default(), std::future::pending());
        let serving = tokio::spawn(serving);
        for era in [Era::Legacy, Era::Modern] {
            let client = Client::unix(&path, ClientConfig::new(era)).await.unwrap();
            assert_eq!(client.list_tools().await.unwrap().len(), 5);
            client.close().await.unwrap();
        }
        serving.abort();
        let error = Client::unix(folder.path().join("none"), config()).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("none"), "{error}");
    }

    /// Waits until a process is there no more.
    async fn gone(pid: &str) {
        let alive = || std::path::Path::new("/proc").join(pid).exists();
        let gone = async {
            while alive() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        assert!(tokio::time::timeout(PATIENCE, gone).await.is_ok(), "{pid} runs");
    }

    /// A script that starts a server, and writes down the number of that.
    fn script(file: &std::path::Path) -> Command {
        let mut script = Command::new("sh");
        let text = r#"sleep 1000 & echo $! > "$0".new; mv "$0".new "$0"; wait"#;
        script.args(["-c", text]).arg(file);
        script
    }

    async fn written(file: &std::path::Path) -> String {
        let written = async {
            loop {
                match std::fs::read_to_string(file) {
                    Ok(text) => break text.trim().to_owned(),
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            }
        };
        tokio::time::timeout(PATIENCE, written).await.unwrap()
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_a_process_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        for polite in [false, true] {
            let file = folder.path().join(polite.to_string());
            let mut config = config();
            config.timeout = Duration::from_millis(100);
            let client = Client::stdio(script(&file), config).await.unwrap();
            let pid = written(&file).await;
            if polite {
                let closed = client.close().await;
                assert!(matches!(closed, Err(ClientError::Timeout(_))));
            }
            drop(client);
            gone(&pid).await;
        }
    }

    #[tokio::test]
    async fn the_stderr_of_a_process_is_kept_in_bounds() {
        let mut noisy = Command::new("sh");
        noisy.args(["-c", "yes noise | head -c 300000 >&2; echo last >&2; exec cat"]);
        let mut config = config();
        config.stderr = Stderr::Captured;
        let client = Client::stdio(noisy, config).await.unwrap();
        let whole = async {
            loop {
                let said = client.stderr().unwrap();
                if said.ends_with("last\n") {
                    break said;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let said = tokio::time::timeout(PATIENCE, whole).await.unwrap();
        assert_eq!(said.len(), 64 * 1024);
        client.close().await.unwrap();
    }
}
