//! From JSON text to a universe, one entity at a time: no tree of the whole is built.
//!
//! A text whose structure is not that of a universe is then read as a tree, to report what is wrong with it.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::State;
use super::import::{
    beside_sections, by_id, link_groups, link_stars, read_group, read_record, read_star,
};
use crate::check::{check_entry, check_object};
use crate::entity::members::{Text, TextSlice, text_in, without_braces};
use crate::entity::tables::UNIVERSE;
use crate::entity::{Group, Id, LazyMembers, Members, Record, Star};
use crate::family::Family;
use crate::finding::{Findings, Path};
use crate::member::Mode;
use crate::warning::{self, Strictness};

/// Reads the JSON text of one value as strictly as the caller likes.
///
/// # Errors
/// A sentence: what is wrong with it.
pub type ReadValue<'a> = dyn Fn(&str) -> Result<Value, String> + 'a;

/// A text is not a universe.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// It is not JSON.
    #[error("{0}")]
    Json(String),
    /// Members are missing, of a wrong type, or contradict each other.
    #[error(transparent)]
    Findings(#[from] Findings),
}

impl State {
    /// Reads the text of a universe that this crate wrote. Each entity stays a piece of this text until it is read, so
    /// this takes a fifth of the time of [`State::from_value`]. The members of entities are not checked again.
    ///
    /// # Errors
    /// As for [`State::from_value`]; [`TextError::Json`] for a text that is not JSON.
    pub fn from_text(text: String) -> Result<Self, TextError> {
        let text = Arc::new(text);
        if let Some(read) = Reader::new(Source::Stored(&text)).read(&text)
            && read.is_sound
            && read.state.check_but_stars().is_ok()
        {
            return Ok(read.state);
        }
        let value = serde_json::from_str(&text);
        let value = value.map_err(|problem| TextError::Json(problem.to_string()))?;
        Ok(Self::from_value(value)?)
    }

    /// [`State::read_partial`] of a text. Only the tree of one entity is in memory at a time; `value` makes it.
    ///
    /// # Errors
    /// As for [`State::read_partial`]; [`TextError::Json`] with what `value` says of a text that is not JSON.
    pub fn read_text(
        text: &str,
        strictness: Strictness,
        value: &ReadValue<'_>,
    ) -> Result<(Self, Findings), TextError> {
        let Some(read) = Reader::new(Source::Given { strictness, value }).read(text) else {
            let tree = value(text).map_err(TextError::Json)?;
            return Ok(Self::read_partial(tree, strictness)?);
        };
        let Reader { state, findings, warnings, .. } = read;
        findings.into_result()?;
        state.check()?;
        match strictness {
            Strictness::Strict if !warnings.is_empty() => Err(warnings.into()),
            _ => Ok((state, warnings)),
        }
    }
}

/// Where a text comes from.
enum Source<'s> {
    /// Written by this crate: well-formed, and kept safe since.
    Stored(&'s Arc<String>),
    /// Given by a user.
    Given { strictness: Strictness, value: &'s ReadValue<'s> },
}

/// A universe while it is read.
struct Reader<'s> {
    source: Source<'s>,
    state: State,
    stars: Vec<Star>,
    groups: Vec<Group>,
    /// Whether the bodies keep the invariants, and each id stands once.
    is_sound: bool,
    /// The members that are not read separately.
    rest: Members,
    findings: Findings,
    warnings: Findings,
}

impl<'s> Reader<'s> {
    fn new(source: Source<'s>) -> Self {
        Self {
            source,
            state: State::default(),
            stars: Vec::new(),
            groups: Vec::new(),
            is_sound: true,
            rest: Members::new(),
            findings: Findings::default(),
            warnings: Findings::default(),
        }
    }

    /// `None` if the structure of the text is not that of a universe.
    fn read(mut self, text: &str) -> Option<Self> {
        let mut json = serde_json::Deserializer::from_str(text);
        json.deserialize_map(&mut self).ok()?;
        json.end().ok()?;
        if let Source::Given { strictness, .. } = self.source {
            let (rest, findings) = (&self.rest, &mut self.findings);
            check_object(rest, &UNIVERSE, Mode::Part, &Path::ROOT, findings);
            let warnings = &mut self.warnings;
            warning::judge(rest, &UNIVERSE, Mode::Part, strictness, warnings);
        }
        let time = self.rest.remove("time");
        self.state.time = time.and_then(|time| time.as_f64()).unwrap_or(0.0) + 0.0;
        self.state.extra = Arc::new(beside_sections(std::mem::take(&mut self.rest)));
        let mut stars = std::mem::take(&mut self.stars);
        self.is_sound = link_stars(&mut stars, &self.state.root_ids);
        let mut groups = std::mem::take(&mut self.groups);
        self.state.memberships = link_groups(&mut groups, &self.state.root_group_ids);
        let counts = (stars.len(), groups.len());
        self.state.stars = by_id(stars, |star| Arc::clone(&star.id));
        self.state.groups = by_id(groups, |group| Arc::clone(&group.id));
        self.state.derive_all();
        // An id that stands twice is not the structure of a universe.
        (counts == (self.state.stars.len(), self.state.groups.len())).then_some(self)
    }

    /// Takes in an entity: whether it has the structure of one, as far as that matters here.
    fn take(&mut self, family: Family, key: &str, text: &str) -> bool {
        match self.source {
            Source::Stored(whole) => self.take_stored(whole, family, key, text).is_some(),
            Source::Given { strictness, value } => {
                let (name, section) = (family.name(), Path::ROOT);
                let section = section.at(&name);
                match value(text) {
                    Ok(entity) => self.judge(family, key, entity, strictness),
                    Err(problem) => {
                        self.findings.push(&section.at(&key), problem);
                        true
                    }
                }
            }
        }
    }

