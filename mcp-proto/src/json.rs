//! Strict JSON for input from outside: UTF-8, bounded nesting, bounded memory, no repeated member names.
//!
//! `serde_json` lets the last of two equal member names win. Two readers that disagree on the winner are how a request
//! passes one check and is executed as another, so a repeated name is refused at any depth (RFC 7493 §2.3).

mod meter;
mod size;
mod string;

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_path_to_error::Segment;

pub use meter::{MAX_TREE_BYTES, Meter};
pub(crate) use size::json_size;
pub use string::escaped;
pub(crate) use string::{on_one_line, push_string, to_json, without_lone_surrogates};

/// The deepest nesting of arrays and objects that is read. Deeper text is a parse error, never a stack overflow.
pub const MAX_DEPTH: usize = 127;

/// Arrays of more bytes than this release their unused capacity: smaller blocks would not be reused.
const SHRUNK_BYTES: usize = 4096;

/// The longest piece of a client's text that an error quotes, in bytes.
const MAX_QUOTED: usize = 200;

/// Why a text is not accepted as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonError {
    /// Not JSON, not UTF-8, too deep, or a number out of range.
    Syntax(String),
    /// Valid JSON so far, but an object has a member twice, or the [`Meter`] has exceeded its allowance.
    Refused(String),
}

/// Reads one JSON text with `seed`; [`Strict`] returns a tree.
pub(crate) fn parse<'t, S: DeserializeSeed<'t>>(
    text: &'t [u8],
    seed: S,
) -> Result<S::Value, JsonError> {
    let text = std::str::from_utf8(text).map_err(|error| {
        JsonError::Syntax(format!(
            "the message is not UTF-8: bad byte at offset {}",
            error.valid_up_to()
        ))
    })?;
    from_text(text, seed).map_err(|error| {
        if error.is_data() {
            JsonError::Refused(error.to_string())
        } else {
            JsonError::Syntax(format!("the message is not JSON: {error}"))
        }
    })
}

/// Reads one JSON text with `seed`, for callers that do not need words for an error.
///
/// # Errors
/// As [`parse`], in serde's words.
pub(crate) fn from_text<'t, S: DeserializeSeed<'t>>(
    text: &'t str,
    seed: S,
) -> serde_json::Result<S::Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Reads one JSON text and counts the memory of its tree with `meter`.
///
/// # Errors
/// A sentence: not JSON, not UTF-8, too deep, a member twice, or over the meter's allowance.
pub fn read(text: &[u8], meter: &Meter) -> Result<Value, String> {
    parse(text, Strict(meter)).map_err(|error| match error {
        JsonError::Syntax(problem) | JsonError::Refused(problem) => problem,
    })
}

/// Builds a [`Value`] as far as the meter allows, and refuses repeated member names. serde_json's own recursion limit
/// bounds the depth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strict<'m>(pub(crate) &'m Meter);

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.0.string(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<Value, E> {
        self.0.string(value.capacity())?;
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            let places = array.capacity();
            if array.len() == places {
                let more = places.max(1);
                self.0.array(places, places + more)?;
                array.reserve_exact(more);
            }
            array.push(item);
        }
        if array.len() < array.capacity() && size_of_val(array.as_slice()) > SHRUNK_BYTES {
            self.0.array(array.capacity(), array.len())?;
            array.shrink_to_fit();
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            self.0.member(&name, object.len())?;
            let value = members.next_value_seed(self)?;
            match object.entry(name) {
                serde_json::map::Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                serde_json::map::Entry::Occupied(entry) => {
                    return Err(twice(entry.key()));
                }
            }
        }
        Ok(Value::Object(object))
    }
}

/// What an object is read into, one member after the other, without a map in between.
pub(crate) trait Fields: Default {
    fn take<'de, A: MapAccess<'de>>(&mut self, member: Member<'_, A>) -> Result<(), A::Error>;
}

/// Reads an object into its fields.
pub(crate) struct Object<'m, F> {
    meter: &'m Meter,
    fields: F,
}

/// A member of an object. Its value is read by one of its methods.
pub(crate) struct Member<'m, A> {
    pub(crate) name: &'m str,
    pub(crate) meter: &'m Meter,
    value: &'m mut A,
}

/// The members of an optional object; `None` for a value of another kind. Absent ones are written as `null` by clients
/// in Rust and Swift, and as `[]` by those in PHP.
pub(crate) fn object_or_empty(value: Option<Value>) -> Option<Map<String, Value>> {
    match value {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(members)) => Some(members),
        Some(Value::Array(items)) if items.is_empty() => Some(Map::new()),
        Some(_) => None,
    }
}

/// A text, borrowed unless it is written with escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

