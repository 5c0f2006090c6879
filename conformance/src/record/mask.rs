//! Secrets: what they look like, and where they stand.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::pattern::own_regex;

/// What is written in the place of a secret.
pub(crate) const MASKED: &str = "***";

/// The shortest value of a header that is looked for elsewhere: a shorter one would be found by chance.
const SHORTEST: usize = 8;
/// How many values of headers are remembered.
const MOST_KNOWN: usize = 1_000;

/// Patterns that are secrets everywhere.
const SHAPES: &str = r"(?x)
    \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*  # a JSON Web Token
  | \b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}
  | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_[A-Za-z0-9_]{20,} | \bglpat-[A-Za-z0-9_-]{16,}
  | \bxox[abposr]-[A-Za-z0-9-]{10,}
  | \bAKIA[0-9A-Z]{16}\b | \bAIza[A-Za-z0-9_-]{30,} | \bnpm_[A-Za-z0-9]{30,} | \bpypi-[A-Za-z0-9_-]{30,}
  | -----BEGIN[ A-Z]*PRIVATE\ KEY-----[\s\S]*?(?:-----END[ A-Z]*PRIVATE\ KEY-----|\z)";
/// `Bearer x`, `password=x`, `user:x@host`: the secret is the group.
const PHRASES: &str = r"(?x)
    (?i-u:\b(?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{8,})
  | (?i-u:\b[a-z_-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|token)\s*[=:]\s*)([^\s,;&]{4,})
  | ://[^/\s:@]+:([^/\s@]+)@";

/// Knows what to hide.
#[derive(Debug, Default)]
pub(crate) struct Mask {
    /// Values of headers that carry secrets.
    known: Vec<String>,
}

impl Mask {
    /// Remembers what a header carries, if that is a secret.
    pub(crate) fn header(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        let secret = is_secret_name(&name) || name == "cookie" || name == "set-cookie";
        // MCP's own name for a session is written as a variable.
        if !secret || name == "mcp-session-id" || self.known.len() >= MOST_KNOWN {
            return;
        }
        let value = value.split_once(' ').map_or(value, |(_, token)| token).trim();
        if value.len() >= SHORTEST && !self.known.iter().any(|known| known == value) {
            self.known.push(value.to_owned());
        }
    }

    /// The parts of a text that are secrets, as byte ranges in order, which do not overlap.
    pub(crate) fn secrets(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for known in &self.known {
            found.extend(
                text.match_indices(known.as_str()).map(|(start, part)| (start, start + part.len())),
            );
        }
        found.extend(SHAPE.find_iter(text).map(|part| (part.start(), part.end())));
        for captures in PHRASE.captures_iter(text) {
            found.extend(captures.iter().skip(1).flatten().map(|part| (part.start(), part.end())));
        }
        found.sort_unstable();
        let mut merged: Vec<(usize, usize)> = Vec::with_capacity(found.len());
        for (start, end) in found {
            match merged.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        merged
    }

    /// The text without its secrets.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut masked = String::new();
        let mut at = 0;
        for (start, end) in self.secrets(text) {
            masked.push_str(known_range::text(text, at..start));
            masked.push_str(MASKED);
            at = end;
        }
        masked + known_range::text(text, at..)
    }

    /// A value to send without its secrets; `true` when there were some.
    pub(crate) fn value(&self, value: &mut Value, key: &str) -> bool {
        match value {
            Value::String(text) if is_secret_name(key) && !text.is_empty() => {
                MASKED.clone_into(text);
                true
            }
            Value::String(text) => {
                let masked = self.text(text);
                let changed = masked != *text;
                *text = masked;
                changed
            }
            Value::Array(items) => {
                items.iter_mut().fold(false, |any, item| self.value(item, key) | any)
            }
            Value::Object(members) => {
                members.iter_mut().fold(false, |any, (name, value)| self.value(value, name) | any)
            }
            _ => false,
        }
    }
}

/// Whether a member or header of this name holds a secret. What MCP itself calls a token is not a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let letters: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    if matches!(letters.as_str(), "progresstoken" | "nextpagetoken" | "maxtokens") {
        return false;
    }
    const ENDS: [&str; 14] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "apikey",
        "authorization",
        "credential",
        "credentials",
        "privatekey",
        "accesskey",
        "secretkey",
        "sessioncookie",
        "bearer",
    ];
    ENDS.iter().any(|end| letters.ends_with(end))
}

static SHAPE: LazyLock<Regex> = LazyLock::new(|| own_regex(SHAPES));
static PHRASE: LazyLock<Regex> = LazyLock::new(|| own_regex(PHRASES));
