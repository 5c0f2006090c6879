//! A universe as JSON text in parts, of which those without a change serve for the next state, too.
//!
//! A text of 30 MB takes long to write and is read far more often than all of it changes. After a command only the
//! parts with bodies that the command touched are written again.

use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use super::write::{self, WriteResult};
use super::{Records, State};
use crate::entity::Id;
use crate::family::Family;

/// The approximate number of bytes of bodies in a part. A command causes one or a few parts to be written again.
const PART: usize = 512 << 10;

/// A part that has grown to this many bytes is divided.
const LARGEST: usize = 2 * PART;

/// The number of bytes in the first half of a divided part.
const DIVIDED: usize = LARGEST / 2 + LARGEST / 8;

/// The number of parts that may be small, whatever the total number is.
const FEW: usize = 16;

/// A part of a text, which is valid UTF-8. Clones share it.
#[derive(Clone)]
pub struct TextPart(Arc<Piece>);

/// A [`TextPart`] escaped for a JSON string.
#[derive(Clone, Debug)]
pub struct EscapedPart(TextPart);

struct Piece {
    json: Box<[u8]>,
    /// The part escaped for a JSON string, once it was requested.
    escaped: OnceLock<Box<[u8]>>,
}

/// The JSON text of a universe in parts, with the same bytes as from [`State::write_json`].
#[derive(Debug, Clone)]
pub struct StateText {
    state: State,
    /// At least one part. All but the first begin with the comma before their first body.
    stars: Vec<Stars>,
    /// The text between the bodies and the time.
    others: TextPart,
    time: TextPart,
    /// The text after the time.
    extra: TextPart,
}

/// A part that contains bodies.
#[derive(Debug, Clone)]
struct Stars {
    /// The smallest id that belongs to it. Not used for the first part.
    from: Id,
    text: TextPart,
}

impl StateText {
    /// Writes the text.
    ///
    /// # Errors
    /// As [`State::write_json`].
    pub fn new(state: &State) -> Result<Self, serde_json::Error> {
        let all = (Bound::Unbounded, Bound::Unbounded);
        let mut stars = Vec::new();
        write_stars(&mut stars, state, all, &Arc::from(""), PART)?;
        Ok(Self {
            stars,
            others: part(|out| state.write_others(out))?,
            time: part(|out| state.write_time(out))?,
            extra: part(|out| state.write_extra(out))?,
            state: state.clone(),
        })
    }

    /// The text of another state, which reuses the parts that are the same. The cost is that of
    /// [`State::changed_since`] and of writing the changed bodies with their neighbors.
    ///
    /// # Errors
    /// As [`State::write_json`].
    pub fn updated(&self, state: &State) -> Result<Self, serde_json::Error> {
        let Some(stars) = self.updated_stars(state)? else {
            return Self::new(state);
        };
        let kept = |same: bool, part: &TextPart| same.then(|| part.clone());
        let others = match kept(state.shares_others(&self.state), &self.others) {
            Some(others) => others,
            None => part(|out| state.write_others(out))?,
        };
        let extra = match kept(Arc::ptr_eq(&state.extra, &self.state.extra), &self.extra) {
            Some(extra) => extra,
            None => part(|out| state.write_extra(out))?,
        };
        Ok(Self {
            stars,
            others,
            time: part(|out| state.write_time(out))?,
            extra,
            state: state.clone(),
        })
    }

    /// Whether this is the text of `state`, as far as this can be decided in constant time.
    pub fn is_of(&self, state: &State) -> bool {
        self.state.stars.ptr_eq(&state.stars)
            && state.shares_others(&self.state)
            && self.state.time.to_bits() == state.time.to_bits()
            && Arc::ptr_eq(&self.state.extra, &state.extra)
    }

