//! Tokens that are bound to a key of their client: each request proves that its sender holds the key, once.

use data_encoding::BASE64URL_NOPAD as BASE64;
use mcp_proto::budget::Bound;
use mcp_proto::http::authorize::jwt::{Dpop, IssuerKeys};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::authorize_common::{
    AUDIENCE, Signer, both_eras, challenge, claims, guarded, now, over, set, signed, tokens,
    with_token,
};
use crate::common::{Raw, Reply, Served, server};

/// A client with a key of its own, and its token.
struct Holder {
    key: Signer,
    token: String,
    used: usize,
}

impl Holder {
    fn new(issuer: &Signer, name: &str) -> Self {
        let key = Signer::new();
        let mut claims = claims(name);
        claims["cnf"] = json!({ "jkt": thumbprint(&key) });
        Self { key, token: issuer.token(&claims), used: 0 }
    }

    fn header(&self) -> Value {
        json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": self.key.jwk() })
    }

    /// The claims of a new proof.
    fn claims(&mut self) -> Value {
        self.used += 1;
        json!({
            "jti": self.used.to_string(), "htm": "POST", "htu": AUDIENCE, "iat": now(),
            "ath": BASE64.encode(&Sha256::digest(&self.token)),
        })
    }

    fn proof(&mut self) -> String {
        let claims = self.claims();
        self.key.sign(&self.header(), &claims)
    }

    fn show(&self, raw: Raw, proof: &str) -> Raw {
        raw.set("authorization", &format!("DPoP {}", self.token)).set("dpop", proof)
    }
}

