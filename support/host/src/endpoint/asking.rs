//! The arguments that set who may call over HTTP, and their meaning: the operator's tokens, tokens of an authorization
//! server, or one token for everything.

use std::io::{self, IsTerminal as _, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args, ValueHint};
use futures_util::future::BoxFuture;
use http::request;
use mcp_proto::http::Callers;
use mcp_proto::http::authorize::jwt::{Dpop, HttpsKeys, IssuerKeys, JwtTokens, MAX_KEY_SET_BYTES};
use mcp_proto::http::authorize::{
    Authorization, Authorizer, BearerTokens, Caller, Denied, Proofs, ProtectedResource, bearer,
    is_token,
};
use mcp_proto::{Principal, Scopes};
use tokio::task::JoinSet;

use super::EndpointError;
use super::reload::Reload;

/// The most bytes of the one token: more does not fit into the header that shows it.
const TOKEN_BYTES: u64 = 4_096;

/// The most bytes of a file of hashes.
const TOKENS_BYTES: u64 = 4 * 1024 * 1024;

/// The scopes for reading, for writing, and for everything.
pub(crate) const READ: &str = "read";
pub(crate) const WRITE: &str = "write";
const ADMIN: &str = "admin";

/// Who may call over HTTP. Stdin and stdout need no authorization.
#[derive(Debug, Clone, Default, Args)]
pub struct Asking {
    /// A file whose first line is a bearer token; callers with it may do everything. To listen beyond loopback one of
    /// --token-file, --auth-token-file, --oauth-issuer and --allow-anyone is needed; on loopback every local program
    /// may call without one. Not needed on stdin and stdout.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// A file of callers, one in each line: sha256: and the hash of a bearer token in hex, a name, and what it may do:
    /// read, write (and read), admin (everything). It is read again when it changes.
    #[arg(long, value_name = "FILE")]
    pub auth_token_file: Option<PathBuf>,

    /// The authorization server whose access tokens (JWT) are accepted, as their claim iss names it. The scopes read,
    /// write and admin in them count.
    #[arg(long, value_name = "URL")]
    pub oauth_issuer: Option<String>,

    /// What identifies this server in the claim aud of those tokens: the URL of its endpoint, as clients call it, or
    /// what the authorization server calls it.
    #[arg(long, value_name = "URL")]
    pub oauth_audience: Option<String>,

    /// The public keys of the authorization server (JWKS): an https URL, or a file, which is read again when it
    /// changes.
    #[arg(long, value_name = "URL|FILE", value_hint = ValueHint::FilePath)]
    pub oauth_jwks: Option<String>,

    /// Lets every client that reaches the server call it, beyond loopback too: for a server behind a proxy that
    /// authorizes callers, or in a network whose users may do everything.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", default_value = "false", hide_default_value = true,
        hide_possible_values = true, value_name = "true|false", value_parser = BoolishValueParser::new())]
    pub allow_anyone: bool,
}

/// The authorization that is required, and its sources, which are read again when they change.
#[derive(Debug)]
pub struct RequiredAuthorization {
    authorization: Authorization,
    /// The token for the snippets, if one token is valid for everything; then whether the operator has any tokens.
    token: Option<String>,
    has_tokens: bool,
    files: Vec<Reload>,
}

/// An extension of a request that came over a socket that only the server's owner can reach. It needs no token.
#[derive(Debug, Clone, Copy)]
pub struct Local;

/// The operator's tokens, and the tokens of an authorization server.
#[derive(Debug)]
struct Tokens {
    one: Option<BearerTokens>,
    listed: Option<Arc<BearerTokens>>,
    issued: Option<JwtTokens>,
}

impl Asking {
    fn is_some(&self) -> bool {
        let oauth = [&self.oauth_issuer, &self.oauth_audience, &self.oauth_jwks];
        let files = [&self.token_file, &self.auth_token_file];
        oauth.iter().any(|it| it.is_some()) || files.iter().any(|it| it.is_some())
    }

