//! The login of a person in a browser: an authorization code with PKCE, and a redirect to this machine (RFC 8252).

use std::net::Ipv4Addr;
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use http::{Request, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::asking::{ask, reason};
use super::discovery::Discovery;
use crate::probe::http::Raw;
use crate::serving::{plain, serve};

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// Where the browser is sent back to.
const CALLBACK: &str = "/callback";

/// What a code is exchanged with.
pub(super) struct Opened {
    pub(super) code: String,
    id: String,
    redirect: String,
    pub(super) verifier: String,
}

impl Opened {
    /// The request for a token.
    pub(super) fn form(&self, resource: &str) -> Vec<(String, String)> {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", self.code.as_str()),
            ("client_id", self.id.as_str()),
            ("redirect_uri", self.redirect.as_str()),
            ("code_verifier", self.verifier.as_str()),
            ("resource", resource),
        ];
        form.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec()
    }
}

/// Shows the URL, and waits for the code.
///
/// # Errors
/// The login was refused or not finished, in a sentence.
pub(super) async fn code(
    discovery: &Discovery,
    timeout: Duration,
    id: Option<&str>,
    resource: &str,
    scope: &str,
    show: impl FnOnce(&str),
) -> Result<Opened, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(|error| format!("no port is free: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let redirect = format!("http://{address}{CALLBACK}");
    let id = match id {
        Some(id) => id.to_owned(),
        None => register(discovery, timeout, &redirect).await?,
    };
    let (state, verifier) = (secret()?, secret()?);
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(verifier.as_bytes()));
    let endpoint = discovery.endpoint("authorization_endpoint")?;
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs([
        ("response_type", "code"),
        ("client_id", id.as_str()),
        ("redirect_uri", redirect.as_str()),
        ("state", state.as_str()),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("resource", resource),
    ]);
    if !scope.is_empty() {
        query.append_pair("scope", scope);
    }
    let joint = if endpoint.contains('?') { '&' } else { '?' };
    show(&format!("{endpoint}{joint}{}", query.finish()));
    let given = tokio::time::timeout(PATIENCE, redirected(listener)).await;
    let given = given.map_err(|_| "the browser did not come back".to_owned())??;
    let find = |name: &str| {
        let mut pairs = form_urlencoded::parse(given.as_bytes());
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    let says_issuer = discovery.server.value.get("authorization_response_iss_parameter_supported");
    let issuer = find("iss");
    if find("state").as_ref() != Some(&state) {
        return Err("the browser came back with another state".to_owned());
    }
    if issuer.as_ref().is_some_and(|it| *it != discovery.issuer)
        || issuer.is_none() && says_issuer == Some(&Value::Bool(true))
    {
        return Err(format!("the redirect names the issuer {issuer:?}"));
    }
    match (find("code"), find("error")) {
        (Some(code), None) => Ok(Opened { code, id, redirect, verifier }),
        (_, error) => Err(format!("the login was refused: {}", error.unwrap_or_default())),
    }
}

/// Registers a client (RFC 7591).
async fn register(
    discovery: &Discovery,
    timeout: Duration,
    redirect: &str,
) -> Result<String, String> {
    let endpoint = discovery.endpoint("registration_endpoint");
    let endpoint = endpoint.map_err(|why| format!("{why}; give the id of a client"))?;
    let client = json!({
        "client_name": "mcp-conformance",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    let answer = ask(&endpoint, Raw::post(client.to_string()), timeout).await;
    let answered = answer.messages.first().cloned().unwrap_or_default();
    let id = answered.get("client_id").and_then(Value::as_str).map(str::to_owned);
    id.ok_or_else(|| format!("no client can be registered: {}", reason(&answer, &answered)))
}

/// The query with which the browser comes back.
async fn redirected(listener: TcpListener) -> Result<String, String> {
    let (sender, mut came) = mpsc::channel(1);
    let answer = move |request: Request<Incoming>| {
        let sender = sender.clone();
        async move {
            if request.uri().path() != CALLBACK {
                return plain(StatusCode::NOT_FOUND, "this is not the place of the redirect");
            }
            // A second redirect is one too many.
            let _ = sender.try_send(request.uri().query().unwrap_or_default().to_owned());
            plain(StatusCode::OK, "you can close this page")
        }
    };
    tokio::select! {
        served = serve(listener, answer) => Err(format!("no connection comes: {served:?}")),
        query = came.recv() => query.ok_or_else(|| "no connection comes".to_owned()),
    }
}

/// A random text that cannot be guessed.
fn secret() -> Result<String, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(BASE64URL_NOPAD.encode(&bytes))
}