/// RFC 7638.
fn thumbprint(key: &Signer) -> String {
    let jwk = key.jwk();
    let text = format!(r#"{{"crv":"P-256","kty":"EC","x":{},"y":{}}}"#, jwk["x"], jwk["y"]);
    BASE64.encode(&Sha256::digest(text))
}

async fn served(issuer: &Signer, dpop: Dpop) -> Served {
    let keys = IssuerKeys::from_text(&set(&[issuer.named("one")])).unwrap();
    guarded(server(), tokens(keys).with_dpop(dpop)).await
}

async fn send(served: &Served, raw: Raw) -> Reply {
    over(served.address, raw, "/mcp").await
}

#[tokio::test]
async fn a_proof_is_for_one_request_of_one_token_by_its_key() {
    let issuer = Signer::new();
    let served = served(&issuer, Dpop::new(AUDIENCE).unwrap()).await;
    let mut ada = Holder::new(&issuer, "ada");
    for raw in both_eras() {
        let proof = ada.proof();
        let first = send(&served, ada.show(raw.clone(), &proof)).await;
        assert_eq!(first.status, 200, "{}", challenge(&first));
        // Whoever has seen it cannot use it again.
        let again = send(&served, ada.show(raw, &proof)).await;
        assert_eq!(again.refusal(), (401, -32600, None));
        let told = challenge(&again);
        assert!(told.starts_with("DPoP error=\"invalid_dpop_proof\""), "{told}");
        assert!(told.contains("used already"), "{told}");
        assert!(told.contains("algs=\"ES256 "), "{told}");
        assert!(told.contains("resource_metadata="), "{told}");
    }
    let thief = Signer::new();
    let (header, now) = (ada.header(), now());
    let mut with_secret = header.clone();
    with_secret["jwk"]["d"] = json!("AAAA");
    let mut by = |header: &Value, name: &str, value: Value| {
        let mut claims = ada.claims();
        claims[name] = value;
        ada.key.sign(header, &claims)
    };
    let typ = json!({ "typ": "JWT", "alg": "ES256", "jwk": header["jwk"] });
    let no_key = json!({ "typ": "dpop+jwt", "alg": "ES256" });
    let other_alg = json!({ "typ": "dpop+jwt", "alg": "RS256", "jwk": header["jwk"] });
    let good = json!(AUDIENCE);
    let mut wrong = vec![
        (by(&header, "htm", json!("GET")), "method"),
        (by(&header, "htu", json!("https://other.example/mcp")), AUDIENCE),
        (by(&header, "htu", json!("http://tools.example/mcp")), AUDIENCE),
        (by(&header, "htu", json!("https://me@tools.example/mcp")), AUDIENCE),
        (by(&header, "iat", json!(now - 62)), "too old"),
        (by(&header, "iat", json!(now + 60)), "future"),
        (by(&header, "ath", json!("other")), "another token"),
        (by(&header, "ath", Value::Null), "another token"),
        (by(&header, "jti", json!("")), "jti"),
        (by(&header, "jti", json!("x".repeat(257))), "jti"),
        (by(&header, "jti", Value::Null), "jti"),
        (by(&typ, "htu", good.clone()), "dpop+jwt"),
        (by(&no_key, "htu", good.clone()), "public key"),
        (by(&with_secret, "htu", good.clone()), "public key"),
        (by(&other_alg, "htu", good.clone()), "not for its algorithm"),
        ("nonsense".to_owned(), "not a JSON Web Token"),
    ];
    let claims = ada.claims();
    // Another's key, and the own one that another has signed beside.
    let own = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": thief.jwk() });
    wrong.push((thief.sign(&own, &claims), "another key"));
    wrong.push((thief.sign(&header, &claims), "signature"));
    let none = json!({ "typ": "dpop+jwt", "alg": "none", "jwk": header["jwk"] });
    wrong.push((signed(&none, &claims, |_| Vec::new()), "not a JSON Web Token"));
    for (proof, problem) in wrong {
        let [raw, _] = both_eras();
        let reply = send(&served, ada.show(raw, &proof)).await;
        assert_eq!(reply.refusal(), (401, -32600, None), "{problem}");
        let told = challenge(&reply);
        assert!(told.starts_with("DPoP error=\"invalid_dpop_proof\""), "{told}");
        assert!(told.contains(problem), "{problem}: {told}");
    }
    // The same URL in another form, and without its query.
    for url in ["HTTPS://Tools.Example:443/mcp/", "https://tools.example/mcp?x=1#y"] {
        let mut claims = ada.claims();
        claims["htu"] = json!(url);
        let [raw, _] = both_eras();
        let proof = ada.key.sign(&header, &claims);
        assert_eq!(send(&served, ada.show(raw, &proof)).await.status, 200, "{url}");
    }
    // No proof, two of them, and another's token with one's own proof.
    let [raw, _] = both_eras();
    let bare = raw.clone().set("authorization", &format!("DPoP {}", ada.token));
    let (one, two) = (ada.proof(), ada.proof());
    let twice = ada.show(raw.clone(), &one);
    let twice = twice.add("dpop", &two);
    let mut eve = Holder::new(&issuer, "eve");
    eve.token.clone_from(&ada.token);
    let proof = eve.proof();
    let stolen = eve.show(raw, &proof);
    for raw in [bare, twice, stolen] {
        let reply = send(&served, raw).await;
        assert_eq!(reply.status, 401);
        assert!(challenge(&reply).starts_with("DPoP error=\"invalid_dpop_proof\""));
    }
}

#[tokio::test]
async fn a_bound_token_is_no_bearer_token_and_the_other_way_round() {
    let issuer = Signer::new();
    let mut ada = Holder::new(&issuer, "ada");
    let plain = issuer.token(&claims("bob"));
    let free = served(&issuer, Dpop::new(AUDIENCE).unwrap()).await;
    let strict = served(&issuer, Dpop::new(AUDIENCE).unwrap().required()).await;
    let [raw, _] = both_eras();
    for (served, both) in [(&free, true), (&strict, false)] {
        let reply = send(served, with_token(raw.clone(), &ada.token)).await;
        assert_eq!(reply.status, 401);
        assert!(challenge(&reply).contains("bound"), "{}", challenge(&reply));
        let reply = send(served, with_token(raw.clone(), &plain)).await;
        assert_eq!(reply.status.as_u16(), if both { 200 } else { 401 });
        let proof = ada.proof();
        let as_bound = raw.clone().set("authorization", &format!("DPoP {plain}"));
        let reply = send(served, as_bound.set("dpop", &proof)).await;
        assert_eq!(reply.status, 401);
        // Who shows nothing hears of every scheme that would do.
        let told = send(served, raw.clone()).await;
        let told = challenge(&told);
        assert_eq!(told.starts_with("Bearer scope="), both, "{told}");
        assert!(told.contains("DPoP algs=\"ES256 "), "{told}");
    }
    // A server that knows nothing of proofs takes no token that needs one.
    let keys = IssuerKeys::from_text(&set(&[issuer.named("one")])).unwrap();
    let plain_one = guarded(server(), tokens(keys)).await;
    let proof = ada.proof();
    for raw in [with_token(raw.clone(), &ada.token), ada.show(raw.clone(), &proof)] {
        assert_eq!(send(&plain_one, raw).await.status, 401);
    }
    assert!(Dpop::new("tools.example/mcp").is_none());
}

#[tokio::test]
async fn proofs_are_remembered_in_bounds_and_nobody_takes_all() {
    use mcp_proto::http::authorize::Authorizer as _;
    let issuer = Signer::new();
    let keys = IssuerKeys::from_text(&set(&[issuer.named("one")])).unwrap();
    let tokens = tokens(keys).with_dpop(Dpop::new(AUDIENCE).unwrap().with_proofs(Bound::of(100)));
    let judged = async |holder: &mut Holder| {
        let [raw, _] = both_eras();
        let proof = holder.proof();
        let (head, _) = holder.show(raw, &proof).request().into_parts();
        tokens.authorize(&head).await
    };
    let mut eve = Holder::new(&issuer, "eve");
    let mut taken = 0;
    let refused = loop {
        match judged(&mut eve).await {
            Ok(_) => taken += 1,
            Err(denied) => break denied,
        }
    };
    assert_eq!(taken, 50);
    let told = format!("{refused:?}");
    assert!(told.starts_with("Unavailable"), "{told}");
    let mut ada = Holder::new(&issuer, "ada");
    assert!(judged(&mut ada).await.is_ok());
}