    /// Who may call a server that listens on an address, and that a proxy may be in front of.
    ///
    /// # Errors
    /// The arguments do not decide this, or decide it in two ways.
    pub fn callers(&self, address: SocketAddr, proxied: bool) -> Result<Callers, EndpointError> {
        match (self.is_some(), self.allow_anyone) {
            (true, true) => Err(EndpointError::TwoDecisions),
            (true, false) => Ok(Callers::Authorized),
            (false, true) => Ok(Callers::Anyone),
            (false, false) if !address.ip().to_canonical().is_loopback() => {
                Err(EndpointError::NeedsToken(address))
            }
            (false, false) if proxied => Err(EndpointError::Proxied(address)),
            (false, false) => Ok(Callers::Local),
        }
    }

    /// The authorization that the arguments require; `None` if they require none.
    ///
    /// # Errors
    /// [`EndpointError`], in a sentence for the person who gave them.
    pub fn asked(&self) -> Result<Option<RequiredAuthorization>, EndpointError> {
        if !self.is_some() {
            return Ok(None);
        }
        let mut files = Vec::new();
        let token = self.token_file.as_deref().map(read_token).transpose()?;
        let one = token.as_deref().map(|token| {
            let caller =
                Caller { principal: Principal("token".to_owned()), scopes: Scopes::of([ADMIN]) };
            BearerTokens::one(token, caller)
        });
        let listed = self.auth_token_file.as_deref().map(|file| listed(file, &mut files));
        let listed = listed.transpose()?;
        let (issued, resource) = match self.issued(&mut files)? {
            Some((issued, resource)) => (Some(issued), resource),
            None => (None, None),
        };
        let has_tokens = one.is_some() || listed.is_some();
        let tokens = Tokens { one, listed, issued };
        let mut authorization = Authorization::new(tokens)
            .implies(ADMIN, Scopes::of([WRITE]))
            .implies(WRITE, Scopes::of([READ]));
        if let Some(resource) = resource {
            authorization = authorization.with_resource(resource);
        }
        Ok(Some(RequiredAuthorization { authorization, token, has_tokens, files }))
    }

    /// The tokens of an authorization server, and its metadata for clients, if the audience is the URL of an endpoint.
    fn issued(
        &self,
        files: &mut Vec<Reload>,
    ) -> Result<Option<(JwtTokens, Option<ProtectedResource>)>, EndpointError> {
        let (Some(issuer), Some(audience), Some(place)) =
            (&self.oauth_issuer, &self.oauth_audience, &self.oauth_jwks)
        else {
            let oauth = [&self.oauth_issuer, &self.oauth_audience, &self.oauth_jwks];
            return if oauth.iter().any(|it| it.is_some()) {
                Err(EndpointError::Incomplete)
            } else {
                Ok(None)
            };
        };
        let keys = if place.contains("://") {
            IssuerKeys::fetched(
                HttpsKeys::new(place)
                    .map_err(|problem| EndpointError::Keys(problem.to_string()))?,
            )
        } else {
            keys_of(Path::new(place), files)?
        };
        let mut tokens = JwtTokens::new(audience).with_issuer(issuer, keys);
        if let Some(dpop) = Dpop::new(audience) {
            tokens = tokens.with_dpop(dpop);
        }
        let resource = ProtectedResource::new(audience, vec![issuer.clone()])
            .map(|it| it.with_scopes(&Scopes::of([READ, WRITE])));
        Ok(Some((tokens, resource)))
    }
}

impl RequiredAuthorization {
    /// How requests are authorized.
    pub fn authorization(&self) -> Authorization {
        self.authorization.clone()
    }

    /// The text in place of the token in a printed configuration; `None` if clients get tokens themselves. Logs must
    /// not contain secrets: the token itself is printed only on a terminal.
    pub fn shown_token(&self) -> Option<&str> {
        match &self.token {
            Some(token) if io::stderr().is_terminal() => Some(token),
            _ => self.has_tokens.then_some("TOKEN"),
        }
    }

    /// Reads the files again when they change, until the returned [`JoinSet`] is dropped.
    #[must_use = "the files are followed as long as it is kept"]
    pub fn follow(self) -> JoinSet<()> {
        self.files.into_iter().map(Reload::follow).collect()
    }
}

