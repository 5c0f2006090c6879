//! The size limit of an answer, and how to get the rest.

use serde::Serialize;

/// The limit of an answer in characters. About four characters make a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget(pub usize);

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items that fit.
    pub items: Vec<T>,
    /// The number of items in the whole list.
    pub total: usize,
    /// The index of the next item, counted from 0; `None` if there are no more items.
    pub next_offset: Option<usize>,
}

/// The most names in a list that is part of an answer.
pub(super) const MAX_NAMES: usize = 100;

impl Budget {
    /// The default limit: about 15,000 tokens, which clients still pass on to a model.
    pub const DEFAULT: Self = Self(60_000);

    /// No limit: on the command line users can shorten the output themselves.
    pub const ALL: Self = Self(usize::MAX);

    /// The smallest useful limit.
    pub const MIN: Self = Self(2_000);

    /// The limit of a name. A longer one was not written by a person.
    const NAME: Self = Self(300);

    /// The limit of a sentence that quotes a file.
    const SENTENCE: Self = Self(1_000);

    /// The items of a list from `offset` on that fit. There is at least one, so that a reader reaches the end. Items
    /// that do not fit are not built.
    pub fn page<T: Serialize>(
        self,
        list: impl IntoIterator<IntoIter: ExactSizeIterator<Item = T>>,
        offset: usize,
    ) -> Page<T> {
        let list = list.into_iter();
        let mut page = Page { items: Vec::new(), total: list.len(), next_offset: None };
        let mut used = 0;
        for (index, item) in list.enumerate().skip(offset) {
            used += serde_json::to_string(&item).map_or(0, |json| json.len());
            if used > self.0 && !page.items.is_empty() {
                page.next_offset = Some(index);
                break;
            }
            page.items.push(item);
        }
        page
    }

    /// The characters of `text` from `offset` on that fit, and the offset of the rest.
    pub fn part(self, text: &str, offset: usize) -> (String, Option<usize>) {
        // A text never has more characters than bytes.
        if offset == 0 && text.len() <= self.0 {
            return (text.to_owned(), None);
        }
        let mut left = text.chars().skip(offset);
        let part: String = left.by_ref().take(self.0).collect();
        let more = left.next().is_some();
        (part, more.then_some(offset.saturating_add(self.0)))
    }

    /// [`Budget::part`] from the beginning, with a mark at the cut. Returns whether it was cut.
    pub fn beginning(self, text: &str) -> (String, bool) {
        let (mut part, next) = self.part(text, 0);
        if next.is_some() {
            part.push('…');
        }
        (part, next.is_some())
    }

    /// One of `of` equal shares.
    #[must_use]
    pub const fn share(self, of: usize) -> Self {
        Self(match self.0.checked_div(of) {
            Some(share) => share,
            None => self.0,
        })
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A name or a title, shortened for an answer.
pub(super) fn name(name: &str) -> String {
    Budget::NAME.beginning(name).0
}

/// A sentence, shortened for an answer.
pub(super) fn sentence(sentence: &str) -> String {
    Budget::SENTENCE.beginning(sentence).0
}

/// Joins several notes into one.
pub(crate) fn notes(notes: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let notes: Vec<_> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

impl<T> Page<T> {
    /// A note on how to get the rest of a list of `what`, if there is more.
    pub(super) fn note(&self, offset: usize, what: &str) -> Option<String> {
        let next = self.next_offset?;
        Some(format!(
            "these are {what} {} to {next} of {}; call again with offset {next} for more",
            offset.saturating_add(1),
            self.total
        ))
    }
}
