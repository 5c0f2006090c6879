//! Expands a template with values to a URI (RFC 6570 §3).

use super::encoding::{encode, end_of_encoded, triplet};
use super::operator::Operator;
use super::{Modifier, TemplatePart, UriValue, Variable, Variables};

/// The URI that the parts of a template expand to with these values.
pub(super) fn expand(parts: &[TemplatePart], values: &Variables) -> String {
    let mut uri = String::new();
    for part in parts {
        match part {
            TemplatePart::Literal(text) => uri.push_str(text),
            TemplatePart::Expression(operator, variables) => {
                let mut expansion = Expansion { operator: *operator, uri: &mut uri, begun: false };
                for variable in variables {
                    if let Some(value) = values.value(&variable.name) {
                        expansion.variable(variable, value);
                    }
                }
            }
        }
    }
    uri
}

/// The expansion of one expression.
struct Expansion<'u> {
    operator: Operator,
    uri: &'u mut String,
    /// A part of it is already in the URI.
    begun: bool,
}

impl Expansion<'_> {
    fn variable(&mut self, variable: &Variable, value: &UriValue) {
        let name = &variable.name;
        let exploded = variable.modifier == Modifier::Explode;
        match value {
            UriValue::Text(text) => {
                let text = match variable.modifier {
                    Modifier::Prefix(most) => prefix(text, most, self.operator.keeps_reserved()),
                    Modifier::None | Modifier::Explode => text,
                };
                self.begin(name, text.is_empty());
                self.value(text);
            }
            UriValue::List(items) if exploded => {
                for item in items {
                    self.begin(name, item.is_empty());
                    self.value(item);
                }
            }
            UriValue::Map(pairs) if exploded => {
                for (key, value) in pairs {
                    self.pair(key, value);
                }
            }
            UriValue::List(items) => self.joined(name, items.iter()),
            UriValue::Map(pairs) => {
                self.joined(name, pairs.iter().flat_map(|(key, value)| [key, value]));
            }
        }
    }

    /// Writes the text before a value: the mark or the separator, and the name if the operator uses it.
    fn begin(&mut self, name: &str, is_empty: bool) {
        self.mark();
        if self.operator.is_named() {
            self.uri.push_str(name);
            self.uri.push_str(if is_empty { self.operator.if_empty() } else { "=" });
        }
    }

    /// A pair of an exploded map, whose key replaces the name. Appendix A hints at keeping reserved characters in the
    /// keys of named pairs, as in literals; then a `&` in a key would make two parameters of one. Like other
    /// implementations, this encodes keys as values.
    fn pair(&mut self, key: &str, value: &str) {
        self.mark();
        self.value(key);
        self.uri.push_str(if self.operator.is_named() && value.is_empty() {
            self.operator.if_empty()
        } else {
            "="
        });
        self.value(value);
    }

    /// A list as one value, with commas.
    fn joined<'i>(&mut self, name: &str, items: impl Iterator<Item = &'i String> + Clone) {
        if items.clone().next().is_none() {
            return;
        }
        self.begin(name, false);
        for (number, item) in items.enumerate() {
            if number > 0 {
                self.uri.push(',');
            }
            self.value(item);
        }
    }

    fn mark(&mut self) {
        let mark = if self.begun { Some(self.operator.separator()) } else { self.operator.first() };
        self.uri.extend(mark);
        self.begun = true;
    }

    fn value(&mut self, text: &str) {
        encode(text, self.operator.keeps_reserved(), self.uri);
    }
}

/// The first characters of a value. If triplets are kept, the triplets of one character count as one, so that none is
/// split.
fn prefix(value: &str, most: usize, triplets_are_kept: bool) -> &str {
    let mut end = 0;
    for _ in 0..most {
        let Some(character) = value.get(end..).and_then(|rest| rest.chars().next()) else {
            return value;
        };
        let encoded = || {
            let bytes = value.as_bytes();
            end_of_encoded(bytes, end).or_else(|| triplet(bytes, end).map(|_| end + 3))
        };
        end = triplets_are_kept.then(encoded).flatten().unwrap_or(end + character.len_utf8());
    }
    value.get(..end).unwrap_or(value)
}