impl Authorizer for Tokens {
    fn authorize<'a>(&'a self, head: &'a request::Parts) -> BoxFuture<'a, Result<Caller, Denied>> {
        Box::pin(async move {
            if head.extensions.get::<Local>().is_some() {
                return Ok(Caller {
                    principal: Principal("local".to_owned()),
                    scopes: Scopes::of([ADMIN]),
                });
            }
            // An operator's token may look like a JWT, so the known tokens are checked first.
            let known = [self.one.as_ref(), self.listed.as_deref()];
            let mut denied = Denied::Missing;
            for known in known.into_iter().flatten() {
                match known.authorize(head).await {
                    Ok(caller) => return Ok(caller),
                    Err(problem) => denied = problem,
                }
            }
            let is_other = bearer(&head.headers).is_ok_and(|it| it.split('.').count() != 3);
            match &self.issued {
                Some(issued) if !(is_other && matches!(denied, Denied::Invalid(_))) => {
                    issued.authorize(head).await
                }
                _ => Err(denied),
            }
        })
    }

    fn proofs(&self) -> Option<Proofs> {
        self.issued.as_ref().and_then(Authorizer::proofs)
    }
}

/// The token in a file for `--token-file`: its first line, at most 4,096 bytes.
///
/// # Errors
/// [`EndpointError::Token`]: the file cannot be read, or its first line is not a token.
pub fn read_token(file: &Path) -> Result<String, EndpointError> {
    let wrong =
        |problem: String| EndpointError::Token { file: file.display().to_string(), problem };
    let mut text = String::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(TOKEN_BYTES + 1).read_to_string(&mut text))
        .map_err(|error| wrong(error.to_string()))?;
    let line = text.lines().next().unwrap_or_default();
    if line.len() as u64 > TOKEN_BYTES {
        let problem = format!("its first line has more than {TOKEN_BYTES} bytes");
        return Err(wrong(problem));
    }
    match line.trim() {
        "" => Err(wrong("its first line is empty".to_owned())),
        token if !is_token(token) => Err(wrong(
            "its first line has characters that no token has: letters, digits and -._~+/ are good, and = at its end"
                .to_owned(),
        )),
        token => Ok(token.to_owned()),
    }
}

fn listed(file: &Path, files: &mut Vec<Reload>) -> Result<Arc<BearerTokens>, EndpointError> {
    let wrong =
        |problem: String| EndpointError::Tokens { file: file.display().to_string(), problem };
    let (text, reload) = Reload::open(file, TOKENS_BYTES).map_err(wrong)?;
    let set = BearerTokens::from_text(&text).map_err(|problem| wrong(problem.to_string()))?;
    let set = Arc::new(set);
    let replaced = Arc::clone(&set);
    let path = file.to_owned();
    warn_of_odd(&path, &text);
    let replace = move |text: &str| {
        replaced.replace(text).map_err(|it| it.to_string())?;
        warn_of_odd(&path, text);
        Ok(())
    };
    files.push(reload.then(replace));
    Ok(set)
}

/// Names the lines that allow nothing. They are no errors: a caller may lose all that it was allowed.
fn warn_of_odd(file: &Path, text: &str) {
    let file = file.display();
    let mut is_empty = true;
    for (text, line) in text.lines().zip(1..) {
        let mut words = text.split_whitespace();
        if words.next().is_none_or(|word| word.starts_with('#')) {
            continue;
        }
        is_empty = false;
        let scopes: Vec<_> = words.skip(1).collect();
        if scopes.is_empty() {
            tracing::warn!(%file, line, "this caller may do nothing: read, write or admin must follow its name");
        }
        for scope in scopes {
            let what = scope.rsplit(':').next().unwrap_or_default();
            if ![READ, WRITE, ADMIN].contains(&what) {
                tracing::warn!(%file, line, scope, "this allows nothing: read, write and admin do");
            }
        }
    }
    if is_empty {
        tracing::warn!(%file, "it names no caller: every call is refused");
    }
}

fn keys_of(file: &Path, files: &mut Vec<Reload>) -> Result<IssuerKeys, EndpointError> {
    let wrong = |problem: String| EndpointError::Keys(format!("{}: {problem}", file.display()));
    let (text, reload) = Reload::open(file, MAX_KEY_SET_BYTES as u64).map_err(wrong)?;
    let keys = IssuerKeys::from_text(&text).map_err(|problem| wrong(problem.to_string()))?;
    let replaced = keys.clone();
    let replace = move |text: &str| replaced.replace(text).map_err(|it| it.to_string());
    files.push(reload.then(replace));
    Ok(keys)
}
