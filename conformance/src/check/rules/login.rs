//! The login itself: what the server and its authorization server say of it, and which tokens the server takes.

use futures_util::FutureExt as _;
use serde_json::Value;

use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, Scope, Verdict, applies, finding, inapplicable, proven};
use super::access::{SCOPE, with};
use super::{MODERN_HTTP, MUST, SHOULD};
use crate::probe::{Bench, Exchange, Revision};
use crate::probe::{Challenges, LoggedIn, is_of, is_secure};

/// Scopes in challenges began with 2025-11-25.
const SCOPED: Scope = Scope { first: Revision::V2025_11_25, ..SCOPE };

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "login.resource",
        level: MUST,
        section: "Authorization, Protected resource metadata (RFC 9728 §3.3)",
        title: "The metadata of the server names as its resource the URL at which it is asked",
        fix: "put the public URL of the MCP endpoint into the member resource",
        scope: SCOPE,
        probe: Asks(|bench| {
            async move { logged_in(bench, |login| resource(bench, login)) }.boxed()
        }),
    },
    Rule {
        id: "login.secure",
        level: MUST,
        section: "Authorization, Communication security",
        title: "The authorization server and its endpoints are reached by HTTPS",
        fix: "name URLs that begin with https://, but for servers on the same machine",
        scope: SCOPE,
        probe: Asks(|bench| async move { logged_in(bench, secure) }.boxed()),
    },
    Rule {
        id: "login.issuer",
        level: MUST,
        section: "Authorization, Authorization server metadata (RFC 8414 §3.3)",
        title: "The issuer in the metadata is the authorization server that the MCP server names",
        fix: "name the authorization server by its issuer, letter by letter",
        scope: SCOPE,
        probe: Asks(|bench| async move { logged_in(bench, issuer) }.boxed()),
    },
    Rule {
        id: "login.metadata",
        level: MUST,
        section: "Authorization, Authorization server metadata (RFC 8414 §2)",
        title: "The metadata of the authorization server has the members that it needs",
        fix: "add authorization_endpoint, token_endpoint and response_types_supported",
        scope: SCOPE,
        probe: Asks(|bench| async move { logged_in(bench, metadata) }.boxed()),
    },
    Rule {
        id: "login.pkce",
        level: MUST,
        section: "Authorization, Authorization code protection",
        title: "The authorization server announces PKCE with S256: clients refuse to log in otherwise",
        fix: "put \"S256\" into code_challenge_methods_supported",
        scope: SCOPE,
        probe: Asks(|bench| async move { logged_in(bench, pkce) }.boxed()),
    },
    Rule {
        id: "login.token",
        level: MUST,
        section: "Authorization (RFC 6749 §5.1)",
        title: "The answer with a token names its type, and is not to be stored",
        fix: "answer with token_type \"Bearer\" and Cache-Control: no-store",
        scope: SCOPE,
        probe: Asks(|bench| async move { logged_in(bench, token) }.boxed()),
    },
    Rule {
        id: "login.audience",
        level: MUST,
        section: "Authorization, Token handling",
        title: "A token that is meant for another server is refused with 401",
        fix: "compare the audience of each token with the server's own URL",
        scope: SCOPE,
        probe: Asks(|bench| audience(bench).boxed()),
    },
    Rule {
        id: "login.scope",
        level: SHOULD,
        section: "Authorization, Scope challenge handling",
        title: "A token that lacks a scope is refused with 403, insufficient_scope and the scopes that are needed",
        fix: "answer 403 with WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"…\", resource_metadata=\"…\"",
        scope: SCOPED,
        probe: Asks(|bench| scope(bench).boxed()),
    },
    Rule {
        id: "login.challenge-scope",
        level: SHOULD,
        section: "Authorization, Protected resource metadata discovery",
        title: "The challenge of a server with scopes names those to ask for",
        fix: "put scope=\"…\" into WWW-Authenticate of a 401",
        scope: SCOPED,
        probe: Asks(|bench| async move { logged_in(bench, challenge_scope) }.boxed()),
    },
    Rule {
        id: "login.offline-access",
        level: SHOULD,
        section: "Authorization, Refresh tokens",
        title: "The server asks for no offline_access: that is between clients and the authorization server",
        fix: "leave offline_access out of challenges and of scopes_supported",
        scope: MODERN_HTTP,
        probe: Asks(|bench| async move { logged_in(bench, offline) }.boxed()),
    },
];

/// The judgement of a login, if there was one.
fn logged_in(bench: &Bench, judge: impl FnOnce(&LoggedIn) -> Outcome) -> Outcome {
    judge(bench.login.as_deref().ok_or_else(no_login)?)
}

fn no_login() -> Verdict {
    inapplicable("this needs a login (--login)")
}

/// The members of metadata that hold URLs for a login.
const ENDPOINTS: [&str; 3] = ["authorization_endpoint", "token_endpoint", "registration_endpoint"];

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// It holds unless something is wrong, which an exchange shows.
fn judged(wrong: Option<String>, exchange: &Exchange) -> Outcome {
    wrong.map_or(Ok(()), |seen| proven(seen, exchange))
}

