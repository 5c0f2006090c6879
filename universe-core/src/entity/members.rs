//! The members of an entity, kept as JSON text until something looks into them.
//!
//! A universe of 100,000 bodies is read, kept and written many times as often as each of its bodies is looked at. As
//! text its members take a quarter of the memory, and neither reading nor writing the universe parses them.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use super::Members;

/// Members that are parsed when they are first looked at, and stay parsed then. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct LazyMembers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// `None` for what was given as a map.
    text: Option<TextSlice>,
    read: OnceLock<Members>,
}

/// A piece of a text, which lives as long as any piece of it.
#[derive(Debug, Clone)]
pub(crate) struct TextSlice {
    whole: Arc<String>,
    range: Range<usize>,
}

impl TextSlice {
    /// This piece of `whole`; `None` if it is not one.
    pub(crate) fn of(whole: &Arc<String>, piece: &str) -> Option<Self> {
        let begin = piece.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
        let part = Self { whole: Arc::clone(whole), range: begin..begin.checked_add(piece.len())? };
        (part.whole.get(part.range.clone()) == Some(piece)).then_some(part)
    }

    fn as_str(&self) -> &str {
        // It was found to be within the text.
        self.whole.get(self.range.clone()).unwrap_or_default()
    }
}

impl LazyMembers {
    /// Members that were written as a JSON object, without its braces and without white space between them.
    pub(crate) fn from_text(text: TextSlice) -> Self {
        Self(Arc::new(Inner { text: Some(text), read: OnceLock::new() }))
    }

    /// The members as text, and not as a map: for a universe that is kept and hardly looked at.
    pub(crate) fn written(members: Members) -> Self {
        let text = serde_json::to_string(&members).ok().map(|mut text| {
            text.shrink_to_fit();
            Arc::new(text)
        });
        let inner = text.as_ref().and_then(|text| without_braces(text));
        let part = text.as_ref().zip(inner);
        match part.and_then(|(text, inner)| TextSlice::of(text, inner)) {
            Some(part) => Self::from_text(part),
            // Its keys are strings and its numbers come from JSON, so this is not reached.
            None => members.into(),
        }
    }

    /// Changes the members; what shares them keeps them as they were.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut Members)) {
        let mut members = (**self).clone();
        change(&mut members);
        *self = members.into();
    }

    /// The text, if there is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        self.0.text.as_ref().map(TextSlice::as_str)
    }

    /// How many bytes the text has, if there is one.
    pub(crate) fn text_len(&self) -> Option<usize> {
        self.0.text.as_ref().map(|text| text.range.len())
    }

    /// A member that is text. Does not parse the others, and keeps nothing.
    pub(crate) fn text_of(&self, member: &str) -> Option<Cow<'_, str>> {
        match self.unread() {
            Some(members) => text_in(members, member),
            None => self.get(member)?.as_str().map(Cow::Borrowed),
        }
    }

    /// Whether there may be such a member: its name stands somewhere.
    pub(crate) fn may_have(&self, member: &str) -> bool {
        match self.unread() {
            Some(members) => members.contains(member),
            None => self.contains_key(member),
        }
    }

    /// Whether there is such a member. Parses and keeps nothing.
    pub(crate) fn has(&self, member: &str) -> bool {
        match self.unread() {
            Some(members) => find(members, member).is_some(),
            None => self.contains_key(member),
        }
    }

    /// The members as a type. Keeps nothing; `None` if they do not fit.
    pub(crate) fn parsed<T: DeserializeOwned>(&self) -> Option<T> {
        match self.unread() {
            Some(members) => serde_json::from_str(&with_braces(members)).ok(),
            // As text, since serde reads a map by value alone.
            None => serde_json::from_str(&serde_json::to_string(&**self).ok()?).ok(),
        }
    }

    /// The text, as long as it has not been read.
    fn unread(&self) -> Option<&str> {
        match self.0.read.get() {
            Some(_) => None,
            None => self.0.text.as_ref().map(TextSlice::as_str),
        }
    }
}

impl From<Members> for LazyMembers {
    fn from(members: Members) -> Self {
        Self(Arc::new(Inner { text: None, read: members.into() }))
    }
}

impl Deref for LazyMembers {
    type Target = Members;

    fn deref(&self) -> &Members {
        let Inner { text, read } = &*self.0;
        // The text was read as JSON, or written from a map, before it was kept.
        let parse = |text: &TextSlice| {
            serde_json::from_str(&with_braces(text.as_str())).unwrap_or_default()
        };
        read.get_or_init(|| text.as_ref().map_or_else(Members::new, parse))
    }
}

/// Equal as JSON.
impl PartialEq for LazyMembers {
    fn eq(&self, other: &Self) -> bool {
        let same_text = match (&self.0.text, &other.0.text) {
            (Some(text), Some(other)) => text.as_str() == other.as_str(),
            _ => false,
        };
        Arc::ptr_eq(&self.0, &other.0) || same_text || **self == **other
    }
}

impl Serialize for LazyMembers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.text {
            Some(text) => RawValue::from_string(with_braces(text.as_str()))
                .map_err(S::Error::custom)?
                .serialize(serializer),
            None => (**self).serialize(serializer),
        }
    }
}

/// Text in JSON: a piece of it, unless escapes had to be resolved.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'t>(#[serde(borrow)] pub(crate) Cow<'t, str>);

/// The members of an object as text, without the braces around them.
pub(crate) fn without_braces(object: &str) -> Option<&str> {
    object.strip_prefix('{')?.strip_suffix('}')
}

fn with_braces(members: &str) -> String {
    ["{", members, "}"].concat()
}

/// A member that is text, among members without braces.
pub(crate) fn text_in<'t>(members: &'t str, member: &str) -> Option<Cow<'t, str>> {
    let text = find(members, member)?;
    // A piece of the members, unless escapes have to be resolved.
    match text.strip_prefix('"')?.strip_suffix('"')? {
        plain if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
        _ => serde_json::from_str(text).ok().map(Cow::Owned),
    }
}

/// The JSON text of a member, among members without braces.
fn find<'t>(members: &'t str, member: &str) -> Option<&'t str> {
    let object = with_braces(members);
    let mut json = serde_json::Deserializer::from_str(&object);
    let found = json.deserialize_map(Find(member)).ok().flatten()?;
    let begin = found.as_ptr().addr() - object.as_ptr().addr() - 1;
    members.get(begin..begin + found.len())
}

struct Find<'m>(&'m str);

impl<'de> Visitor<'de> for Find<'_> {
    type Value = Option<&'de str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Text(name)) = members.next_key()? {
            if name == self.0 {
                found = Some(members.next_value::<&'de RawValue>()?.get());
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}
