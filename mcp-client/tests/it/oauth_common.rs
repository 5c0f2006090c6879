//! A made-up MCP server and a made-up authorization server, each on a socket of its own, and a person with a browser.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use data_encoding::BASE64;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_proto::Era;
use mcp_proto_client::authorize::{Browser, Grant, OAuth, OAuthError};
use mcp_proto_client::{Client, ClientConfig, ClientError};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What a site was asked.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    /// The query, or the body where that is a form.
    pub(crate) form: BTreeMap<String, String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|it| it.to_str().ok())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The name and the password of a client.
    pub(crate) fn basic(&self) -> Option<String> {
        let shown = self.header("authorization")?.strip_prefix("Basic ")?;
        String::from_utf8(BASE64.decode(shown.as_bytes()).ok()?).ok()
    }
}

/// What a site answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply(pub(crate) u16, pub(crate) Vec<(&'static str, String)>, pub(crate) String);

impl Reply {
    pub(crate) fn json(status: u16, value: &Value) -> Self {
        let json = vec![("content-type", "application/json".to_owned())];
        Self(status, json, value.to_string())
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.1.push((name, value.into()));
        self
    }

    pub(crate) fn nothing() -> Self {
        Self(404, Vec::new(), String::new())
    }
}

/// A site on a socket.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Site {
    pub(crate) async fn start(
        answer: impl Fn(&str, &Seen) -> Reply + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let site = Self { url, seen: Arc::default() };
        let own = site.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (own, answer) = (own.clone(), answer.clone());
                let service = service_fn(move |request| {
                    let (own, answer) = (own.clone(), answer.clone());
                    async move { Ok::<_, Infallible>(own.serve(request, &answer).await) }
                });
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(stream), service));
            }
        });
        site
    }

    async fn serve(
        &self,
        request: Request<Incoming>,
        answer: &impl Fn(&str, &Seen) -> Reply,
    ) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let form = match head.uri.query() {
            Some(query) => query.as_bytes(),
            None => &body[..],
        };
        let seen = Seen {
            path: head.uri.path().to_owned(),
            form: pairs(form),
            headers: head.headers,
            body: body.clone(),
        };
        self.seen.lock().unwrap().push(seen.clone());
        let Reply(status, headers, text) = answer(&self.url, &seen);
        let mut response = Response::new(Full::new(Bytes::from(text)));
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        for (name, value) in headers {
            response.headers_mut().append(name, value.parse().unwrap());
        }
        response
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests to this path.
    pub(crate) fn at(&self, path: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|it| it.path == path).collect()
    }

    /// The well-known paths that were asked for, in their order.
    pub(crate) fn looked(&self) -> Vec<String> {
        let paths = self.seen().into_iter().map(|it| it.path);
        paths.filter(|it| it.contains("well-known")).collect()
    }
}

pub(crate) fn pairs(text: &[u8]) -> BTreeMap<String, String> {
    oauth2::url::form_urlencoded::parse(text).into_owned().collect()
}

/// How the two servers behave. Members of `resource`, `server`, `answer` and `token` replace those of a good document;
/// null takes one away.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// The challenge of the MCP server; `{mcp}` is its URL.
    pub(crate) challenge: String,
    /// The scopes that a call of a tool needs.
    pub(crate) needs: Option<&'static str>,
    /// Where the metadata of the resource is; `None` for nowhere.
    pub(crate) resource_at: Option<&'static str>,
    pub(crate) resource: Value,
    /// What comes after the host in the name of the issuer.
    pub(crate) tenant: &'static str,
    pub(crate) server_at: Option<&'static str>,
    pub(crate) server: Value,
    pub(crate) answer: Value,
    pub(crate) registered: Value,
    pub(crate) token: Value,
    /// Another answer to a token request, by its number.
    pub(crate) refuse: fn(usize, &Seen) -> Option<Reply>,
    /// The MCP server takes these tokens no more.
    pub(crate) revoked: Vec<String>,
    pub(crate) nonce: Option<&'static str>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            challenge: "Bearer".to_owned(),
            needs: None,
            resource_at: Some("/.well-known/oauth-protected-resource/mcp"),
            resource: json!({}),
            tenant: "",
            server_at: Some("/.well-known/oauth-authorization-server"),
            server: json!({}),
            answer: json!({}),
            registered: json!({}),
            token: json!({}),
            refuse: |_, _| None,
            revoked: Vec::new(),
            nonce: None,
        }
    }
}

/// Both servers.
pub(crate) struct World {
    pub(crate) mcp: Site,
    pub(crate) login: Site,
    rules: Arc<Mutex<Rules>>,
}

impl World {
    pub(crate) async fn new(rules: Rules) -> Self {
        let rules = Arc::new(Mutex::new(rules));
        let own = Arc::clone(&rules);
        let issued = Arc::new(Mutex::new(0));
        let login = Site::start(move |url, seen| {
            let rules = own.lock().unwrap().clone();
            login(&rules, url, seen, &mut issued.lock().unwrap())
        });
        let login = login.await;
        let (own, issuer) = (Arc::clone(&rules), login.url.clone());
        let mcp = Site::start(move |url, seen| mcp(&own.lock().unwrap(), url, &issuer, seen)).await;
        Self { mcp, login, rules }
    }

