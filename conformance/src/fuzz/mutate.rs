//! How a valid request is broken: in its JSON, in the text of it, and in the head that carries it.

mod head;
mod text;
mod tree;

use fastrand::Rng;
use serde_json::Value;

use super::template::Template;
use crate::probe::{Bench, Raw};

/// The most changes to one message.
const MOST: usize = 3;
/// The longest body that is sent, in bytes.
pub(super) const MAX_BYTES: usize = 2 * 1024 * 1024;

/// A broken request, and in a few words how it was broken.
#[derive(Debug, Clone)]
pub(super) struct Mutated {
    pub(super) raw: Raw,
    pub(super) how: String,
}

/// One case: the same for the same numbers, as long as the server offers the same.
pub(super) fn mutate(rng: &mut Rng, bench: &Bench, template: &Template, id: Value) -> Mutated {
    let mut message = template.with_id(id);
    // Its head is that of the valid one: what differs after that is a case too.
    let mut raw = bench.framed(&message);
    let mut how = Vec::new();
    let is_http = bench.endpoint.is_http();
    for _ in 0..rng.usize(1..=MOST) {
        match rng.u8(0..10) {
            0..5 => how.push(tree::change(rng, &mut message, bench.revision)),
            5..8 => {
                raw.body = message.to_string().into();
                let changed = text::change(rng, &raw.body);
                how.push(changed.1);
                raw.body = changed.0.into();
                if is_http && rng.u8(0..6) == 0 {
                    how.push(head::change(rng, &mut raw, bench));
                }
                return done(raw, &how);
            }
            _ if is_http => how.push(head::change(rng, &mut raw, bench)),
            _ => how.push(tree::change(rng, &mut message, bench.revision)),
        }
    }
    raw.body = message.to_string().into();
    done(raw, &how)
}

fn done(mut raw: Raw, how: &[&'static str]) -> Mutated {
    raw.body.truncate(MAX_BYTES);
    Mutated { raw, how: how.join(", ") }
}

/// One of them.
fn pick<'a, T>(rng: &mut Rng, from: &'a [T]) -> Option<&'a T> {
    if from.is_empty() { None } else { from.get(rng.usize(0..from.len())) }
}