    /// Accepts a user's entity if nothing is wrong with it.
    fn judge(&mut self, family: Family, key: &str, entity: Value, strictness: Strictness) -> bool {
        let (name, section) = (family.name(), Path::ROOT);
        let section = section.at(&name);
        let (place, table) = (section.at(&key), family.table());
        let before = self.findings.count();
        check_entry(key, &entity, table, &place, &mut self.findings);
        let (true, Value::Object(members)) = (self.findings.count() == before, entity) else {
            return true;
        };
        let warnings = &mut self.warnings;
        warning::judge_at(&place, &members, table, Mode::Whole, strictness, warnings);
        match family {
            Family::Stars => self.stars.push(read_star(members)),
            Family::Groups => self.groups.push(read_group(members)),
            _ => return self.keep_record(family, key, read_record(members)),
        }
        true
    }

    /// Takes in an entity that this crate wrote; `None` if it did not.
    fn take_stored(
        &mut self,
        whole: &Arc<String>,
        family: Family,
        key: &str,
        text: &str,
    ) -> Option<()> {
        let members = |text| TextSlice::of(whole, text).map(LazyMembers::from_text);
        match family {
            Family::Stars => {
                let star = split_star(text).filter(|star| star.id == key)?;
                self.stars.push(Star {
                    id: key.into(),
                    parent: star.parent.map(|parent| Id::from(&*parent.0)),
                    slot: None,
                    children: ids(&star.children),
                    members: members(star.members)?,
                    derived: None,
                });
            }
            // There are few of them, and their children may have any members.
            Family::Groups => {
                let group = serde_json::from_str(text).ok()?;
                self.groups.push(Some(read_group(group)).filter(|group| *group.id == *key)?);
            }
            _ => {
                let text = without_braces(text)?;
                text_in(text, "id").filter(|id| id == key)?;
                let members = members(text)?;
                self.keep_record(family, key, Record { members }).then_some(())?;
            }
        }
        Some(())
    }

    /// False if there is one under this key.
    fn keep_record(&mut self, family: Family, key: &str, record: Record) -> bool {
        let records = match family {
            Family::Belts => &mut self.state.belts,
            Family::SmallBodyFields => &mut self.state.small_body_fields,
            Family::ProtoplanetaryDisks => &mut self.state.protoplanetary_disks,
            Family::Nebulae => &mut self.state.nebulae,
            // They are not records.
            Family::Stars | Family::Groups => return false,
        };
        records.insert(key.into(), record).is_none()
    }
}

/// A body as it was written, in pieces.
struct StarText<'t> {
    id: &'t str,
    members: &'t str,
    parent: Option<Text<'t>>,
    children: Vec<Text<'t>>,
}

/// Takes the text of a body apart, which must be JSON. `None` unless it begins with its id and ends with its parent and
/// its children, as it is written.
///
/// Neither of the two names can stand within text, where quotes are escaped. If one stands in an object further in,
/// what follows it has more braces than one.
fn split_star(text: &str) -> Option<StarText<'_>> {
    let (id, rest) = text.strip_prefix(r#"{"id":""#)?.split_once('"')?;
    let (rest, children) = rest.strip_suffix('}')?.rsplit_once(r#","children":"#)?;
    let (members, parent) = rest.rsplit_once(r#","parentId":"#)?;
    Some(StarText {
        // With escapes it differs from its key, and is read otherwise.
        id,
        members: members.strip_prefix(',').unwrap_or(members),
        parent: serde_json::from_str(parent).ok()?,
        children: match children {
            "[]" => Vec::new(),
            some => serde_json::from_str(some).ok()?,
        },
    })
}

/// Ends the reading of a text whose structure is not that of a universe. The text is read again as a tree then.
fn odd<E: serde::de::Error>() -> E {
    E::custom("not the structure of a universe")
}

fn ids(ids: &[Text<'_>]) -> super::Sequence<Id> {
    ids.iter().map(|id| Id::from(&*id.0)).collect()
}

impl<'de> Visitor<'de> for &mut Reader<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a universe")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(Text(name)) = members.next_key()? {
            if let Some(family) = Family::find(&name) {
                let reader = &mut *self;
                members.next_value_seed(Section { reader, family })?;
            } else if name == "rootIds" {
                self.state.root_ids = ids(&members.next_value::<Vec<_>>()?);
            } else if name == "rootGroupIds" {
                self.state.root_group_ids = ids(&members.next_value::<Vec<_>>()?);
            } else {
                let text = members.next_value::<&RawValue>()?.get();
                let value = match self.source {
                    Source::Stored(_) => serde_json::from_str(text).map_err(A::Error::custom)?,
                    Source::Given { value, .. } => value(text).map_err(A::Error::custom)?,
                };
                self.rest.insert(name.clone().into_owned(), value);
            }
            if !seen.insert(name) {
                return Err(odd());
            }
        }
        let is_whole = ["stars", "rootIds", "time"].iter().all(|name| seen.contains(*name));
        match self.source {
            Source::Stored(_) if !is_whole => Err(odd()),
            _ => Ok(()),
        }
    }
}

/// The entities of a family.
struct Section<'r, 's> {
    reader: &'r mut Reader<'s>,
    family: Family,
}

impl<'de> DeserializeSeed<'de> for Section<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Section<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object from id to entity")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entities: A) -> Result<(), A::Error> {
        let Self { reader, family } = self;
        while let Some(Text(key)) = entities.next_key()? {
            let text = entities.next_value::<&RawValue>()?;
            if !reader.take(family, &key, text.get()) {
                return Err(odd());
            }
        }
        Ok(())
    }
}