    pub(crate) fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap()
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.mcp.url)
    }

    pub(crate) fn issuer(&self) -> String {
        format!("{}{}", self.login.url, self.rules().tenant)
    }

    /// A client's authorization with a person who agrees.
    pub(crate) fn oauth(&self) -> OAuth {
        OAuth::new(&self.url(), Grant::Browser(Arc::new(Person))).unwrap()
    }

    pub(crate) async fn client(&self, oauth: OAuth) -> Client {
        self.sharing(&Arc::new(oauth)).await
    }

    pub(crate) async fn sharing(&self, oauth: &Arc<OAuth>) -> Client {
        let config = ClientConfig::new(Era::Modern).with_credentials(Arc::clone(oauth) as _);
        Client::http(&self.url(), config).await.unwrap()
    }

    /// Lists the tools with a person who agrees, which must fail: why.
    pub(crate) async fn failure(&self) -> String {
        let failed = self.client(self.oauth()).await.list_tools().await;
        match failed {
            Err(ClientError::Unauthorized(problem)) => problem,
            other => panic!("{other:?}"),
        }
    }

    /// The token requests.
    pub(crate) fn grants(&self) -> Vec<Seen> {
        self.login.at("/token")
    }

    /// The forms of the authorization requests.
    pub(crate) fn asked(&self) -> Vec<BTreeMap<String, String>> {
        self.login.at("/authorize").into_iter().map(|it| it.form).collect()
    }

    /// What the MCP server was shown, request by request.
    pub(crate) fn shown(&self) -> Vec<Option<String>> {
        let seen = self.mcp.at("/mcp");
        seen.iter().map(|it| it.header("authorization").map(ToOwned::to_owned)).collect()
    }
}

/// A person who agrees to everything, with a browser.
#[derive(Debug)]
pub(crate) struct Person;

impl Browser for Person {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:9/callback".to_owned()
    }

    fn authorize<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move { Ok(follow(url).await) })
    }
}

/// Where a URL leads.
pub(crate) async fn follow(url: &str) -> String {
    let client = HttpClient::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let answer = client.get(url.parse().unwrap()).await.unwrap();
    answer.headers()["location"].to_str().unwrap().to_owned()
}

fn patched(mut good: Value, patch: &Value) -> Value {
    for (name, value) in patch.as_object().unwrap() {
        match value {
            Value::Null => drop(good.as_object_mut().unwrap().remove(name)),
            value => good[name] = value.clone(),
        }
    }
    good
}

fn mcp(rules: &Rules, url: &str, issuer: &str, seen: &Seen) -> Reply {
    if Some(seen.path.as_str()) == rules.resource_at {
        let good = json!({
            "resource": format!("{url}/mcp"),
            "authorization_servers": [format!("{issuer}{}", rules.tenant)],
        });
        return Reply::json(200, &patched(good, &rules.resource));
    }
    if seen.path != "/mcp" {
        return login(rules, url, seen, &mut 0);
    }
    let refusal = |status, challenge: &str| {
        let challenge = challenge.replace("{mcp}", url);
        Reply::json(status, &json!({})).with("www-authenticate", challenge)
    };
    let shown = seen.header("authorization").unwrap_or_default();
    let token = shown.split(' ').nth(1).unwrap_or_default();
    if token.is_empty() || rules.revoked.iter().any(|it| it == token) {
        return refusal(401, &rules.challenge);
    }
    if let Some(nonce) = rules.nonce {
        let proof = claims(seen.header("dpop").unwrap_or_default());
        if proof["nonce"] != nonce {
            let challenge = r#"DPoP error="use_dpop_nonce""#;
            return refusal(401, challenge).with("dpop-nonce", nonce);
        }
    }
    let request = seen.json();
    let lacks = |scope: &str| !token.split('.').any(|it| it == scope);
    if request["method"] == "tools/call"
        && let Some(needs) = rules.needs
        && lacks(needs)
    {
        let challenge = format!(r#"Bearer error="insufficient_scope", scope="{needs}""#);
        return refusal(403, &challenge);
    }
    let result = match request["method"].as_str() {
        Some("tools/list") => {
            json!({ "tools": [{ "name": "one", "inputSchema": { "type": "object" } }] })
        }
        _ => json!({ "content": [] }),
    };
    let mut result = result;
    result["resultType"] = json!("complete");
    Reply::json(200, &json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
}

/// Tokens are `t`, a number, and the scopes, with points between them.
fn login(rules: &Rules, url: &str, seen: &Seen, issued: &mut usize) -> Reply {
    let path = seen.path.as_str();
    if Some(path) == rules.server_at {
        let good = json!({
            "issuer": format!("{url}{}", rules.tenant),
            "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"),
            "registration_endpoint": format!("{url}/register"),
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
        });
        return Reply::json(200, &patched(good, &rules.server));
    }
    match path {
        "/authorize" => {
            let good = json!({ "code": "the code", "state": seen.form["state"], "iss": format!("{url}{}", rules.tenant) });
            let answer = patched(good, &rules.answer);
            let mut to = oauth2::url::Url::parse(&seen.form["redirect_uri"]).unwrap();
            for (name, value) in answer.as_object().unwrap() {
                to.query_pairs_mut().append_pair(name, value.as_str().unwrap());
            }
            Reply(302, vec![("location", to.to_string())], String::new())
        }
        "/register" => {
            let good = json!({ "client_id": format!("client of {url}"), "client_secret": "hush" });
            Reply::json(201, &patched(good, &rules.registered))
        }
        "/token" => {
            *issued += 1;
            if let Some(reply) = (rules.refuse)(*issued, seen) {
                return reply;
            }
            let proves = seen.header("dpop").is_some();
            let good = json!({
                "access_token": format!("t{issued}"),
                "token_type": if proves { "DPoP" } else { "Bearer" },
                "expires_in": 3600,
            });
            Reply::json(200, &patched(good, &rules.token))
        }
        _ => Reply::nothing(),
    }
}

/// The claims of a JWT, not verified.
pub(crate) fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap_or_default();
    let text = data_encoding::BASE64URL_NOPAD.decode(part.as_bytes()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// The text of an error.
pub(crate) fn complaint(outcome: Result<(), OAuthError>) -> String {
    outcome.unwrap_err().to_string()
}
