//! Writes a universe as JSON text by copying the parts that are text already.
//!
//! The members of entities are kept as they were written. Serde would check each of them again for valid JSON.

use std::sync::Arc;

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use super::sequence::Sequence;
use super::{Records, SECTIONS, Section, State};
use crate::entity::members::without_braces;
use crate::entity::{Group, Id, LazyMembers, Star};

pub(super) type WriteResult = Result<(), serde_json::Error>;

impl State {
    /// The universe as JSON text.
    ///
    /// # Errors
    /// As [`write_json`](Self::write_json).
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut out = Vec::new();
        self.write_json(&mut out).map(|()| out)
    }

    /// The universe as it is stored: without what follows from the elements of its bodies, with what they had before.
    ///
    /// # Errors
    /// As [`write_json`](Self::write_json).
    pub fn to_stored_json(&self, capacity: usize) -> Result<Vec<u8>, serde_json::Error> {
        let mut stored = self.clone();
        let derived = stored.stars.values().filter(|star| star.derived.is_some());
        let ids: Vec<Id> = derived.map(|star| Arc::clone(&star.id)).collect();
        for id in ids {
            if let Some(star) = stored.star_mut(&id) {
                star.derived = None;
            }
        }
        // A buffer that grows while the text is written is at times in memory twice.
        let mut out = Vec::with_capacity(capacity);
        stored.write_json(&mut out).map(|()| out)
    }

    /// The universe as JSON text if that has at most `max` bytes. Otherwise little more than that is written.
    ///
    /// # Errors
    /// As [`write_json`](Self::write_json).
    pub fn to_json_within(&self, max: usize) -> Result<Option<Vec<u8>>, serde_json::Error> {
        let mut out = Vec::new();
        let is_within = self.write_within(&mut out, max)? && out.len() <= max;
        Ok(is_within.then_some(out))
    }

    /// Appends the universe as JSON text: the same bytes as with serde, many times faster.
    ///
    /// # Errors
    /// None in practice: the keys of a state are strings, and its numbers come from JSON.
    pub fn write_json(&self, out: &mut Vec<u8>) -> WriteResult {
        self.write_within(out, usize::MAX).map(drop)
    }

    /// The same, and stops with false after the body with which it has more bytes than `max`.
    fn write_within(&self, out: &mut Vec<u8>, max: usize) -> Result<bool, serde_json::Error> {
        begin_stars(out)?;
        for (index, (id, star)) in self.stars.iter().enumerate() {
            if out.len() > max {
                return Ok(false);
            }
            if index > 0 {
                out.push(b',');
            }
            self::star(out, id, star)?;
        }
        self.write_others(out)?;
        self.write_time(out)?;
        self.write_extra(out)?;
        Ok(true)
    }

    /// What stands between the last body and the time.
    pub(super) fn write_others(&self, out: &mut Vec<u8>) -> WriteResult {
        out.push(b'}');
        let [_stars, others @ ..] = SECTIONS;
        for section in others {
            out.push(b',');
            text(out, section)?;
            out.push(b':');
            match section {
                "rootIds" => ids(out, &self.root_ids)?,
                "groups" => map(out, self.groups.iter(), |out, group| group.write_json(out))?,
                "belts" => records(out, &self.belts)?,
                "smallBodyFields" => records(out, &self.small_body_fields)?,
                "protoplanetaryDisks" => records(out, &self.protoplanetary_disks)?,
                "nebulae" => records(out, &self.nebulae)?,
                name => serde_json::to_writer(&mut *out, &Section { state: self, name })?,
            }
        }
        Ok(())
    }

    pub(super) fn write_time(&self, out: &mut Vec<u8>) -> WriteResult {
        out.extend_from_slice(b",\"time\":");
        serde_json::to_writer(out, &self.time)
    }

    /// What stands after the time.
    pub(super) fn write_extra(&self, out: &mut Vec<u8>) -> WriteResult {
        for (name, value) in &*self.extra {
            out.push(b',');
            text(out, name)?;
            out.push(b':');
            serde_json::to_writer(&mut *out, value)?;
        }
        out.push(b'}');
        Ok(())
    }
}

/// What stands before the first body.
pub(super) fn begin_stars(out: &mut Vec<u8>) -> WriteResult {
    let [stars, ..] = SECTIONS;
    out.push(b'{');
    text(out, stars)?;
    out.extend_from_slice(b":{");
    Ok(())
}

