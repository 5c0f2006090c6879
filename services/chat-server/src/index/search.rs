//! Words and phrases: hits with the matches marked, and the messages around them.

mod snippet;

use std::sync::Arc;

use rusqlite::Connection;

use snippet::snippet;

use super::Index;
use super::answer::{Cursor, MessageQuery, Page, StoredMessage};
use super::context::{self, Around};
use super::error::IndexError;
use super::matcher::Matcher;
use super::messages::{PAGE_BYTES, find_stored, next as next_page, page, weight};
use super::stored::searched_of;
use super::terms::Term;
use crate::query::Invalid;

/// The most messages of an answer, those around hits counted too.
const MAX_MESSAGES: usize = 2_000;

/// Which messages to look for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchQuery {
    /// Words, which are found by their beginnings and inside other words too, and `"phrases"`, all of which a message
    /// must have; `a OR b`, `-word` for what it must not have, emoji. Neither case nor diacritics count, nor the
    /// characters between the words of a phrase.
    pub text: String,
    /// Further conditions, how many hits, and where to continue.
    pub messages: MessageQuery,
    /// How many messages of the chat to return before each hit.
    pub before: usize,
    /// How many messages of the chat to return after each hit.
    pub after: usize,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The message.
    pub message: StoredMessage,
    /// The part of it with the first words that were found, which stand between `**`.
    pub snippet: String,
    /// Whether something was found inside a word only.
    pub inside: bool,
    /// The messages before and after it.
    pub around: Around,
}

/// Some hits: first those by whole words or their beginnings, then those inside words, each newest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hits {
    /// The hits.
    pub hits: Vec<Hit>,
    /// Where the next ones begin, if there are any.
    pub next: Option<Cursor>,
}

impl Index {
    /// The messages with these words: first those by whole words, then those inside words, each newest first.
    ///
    /// # Errors
    /// [`IndexError::Invalid`] as for [`messages`](Self::messages), for a text without a word or with more than 64,
    /// and if there may be more than 2,000 messages with those around hits; [`IndexError::Unavailable`].
    pub async fn search(&self, query: &SearchQuery) -> Result<Hits, IndexError> {
        query.messages.check()?;
        let matcher = Matcher::parse("query", &query.text)?;
        let SearchQuery { messages, before, after, .. } = query.clone();
        let each = before.saturating_add(after).saturating_add(1);
        if messages.limit.saturating_mul(each) > MAX_MESSAGES {
            return Err(Invalid::new(
                "limit",
                format!(
                    "{} hits with {before} messages before and {after} after each may be more than \
                     {MAX_MESSAGES}: give a smaller limit, or fewer messages around",
                    messages.limit
                ),
            )
            .into());
        }
        let (secret, words) = (self.inner.secret.clone(), Arc::clone(&self.inner.words));
        self.inner
            .readers
            .read(move |view| {
                let terms = matcher.terms();
                let page = page(view, &words, &messages, Some(matcher), &secret)?;
                let (mut hits, complete) = hits(view, page, &terms, before, after)?;
                if !complete {
                    // The rest comes with the next page, which begins after the last hit of this one.
                    let last = hits.hits.last();
                    let is_inside = last.is_some_and(|hit| hit.inside);
                    let last = last.map(|hit| &hit.message);
                    hits.next = next_page(view, &messages, last, is_inside, &secret)?;
                }
                Ok(hits)
            })
            .await
    }
}

/// The page with the messages around each hit, and whether all hits fit into it.
fn hits(
    view: &Connection,
    page: Page,
    terms: &[Term],
    before: usize,
    after: usize,
) -> rusqlite::Result<(Hits, bool)> {
    let mut hits = Hits { hits: Vec::with_capacity(page.messages.len()), next: page.next };
    let mut bytes = 0;
    for (n, message) in page.messages.into_iter().enumerate() {
        if bytes > PAGE_BYTES {
            return Ok((hits, false));
        }
        let around = match (before, after) {
            (0, 0) => Around::default(),
            _ => context::around(view, &find_stored(view, &message)?, before, after)?,
        };
        let texts = around.before.iter().chain(&around.after).chain([&message]);
        bytes += texts.map(weight).sum::<usize>();
        hits.hits.push(Hit {
            snippet: snippet(&searched_of(&message.message), terms),
            inside: n >= page.whole,
            message,
            around,
        });
    }
    Ok((hits, true))
}
