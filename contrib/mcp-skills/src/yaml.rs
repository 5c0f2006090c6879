//! Converts YAML to JSON, exactly or not at all.
//!
//! Scalars follow the core schema of YAML 1.2.2 (§10.3.2). Hosts compare their reading of a `SKILL.md` field by field
//! with the server's. So everything that JSON cannot express, or that two readers may read differently, is refused:
//! aliases, tags, keys that are not strings or are repeated, numbers out of range. Without aliases the result is no
//! larger than the text, which is therefore the bound.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};
use serde_json::{Map, Number, Value};

/// The deepest nesting of sequences and mappings that is read.
const MAX_DEPTH: usize = 32;

/// Where and why a text is not YAML that this module accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// Counted from 1.
    pub(crate) line: usize,
    /// What is wrong, and what would be valid.
    pub(crate) problem: String,
}

/// Reads exactly one document. An empty text is null.
pub(crate) fn parse(text: &str) -> Result<Value, YamlError> {
    let mut reader = Reader { events: Parser::new_from_str(text) };
    let mut document = None;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
            Event::StreamEnd => return Ok(document.unwrap_or(Value::Null)),
            _ if document.is_some() => return refuse(span, "there must be one document only"),
            event => document = Some(reader.value(event, span, 0)?),
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), YamlError> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                Err(YamlError { line: error.marker().line(), problem: error.info().to_owned() })
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// The value that begins with `event`.
    fn value(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Value, YamlError> {
        if depth > MAX_DEPTH {
            return refuse(span, "nesting deeper than 32 is not read");
        }
        match event {
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                refuse(span, "tags are not read; quote what is to be a string")
            }
            Event::Scalar(text, ScalarStyle::Plain, ..) => {
                plain(&text).map_or_else(|problem| refuse(span, problem), Ok)
            }
            Event::Scalar(text, ..) => Ok(Value::String(text.into_owned())),
            Event::SequenceStart(..) => self.sequence(depth),
            Event::MappingStart(..) => self.mapping(depth),
            Event::Alias(_) => refuse(span, "aliases are not read; write the value out"),
            _ => refuse(span, "a value is missing"),
        }
    }

    fn sequence(&mut self, depth: usize) -> Result<Value, YamlError> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::Array(items)),
                (event, span) => items.push(self.value(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, YamlError> {
        let mut members = Map::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Value::Object(members));
            }
            let Value::String(key) = self.value(event, span, depth + 1)? else {
                return refuse(span, "a key must be a string; quote it");
            };
            let (event, value_span) = self.next()?;
            let value = self.value(event, value_span, depth + 1)?;
            if members.contains_key(&key) {
                return refuse(span, format!("the key {key:?} is there twice"));
            }
            members.insert(key, value);
        }
    }
}

fn refuse<T>(span: Span, problem: impl Into<String>) -> Result<T, YamlError> {
    Err(YamlError { line: span.start.line(), problem: problem.into() })
}

