//! Ids for messages that have none.

use std::collections::{HashMap, VecDeque};

use jiff::civil::DateTime;
use sha2::{Digest as _, Sha256};

/// How many distinct messages are remembered to count equal ones. Exports are nearly in order, so equal messages of one
/// time are closer together than that.
const REMEMBERED: usize = 65_536;

/// Makes an id from the parts of a message: its chat, its time as written, its sender, its words, and its number among
/// equal messages. So an export that overlaps an earlier one gives the same ids. The limit: where words count, a
/// message that was edited or deleted between two exports gets another id.
#[derive(Default)]
pub(super) struct Identities {
    /// How often each digest has been seen.
    seen: HashMap<[u8; 16], u32>,
    /// The digests that have been seen, oldest first.
    order: VecDeque<[u8; 16]>,
}

impl Identities {
    pub(super) fn next(&mut self, chat: &str, time: DateTime, sender: &str, words: &str) -> String {
        let mut sha = Sha256::new();
        let time = time.to_string();
        for part in [chat, &time, sender, words] {
            // The length separates the end of one part from the beginning of the next.
            sha.update((part.len() as u64).to_le_bytes());
            sha.update(part);
        }
        let mut same = [0; 16];
        for (to, from) in same.iter_mut().zip(sha.clone().finalize()) {
            *to = from;
        }
        let count = self.seen.entry(same).or_default();
        *count += 1;
        sha.update(count.to_le_bytes());
        if *count == 1 {
            self.order.push_back(same);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        sha.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
    }
}