impl<'de, A: MapAccess<'de>> Member<'_, A> {
    /// Its value, of any kind.
    pub(crate) fn tree(&mut self) -> Result<Value, A::Error> {
        self.value.next_value_seed(Strict(self.meter))
    }

    /// Its value, which must be an object.
    pub(crate) fn object<F: Fields>(&mut self) -> Result<F, A::Error> {
        self.value.next_value_seed(Object::new(self.meter))
    }

    /// Its value, which must be a text and is not counted.
    pub(crate) fn text(&mut self) -> Result<Cow<'de, str>, A::Error> {
        let Text(text) = self.value.next_value()?;
        Ok(text)
    }

    /// Puts its value into a field, which must be free.
    pub(crate) fn put<T>(&self, field: &mut Option<T>, value: T) -> Result<(), A::Error> {
        match field.replace(value) {
            None => Ok(()),
            Some(_) => Err(twice(self.name)),
        }
    }
}

impl<'m, F: Fields> Object<'m, F> {
    pub(crate) fn new(meter: &'m Meter) -> Self {
        Self { meter, fields: F::default() }
    }
}

impl<'de, F: Fields> DeserializeSeed<'de> for Object<'_, F> {
    type Value = F;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<F, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: Fields> Visitor<'de> for Object<'_, F> {
    type Value = F;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<F, A::Error> {
        while let Some(Text(name)) = members.next_key()? {
            let value = &mut members;
            self.fields.take(Member { name: &name, meter: self.meter, value })?;
        }
        Ok(self.fields)
    }
}

/// The error for an object with two members of the same name.
pub(crate) fn twice<E: serde::de::Error>(name: &str) -> E {
    E::custom(format_args!("the member {:?} is given twice", quoted(name)))
}

/// The beginning of a client's text, for an error message.
pub(crate) fn quoted(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_QUOTED)).unwrap_or(text)
}

/// An optional member: null and values that cannot be read count as absent.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// An optional list: items that cannot be read are left out.
pub(crate) fn lenient_list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(items) => {
            items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect()
        }
        _ => Vec::new(),
    })
}

/// Deserializes a value. The error is the place as a JSON Pointer (RFC 6901) and the reason.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, (String, String)> {
    // Keeping track of the path costs more than reading what most arguments are, and few do not fit.
    if is_flat(&value)
        && let Ok(read) = T::deserialize(&value)
    {
        return Ok(read);
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut pointer = String::new();
        for segment in error.path() {
            match segment {
                Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
                Segment::Map { key } => {
                    pointer.push('/');
                    pointer.push_str(&pointer_segment(key));
                }
                // The variant of an enumeration is not part of the path in the value.
                Segment::Enum { .. } | Segment::Unknown => {}
            }
        }
        (pointer, error.into_inner().to_string())
    })
}

/// Whether it is an object with few members, all of them numbers, short texts and similar values. Such an object is
/// cheap to read twice.
fn is_flat(value: &Value) -> bool {
    const MAX_MEMBERS: usize = 16;
    const MAX_TEXT: usize = 4096;
    let is_small = |value: &Value| match value {
        Value::String(text) => text.len() <= MAX_TEXT,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::Array(_) | Value::Object(_) => false,
    };
    value
        .as_object()
        .is_some_and(|members| members.len() <= MAX_MEMBERS && members.values().all(is_small))
}

/// The values directly in a list or an object.
pub(crate) fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(Map::values))
}

/// Whether the value has at most `max_nodes` values in it, itself included, whose JSON Pointers are together at most
/// `max_path_bytes` long. Stops as soon as that is decided, and does not recurse.
pub(crate) fn is_small(value: &Value, max_nodes: usize, max_path_bytes: usize) -> bool {
    // A slash and the digits of an index below 100,000.
    const INDEX: usize = 6;
    let (mut nodes, mut path_bytes) = (1, 0);
    let mut open = vec![(value, 0)];
    while let Some((value, path)) = open.pop() {
        let children = match value {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        };
        nodes += children;
        path_bytes += path;
        if nodes > max_nodes || path_bytes > max_path_bytes {
            return false;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, path + INDEX))),
            Value::Object(members) => {
                open.extend(members.iter().map(|(name, member)| (member, path + 1 + name.len())));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    true
}

/// The value with every number such as `1.0` replaced by an integer; `None` if it has no such number.
///
/// JSON Schema takes `1.0` for an integer, and some clients send it; serde does not.
pub(crate) fn with_whole_numbers(value: &Value) -> Option<Value> {
    if !has_whole(value) {
        return None;
    }
    let mut rewritten = value.clone();
    let mut open = vec![&mut rewritten];
    while let Some(value) = open.pop() {
        match value {
            Value::Number(number) => {
                if let Some(integer) = whole(number) {
                    *number = integer.into();
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values_mut()),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    Some(rewritten)
}

/// Whether the value contains a number such as `1.0`. Values that were read are nested no deeper than [`MAX_DEPTH`].
fn has_whole(value: &Value) -> bool {
    match value {
        Value::Number(number) => whole(number).is_some(),
        Value::Array(items) => items.iter().any(has_whole),
        Value::Object(members) => members.values().any(has_whole),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// The integer that a number with a fraction of zero stands for, where every reader agrees on it (RFC 8259 §6).
pub(crate) fn whole(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number.as_f64().filter(|_| number.is_f64())?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is whole and within the exact range"
    )]
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}

/// A name as a segment of a JSON Pointer (RFC 6901).
pub(crate) fn pointer_segment(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
