//! Logging in: a little authorization server beside an MCP server, and for each rule about logins one that breaks it.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use http::{HeaderMap, Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use mcp_conformance::{
    Body, BoxError, Check, CheckReport, LoggedIn, Login, Revision, Target, Verdict,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::check::correct::correct;
use crate::serve::serve;

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;
const SECRET: &str = "a secret/of one client";
const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
const SERVER: &str = "/.well-known/oauth-authorization-server/as";

/// Changes what is answered at a path.
pub(crate) type Fault = fn(&str, &mut PlainAnswer);

pub(crate) struct PlainAnswer {
    status: u16,
    headers: HeaderMap,
    body: Value,
}

impl PlainAnswer {
    fn new(status: u16, body: Value) -> Self {
        Self { status, headers: HeaderMap::new(), body }
    }

    fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.insert(name, value.parse().unwrap());
        self
    }
}

fn form(body: &[u8]) -> BTreeMap<String, String> {
    form_urlencoded::parse(body).into_owned().collect()
}

fn authorization(headers: &HeaderMap) -> &str {
    headers.get(header::AUTHORIZATION).map_or("", |it| it.to_str().unwrap())
}

/// A token says what it is for.
fn token(resource: &str, scope: &str) -> String {
    let claims = json!({"aud": resource, "scope": scope}).to_string();
    format!("header.{}.signature", BASE64URL_NOPAD.encode(claims.as_bytes()))
}

/// A token for another server that this one takes.
fn anywhere() -> String {
    token("https://another.example/mcp", "anything")
}

/// What a request for a token is answered.
fn token_answer(headers: &HeaderMap, form: &BTreeMap<String, String>, base: &str) -> PlainAnswer {
    let of = |name: &str| form.get(name).map_or("", String::as_str);
    let pair = data_encoding::BASE64.encode(b"machine:a+secret%2Fof+one+client");
    let is_good = match of("grant_type") {
        "client_credentials" => authorization(headers) == format!("Basic {pair}"),
        // The code is the challenge.
        _ => {
            let digest = Sha256::digest(of("code_verifier").as_bytes());
            of("code") == BASE64URL_NOPAD.encode(&digest)
                && of("client_id") == "registered"
                && of("resource") == format!("{base}/mcp")
        }
    };
    if !is_good {
        return PlainAnswer::new(400, json!({"error": "invalid_grant"}));
    }
    let scope = if of("scope").is_empty() { "read write" } else { of("scope") };
    let body = json!({"access_token": token(of("resource"), scope), "token_type": "Bearer"});
    PlainAnswer::new(200, body).header("cache-control", "no-store")
}

/// What the server refuses, if it does.
fn refusal(headers: &HeaderMap, base: &str) -> Option<PlainAnswer> {
    let given = authorization(headers).strip_prefix("Bearer ").unwrap_or_default();
    let place = format!("resource_metadata=\"{base}{RESOURCE}\"");
    if given == token(&format!("{base}/mcp"), "read") {
        let challenge =
            format!("Bearer error=\"insufficient_scope\", scope=\"read write\", {place}");
        return Some(PlainAnswer::new(403, Value::Null).header("www-authenticate", &challenge));
    }
    let is_good = given == token(&format!("{base}/mcp"), "read write") || given == anywhere();
    let challenge = format!("Bearer scope=\"read write\", {place}");
    (!is_good).then(|| PlainAnswer::new(401, Value::Null).header("www-authenticate", &challenge))
}

