//! The participants of all sources. Those that are one person are joined.

use std::collections::HashMap;

use jiff::Timestamp;
use petgraph::unionfind::UnionFind;
use rusqlite::{Connection, OptionalExtension as _, Row};
use serde::Serialize;

use super::Index;
use super::error::IndexError;
use super::fold::fold;
use super::stored::{participant, timestamp};
use crate::model::{Alias, Participant};
use crate::query::Invalid;

/// The fewest digits of a telephone number that identifies a person.
const PHONE_DIGITS: usize = 7;
/// The most aliases, and the most members of one.
const MAX_ALIASES: usize = 1_000;

/// The most people of one answer.
pub const MAX_PEOPLE: usize = 100_000;

/// A person, in one source or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The alias, or else the name under which most was written.
    pub name: String,
    /// Whether it is the owner of the accounts.
    pub is_me: bool,
    /// How many messages they wrote in all.
    pub messages: u64,
    /// When they wrote last, in any source.
    pub last: Option<Timestamp>,
    /// Who they are in each source, those with the most messages first.
    pub identities: Vec<Identity>,
}

/// Who a person is in a source. Answers have it in this form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// The source.
    pub source: String,
    /// The participant.
    #[serde(flatten)]
    pub participant: Participant,
    /// How many messages they wrote there.
    pub messages: u64,
    /// When the last of them was sent.
    #[serde(skip)]
    pub last: Option<Timestamp>,
}

impl Index {
    /// The people of all sources, those with the most messages first. Participants are one person if they have the
    /// same telephone number or the same username, if both are the owner of the account, or if an alias says so. At
    /// most [`MAX_PEOPLE`].
    ///
    /// # Errors
    /// [`IndexError::Invalid`] for too many aliases; [`IndexError::Unavailable`].
    pub async fn people(&self, aliases: &[Alias]) -> Result<Vec<Person>, IndexError> {
        let longest = aliases.iter().map(|alias| alias.aliases.len()).max();
        if aliases.len().max(longest.unwrap_or(0)) > MAX_ALIASES {
            let reason =
                format!("there are too many: give at most {MAX_ALIASES}, each of at most as many");
            return Err(Invalid::new("aliases", reason).into());
        }
        let aliases = aliases.to_owned();
        self.inner.readers.read(move |view| Ok(join(identities(view)?, &aliases))).await
    }

    /// The owner of the account as a source knows them; `None` if nothing of theirs is stored.
    ///
    /// # Errors
    /// [`IndexError::Unavailable`].
    pub async fn me(&self, source: &str) -> Result<Option<Participant>, IndexError> {
        let source = source.to_owned();
        let read = move |view: &Connection| {
            let sql = "SELECT person.id, name, username, phone, is_me FROM person JOIN source USING (src) \
                       WHERE source.id = ?1 AND is_me ORDER BY person DESC LIMIT 1";
            let mut statement = view.prepare_cached(sql)?;
            Ok(statement.query_row([source], |row| participant(row, 0)).optional()?)
        };
        self.inner.readers.read(read).await
    }
}

fn identities(view: &Connection) -> rusqlite::Result<Vec<Identity>> {
    let sql = "SELECT source.id, person.id, name, username, phone, is_me, \
               coalesce((SELECT sum(messages) FROM member WHERE member.person = person.person), 0) AS wrote, \
               (SELECT max(at) FROM message INDEXED BY message_by_person WHERE message.person = person.person) \
               FROM person JOIN source USING (src) ORDER BY wrote DESC, source.id, person.id";
    let read = |row: &Row<'_>| {
        Ok(Identity {
            source: row.get(0)?,
            participant: participant(row, 1)?,
            messages: row.get::<_, i64>(6)?.cast_unsigned(),
            last: row.get::<_, Option<i64>>(7)?.map(timestamp),
        })
    };
    view.prepare_cached(sql)?.query_map([], read)?.collect()
}

/// What two participants may have in common.
#[derive(PartialEq, Eq, Hash)]
enum Mark {
    Me,
    Phone(String),
    Username(String),
    Alias(usize),
}