    /// The parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &TextPart> {
        let stars = self.stars.iter().map(|stars| &stars.text);
        stars.chain([&self.others, &self.time, &self.extra])
    }

    /// The number of bytes of the text.
    pub fn len(&self) -> usize {
        self.parts().map(|part| part.0.json.len()).sum()
    }

    /// The number of bytes that the parts take, including their escaped forms so far.
    pub fn size(&self) -> usize {
        let escaped = |part: &TextPart| part.0.escaped.get().map_or(0, |text| text.len());
        let sizes = self.parts().map(|part| part.0.json.len() + escaped(part));
        sizes.sum()
    }

    /// Always false: the text of the empty universe has bytes too.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parts with the bodies of `state`. `None` if writing all of them costs no more.
    fn updated_stars(&self, state: &State) -> Result<Option<Vec<Stars>>, serde_json::Error> {
        if state.stars.ptr_eq(&self.state.stars) {
            return Ok(Some(self.stars.clone()));
        }
        let changed = state.changed_since(&self.state);
        // Bodies come first.
        let changed = changed.take_while(|(family, _)| *family == Family::Stars);
        let mut changed = changed.map(|(_, id)| id).peekable();
        let mut stars = Vec::with_capacity(self.stars.len());
        for (index, old) in self.stars.iter().enumerate() {
            let next = self.stars.get(index + 1).map(|next| &next.from);
            let is_here = |id: &&Id| next.is_none_or(|next| ***id < **next);
            let mut is_changed = false;
            while changed.next_if(is_here).is_some() {
                is_changed = true;
            }
            if !is_changed {
                stars.push(old.clone());
                continue;
            }
            let from = match index {
                0 => Bound::Unbounded,
                _ => Bound::Included(&*old.from),
            };
            let until = next.map_or(Bound::Unbounded, |next| Bound::Excluded(&**next));
            let (range, before) = ((from, until), stars.len());
            let is_empty = !write_stars(&mut stars, state, range, &old.from, LARGEST)?;
            match index {
                // The next part begins with a comma.
                0 if is_empty => return Ok(None),
                // From now on the ids belong to the part before.
                _ if is_empty => stars.truncate(before),
                _ if stars.len() > before + 1 => {
                    stars.truncate(before);
                    write_stars(&mut stars, state, range, &old.from, DIVIDED)?;
                }
                _ => {}
            }
        }
        // Many parts have become small.
        if stars.len() > 2 * (self.len() / PART) + FEW {
            return Ok(None);
        }
        Ok(Some(stars))
    }
}

impl TextPart {
    fn new(json: Box<[u8]>) -> Self {
        let escaped = OnceLock::new();
        Self(Arc::new(Piece { json, escaped }))
    }

    /// The part escaped for a JSON string. The first call escapes it with `escape`; the result is kept.
    pub fn escaped(&self, escape: impl FnOnce(&str) -> String) -> EscapedPart {
        self.0.escaped.get_or_init(|| {
            // The text is JSON, and parts are divided between members.
            let json = str::from_utf8(&self.0.json).unwrap_or_default();
            escape(json).into_bytes().into()
        });
        EscapedPart(self.clone())
    }

    /// Whether [`escaped`](Self::escaped) has its result already.
    pub fn is_escaped(&self) -> bool {
        self.0.escaped.get().is_some()
    }
}

impl AsRef<[u8]> for EscapedPart {
    fn as_ref(&self) -> &[u8] {
        self.0.0.escaped.get().map_or(&[], |escaped| escaped)
    }
}

impl AsRef<[u8]> for TextPart {
    fn as_ref(&self) -> &[u8] {
        &self.0.json
    }
}

impl fmt::Debug for TextPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.0.json.len())
    }
}

impl State {
    /// Whether both have the same values except for bodies, time and unknown members.
    fn shares_others(&self, other: &Self) -> bool {
        let records = |one: &Records, other: &Records| one.ptr_eq(other);
        self.root_ids.is_shared(&other.root_ids)
            && self.groups.ptr_eq(&other.groups)
            && self.root_group_ids.is_shared(&other.root_group_ids)
            && records(&self.belts, &other.belts)
            && records(&self.small_body_fields, &other.small_body_fields)
            && records(&self.protoplanetary_disks, &other.protoplanetary_disks)
            && records(&self.nebulae, &other.nebulae)
    }
}

/// Writes the bodies with ids in a range as parts of hardly more than `most` bytes. Returns whether there are any.
fn write_stars(
    parts: &mut Vec<Stars>,
    state: &State,
    range: (Bound<&str>, Bound<&str>),
    from: &Id,
    most: usize,
) -> Result<bool, serde_json::Error> {
    let (mut out, mut from, mut any) = (Vec::new(), Arc::clone(from), false);
    if parts.is_empty() {
        write::begin_stars(&mut out)?;
    }
    for (id, star) in state.stars.range::<_, str>(range) {
        if out.len() >= most {
            finish(parts, &mut out, from);
            from = Arc::clone(id);
        }
        // The first body in the text has no comma before it.
        if any || !parts.is_empty() {
            out.push(b',');
        }
        any = true;
        write::star(&mut out, id, star)?;
    }
    finish(parts, &mut out, from);
    Ok(any)
}

/// Makes a part of the written bytes. The buffer is used again for the next part.
fn finish(parts: &mut Vec<Stars>, out: &mut Vec<u8>, from: Id) {
    let text = TextPart::new(out.as_slice().into());
    out.clear();
    parts.push(Stars { from, text });
}

fn part(write: impl FnOnce(&mut Vec<u8>) -> WriteResult) -> Result<TextPart, serde_json::Error> {
    let mut out = Vec::new();
    write(&mut out)?;
    Ok(TextPart::new(out.into()))
}
