//! Ids for messages that have none.

use std::collections::HashMap;

use jiff::civil::DateTime;
use sha2::{Digest as _, Sha256};

/// Makes an id from what a message is: its chat, its time as written, its sender, its words, and which one of several
/// equal ones it is. So an export that overlaps an earlier one gives the same ids.
#[derive(Default)]
pub(super) struct Identities {
    /// How often what has been seen at one time; equal messages stand close together, so older times are forgotten.
    seen: HashMap<[u8; 32], u32>,
    time: Option<DateTime>,
}

impl Identities {
    pub(super) fn next(&mut self, chat: &str, time: DateTime, sender: &str, words: &str) -> String {
        if self.time != Some(time) {
            self.seen.clear();
            self.time = Some(time);
        }
        let mut sha = Sha256::new();
        let time = time.to_string();
        for part in [chat, &time, sender, words] {
            // The length keeps what ends one part apart from what begins the next.
            sha.update((part.len() as u64).to_le_bytes());
            sha.update(part);
        }
        let same: [u8; 32] = sha.clone().finalize().into();
        let count = self.seen.entry(same).or_default();
        *count += 1;
        sha.update(count.to_le_bytes());
        sha.finalize()
            .iter()
            .take(12)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}
