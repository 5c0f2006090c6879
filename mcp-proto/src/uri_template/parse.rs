//! Parses the text of a template into its parts (RFC 6570 §2).

use super::encoding::{encode, triplet};
use super::operator::Operator;
use super::{TemplatePart, UriTemplate, UriTemplateError, variables_of};

/// Reads a template, or returns where it is invalid.
pub(super) fn parse(text: &str) -> Result<Vec<TemplatePart>, UriTemplateError> {
    if text.len() > UriTemplate::MAX_BYTES {
        let most = UriTemplate::MAX_BYTES;
        return refuse(
            text.floor_char_boundary(most),
            format!(
                "the text is too long; a template has at most {most} bytes, not {}",
                text.len()
            ),
        );
    }
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(inside) = rest.strip_prefix('{') {
            let Some((body, _)) = inside.split_once('}') else {
                return refuse(at, "`{` begins an expression that nothing ends; end it with `}`");
            };
            parts.push(expression(body, at + 1)?);
            at += body.len() + 2;
        } else {
            let literal = rest.split('{').next().unwrap_or(rest);
            check_literal(literal, at)?;
            let mut encoded = String::with_capacity(literal.len());
            encode(literal, true, &mut encoded);
            parts.push(TemplatePart::Literal(encoded));
            at += literal.len();
        }
        if variables_of(&parts).count() > UriTemplate::MAX_VARIABLES {
            let most = UriTemplate::MAX_VARIABLES;
            return refuse(
                at,
                format!("there are too many variables; a template has at most {most}"),
            );
        }
    }
    Ok(parts)
}

fn refuse<T>(offset: usize, message: impl Into<String>) -> Result<T, UriTemplateError> {
    Err(UriTemplateError { offset, message: message.into() })
}

fn check_literal(literal: &str, offset: usize) -> Result<(), UriTemplateError> {
    for (at, character) in literal.char_indices() {
        let message = match character {
            '}' => {
                "`}` does not end an expression; as a character of the URI, write `%7D`".to_owned()
            }
            '%' if triplet(literal.as_bytes(), at).is_none() => {
                "`%` needs two hexadecimal digits behind it; as a character of the URI, write `%25`"
                    .to_owned()
            }
            _ if may_be_literal(character) => continue,
            _ => {
                let mut encoded = String::new();
                encode(character.encode_utf8(&mut [0; 4]), false, &mut encoded);
                format!("{character:?} may not stand in a URI; write `{encoded}`")
            }
        };
        return refuse(offset + at, message);
    }
    Ok(())
}

/// The rule `literals` of RFC 6570 §2.1, with the single quote.
fn may_be_literal(character: char) -> bool {
    match u32::from(character) {
        0x00..=0x20 | 0x7f..=0x9f => false,
        0x21..=0x7e => !"\"<>\\^`{|}".contains(character),
        // Beyond ASCII: ucschar and iprivate of RFC 3987, which exclude noncharacters and control characters.
        0xfdd0..=0xfdef | 0xfff0..=0xffff | 0xe0000..=0xe0fff => false,
        code => code & 0xfffe != 0xfffe,
    }
}

/// Parses the text between braces; `offset` is its position in the template.
fn expression(body: &str, offset: usize) -> Result<TemplatePart, UriTemplateError> {
    let Some(first) = body.chars().next() else {
        return refuse(offset, "the expression is empty; name a variable, as in `{name}`");
    };
    if "=,!@|".contains(first) {
        return refuse(
            offset,
            format!(
                "RFC 6570 reserves the operator `{first}`; use none, or one of `+ # . / ; ? &`"
            ),
        );
    }
    let operator = Operator::of(first);
    let mut at = offset + usize::from(operator.is_some());
    let mut names = Vec::new();
    for text in known_range::text(body, at - offset..).split(',') {
        let name = text.split([':', '*']).next().unwrap_or(text);
        check_name(name, at)?;
        if name.len() < text.len() {
            return refuse(
                at + name.len(),
                format!(
                    "`{{{body}}}` is of level 4 of RFC 6570, and levels 1 to 3 are supported: names of variables with \
                     commas between them, after none or one of `+ # . / ; ? &`"
                ),
            );
        }
        names.push(name.to_owned());
        at += text.len() + 1;
    }
    Ok(TemplatePart::Expression(operator.unwrap_or(Operator::Simple), names))
}

/// The rule `varname` of RFC 6570 §2.3.
fn check_name(name: &str, offset: usize) -> Result<(), UriTemplateError> {
    let mut after_dot = true;
    for (at, character) in name.char_indices() {
        let fits = match character {
            '.' => !after_dot,
            '%' => triplet(name.as_bytes(), at).is_some(),
            _ => character == '_' || character.is_ascii_alphanumeric(),
        };
        if !fits {
            return refuse(
                offset + at,
                format!(
                    "{character:?} may not stand here in a variable's name, which is of ASCII letters, digits, `_`, \
                     triplets such as `%20`, and single dots between them"
                ),
            );
        }
        after_dot = character == '.';
    }
    if after_dot {
        let message = if name.is_empty() {
            "a variable has no name; put one, as in `{name}`"
        } else {
            "a variable's name ends with a dot; leave it out"
        };
        return refuse(offset + name.len(), message);
    }
    Ok(())
}
