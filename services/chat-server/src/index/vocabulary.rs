//! All words of the index, each once: so that a part of a word is found without reading every text.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Mutex;

use memchr::memmem;
use rusqlite::Connection;

use super::fold::is_blankless;
use crate::lock::lock;

/// How many words the writer remembers to have stored; beyond that it forgets all of them.
const MAX_REMEMBERED: usize = 500_000;

/// The most bytes of words that are held for parts of words. With more, texts are read instead.
const MAX_BYTES: usize = 64 << 20;

/// The most words in which a part is looked for. A part of more words is frequent.
const MAX_WORDS: usize = 512;

/// Shorter words have no part that is looked for.
const SHORTEST: usize = 4;

/// The words that are known to be in the table, for the writer.
#[derive(Debug, Default)]
pub(super) struct KnownWords(RefCell<HashSet<String>>);

impl KnownWords {
    /// Stores the words of a text that are new; `words` has blanks between them.
    pub(super) fn learn(&self, connection: &Connection, words: &str) -> rusqlite::Result<()> {
        let mut known = self.0.borrow_mut();
        for word in parted(words) {
            if known.contains(word) {
                continue;
            }
            connection
                .prepare_cached("INSERT INTO term (word) VALUES (?1) ON CONFLICT DO NOTHING")?
                .execute([word])?;
            if known.len() >= MAX_REMEMBERED {
                known.clear();
            }
            known.insert(word.to_owned());
        }
        Ok(())
    }

    /// Removes the words of a text that no other text has, so that a deleted message leaves none.
    pub(super) fn unlearn(&self, connection: &Connection, words: &str) -> rusqlite::Result<()> {
        let sql = "DELETE FROM term WHERE word = ?1 \
                   AND NOT EXISTS (SELECT 1 FROM word WHERE word MATCH ?2)";
        for word in parted(words) {
            connection.prepare_cached(sql)?.execute([word, &format!("\"{word}\"")])?;
            self.0.borrow_mut().remove(word);
        }
        Ok(())
    }

    /// After a transaction that failed.
    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}

/// Words that have parts. Scripts without blanks are found by pairs of letters.
fn parted(words: &str) -> impl Iterator<Item = &str> {
    words
        .split(' ')
        .filter(|word| word.chars().nth(SHORTEST - 1).is_some() && !word.starts_with(is_blankless))
}

/// The words as one text, for readers.
#[derive(Debug, Default)]
pub(super) struct Vocabulary(Mutex<AllWords>);

#[derive(Debug, Default)]
struct AllWords {
    /// Each word between two line ends.
    text: String,
    /// The number of the last word in it.
    last: i64,
}

impl Vocabulary {
    /// The words that have this part, or with `at_end` that end so; `None` if they are too many.
    pub(super) fn having(
        &self,
        view: &Connection,
        part: &str,
        at_end: bool,
    ) -> rusqlite::Result<Option<Vec<String>>> {
        let mut all = lock(&self.0);
        all.refresh(view)?;
        if all.text.len() > MAX_BYTES {
            return Ok(None);
        }
        let sought = if at_end { format!("{part}\n") } else { part.to_owned() };
        let finder = memmem::Finder::new(&sought);
        let mut words: Vec<String> = Vec::new();
        let mut from = 0;
        while let Some(at) = finder.find(known_range::items(all.text.as_bytes(), from..)) {
            let at = from + at;
            let begin = known_range::text(&all.text, ..at).rfind('\n').map_or(0, |end| end + 1);
            let rest = known_range::text(&all.text, begin..);
            let word = rest.lines().next().unwrap_or_default();
            if words.len() == MAX_WORDS {
                return Ok(None);
            }
            words.push(word.to_owned());
            // With the line end before the next word.
            from = begin + word.len();
        }
        Ok(Some(words))
    }
}

impl AllWords {
    fn refresh(&mut self, view: &Connection) -> rusqlite::Result<()> {
        if self.text.len() > MAX_BYTES {
            return Ok(());
        }
        let sql = "SELECT n, word FROM term WHERE n > ?1 ORDER BY n";
        let mut statement = view.prepare_cached(sql)?;
        let mut rows = statement.query([self.last])?;
        while let Some(row) = rows.next()? {
            if self.text.is_empty() {
                self.text.push('\n');
            }
            self.last = row.get(0)?;
            self.text.push_str(row.get_ref(1)?.as_str()?);
            self.text.push('\n');
            if self.text.len() > MAX_BYTES {
                break;
            }
        }
        Ok(())
    }
}
