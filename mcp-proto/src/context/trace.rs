//! The position of a request in its caller's trace: W3C Trace Context and Baggage in `_meta` (2026-07-28, "`_meta`").

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Context;

/// The longest `traceparent` of future versions; that of this version has 55 bytes.
const MAX_PARENT_BYTES: usize = 256;
/// The most members of `tracestate` (W3C Trace Context §3.3.1.1), the most of `baggage` and its most bytes (W3C Baggage
/// §3.3.2).
const MAX_STATES: usize = 32;
const MAX_BAGGAGE: usize = 180;
const MAX_BAGGAGE_BYTES: usize = 8192;

impl Context {
    /// The caller's span that this request belongs to: `traceparent`, such as
    /// `00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01`. `None` where it is absent or malformed.
    ///
    /// The client chooses it: use it only to follow a call through logs. The library's own span around the handling of
    /// a request, `request` of the target `mcp_proto::server`, has it as a field.
    pub fn trace_parent(&self) -> Option<&str> {
        traced(&self.meta, "traceparent", is_trace_parent)
    }

    /// The data that tracing systems on the path have added: `tracestate`, such as `congo=t61rcWkgMzE`. `None` where it
    /// is absent or malformed, or there is no [`Context::trace_parent`].
    pub fn trace_state(&self) -> Option<&str> {
        self.trace_parent()?;
        traced(&self.meta, "tracestate", is_trace_state)
    }

    /// The data that the caller propagates along its trace: `baggage`, such as `tenant=alpha,region=eu;p=1`. `None`
    /// where it is absent or malformed.
    pub fn baggage(&self) -> Option<&str> {
        traced(&self.meta, "baggage", is_baggage)
    }
}

fn traced<'m>(
    meta: &'m Map<String, Value>,
    key: &str,
    is_right: fn(&str) -> bool,
) -> Option<&'m str> {
    let value = meta.get(key).and_then(Value::as_str)?;
    is_right(value).then_some(value)
}

/// `version "-" trace-id "-" parent-id "-" trace-flags` (W3C Trace Context §3.2.2), and more after it in future
/// versions.
fn is_trace_parent(text: &str) -> bool {
    // It is written to logs unchanged.
    if text.len() > MAX_PARENT_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return false;
    }
    let mut fields = text.split('-');
    let mut field = |length: usize| {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        fields.next().filter(|field| field.len() == length && field.bytes().all(is_hex))
    };
    let (Some(version), Some(trace), Some(parent), Some(_flags)) =
        (field(2), field(32), field(16), field(2))
    else {
        return false;
    };
    let is_set = |id: &str| id.bytes().any(|digit| digit != b'0');
    let ends = fields.next().is_none();
    version != "ff" && is_set(trace) && is_set(parent) && (ends || version != "00")
}

/// Members `key=value`, separated by commas, with keys that differ (W3C Trace Context §3.3.1).
fn is_trace_state(text: &str) -> bool {
    let mut keys = BTreeSet::new();
    let members = text.split(',').map(blank_free);
    for member in members.filter(|member| !member.is_empty()) {
        let Some((key, value)) = member.split_once('=') else {
            return false;
        };
        let fits = is_state_key(key) && is_state_value(value) && keys.insert(key);
        if !fits || keys.len() > MAX_STATES {
            return false;
        }
    }
    !keys.is_empty()
}

fn is_state_key(key: &str) -> bool {
    let is_name = |name: &str, digit_first: bool, max: usize| {
        let begins = |byte: u8| byte.is_ascii_lowercase() || (digit_first && byte.is_ascii_digit());
        let may_follow = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/".contains(&byte)
        };
        name.len() <= max && name.bytes().next().is_some_and(begins) && name.bytes().all(may_follow)
    };
    match key.split_once('@') {
        None => is_name(key, false, 256),
        Some((tenant, system)) => is_name(tenant, true, 241) && is_name(system, false, 14),
    }
}

/// Blanks before a value are part of it. Blanks after it are not: [`blank_free`] removed them.
fn is_state_value(value: &str) -> bool {
    let is_char = |byte: u8| matches!(byte, 0x20..=0x7e) && byte != b'=';
    (1..=256).contains(&value.len()) && value.bytes().all(is_char)
}

/// Members `key=value;property;…`, separated by commas (W3C Baggage §3.2.1).
fn is_baggage(text: &str) -> bool {
    let is_property = |property: &str| match property.split_once('=') {
        None => is_token(blank_free(property)),
        Some(_) => is_pair(property),
    };
    text.len() <= MAX_BAGGAGE_BYTES
        && text.split(',').count() <= MAX_BAGGAGE
        && text.split(',').all(|member| {
            let (pair, properties) = match member.split_once(';') {
                None => (member, None),
                Some((pair, properties)) => (pair, Some(properties)),
            };
            is_pair(pair) && properties.is_none_or(|all| all.split(';').all(is_property))
        })
}

/// `key=value` with blanks around each.
fn is_pair(pair: &str) -> bool {
    let is_value =
        |byte: u8| matches!(byte, 0x21 | 0x23..=0x2b | 0x2d..=0x3a | 0x3c..=0x5b | 0x5d..=0x7e);
    pair.split_once('=').is_some_and(|(key, value)| {
        is_token(blank_free(key)) && blank_free(value).bytes().all(is_value)
    })
}

/// `token` (RFC 9110 §5.6.2).
fn is_token(text: &str) -> bool {
    let is_char = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_char)
}

fn blank_free(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}