/// The meaning of a plain scalar in the core schema, in the order of its table.
fn plain(text: &str) -> Result<Value, &'static str> {
    const RANGE: &str = "the number is out of JSON's range; quote it to make it a string";
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let radix = |prefix: &str, radix: u32| {
        text.strip_prefix(prefix)
            .filter(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)))
            .map(|digits| u64::from_str_radix(digits, radix))
    };
    if let Some(number) = radix("0o", 8).or_else(|| radix("0x", 16)) {
        return number.map(Value::from).map_err(|_| RANGE);
    }
    if is_digits(digits) {
        let number = match sign {
            "-" => text.parse::<i64>().map(Value::from),
            _ => digits.parse::<u64>().map(Value::from),
        };
        return number.map_err(|_| RANGE);
    }
    if is_float(digits) {
        let number = format!("{sign}{digits}").parse().ok();
        return number.and_then(Number::from_f64).map(Value::Number).ok_or(RANGE);
    }
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(RANGE);
    }
    Ok(Value::String(text.to_owned()))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let exponent_fits =
        exponent.is_none_or(|digits| is_digits(digits.strip_prefix(['-', '+']).unwrap_or(digits)));
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => is_digits(fraction),
        Some((whole, fraction)) => is_digits(whole) && (fraction.is_empty() || is_digits(fraction)),
        None => is_digits(mantissa),
    };
    exponent_fits && mantissa_fits
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(text: &str) -> String {
        parse(text).unwrap_err().problem
    }

    #[test]
    fn plain_scalars_mean_what_the_core_schema_says() {
        for (text, value) in [
            ("", Value::Null),
            ("~", Value::Null),
            ("NULL", Value::Null),
            ("nULL", json!("nULL")),
            ("True", json!(true)),
            ("FALSE", json!(false)),
            ("yes", json!("yes")),
            ("off", json!("off")),
            ("0", json!(0)),
            ("007", json!(7)),
            ("-12", json!(-12)),
            ("+12", json!(12)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("0o17", json!(15)),
            ("0xfF", json!(255)),
            ("-0x1", json!("-0x1")),
            ("0x", json!("0x")),
            ("0o8", json!("0o8")),
            ("1_000", json!("1_000")),
            ("1.0", json!(1.0)),
            ("-.5", json!(-0.5)),
            ("1.", json!(1.0)),
            ("1e3", json!(1000.0)),
            ("1.5E-1", json!(0.15)),
            (".", json!(".")),
            ("-", json!("-")),
            ("+", json!("+")),
            ("1e", json!("1e")),
            ("1.2.3", json!("1.2.3")),
            ("e3", json!("e3")),
            ("2026-07-28", json!("2026-07-28")),
            ("12:30", json!("12:30")),
            ("nan", json!("nan")),
        ] {
            assert_eq!(plain(text), Ok(value), "{text:?}");
        }
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            "0x10000000000000000",
            "1e999",
            ".inf",
            "-.INF",
            ".NaN",
        ] {
            assert!(plain(text).unwrap_err().contains("quote it"), "{text}");
        }
    }

    #[test]
    fn collections_and_block_scalars_come_through() {
        let text = "a: [1, two, {b: ~}]\nc: |\n  x\n  y\nd: >-\n  p\n  q\n'e f': \"\\u00e9\"\ng:\n  - h: 1\n    i: 2\n";
        assert_eq!(
            parse(text).unwrap(),
            json!({"a": [1, "two", {"b": null}], "c": "x\ny\n", "d": "p q", "e f": "é", "g": [{"h": 1, "i": 2}]})
        );
        assert_eq!(parse("").unwrap(), Value::Null);
        assert_eq!(parse("# only a comment").unwrap(), Value::Null);
    }

    #[test]
    fn what_readers_may_read_differently_is_refused_with_its_line() {
        assert!(problem("a: 1\na: 2").contains("twice"));
        assert!(problem("1: a").contains("quote it"));
        assert!(problem("? [a]\n: b").contains("must be a string"));
        assert!(problem("a: !!str 1").contains("tags"));
        assert!(problem("a: !x {}").contains("tags"));
        assert!(problem("a: &x 1\nb: *x").contains("aliases"));
        assert!(problem("--- a\n--- b").contains("one document"));
        assert_eq!(parse("a: 1\nb: 2\na: 3").unwrap_err().line, 3);
        assert_eq!(parse("a: 1\nb: ]\nc: 1").unwrap_err().line, 2);
        assert!(parse("a: [").is_err());
    }

    #[test]
    fn bombs_are_refused() {
        let levels: String =
            (1..40).map(|n| format!("l{n}: &l{n} [*l{0}, *l{0}, *l{0}]\n", n - 1)).collect();
        assert!(problem(&format!("l0: &l0 x\n{levels}")).contains("aliases"));
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(MAX_DEPTH + 1)).is_ok());
        assert!(problem(&nested(MAX_DEPTH + 2)).contains("deeper"));
        assert!(parse(&nested(30_000)).is_err());
        assert!(parse(&"a: ".repeat(20_000)).is_err());
        assert!(parse(&"- ".repeat(30_000)).is_err());
        assert!(parse(&"? ".repeat(30_000)).is_err());
    }
}