/// A body with its key.
pub(super) fn star(out: &mut Vec<u8>, id: &Id, star: &Star) -> WriteResult {
    text(out, id)?;
    out.push(b':');
    star.write_json(out)
}

impl Star {
    fn write_json(&self, out: &mut Vec<u8>) -> WriteResult {
        match &self.derived {
            None => begin(out, &self.id, &self.members)?,
            Some(derived) => {
                let given = self.members.iter().filter(|(name, _)| !derived.contains_key(*name));
                let mut members: Vec<_> = given.chain(derived.iter()).collect();
                members.sort_by_key(|(name, _)| *name);
                key(out, &self.id)?;
                for (name, value) in members {
                    out.push(b',');
                    text(out, name)?;
                    out.push(b':');
                    serde_json::to_writer(&mut *out, value)?;
                }
                out.push(b',');
            }
        }
        end(out, "parentId", self.parent.as_ref())?;
        ids(out, &self.children)?;
        out.push(b'}');
        Ok(())
    }
}

impl Group {
    fn write_json(&self, out: &mut Vec<u8>) -> WriteResult {
        begin(out, &self.id, &self.members)?;
        end(out, "parentGroupId", self.parent.as_ref())?;
        serde_json::to_writer(&mut *out, &self.children)?;
        out.push(b'}');
        Ok(())
    }
}

impl Serialize for Star {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_it_is(serializer, |out| self.write_json(out))
    }
}

impl Serialize for Group {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_it_is(serializer, |out| self.write_json(out))
    }
}

/// Gives serde what was written as JSON.
fn as_it_is<S: Serializer>(
    serializer: S,
    write: impl FnOnce(&mut Vec<u8>) -> WriteResult,
) -> Result<S::Ok, S::Error> {
    let mut out = Vec::with_capacity(512);
    write(&mut out).map_err(S::Error::custom)?;
    let text = String::from_utf8(out).map_err(S::Error::custom)?;
    let raw = RawValue::from_string(text).map_err(S::Error::custom)?;
    raw.serialize(serializer)
}

/// An entity as far as its key.
fn key(out: &mut Vec<u8>, id: &Id) -> WriteResult {
    out.extend_from_slice(b"{\"id\":");
    text(out, id)
}

/// An entity as far as its members, and the comma after them.
fn begin(out: &mut Vec<u8>, id: &Id, members: &LazyMembers) -> WriteResult {
    key(out, id)?;
    out.push(b',');
    let written;
    let members = match members.as_text() {
        Some(members) => members,
        None => {
            written = serde_json::to_string(&**members)?;
            without_braces(&written).unwrap_or_default()
        }
    };
    out.extend_from_slice(members.as_bytes());
    if !members.is_empty() {
        out.push(b',');
    }
    Ok(())
}

/// What follows them, as far as the children.
fn end(out: &mut Vec<u8>, name: &str, parent: Option<&Id>) -> WriteResult {
    text(out, name)?;
    out.push(b':');
    match parent {
        Some(parent) => text(out, parent)?,
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"children\":");
    Ok(())
}

fn map<'a, T: 'a>(
    out: &mut Vec<u8>,
    entries: impl Iterator<Item = (&'a Id, &'a T)>,
    write: impl Fn(&mut Vec<u8>, &T) -> WriteResult,
) -> WriteResult {
    let mut before = b'{';
    for (id, entry) in entries {
        out.push(before);
        text(out, id)?;
        out.push(b':');
        write(out, entry)?;
        before = b',';
    }
    if before == b'{' {
        out.push(before);
    }
    out.push(b'}');
    Ok(())
}

fn records(out: &mut Vec<u8>, records: &Records) -> WriteResult {
    map(out, records.iter(), |out, record| match record.members.as_text() {
        Some(members) => {
            out.push(b'{');
            out.extend_from_slice(members.as_bytes());
            out.push(b'}');
            Ok(())
        }
        None => serde_json::to_writer(out, record),
    })
}

fn ids(out: &mut Vec<u8>, ids: &Sequence<Id>) -> WriteResult {
    out.push(b'[');
    for (index, id) in ids.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        text(out, id)?;
    }
    out.push(b']');
    Ok(())
}

/// A string. Hardly any has something to escape.
fn text(out: &mut Vec<u8>, text: &str) -> WriteResult {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return Ok(());
    }
    serde_json::to_writer(out, text)
}
