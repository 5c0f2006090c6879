//! A template as a list of steps that a URI must match.

use super::TemplatePart;
use super::encoding::{Charset, normalise};
use super::operator::Operator;

/// The next part that a URI must have.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// This text.
    Literal(String),
    /// The mark of an optional part. Without it, the URI continues at the step `skip`.
    Mark { mark: u8, skip: usize },
    /// The value of a variable.
    Value(Value),
    /// Named parameters in any order, perhaps none.
    Parameters(Parameters),
}

/// A value without a name.
#[derive(Debug, Clone)]
pub(super) struct Value {
    /// The number of the variable among the names of the template.
    pub(super) variable: usize,
    pub(super) allowed: Charset,
    pub(super) may_be_empty: bool,
}

/// Parameters with names.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    pub(super) first: u8,
    pub(super) separator: u8,
    /// The characters that values may contain unencoded: neither `first` nor `separator`, so that values cannot
    /// overlap, wherever the expression begins.
    pub(super) allowed: Charset,
    pub(super) known: Vec<Parameter>,
}

/// A parameter that an expression names.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// The number of the variable among the names of the template.
    pub(super) variable: usize,
}

/// The steps of a template with these names of variables.
pub(super) fn compile(parts: &[TemplatePart], names: &[String]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        match part {
            TemplatePart::Literal(text) => steps.push(Step::Literal(normalise(text).into_owned())),
            TemplatePart::Expression(operator, variables) if operator.is_named() => {
                steps.push(parameters(*operator, variables, names));
            }
            TemplatePart::Expression(operator, variables) => {
                let later = known_range::items(parts, number + 1..);
                values(&mut steps, *operator, variables, names, later);
            }
        }
    }
    steps
}

fn parameters(operator: Operator, variables: &[String], names: &[String]) -> Step {
    let separator = operator.separator();
    let known = variables.iter().map(|name| Parameter {
        name: normalise(name).into_owned(),
        variable: number_of(name, names),
    });
    Step::Parameters(Parameters {
        first: ascii(operator.first().unwrap_or(separator)),
        separator: ascii(separator),
        // Commas for values that are lists to those who read them.
        allowed: if operator == Operator::Parameter {
            Charset::unreserved().with(',')
        } else {
            Charset::query_value()
        },
        known: known.collect(),
    })
}

fn values(
    steps: &mut Vec<Step>,
    operator: Operator,
    variables: &[String],
    names: &[String],
    later: &[TemplatePart],
) {
    let separator = operator.separator();
    let allowed = if operator.keeps_reserved() {
        without_what_comes(Charset::reserved(), later)
    } else {
        without_delimiters(later)
    };
    // A fragment is present or absent as a whole; in `{/…}` and `{.…}` each variable is.
    let is_each_optional = matches!(operator, Operator::Label | Operator::Path);
    let end = steps.len() + 2 * variables.len();
    for (number, name) in variables.iter().enumerate() {
        match operator.first() {
            Some(mark) if is_each_optional || number == 0 => steps.push(Step::Mark {
                mark: ascii(mark),
                skip: if is_each_optional { steps.len() + 2 } else { end },
            }),
            _ if number > 0 => steps.push(Step::Literal(separator.into())),
            _ => {}
        }
        let is_last = number + 1 == variables.len();
        steps.push(Step::Value(Value {
            variable: number_of(name, names),
            // Otherwise the position of a value would depend on those before it: `..` could be one label or two.
            allowed: if is_last { allowed } else { allowed.without(separator) },
            may_be_empty: operator.first().is_some(),
        }));
    }
}

/// The characters that a value may contain in a segment, without those by which the rest of the template is found.
fn without_delimiters(later: &[TemplatePart]) -> Charset {
    later.iter().fold(Charset::segment(), |allowed, part| match part {
        TemplatePart::Literal(text) => text.chars().fold(allowed, Charset::without_reserved),
        TemplatePart::Expression(operator, _) => {
            let marks = [operator.first(), Some(operator.separator())];
            marks.into_iter().flatten().fold(allowed, Charset::without_reserved)
        }
    })
}

/// The characters that a value with reserved characters may contain before a query or a fragment of the template.
fn without_what_comes(allowed: Charset, later: &[TemplatePart]) -> Charset {
    let comes = |mark: char| {
        later.iter().any(|part| match part {
            TemplatePart::Literal(text) => text.contains(mark),
            TemplatePart::Expression(operator, _) => operator.first() == Some(mark),
        })
    };
    ['?', '#'].into_iter().filter(|mark| comes(*mark)).fold(allowed, Charset::without)
}

fn number_of(name: &String, names: &[String]) -> usize {
    names.iter().position(|known| known == name).unwrap_or(usize::MAX)
}

/// The byte of an operator's mark or separator, which are ASCII.
fn ascii(character: char) -> u8 {
    u8::try_from(character).unwrap_or_default()
}
