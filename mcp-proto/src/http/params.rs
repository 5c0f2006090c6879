//! Headers that repeat parameters of a tool: `Mcp-Param-…` against the arguments (2026-07-28, Streamable HTTP, "Custom
//! headers from tool parameters"). A proxy that routes by the header and a server that acts on the body must see the
//! same value.

use http::header::HeaderMap;
use serde_json::{Number, Value};

use super::head;
use crate::jsonrpc::ErrorObject;
use crate::schema::{MirroredParam, header_value};

/// The integers that every JSON reader represents exactly, ±(2^53−1): those that a header may repeat.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// Checks every header that repeats a parameter: −32020 where it is missing, different or malformed, and where it says
/// something although the argument is absent or null.
///
/// An argument that is an array or an object has no form as a header, so none can be right; without one, the schema is
/// what refuses it.
pub(super) fn match_mirrored(
    headers: &HeaderMap,
    mirrored: &[MirroredParam],
    arguments: Option<&Value>,
) -> Result<(), ErrorObject> {
    for param in mirrored {
        let given = head::only(headers, &param.header)?;
        let value = param.value(arguments);
        match (given, value.and_then(header_value)) {
            (None, None) => {}
            (None, Some(expected)) => return Err(head::missing(&param.header, &expected)),
            (Some(_), None) => {
                return Err(head::mismatch(format!(
                    "the header {} is given, but the body has no {} that a header can repeat",
                    param.header,
                    param.place()
                )));
            }
            (Some(given), Some(expected)) => {
                let decoded = head::decode_sentinel(given)?;
                let read = decoded.as_deref().unwrap_or(given);
                let same = match value {
                    Some(Value::Number(number)) => is_same(number, read),
                    _ => read == expected,
                };
                if !same {
                    if matches!(value, Some(Value::Number(number)) if !is_safe(number)) {
                        return Err(head::mismatch(format!(
                            "{} is beyond ±(2^53−1), which {} cannot repeat",
                            param.place(),
                            param.header
                        )));
                    }
                    return Err(head::different(&param.header, given, &expected));
                }
            }
        }
    }
    Ok(())
}

/// Numbers are the same if their values are: `42.0` is 42. No number matches that some readers cannot represent
/// exactly.
fn is_same(number: &Number, given: &str) -> bool {
    if !is_safe(number) {
        return false;
    }
    let number = number.as_f64();
    let (whole, fraction) = given.split_once('.').unwrap_or((given, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole.strip_prefix('-').unwrap_or(whole)) || !is_digits(fraction) {
        return false;
    }
    if number.is_some_and(|number| number.fract() == 0.0)
        && fraction.bytes().any(|digit| digit != b'0')
    {
        return false;
    }
    given.parse().ok() == number
}

fn is_safe(number: &Number) -> bool {
    number.as_f64().is_some_and(|number| number.abs() <= MAX_SAFE)
}
