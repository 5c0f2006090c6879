//! Expands a template with values to a URI (RFC 6570 §3).

use super::encoding::encode;
use super::operator::Operator;
use super::{TemplatePart, Variables};

/// The URI that the parts of a template expand to with these values.
pub(super) fn expand(parts: &[TemplatePart], values: &Variables) -> String {
    let mut uri = String::new();
    for part in parts {
        match part {
            TemplatePart::Literal(text) => uri.push_str(text),
            TemplatePart::Expression(operator, names) => {
                expression(*operator, names, values, &mut uri);
            }
        }
    }
    uri
}

fn expression(operator: Operator, names: &[String], values: &Variables, uri: &mut String) {
    let mut mark = operator.first();
    for name in names {
        let Some(value) = values.get(name) else {
            continue;
        };
        uri.extend(mark);
        mark = Some(operator.separator());
        if operator.is_named() {
            uri.push_str(name);
            uri.push_str(if value.is_empty() { operator.if_empty() } else { "=" });
        }
        encode(value, operator.keeps_reserved(), uri);
    }
}
