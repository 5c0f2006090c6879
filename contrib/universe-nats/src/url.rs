//! The URL of the servers: where they are, who asks, under which names the streams are.
use std::str::FromStr as _;

use async_nats::ServerAddr;
use percent_encoding::percent_decode_str;

use super::error::NatsError;

/// The longest prefix of names, in bytes.
const MAX_PREFIX: usize = 32;

/// The parts of a URL.
pub(super) struct NatsUrl {
    pub(super) servers: Vec<ServerAddr>,
    pub(super) login: Login,
    /// Whether TLS is required.
    pub(super) is_tls: bool,
    /// The prefix of the names of streams and subjects.
    pub(super) prefix: String,
    /// The requested number of replicas.
    pub(super) replicas: Option<usize>,
}

/// The credentials.
pub(super) enum Login {
    Anybody,
    Token(String),
    User(String, String),
}

impl NatsUrl {
    /// Parses `nats://user:password@host:4222,host2:4222/prefix?replicas=3`; `tls://` requires TLS. Error messages do
    /// not contain any part of the user information.
    pub(super) fn read(url: &str) -> Result<Self, NatsError> {
        let wrong = |problem: &str| NatsError::Url(problem.to_owned());
        let (scheme, rest) = url.split_once("://").ok_or(wrong("it has no scheme"))?;
        let is_tls = match scheme {
            "nats" => false,
            "tls" => true,
            _ => return Err(wrong("it has another scheme than nats or tls")),
        };
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (Some(login), rest),
            None => (None, rest),
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let servers = hosts.split(',').map(|host| {
            let known = !host.is_empty() && !host.contains(['@', '#', ' ']);
            let server = known.then(|| ServerAddr::from_str(&format!("{scheme}://{host}")).ok());
            server.flatten().ok_or(wrong("a host cannot be read"))
        });
        let servers = servers.collect::<Result<Vec<_>, _>>()?;
        let mut parsed = Self {
            servers,
            login: read_login(login)?,
            is_tls,
            prefix: read_prefix(prefix)?,
            replicas: None,
        };
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            parsed.take(parameter)?;
        }
        Ok(parsed)
    }

    fn take(&mut self, parameter: &str) -> Result<(), NatsError> {
        let wrong = |problem: &str| NatsError::Url(problem.to_owned());
        match parameter.split_once('=') {
            Some(("replicas", number)) => {
                let number = number.parse().ok().filter(|number| (1..=5).contains(number));
                self.replicas = Some(number.ok_or(wrong("replicas is a number from 1 to 5"))?);
                Ok(())
            }
            _ => Err(wrong("replicas is its only parameter")),
        }
    }
}

fn read_login(login: Option<&str>) -> Result<Login, NatsError> {
    let Some(login) = login else {
        return Ok(Login::Anybody);
    };
    let decoded = |text: &str| {
        let text = percent_decode_str(text).decode_utf8().ok();
        let problem = "user or password is no text";
        text.map(|text| text.into_owned()).ok_or(NatsError::Url(problem.to_owned()))
    };
    Ok(match login.split_once(':') {
        Some((user, password)) => Login::User(decoded(user)?, decoded(password)?),
        None => Login::Token(decoded(login)?),
    })
}

fn read_prefix(prefix: &str) -> Result<String, NatsError> {
    let prefix = match prefix {
        "" => "universes",
        prefix => prefix,
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if prefix.len() <= MAX_PREFIX && prefix.bytes().all(fits) {
        Ok(prefix.to_owned())
    } else {
        Err(NatsError::Url(format!(
            "its path, the prefix of names, has up to {MAX_PREFIX} letters, digits, - and _"
        )))
    }
}
