//! Arrays whose elements have names, such as lists of tools, compared by name.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Kind, Pattern};

/// The elements of two arrays, by their names.
pub(super) struct Named<'a> {
    /// Those of both: the place in the second array, and the two.
    pub(super) both: Vec<(usize, &'a Pattern, &'a Value)>,
    /// Those of the second alone.
    pub(super) come: Vec<(usize, &'a Value)>,
    /// The names of the first alone.
    pub(super) gone: Vec<&'a str>,
    /// The names of both in the order of each, if the orders differ.
    pub(super) orders: Option<(Vec<&'a str>, Vec<&'a str>)>,
}

impl<'a> Named<'a> {
    /// The elements, if every one of both arrays has a name of its own, and the arrays differ in their names.
    pub(super) fn of(expected: &'a [Pattern], items: &'a [Value]) -> Option<Self> {
        let wanted: Vec<&str> = expected.iter().map(expected_name).collect::<Option<_>>()?;
        let found: Vec<&str> = items.iter().map(name).collect::<Option<_>>()?;
        let of = |names: &[&'a str]| -> BTreeMap<&'a str, usize> {
            names.iter().copied().zip(0..).collect()
        };
        let (old, new) = (of(&wanted), of(&found));
        if old.len() != wanted.len() || new.len() != found.len() {
            return None;
        }
        let is_new_name = |(old_name, new_name): (&&str, &&str)| {
            old_name == new_name || !new.contains_key(*old_name) && !old.contains_key(*new_name)
        };
        if wanted.len() == found.len() && wanted.iter().zip(&found).all(is_new_name) {
            // At most names differ: each is compared where it stands.
            return None;
        }
        let both = expected.iter().zip(&wanted).filter_map(|(pattern, name)| {
            let index = *new.get(name)?;
            Some((index, pattern, items.get(index)?))
        });
        let both: Vec<_> = both.collect();
        let shared = |names: &[&'a str]| -> Vec<&'a str> {
            let is_shared = |name: &&&str| old.contains_key(**name) && new.contains_key(**name);
            names.iter().filter(is_shared).copied().collect()
        };
        let orders = (shared(&wanted), shared(&found));
        let come = items.iter().zip(&found).zip(0..);
        let come = come.filter(|((_, name), _)| !old.contains_key(*name));
        Some(Self {
            come: come.map(|((item, _), index)| (index, item)).collect(),
            gone: wanted.iter().copied().filter(|name| !new.contains_key(name)).collect(),
            both,
            orders: Some(orders).filter(|(old, new)| old != new),
        })
    }
}

/// By which items of the lists of the protocol are known.
const KEYS: [&str; 3] = ["uri", "uriTemplate", "name"];

/// The name or the URI of an item.
pub(crate) fn name(item: &Value) -> Option<&str> {
    KEYS.iter().find_map(|key| item.get(*key)?.as_str())
}

fn expected_name(pattern: &Pattern) -> Option<&str> {
    let Kind::Object(members) = &pattern.0 else {
        return None;
    };
    KEYS.iter().find_map(|key| match &members.get(*key)?.0 {
        Kind::Text(text) => text.plain(),
        Kind::Scalar(value) => value.as_str(),
        _ => None,
    })
}
