//! Logging in at the authorization server of an MCP server: discovery, and a token for this server alone.
//!
//! What was exchanged is kept for the rules about logins, with tokens and secrets masked.

mod address;
mod asking;
mod browser;
mod challenge;
mod discovery;

use std::fmt;
use std::time::Duration;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use http::Method;
use serde_json::Value;

pub(crate) use self::address::{is_of, is_secure, origin};
use self::asking::{ask, reason};
pub(crate) use self::challenge::Challenges;
pub(crate) use self::discovery::{Discovery, servers};
use super::exchange::Exchange;
use super::http::Raw;

/// A resource for which no server of MCP may take a token.
const ELSEWHERE: &str = "https://another.example/mcp";
/// How long each answer may take by default.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How to log in at one server.
#[must_use]
pub struct Login {
    url: String,
    id: Option<String>,
    secret: Option<String>,
    scope: Option<String>,
    timeout: Duration,
}

/// A login that succeeded: the token, and what was seen on the way.
pub struct LoggedIn {
    pub(crate) token: String,
    pub(crate) discovery: Discovery,
    /// The answer that brought the token, and its JSON without secrets.
    pub(crate) answer: Exchange,
    pub(crate) answered: Value,
    /// A token that says it is for another resource, if the authorization server gives one.
    pub(crate) foreign: Option<String>,
    /// A token of the first scope alone, if there are several.
    pub(crate) narrow: Option<String>,
}

/// Why there is no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot log in to {url}: {why}")]
pub struct LoginError {
    url: String,
    why: String,
}

impl Login {
    /// As a program, by client credentials.
    pub fn client_credentials(url: &str, id: &str, secret: &str) -> Self {
        let secret = Some(secret.to_owned());
        Self { secret, ..Self::browser(url, Some(id.to_owned())) }
    }

    /// As a person, in a browser. Without the id of a client, one is registered.
    pub fn browser(url: &str, id: Option<String>) -> Self {
        Self { url: url.to_owned(), id, secret: None, scope: None, timeout: TIMEOUT }
    }

    /// The scopes to ask for, with spaces between them; by default those that the server's challenge or metadata name.
    pub fn scope(self, scope: Option<String>) -> Self {
        Self { scope, ..self }
    }

    /// How long each answer may take; 10 s by default. A person has five minutes.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Logs in. `show` gets the URL that a person has to open.
    ///
    /// # Errors
    /// The server wants no login, its authorization server cannot be found, or that gives no token.
    pub async fn run(&self, show: impl FnOnce(&str)) -> Result<LoggedIn, LoginError> {
        let failed = |why: String| LoginError { url: self.url.clone(), why };
        let discovery = Discovery::of(&self.url, self.timeout).await.map_err(failed)?;
        let scope = self.scope.clone().unwrap_or_else(|| discovery.scope());
        let resource = discovery.resource_url(&self.url);
        let (id, secret) = (self.id.as_deref().unwrap_or_default(), self.secret.as_deref());
        let Some(secret) = secret else {
            let id = self.id.as_deref();
            let opened = browser::code(&discovery, self.timeout, id, &resource, &scope, show).await;
            let opened = opened.map_err(failed)?;
            let asked = self
                .token(&discovery, opened.form(&resource), &[&opened.code, &opened.verifier])
                .await;
            let (answer, answered, token) = asked.map_err(failed)?;
            return Ok(LoggedIn {
                token,
                discovery,
                answer,
                answered,
                foreign: None,
                narrow: None,
            });
        };
        let is_basic = discovery.takes_basic();
        let ask = |resource: &str, scope: &str| {
            let mut form = vec![("grant_type", "client_credentials"), ("resource", resource)];
            if !scope.is_empty() {
                form.push(("scope", scope));
            }
            if !is_basic {
                form.extend([("client_id", id), ("client_secret", secret)]);
            }
            form.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let asked = self.token(&discovery, ask(&resource, &scope), &[secret]).await;
        let (answer, answered, token) = asked.map_err(failed)?;
        let others = self.token(&discovery, ask(ELSEWHERE, &scope), &[secret]).await;
        let foreign = others.ok().map(|(.., token)| token).filter(|it| is_for(it, ELSEWHERE));
        let mut narrow = None;
        if let Some((first, _)) =
            discovery.scopes().split_first().filter(|(_, rest)| !rest.is_empty())
        {
            let asked = self.token(&discovery, ask(&resource, first), &[secret]).await;
            narrow = asked.ok().map(|(.., token)| token);
        }
        Ok(LoggedIn { token, discovery, answer, answered, foreign, narrow })
    }

    /// Asks for a token: the exchange and its JSON, both without secrets, and the token.
    async fn token(
        &self,
        discovery: &Discovery,
        form: Vec<(String, String)>,
        secrets: &[&str],
    ) -> Result<(Exchange, Value, String), String> {
        let endpoint = discovery.endpoint("token_endpoint")?;
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let mut raw = Raw::bare(Method::POST)
            .with("content-type", "application/x-www-form-urlencoded")
            .with("accept", "application/json");
        let mut hidden: Vec<String> = secrets.iter().map(|it| (*it).to_owned()).collect();
        hidden.extend(secrets.iter().map(|it| encoded(it)));
        if let (Some(id), Some(secret)) = (&self.id, &self.secret)
            && discovery.takes_basic()
        {
            let pair = BASE64.encode(format!("{}:{}", encoded(id), encoded(secret)).as_bytes());
            raw = raw.with("authorization", &format!("Basic {pair}"));
            hidden.push(pair);
        }
        raw.body = body.into();
        let mut answer = ask(&endpoint, raw, self.timeout).await;
        let mut answered = answer.messages.pop().unwrap_or_default();
        let token = answered.get("access_token").and_then(Value::as_str).map(str::to_owned);
        for name in ["access_token", "refresh_token", "id_token"] {
            if let Some(secret) = answered.get_mut(name).filter(|it| it.is_string()) {
                hidden.extend(secret.as_str().map(str::to_owned));
                *secret = "***".into();
            }
        }
        for secret in hidden.iter().filter(|it| !it.is_empty()) {
            answer.sent = answer.sent.replace(secret, "***");
            answer.received = answer.received.replace(secret, "***");
        }
        match token.filter(|_| answer.status == Some(200)) {
            Some(token) => Ok((answer, answered, token)),
            None => Err(format!("{endpoint} gives no token: {}", reason(&answer, &answered))),
        }
    }
}

/// Whether a token says that it is for this resource alone (RFC 9068). What a token without claims is for, or one of an
/// authorization server that passes over the resource, only the server knows.
fn is_for(token: &str, resource: &str) -> bool {
    let claims = token.split('.').nth(1).unwrap_or_default();
    let claims = BASE64URL_NOPAD.decode(claims.as_bytes()).unwrap_or_default();
    let claims: Value = serde_json::from_slice(&claims).unwrap_or_default();
    match claims.get("aud") {
        Some(Value::Array(all)) => !all.is_empty() && all.iter().all(|it| it == resource),
        one => one.is_some_and(|it| it == resource),
    }
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Nothing that is secret.
impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Login({})", self.url)
    }
}

/// Nothing that is secret.
impl fmt::Debug for LoggedIn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LoggedIn({})", self.discovery.issuer)
    }
}
