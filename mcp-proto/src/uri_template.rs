//! URI templates (RFC 6570): what a resource template lists, what a client expands, and how the URI of a
//! `resources/read` is matched against it.

mod encoding;
mod expand;
mod matching;
mod operator;
mod parse;
mod steps;
mod variables;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use operator::Operator;
use steps::Step;

pub use variables::Variables;

/// A URI template of levels 1 to 3 of RFC 6570, such as `messages://{source}/{chat}{?since,limit}`.
///
/// Templates are compared by their text.
///
/// ```
/// use mcp_proto::uri_template::{UriTemplate, Variables};
///
/// let template: UriTemplate = "messages://{source}/{chat}{?since,limit}".parse()?;
/// let asked = template.match_uri("messages://matrix/caf%C3%A9?limit=20").unwrap();
/// assert_eq!(asked.get("chat"), Some("café"));
/// assert_eq!(asked.get("limit"), Some("20"));
/// assert_eq!(asked.get("since"), None);
///
/// let uri = template.expand(&Variables::from([("source", "irc"), ("chat", "#rust")]));
/// assert_eq!(uri, "messages://irc/%23rust");
/// # Ok::<(), mcp_proto::uri_template::UriTemplateError>(())
/// ```
#[derive(Clone)]
pub struct UriTemplate {
    text: String,
    parts: Vec<TemplatePart>,
    /// The names of the variables, each once, in order of appearance.
    names: Vec<String>,
    steps: Vec<Step>,
}

/// A text that is not a URI template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a URI template: at byte {offset}, {message}")]
#[non_exhaustive]
pub struct UriTemplateError {
    /// The position of the error in the text, as a byte offset.
    pub offset: usize,
    /// What is wrong at that position, and what would be valid.
    pub message: String,
}

impl UriTemplate {
    /// The longest template that is read, in bytes.
    pub const MAX_BYTES: usize = 2048;

    /// The most variables in a template, where one that is named twice counts as two.
    pub const MAX_VARIABLES: usize = 64;

    /// The longest URI that a template can match, in bytes.
    pub const MAX_URI_BYTES: usize = 8192;

    /// Reads a template by RFC 6570 §2. A single quote is accepted as a literal, as in a URI.
    ///
    /// # Errors
    /// The first place that breaks the grammar, a prefix (`{a:3}`) or a list (`{a*}`) of level 4, or a template beyond
    /// [`Self::MAX_BYTES`] or [`Self::MAX_VARIABLES`].
    pub fn parse(text: &str) -> Result<Self, UriTemplateError> {
        let parts = parse::parse(text)?;
        let mut names: Vec<String> = Vec::new();
        for name in variables_of(&parts) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Ok(Self { text: text.to_owned(), steps: steps::compile(&parts, &names), parts, names })
    }

    /// The text that was read.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables, each once, in order of appearance.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Expands the template with these values, by RFC 6570 §3.
    ///
    /// A variable without a value is undefined and adds nothing.
    #[must_use]
    pub fn expand(&self, values: &Variables) -> String {
        expand::expand(&self.parts, values)
    }

    /// The values of the variables in a URI, in order of [`Self::variables`], or `None` if the URI does not match as a
    /// whole.
    ///
    /// RFC 6570 §1.4 leaves matching open. Here:
    ///
    /// - Literal text matches itself, byte by byte; only the hexadecimal digits of triplets may be in either case. A
    ///   character beyond ASCII, in the template or in the URI, is the same as its percent-encoding.
    /// - `{a}` takes one or more characters: never a raw `/`, `?`, `#`, `[` or `]`. Those of `!$&'()*+,;=:@` that stand
    ///   further on in the template delimit it, the others it takes, as it takes blanks and what else no URI contains:
    ///   clients encode less than RFC 6570 §3 says. `{a,b}` needs both, with a comma between them.
    /// - `{+a}` also takes reserved characters, `/` among them, but no `?` if the template has one (or a `{?…}`)
    ///   further on, and no `#` likewise. `{#a}` takes the same after a `#`.
    /// - `{/a,b}` and `{.a,b}` take what `{a}` takes, each after its operator character, and `{#a}` after its `#`. A
    ///   value that is present may be empty. Each variable of `{/…}` and `{.…}` may be absent. A `{#…}` may be absent
    ///   only as a whole.
    /// - `{?a,b}`, `{&a,b}` and `{;a,b}` take `name=value` or `name` alone, in any order. All are optional; a URI with
    ///   an unknown or repeated one does not match. A value of `{;…}` takes unreserved and encoded
    ///   characters and commas; a query value also takes the raw characters that RFC 3986 §3.4 allows there except `&`
    ///   and `?`, and a `+` is a plus. A value takes as many characters as it can.
    /// - Of several values in `{.a,b}`, `{+a,b}` or `{#a,b}` only the last may contain the separator (dot or comma)
    ///   unencoded.
    /// - A variable that the template names twice must have the same value in both places.
    /// - A URI does not match if a triplet in it is not UTF-8, or if it is longer than [`Self::MAX_URI_BYTES`].
    /// - If there is a choice, the earlier variable takes as much as it can, as long as an optional expression right
    ///   after it is present: `{name}{.ext}` splits `a.tar.gz` into `a.tar` and `gz`.
    ///
    /// Values are decoded after matching. So a value can be any text: `%2F` becomes a `/` in the value of `{a}`, `%00`
    /// becomes a NUL, and `..` is not special. **Code that uses a value as a file name must check for these.**
    ///
    /// For any input, the time is proportional to the length of the template times the length of the URI.
    pub fn match_uri(&self, uri: &str) -> Option<Variables> {
        if uri.len() > Self::MAX_URI_BYTES {
            return None;
        }
        let values = matching::read(&self.steps, self.names.len(), &encoding::normalise(uri))?;
        let named = self.names.iter().zip(values);
        Some(named.filter_map(|(name, value)| Some((name.clone(), value?))).collect())
    }
}

impl FromStr for UriTemplate {
    type Err = UriTemplateError;

    fn from_str(text: &str) -> Result<Self, UriTemplateError> {
        Self::parse(text)
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for UriTemplate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "UriTemplate({:?})", self.text)
    }
}

impl PartialEq for UriTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for UriTemplate {}

impl Hash for UriTemplate {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// A piece of a template.
#[derive(Debug, Clone)]
enum TemplatePart {
    /// The text as it appears in URIs, percent-encoded where required.
    Literal(String),
    /// The names of variables after an operator.
    Expression(Operator, Vec<String>),
}

/// The names of the variables of a template in order.
fn variables_of(parts: &[TemplatePart]) -> impl Iterator<Item = &String> {
    parts.iter().flat_map(|part| match part {
        TemplatePart::Literal(_) => &[],
        TemplatePart::Expression(_, names) => names.as_slice(),
    })
}
