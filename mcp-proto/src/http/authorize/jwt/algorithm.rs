//! The algorithms by which tokens and proofs are signed, and their verification by `ring`.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::jwk::ThumbprintHash;
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature as by;
use sha2::{Digest as _, Sha256};

/// An algorithm that may sign a token (RFC 7518 §3.1, RFC 8037): only those with key pairs. `none` and the algorithms
/// with shared secrets (such as `HS256`) are not members, so they cannot be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of the RFC")]
#[non_exhaustive]
pub enum SigningAlgorithm {
    Es256,
    Es384,
    EdDsa,
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
}

impl SigningAlgorithm {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
    ];

    /// Its name in the header of a token.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
        }
    }

    pub(super) fn of(algorithm: Algorithm) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.in_crate() == algorithm)
    }

    pub(super) const fn in_crate(self) -> Algorithm {
        match self {
            Self::Es256 => Algorithm::ES256,
            Self::Es384 => Algorithm::ES384,
            Self::EdDsa => Algorithm::EdDSA,
            Self::Rs256 => Algorithm::RS256,
            Self::Rs384 => Algorithm::RS384,
            Self::Rs512 => Algorithm::RS512,
            Self::Ps256 => Algorithm::PS256,
            Self::Ps384 => Algorithm::PS384,
            Self::Ps512 => Algorithm::PS512,
        }
    }

    /// RSA keys have 2,048 to 8,192 bits: others are refused here.
    fn of_rsa(self) -> Option<&'static by::RsaParameters> {
        match self {
            Self::Rs256 => Some(&by::RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => Some(&by::RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => Some(&by::RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => Some(&by::RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => Some(&by::RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => Some(&by::RSA_PSS_2048_8192_SHA512),
            Self::Es256 | Self::Es384 | Self::EdDsa => None,
        }
    }

    fn of_curve(self) -> Option<&'static dyn by::VerificationAlgorithm> {
        match self {
            Self::Es256 => Some(&by::ECDSA_P256_SHA256_FIXED),
            Self::Es384 => Some(&by::ECDSA_P384_SHA384_FIXED),
            Self::EdDsa => Some(&by::ED25519),
            _ => None,
        }
    }
}

/// The names of these algorithms, for challenges and errors.
pub(super) fn names(algorithms: &[SigningAlgorithm]) -> String {
    let names: Vec<_> = algorithms.iter().map(|it| it.name()).collect();
    names.join(" ")
}

/// Makes `jsonwebtoken` verify by `ring`, unless the process has already chosen a provider.
pub(super) fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: no_signer,
        verifier_factory: verifier,
        key_utils: KeyUtils {
            rsa_pub_components_from_private_key: |_| Err(ErrorKind::UnsupportedAlgorithm.into()),
            rsa_pub_components_from_public_key: |_| Err(ErrorKind::UnsupportedAlgorithm.into()),
            ec_pub_components_from_private_key: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
            ed_pub_components_from_private_key: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
            compute_digest: digest,
        },
    };
    // The process may already have a provider, which then verifies.
    let _ = PROVIDER.install_default();
}

/// Verifies signatures of one algorithm by one key.
struct ByRing {
    algorithm: SigningAlgorithm,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for ByRing {
    fn verify(&self, text: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = match (self.key.kind(), self.algorithm.of_curve()) {
            (DecodingKeyKind::RsaModulusExponent { n, e }, None) => {
                let parameters = self.algorithm.of_rsa().ok_or_else(signature::Error::new)?;
                by::RsaPublicKeyComponents { n, e }.verify(parameters, text, signature)
            }
            (DecodingKeyKind::SecretOrDer(key), Some(algorithm)) => {
                by::UnparsedPublicKey::new(algorithm, key).verify(text, signature)
            }
            _ => return Err(signature::Error::new()),
        };
        verified.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for ByRing {
    fn algorithm(&self) -> Algorithm {
        self.algorithm.in_crate()
    }
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let algorithm = SigningAlgorithm::of(*algorithm).ok_or(ErrorKind::UnsupportedAlgorithm)?;
    if key.family() != algorithm.in_crate().family() {
        return Err(ErrorKind::InvalidAlgorithm.into());
    }
    let key = key.clone();
    Ok(Box::new(ByRing { algorithm, key }))
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    let problem = "mcp-proto verifies and does not sign: install a provider that signs before its first JwtTokens";
    Err(ErrorKind::Provider(problem.to_owned()).into())
}

#[expect(clippy::needless_pass_by_value, reason = "the crate's signature")]
fn digest(text: &[u8], hash: ThumbprintHash) -> Result<Vec<u8>, Error> {
    match hash {
        ThumbprintHash::SHA256 => Ok(Sha256::digest(text).to_vec()),
        _ => Err(ErrorKind::UnsupportedAlgorithm.into()),
    }
}