fn resource(bench: &Bench, login: &LoggedIn) -> Outcome {
    let document = &login.discovery.resource;
    applies(!document.value.is_null(), "there is no metadata, see access.metadata")?;
    let own = bench.endpoint.to_string();
    let Some(named) = text(&document.value, "resource") else {
        return proven("there is no resource", &document.exchange);
    };
    let seen = format!("the resource is {named:?}, and the server was asked at {own}");
    judged((!is_of(named, &own)).then_some(seen), &document.exchange)
}

fn secure(login: &LoggedIn) -> Outcome {
    let document = &login.discovery.server;
    let endpoints = ENDPOINTS.into_iter().filter_map(|name| text(&document.value, name));
    let mut urls = [login.discovery.issuer.as_str()].into_iter().chain(endpoints);
    let insecure = urls.find(|url| !is_secure(url));
    judged(insecure.map(|url| format!("{url} is no HTTPS")), &document.exchange)
}

fn issuer(login: &LoggedIn) -> Outcome {
    let (document, named) = (&login.discovery.server, &login.discovery.issuer);
    let stated = text(&document.value, "issuer");
    let seen = || format!("the issuer is {stated:?}, and the server names {named:?}");
    judged((stated != Some(named)).then(seen), &document.exchange)
}

fn metadata(login: &LoggedIn) -> Outcome {
    let document = &login.discovery.server;
    let mut needed = ["token_endpoint", "response_types_supported"].to_vec();
    if has_codes(login) {
        needed.push("authorization_endpoint");
    }
    let missing = needed.into_iter().find(|name| match document.value.get(name) {
        Some(value) if *name == "response_types_supported" => !value.is_array(),
        value => !value.is_some_and(Value::is_string),
    });
    judged(missing.map(|name| format!("there is no {name}")), &document.exchange)
}

/// Whether people can log in: that is so unless something else is said (RFC 8414 §2).
fn has_codes(login: &LoggedIn) -> bool {
    let grants = login.discovery.server.value.get("grant_types_supported");
    let grants = grants.and_then(Value::as_array);
    grants.is_none_or(|it| it.iter().any(|grant| grant == "authorization_code"))
}

fn pkce(login: &LoggedIn) -> Outcome {
    applies(has_codes(login), "it supports no authorization codes")?;
    let document = &login.discovery.server;
    let methods = document.value.get("code_challenge_methods_supported");
    let is_there =
        methods.and_then(Value::as_array).is_some_and(|it| it.iter().any(|it| it == "S256"));
    let seen = || match methods {
        Some(methods) => format!("code_challenge_methods_supported is {methods}"),
        None => "there is no code_challenge_methods_supported".to_owned(),
    };
    judged((!is_there).then(seen), &document.exchange)
}

fn token(login: &LoggedIn) -> Outcome {
    let kind = text(&login.answered, "token_type");
    let stored = login.answer.header("cache-control").unwrap_or_default().to_ascii_lowercase();
    let wrong = if !kind.is_some_and(|it| it.eq_ignore_ascii_case("bearer")) {
        Some(format!("token_type is {kind:?}"))
    } else {
        (!stored.contains("no-store")).then(|| format!("Cache-Control is {stored:?}"))
    };
    judged(wrong, &login.answer)
}

async fn audience(bench: &mut Bench) -> Outcome {
    let foreign = bench.login.as_ref().ok_or_else(no_login)?.foreign.clone();
    let none = "no token for another server could be had: only client credentials try to";
    let foreign = foreign.ok_or_else(|| inapplicable(none))?;
    let exchange = with(bench, &foreign).await?;
    let seen = || format!("a token for another resource: {}", exchange.outcome());
    judged((exchange.status != Some(401)).then(seen), &exchange)
}

async fn scope(bench: &mut Bench) -> Outcome {
    let narrow = bench.login.as_ref().ok_or_else(no_login)?.narrow.clone();
    let none = "there is no token with fewer scopes: only client credentials ask for one";
    let exchange = with(bench, &narrow.ok_or_else(|| inapplicable(none))?).await?;
    let is_taken = exchange.status.is_some_and(|it| it < 300);
    applies(!is_taken, "one scope is enough for what was asked")?;
    let challenges = Challenges::of(&exchange);
    let error = challenges.parameter("error");
    let wrong = if exchange.status != Some(403) {
        Some(exchange.outcome())
    } else if error != Some("insufficient_scope") {
        Some(format!("the error of the challenge is {error:?}"))
    } else {
        let mut parts = ["scope", "resource_metadata"].into_iter();
        let missing = parts.find(|name| challenges.parameter(name).is_none());
        missing.map(|name| format!("the challenge has no {name}"))
    };
    wrong.map_or(Ok(()), |seen| finding(seen, &exchange))
}

fn challenge_scope(login: &LoggedIn) -> Outcome {
    applies(!login.discovery.scopes().is_empty(), "the server names no scopes")?;
    let is_there = login.discovery.challenges.parameter("scope").is_some();
    let wrong = (!is_there).then(|| "the challenge has no scope".to_owned());
    judged(wrong, &login.discovery.refusal)
}

fn offline(login: &LoggedIn) -> Outcome {
    let challenge = login.discovery.challenges.parameter("scope").unwrap_or_default();
    let (place, exchange) = if challenge.split(' ').any(|it| it == "offline_access") {
        ("challenge", &login.discovery.refusal)
    } else if login.discovery.scopes().contains(&"offline_access") {
        ("metadata", &login.discovery.resource.exchange)
    } else {
        return Ok(());
    };
    proven(format!("the {place} names offline_access"), exchange)
}
