//! Tokens that an operator issues. A file holds only their hashes, so that readers of the file cannot call the server.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use data_encoding::HEXLOWER_PERMISSIVE;
use futures_util::future::{BoxFuture, ready};
use http::request;
use sha2::{Digest as _, Sha256};

use super::{Authorizer, Caller, Denied, bearer};
use crate::context::Principal;
use crate::scopes::Scopes;

/// The most tokens of one set.
const MAX_TOKENS: usize = 10_000;

type Known = BTreeMap<[u8; 32], Caller>;

/// A set of static bearer tokens, stored as SHA-256 hashes. It may be replaced while the server runs.
#[derive(Debug, Default)]
pub struct BearerTokens(RwLock<Arc<Known>>);

/// An invalid line in a set of tokens.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct InvalidTokens {
    /// Its number, from 1.
    pub line: usize,
    /// The mistake in it, and what a correct line looks like.
    pub problem: String,
}

impl BearerTokens {
    /// One token.
    pub fn one(token: &str, caller: Caller) -> Self {
        Self(RwLock::new(Arc::new(Known::from([(hash(token), caller)]))))
    }

    /// Reads a set of tokens, one per line: `sha256:` and the hash of the token in hex, the name of its caller, and its
    /// scopes, separated by spaces. Empty lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// The first invalid line.
    pub fn from_text(text: &str) -> Result<Self, InvalidTokens> {
        Ok(Self(RwLock::new(Arc::new(read(text)?))))
    }

    /// Replaces the set. Requests that were accepted by the old set continue.
    ///
    /// # Errors
    /// As [`BearerTokens::from_text`]; the old set is then kept.
    pub fn replace(&self, text: &str) -> Result<(), InvalidTokens> {
        let known = Arc::new(read(text)?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(())
    }

    fn find(&self, token: &str) -> Option<Caller> {
        let known = Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner));
        // The time to find a hash reveals nothing about a token: a caller cannot choose the bytes of a hash.
        known.get(&hash(token)).cloned()
    }
}

impl Authorizer for BearerTokens {
    fn authorize<'a>(&'a self, head: &'a request::Parts) -> BoxFuture<'a, Result<Caller, Denied>> {
        let caller = bearer(&head.headers).and_then(|token| {
            let unknown = || Denied::Invalid("this server does not know it".to_owned());
            self.find(token).ok_or_else(unknown)
        });
        Box::pin(ready(caller))
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

fn read(text: &str) -> Result<Known, InvalidTokens> {
    let mut known = Known::new();
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |problem: &str| InvalidTokens { line: number, problem: problem.to_owned() };
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next().filter(|word| !word.starts_with('#')) else {
            continue;
        };
        let hash = first.strip_prefix("sha256:").and_then(|hex| {
            let bytes = HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).ok()?;
            <[u8; 32]>::try_from(bytes).ok()
        });
        let hash = hash.ok_or_else(|| {
            wrong("it must begin with sha256: and the 64 hex digits of the hash of a token")
        })?;
        let name = words.next();
        let name = name.ok_or_else(|| wrong("the name of the caller must follow the hash"))?;
        let named: Vec<_> = words.collect();
        let scopes = Scopes::of(named.iter().copied());
        if !named.iter().all(|name| scopes.iter().any(|kept| kept == *name)) {
            return Err(wrong("a scope has no quotes, backslashes or letters beyond ASCII"));
        }
        let caller = Caller { principal: Principal(name.to_owned()), scopes };
        if known.insert(hash, caller).is_some() {
            return Err(wrong("this token is listed already"));
        }
        if known.len() > MAX_TOKENS {
            return Err(wrong("a set has at most 10000 tokens"));
        }
    }
    Ok(known)
}