/// An MCP server with its authorization server; its base URL.
fn stage(fault: Fault) -> String {
    let server = correct();
    serve(Target::in_process(move |request: Request<Full<Bytes>>| {
        let server = server.clone();
        async move {
            let (mut head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let host = head.headers.get("host").unwrap().to_str().unwrap();
            let base = format!("http://{host}");
            let path = head.uri.path().to_owned();
            let answer = match path.as_str() {
                "/mcp" => refusal(&head.headers, &base),
                RESOURCE => Some(PlainAnswer::new(
                    200,
                    json!({
                        "resource": format!("{base}/mcp"),
                        "authorization_servers": [format!("{base}/as")],
                        "scopes_supported": ["read", "write"],
                    }),
                )),
                SERVER => Some(PlainAnswer::new(
                    200,
                    json!({
                        "issuer": format!("{base}/as"),
                        "authorization_endpoint": format!("{base}/as/authorize"),
                        "token_endpoint": format!("{base}/as/token"),
                        "registration_endpoint": format!("{base}/as/register"),
                        "response_types_supported": ["code"],
                        "code_challenge_methods_supported": ["S256"],
                    }),
                )),
                "/as/token" => Some(token_answer(&head.headers, &form(&body), &base)),
                "/as/register" => Some(PlainAnswer::new(201, json!({"client_id": "registered"}))),
                _ => Some(PlainAnswer::new(404, Value::Null)),
            };
            let mut answer = answer.unwrap_or_else(|| PlainAnswer::new(0, Value::Null));
            fault(&path, &mut answer);
            if answer.status == 0 {
                head.headers.remove(header::AUTHORIZATION);
                return Ok::<Response<Body>, BoxError>(
                    server.send(Request::from_parts(head, body)).await?,
                );
            }
            let body = match answer.body {
                Value::Null => String::new(),
                body => body.to_string(),
            };
            let body = Full::from(body).map_err(BoxError::from).boxed_unsync();
            let mut response = Response::builder().status(answer.status).body(body).unwrap();
            *response.headers_mut() = answer.headers;
            Ok(response)
        }
    }))
}

async fn logged_in(base: &str) -> LoggedIn {
    let login = Login::client_credentials(&format!("{base}/mcp"), "machine", SECRET);
    login.run(|_| {}).await.unwrap()
}

async fn judged(base: &str, login: LoggedIn, revision: Revision) -> CheckReport {
    let check = Check::url(Target::url(&format!("{base}/mcp")).unwrap()).login(login).unwrap();
    let check = check.only(["login.".to_owned(), "access.".to_owned()]);
    check.revisions(vec![revision]).run(|_| {}).await.unwrap()
}

fn is_insufficient(answer: &PlainAnswer) -> bool {
    answer.status == 403
}

/// How a login is broken, and the one rule that finds it.
pub(crate) const BROKEN: [(&str, Revision, Fault); 17] = [
    ("login.resource", LEGACY, |path, answer| {
        if path == RESOURCE {
            answer.body["resource"] = "https://another.example/mcp".into();
        }
    }),
    ("login.resource", MODERN, |path, answer| {
        if path == RESOURCE {
            let named = format!("{}x", answer.body["resource"].as_str().unwrap());
            answer.body["resource"] = named.into();
        }
    }),
    ("login.secure", LEGACY, |path, answer| {
        if path == SERVER {
            answer.body["authorization_endpoint"] = "http://example.com/authorize".into();
        }
    }),
    ("login.issuer", LEGACY, |path, answer| {
        if path == SERVER {
            answer.body["issuer"] = format!("{}/", answer.body["issuer"].as_str().unwrap()).into();
        }
    }),
    ("login.metadata", MODERN, |path, answer| {
        if path == SERVER {
            answer.body.as_object_mut().unwrap().remove("response_types_supported");
        }
    }),
    ("login.metadata", LEGACY, |path, answer| {
        if path == SERVER {
            answer.body["authorization_endpoint"] = Value::Null;
        }
    }),
    ("login.pkce", LEGACY, |path, answer| {
        if path == SERVER {
            answer.body["code_challenge_methods_supported"] = json!(["plain"]);
        }
    }),
    ("login.pkce", MODERN, |path, answer| {
        if path == SERVER {
            answer.body.as_object_mut().unwrap().remove("code_challenge_methods_supported");
        }
    }),
    ("login.token", LEGACY, |path, answer| {
        if path == "/as/token" {
            answer.body["token_type"] = Value::Null;
        }
    }),
    ("login.token", MODERN, |path, answer| {
        if path == "/as/token" {
            answer.headers.remove("cache-control");
        }
    }),
    ("login.scope", LEGACY, |_, answer| {
        if is_insufficient(answer) {
            answer.headers.clear();
        }
    }),
    ("login.scope", MODERN, |_, answer| {
        if is_insufficient(answer) {
            answer.status = 401;
        }
    }),
    ("login.scope", MODERN, |_, answer| {
        if is_insufficient(answer) {
            let challenge = "Bearer error=\"insufficient_scope\"".parse().unwrap();
            answer.headers.insert("www-authenticate", challenge);
        }
    }),
    ("login.challenge-scope", LEGACY, |path, answer| {
        if path == "/mcp" && answer.status == 401 {
            answer.headers.insert("www-authenticate", "Bearer".parse().unwrap());
        }
    }),
    ("login.offline-access", MODERN, |path, answer| {
        if path == RESOURCE {
            answer.body["scopes_supported"] = json!(["read", "write", "offline_access"]);
        }
    }),
    // It takes every token that its authorization server gave.
    ("login.audience", LEGACY, |path, answer| {
        let foreign = token("https://another.example/mcp", "read write");
        if path == "/as/token" && answer.body["access_token"] == foreign {
            answer.body["access_token"] = anywhere().into();
        }
    }),
    ("login.audience", MODERN, |path, answer| {
        if path == "/as/token" && answer.body["access_token"].is_string() {
            answer.body["access_token"] = anywhere().into();
        }
    }),
];

#[tokio::test]
async fn a_good_login_keeps_all_rules() {
    for revision in [LEGACY, MODERN] {
        let base = stage(|_, _| {});
        let report = judged(&base, logged_in(&base).await, revision).await;
        let other = report.judged.iter().filter(|it| !matches!(it.verdict, Verdict::Holds));
        let other: Vec<_> = other.map(|it| (it.rule.id, &it.verdict)).collect();
        assert!(other.is_empty(), "{other:?}");
        let rules: BTreeSet<_> = report.judged.iter().map(|it| it.rule.id).collect();
        let missing = BROKEN.iter().find(|(rule, of, _)| *of == revision && !rules.contains(rule));
        assert!(missing.is_none(), "{rules:?}");
    }
}

#[tokio::test]
async fn each_broken_login_breaks_its_rule_and_no_other() {
    for (rule, revision, fault) in BROKEN {
        let base = stage(fault);
        let report = judged(&base, logged_in(&base).await, revision).await;
        let found: Vec<_> = report.findings().map(|it| it.rule.id).collect();
        assert_eq!(found, [rule], "{:?}", report.findings().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_person_logs_in_with_a_browser() {
    let base = stage(|_, _| {});
    let login = Login::browser(&format!("{base}/mcp"), None);
    let logged_in = login.run(|url| drop(tokio::spawn(visit(url.to_owned(), None)))).await;
    let report = judged(&base, logged_in.unwrap(), LEGACY).await;
    assert_eq!(report.findings().count(), 0, "{report:?}");
    let judged = report.judged.iter().filter(|it| it.rule.id.starts_with("login."));
    let held = judged.filter(|it| matches!(it.verdict, Verdict::Holds)).count();
    assert_eq!(held, 7);
}

#[tokio::test]
async fn a_redirect_of_someone_else_is_refused() {
    let base = stage(|_, _| {});
    let login = Login::browser(&format!("{base}/mcp"), Some("registered".to_owned()));
    let state = Some("guessed".to_owned());
    let refused = login.run(|url| drop(tokio::spawn(visit(url.to_owned(), state)))).await;
    assert!(refused.unwrap_err().to_string().contains("another state"));
}

/// What a browser does whose person agrees.
async fn visit(url: String, state: Option<String>) {
    let (place, query) = url.split_once('?').unwrap();
    assert!(place.ends_with("/as/authorize"));
    let asked = form(query.as_bytes());
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["scope"], "read write");
    assert!(asked["resource"].ends_with("/mcp"));
    let state = state.as_ref().unwrap_or(&asked["state"]);
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("code", &asked["code_challenge"]), ("state", state)])
        .finish();
    let target = Target::url(&asked["redirect_uri"]).unwrap();
    let request = Request::get(format!("/callback?{query}")).body(Bytes::new()).unwrap();
    target.send(request).await.unwrap();
}

#[tokio::test]
async fn what_needs_no_login_or_has_none_says_so() {
    let base = serve(correct());
    let login = Login::client_credentials(&format!("{base}/mcp"), "machine", SECRET);
    let problem = login.run(|_| {}).await.unwrap_err().to_string();
    assert!(problem.contains("is not refused with 401"), "{problem}");
    let base = stage(|path, answer| {
        if path.starts_with("/.well-known/oauth-authorization-server") {
            answer.status = 404;
        }
    });
    let login = Login::client_credentials(&format!("{base}/mcp"), "machine", SECRET);
    let problem = login.run(|_| {}).await.unwrap_err().to_string();
    assert!(problem.contains("no metadata of the authorization server at"), "{problem}");
    let base = stage(|_, _| {});
    let login = Login::client_credentials(&format!("{base}/mcp"), "machine", "wrong");
    let problem = login.run(|_| {}).await.unwrap_err().to_string();
    assert!(problem.contains("invalid_grant"), "{problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_logs_in_and_shows_no_secret() {
    let base = stage(|path, answer| {
        if path == "/as/token" {
            answer.headers.remove("cache-control");
        }
    });
    let run = tokio::process::Command::new(env!("CARGO_BIN_EXE_mcp-conformance"))
        .args(["check", "--url", &format!("{base}/mcp"), "--only", "login.", "--format", "json"])
        .args(["--login", "client-credentials", "--client-id", "machine"])
        .args(["--client-secret-env", "LOGIN_SECRET", "--revision", "2025-11-25"])
        .env("LOGIN_SECRET", SECRET)
        .output()
        .await
        .unwrap();
    let report = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.status.code(), Some(1), "{report}");
    assert!(report.contains("Cache-Control is"), "{report}");
    let token = token(&format!("{base}/mcp"), "read write");
    let secrets = [SECRET, "a+secret", token.as_str()];
    let shown: Vec<_> = secrets.iter().filter(|it| report.contains(**it)).collect();
    assert!(shown.is_empty(), "{shown:?} in {report}");
}
