//! A set of public keys (RFC 7517), as an issuer publishes it.

use jsonwebtoken::DecodingKey;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::algorithm::SigningAlgorithm;

/// The longest text of a key set, in bytes.
pub const MAX_KEY_SET_BYTES: usize = 256 * 1024;

/// The most keys of a set.
pub const MAX_KEYS: usize = 100;

/// A key set that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the key set cannot be used: {0}")]
pub struct InvalidKeys(pub(super) String);

/// The keys of an issuer that verify signatures.
#[derive(Debug)]
pub(super) struct KeySet(Vec<Key>);

#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// The algorithms that it may verify, by its type and its own declaration.
    algorithms: Vec<SigningAlgorithm>,
    key: DecodingKey,
}

#[derive(Deserialize)]
struct Document<'t> {
    #[serde(borrow)]
    keys: Vec<&'t RawValue>,
}

/// Why a set has no key for a token.
pub(super) enum KeyLookup<'s> {
    Key(&'s DecodingKey),
    /// The set has no key with this id.
    UnknownId,
    /// No key matches, and newer keys would not change that.
    Unfit(&'static str),
}

impl KeySet {
    /// Reads a JWK set. Keys that are for something else, or of an unknown type, are ignored, as RFC 7517 §5 requires.
    pub(super) fn read(text: &str) -> Result<Self, InvalidKeys> {
        let invalid = |problem: String| Err(InvalidKeys(problem));
        if text.len() > MAX_KEY_SET_BYTES {
            return invalid(format!("it is longer than {MAX_KEY_SET_BYTES} bytes"));
        }
        let document: Document<'_> = match serde_json::from_str(text) {
            Ok(document) => document,
            Err(problem) => return invalid(format!("it is not a JWK set (RFC 7517): {problem}")),
        };
        if document.keys.len() > MAX_KEYS {
            return invalid(format!("it has more than {MAX_KEYS} keys"));
        }
        let keys: Vec<_> = document.keys.iter().filter_map(|it| read(it.get())).collect();
        if keys.is_empty() {
            invalid("it has no public key that verifies signatures".to_owned())
        } else {
            Ok(Self(keys))
        }
    }

    /// The key that a token names. A token that names no key matches the only key of its algorithm.
    pub(super) fn find(&self, id: Option<&str>, algorithm: SigningAlgorithm) -> KeyLookup<'_> {
        let named = |key: &&Key| id.is_none() || key.id.as_deref() == id;
        let mut fitting =
            self.0.iter().filter(named).filter(|key| key.algorithms.contains(&algorithm));
        match (fitting.next(), fitting.next()) {
            (Some(_), Some(_)) if id.is_none() => {
                KeyLookup::Unfit("it names no key (kid), and its issuer has several")
            }
            (Some(key), _) => KeyLookup::Key(&key.key),
            (None, _) if id.is_some() && !self.0.iter().any(|key| named(&key)) => {
                KeyLookup::UnknownId
            }
            (None, _) => KeyLookup::Unfit("the key that it names is not for its algorithm (alg)"),
        }
    }
}

fn read(text: &str) -> Option<Key> {
    let jwk: Jwk = serde_json::from_str(text).ok()?;
    let (algorithms, key) = verifying(&jwk)?;
    Some(Key { id: jwk.common.key_id, algorithms, key })
}

/// The algorithms that a key may verify, and the key; `None` if it may verify none.
pub(super) fn verifying(jwk: &Jwk) -> Option<(Vec<SigningAlgorithm>, DecodingKey)> {
    use SigningAlgorithm as A;
    let common = &jwk.common;
    let for_signatures = match (&common.public_key_use, &common.key_operations) {
        (Some(usage), _) if *usage != PublicKeyUse::Signature => false,
        (_, Some(operations)) => operations.contains(&KeyOperations::Verify),
        _ => true,
    };
    if !for_signatures {
        return None;
    }
    let mut algorithms = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => {
            vec![A::Rs256, A::Rs384, A::Rs512, A::Ps256, A::Ps384, A::Ps512]
        }
        AlgorithmParameters::EllipticCurve(it) if it.curve == EllipticCurve::P256 => vec![A::Es256],
        AlgorithmParameters::EllipticCurve(it) if it.curve == EllipticCurve::P384 => vec![A::Es384],
        AlgorithmParameters::OctetKeyPair(it) if it.curve == EllipticCurve::Ed25519 => {
            vec![A::EdDsa]
        }
        // A shared secret in a set that anyone may read is not secret.
        _ => return None,
    };
    if let Some(own) = common.key_algorithm {
        algorithms.retain(|it| it.name() == own.to_string());
    }
    let key = DecodingKey::from_jwk(jwk).ok()?;
    (!algorithms.is_empty()).then_some((algorithms, key))
}
