//! URI templates: a text is one or is told where it is none; what matches is read in bounds, and what is read makes a
//! URI that matches again. The first line of the input is the template, the rest the URI.

use mcp_proto::uri_template::{UriTemplate, Variables};

use super::pieces::line;

/// See the module.
///
/// # Panics
/// When a rule is broken.
pub fn run(data: &[u8]) {
    let (text, uri) = line(data);
    let (text, uri) = (String::from_utf8_lossy(text), String::from_utf8_lossy(uri));
    let template = match UriTemplate::parse(&text) {
        Ok(template) => template,
        Err(problem) => {
            assert!(text.is_char_boundary(problem.offset), "{problem}");
            assert!(!problem.message.is_empty());
            return;
        }
    };
    assert_eq!(template.as_str(), text);
    let names: Vec<&str> = template.variables().collect();
    assert!(names.len() <= UriTemplate::MAX_VARIABLES);
    expands(&template, &names, &uri);
    let Some(values) = template.match_uri(&uri) else {
        return;
    };
    assert!(uri.len() <= UriTemplate::MAX_URI_BYTES);
    in_order(&names, &values);
    let made = template.expand(&values);
    assert!(is_uri(&made), "{made}");
    if gives_back(&text, &names) {
        let again = template.match_uri(&made);
        let again = again.unwrap_or_else(|| panic!("{text} of {uri} is {made}, which is none"));
        assert_eq!(template.expand(&again), made, "{text} of {uri}");
    }
}

/// Whatever the values are, they expand to what may stand in a URI.
fn expands(template: &UriTemplate, names: &[&str], value: &str) {
    let values: Variables = names.iter().map(|name| (*name, value)).collect();
    assert!(is_uri(&template.expand(&values)));
    let empty = template.expand(&Variables::new());
    assert!(is_uri(&empty), "{empty}");
}

/// RFC 3986 §2, with brackets and the single quote wherever they are.
fn is_uri(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => {
            let digits = bytes.get(at + 1..at + 3);
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        }
        byte => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(byte),
    })
}

/// Only the template's names have values, in their order.
fn in_order(names: &[&str], values: &Variables) {
    let mut rest = names.iter();
    for (name, _) in values.iter() {
        assert!(rest.any(|known| *known == name), "{name} out of place");
    }
}

/// Whether what the template reads makes a URI that it can read again. Not so where what was encoded becomes raw
/// (`{+a}`, `{#a}`, the dots of `{.a,b}`), and where a variable has to be the same in two places.
fn gives_back(text: &str, names: &[&str]) -> bool {
    let mut expressions = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let mut count = 0;
    let fits = expressions.all(|expression| {
        count += expression.split(',').count();
        !expression.starts_with(['+', '#', '.'])
    });
    fits && count == names.len()
}
