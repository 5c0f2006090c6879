//! The proofs that were already used, for as long as they would be valid.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Mutex;

use sha2::{Digest as _, Sha256};

use super::{PROOF_AGE, PROOF_SKEW};
use crate::budget::Bound;
use crate::http::authorize::Denied;
use crate::locked::Locked as _;

/// Half of a SHA-256 hash: a second text with the same value cannot be found.
type Hash = [u8; 16];

#[derive(Debug)]
pub(super) struct Used {
    pub(super) bound: Bound,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    proofs: HashSet<Hash>,
    /// When each is forgotten, in seconds, and its caller. The first is forgotten first.
    order: VecDeque<(u64, Hash, Hash)>,
    of: HashMap<Hash, usize>,
}

impl Used {
    pub(super) fn new(bound: Bound) -> Self {
        let inner = Mutex::default();
        Self { bound, inner }
    }

    /// Uses a proof.
    pub(super) fn take(
        &self,
        key: &str,
        id: &str,
        principal: &str,
        now: u64,
    ) -> Result<(), Denied> {
        // A thumbprint has one length.
        let (proof, caller) = (hash(&[key, id]), hash(&[principal]));
        let mut inner = self.inner.locked();
        inner.forget(now);
        if inner.proofs.contains(&proof) {
            return Err(Denied::Proof("it was used already (jti)".to_owned()));
        }
        let held = inner.of.get(&caller).copied().unwrap_or_default();
        if held >= self.bound.share || inner.proofs.len() >= self.bound.total {
            let problem =
                "too many DPoP proofs are in use: send fewer requests, or try again in two minutes";
            return Err(Denied::Unavailable(problem.to_owned()));
        }
        let until = now + PROOF_AGE.as_secs() + PROOF_SKEW.as_secs();
        inner.proofs.insert(proof);
        inner.order.push_back((until, proof, caller));
        inner.of.insert(caller, held + 1);
        Ok(())
    }
}

impl Inner {
    /// Forgets the proofs that are too old to be accepted.
    fn forget(&mut self, now: u64) {
        while let Some((_, proof, caller)) = self.order.pop_front_if(|(until, ..)| *until < now) {
            self.proofs.remove(&proof);
            if let Some(held) = self.of.get_mut(&caller) {
                *held -= 1;
                if *held == 0 {
                    self.of.remove(&caller);
                }
            }
        }
    }
}

fn hash(parts: &[&str]) -> Hash {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    let whole: [u8; 32] = hash.finalize().into();
    let mut half = Hash::default();
    half.copy_from_slice(whole.split_at(16).0);
    half
}
