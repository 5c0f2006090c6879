//! Names of chats in queries: `Antti`, `telegram:Antti`, `*`.

use super::{Invalid, quoted};

/// More than any network allows for a name.
const LONGEST: usize = 1_024;

/// A chat as a caller writes it.
///
/// `*` is every chat. Text before a first `:` counts as a source only if one has that id (or it is `*`), so that a chat
/// called `a: b` is found under its name. The rest is an id, a name, or a part of one:
/// [`find_among`](crate::index::find_among) decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatArgument<'a> {
    /// The source that was named; `None` for none, or for `*:`.
    pub source: Option<&'a str>,
    /// The id or name; `None` for `*`.
    pub chat: Option<&'a str>,
}

impl<'a> ChatArgument<'a> {
    /// Parses it. `is_source` returns whether a source of that id is known.
    ///
    /// # Errors
    /// [`Invalid`] if it is empty or too long.
    pub fn parse(
        parameter: &'static str,
        text: &'a str,
        is_source: impl FnOnce(&str) -> bool,
    ) -> Result<Self, Invalid> {
        const FORMS: &str = "give a chat's id, its name, a part of its name, 'SOURCE:' and one of these, or '*' for all";
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(Invalid::new(parameter, format!("it is empty: {FORMS}")));
        }
        if trimmed.len() > LONGEST {
            let reason = format!("{} has more than {LONGEST} bytes: {FORMS}", quoted(trimmed));
            return Err(Invalid::new(parameter, reason));
        }
        let (source, chat) = match trimmed.split_once(':') {
            Some(("*", chat)) => (None, chat.trim()),
            Some((source, chat)) if !chat.trim().is_empty() && is_source(source) => {
                (Some(source), chat.trim())
            }
            _ => (None, trimmed),
        };
        if chat.is_empty() {
            let reason = format!("{} is not the name of a chat: {FORMS}", quoted(trimmed));
            return Err(Invalid::new(parameter, reason));
        }
        Ok(Self { source, chat: (chat != "*").then_some(chat) })
    }
}
