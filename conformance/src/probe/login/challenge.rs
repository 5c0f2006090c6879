//! What a refusal says of the login that it wants.

use super::address::well_known;
use crate::probe::exchange::Exchange;

/// What the lines of WWW-Authenticate say together (RFC 9110 §11.6.1).
#[derive(Debug, Default)]
pub(crate) struct Challenges {
    /// In small letters.
    pub(crate) schemes: Vec<String>,
    /// Names in small letters, and values without their quotes.
    parameters: Vec<(String, String)>,
}

impl Challenges {
    pub(crate) fn of(exchange: &Exchange) -> Self {
        let mut all = Self::default();
        for line in exchange.headers.get_all("www-authenticate") {
            all.read(&String::from_utf8_lossy(line.as_bytes()));
        }
        all
    }

    /// Whether they want this scheme.
    pub(crate) fn want(&self, scheme: &str) -> bool {
        self.schemes.iter().any(|it| it == scheme)
    }

    /// A parameter of any of them.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        let (_, value) = parameters.find(|(known, _)| known == name)?;
        Some(value)
    }

    /// Where the metadata of the server at this URL may lie (RFC 9728).
    pub(crate) fn places(&self, url: &str) -> Vec<String> {
        let named = self.parameter("resource_metadata").map(str::to_owned);
        named.map_or_else(|| well_known(url, "oauth-protected-resource"), |it| vec![it])
    }

    fn read(&mut self, line: &str) {
        const BETWEEN: [char; 3] = [' ', '\t', ','];
        let mut rest = line.trim_start_matches(BETWEEN);
        while !rest.is_empty() {
            let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let word = word.to_ascii_lowercase();
            rest = match after.trim_start().strip_prefix('=') {
                Some(after) => {
                    let (value, after) = value(after.trim_start());
                    self.parameters.push((word, value));
                    after
                }
                None => {
                    self.schemes.push(word);
                    after
                }
            }
            .trim_start_matches(BETWEEN);
        }
    }
}

/// The value that a text begins with, and the rest. URLs without quotes are not right, and are read nevertheless.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return (value.to_owned(), rest);
    };
    let (mut value, mut characters) = (String::new(), quoted.chars());
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => value.extend(characters.next()),
            _ => value.push(character),
        }
    }
    (value, characters.as_str())
}