fn join(identities: Vec<Identity>, aliases: &[Alias]) -> Vec<Person> {
    let members = Members::new(aliases);
    let mut groups = UnionFind::new(identities.len());
    let mut holders: HashMap<Mark, usize> = HashMap::new();
    let mut named = HashMap::new();
    for (n, identity) in identities.iter().enumerate() {
        let known = members.of(identity);
        for alias in &known {
            named.entry(*alias).or_insert(n);
        }
        let marks = marks(&identity.participant);
        for mark in marks.into_iter().chain(known.into_iter().map(Mark::Alias)) {
            let first = *holders.entry(mark).or_insert(n);
            groups.union(first, n);
        }
    }
    let mut people: Vec<Option<Person>> = identities.iter().map(|_| None).collect();
    for (n, identity) in identities.into_iter().enumerate() {
        let root = groups.find(n);
        let Some(place) = people.get_mut(root) else {
            continue;
        };
        let person = place.get_or_insert_with(|| Person {
            name: identity.participant.name.clone(),
            is_me: false,
            messages: 0,
            last: None,
            identities: Vec::new(),
        });
        person.is_me |= identity.participant.is_me;
        person.messages += identity.messages;
        person.last = person.last.max(identity.last);
        person.identities.push(identity);
    }
    // The first alias wins.
    for (n, alias) in aliases.iter().enumerate().rev() {
        let root = named.get(&n).map(|member| groups.find(*member));
        if let Some(Some(person)) = root.and_then(|root| people.get_mut(root)) {
            person.name.clone_from(&alias.name);
        }
    }
    let mut people: Vec<Person> = people.into_iter().flatten().collect();
    people.sort_by_key(|person| std::cmp::Reverse(person.messages));
    people.truncate(MAX_PEOPLE);
    people
}

fn marks(participant: &Participant) -> Vec<Mark> {
    let mut marks = Vec::new();
    if participant.is_me {
        marks.push(Mark::Me);
    }
    // A person outside the address book is named by number.
    let number = participant.name.trim_start_matches(['~', ' ', '\u{200E}', '\u{202A}']);
    let number = number.starts_with('+').then_some(number);
    let phone = participant.phone.as_deref().or(number);
    marks.extend(phone.and_then(digits).map(Mark::Phone));
    let username = participant.username.as_deref().map(fold);
    let username = username.filter(|username| !username.is_empty());
    marks.extend(username.map(Mark::Username));
    marks
}

/// Whether two texts are the same telephone number, which may begin without the code of its country.
pub fn is_number(number: &str, asked: &str) -> bool {
    digits(number).is_some_and(|number| has_number(&number, digits(asked).as_deref()))
}

/// Whether a number is the requested one, which may lack the country code.
pub(super) fn has_number(number: &str, asked: Option<&str>) -> bool {
    asked.is_some_and(|asked| number.ends_with(asked.trim_start_matches('0')))
}

/// The digits of a telephone number, without the prefix before the country code.
pub(super) fn digits(phone: &str) -> Option<String> {
    let digits: String = phone.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.strip_prefix("00").unwrap_or(&digits);
    (digits.len() >= PHONE_DIGITS).then(|| digits.to_owned())
}

/// The aliases by the names of their members.
struct Members(HashMap<String, Vec<usize>>);

impl Members {
    fn new(aliases: &[Alias]) -> Self {
        let mut members: HashMap<String, Vec<usize>> = HashMap::new();
        for (n, alias) in aliases.iter().enumerate() {
            for member in &alias.aliases {
                let keys = [Some(fold(member.trim_start_matches('@'))), digits(member)];
                for key in keys.into_iter().flatten() {
                    members.entry(key).or_default().push(n);
                }
            }
        }
        Self(members)
    }

    /// The aliases that name this one.
    fn of(&self, identity: &Identity) -> Vec<usize> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let Participant { id, name, username, phone, .. } = &identity.participant;
        let keys = [
            Some(fold(id)),
            Some(fold(name)),
            username.as_deref().map(fold),
            phone.as_deref().and_then(digits),
        ];
        let named = keys.into_iter().flatten().filter_map(|key| self.0.get(&key));
        let mut aliases: Vec<usize> = named.flatten().copied().collect();
        aliases.sort_unstable();
        aliases.dedup();
        aliases
    }
}
