//! References inside a schema: each has a target, and following all of them stays bounded, both when the schema is
//! compiled and when an instance is explained.

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::json;
use crate::schema::SchemaError;
use crate::schema::walk::{subschemas, walk};

/// The most schema nodes when every reference is replaced by its target. A handful of definitions that each refer twice
/// to the next would take that much work to validate.
const MAX_EXPANDED: usize = 1_000_000;
/// The deepest nesting when references are followed; one that leads back to itself is not followed again.
const MAX_FOLLOWED: usize = 256;

/// The most checks of parts of an instance for explaining it, with a schema that refers back to itself. Each check also
/// collects the findings of everything below.
const MAX_LOOKS: usize = 4_096;

/// The keywords that refer.
const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

/// What is known about a node while references are followed.
#[derive(Clone, Copy)]
enum Node {
    /// It is being visited: a reference to it leads back.
    Open,
    Known(Extent),
}

/// The size of a node with its references followed.
#[derive(Clone, Copy, Default)]
struct Extent {
    size: usize,
    /// How deep it nests.
    depth: usize,
    /// How many references in it, for one path through an instance, lead back.
    back: usize,
}

/// A node whose parts are being visited.
struct Frame<'s> {
    node: &'s Value,
    /// The parts, and whether each describes a property. A path through an instance uses only one of the properties.
    parts: Vec<(bool, &'s Value)>,
    /// Whether the last part taken describes a property.
    in_property: bool,
    extent: Extent,
    /// The most references that lead back in one property.
    back_by_property: usize,
}

/// The schemas of a document that have names in it.
type Anchors<'s> = HashMap<&'s str, &'s Value>;

/// Checks the references of a schema to itself. The compiler ignores those that it does not need, but clients may not.
/// References to other documents are refused by the compiler, which fetches nothing.
///
/// Returns a bound for how many times more often the schema checks a part of an instance than the value that contains
/// it: 1 or less unless it refers back to itself in several alternatives. Where it is more, [`is_quick`] decides which
/// instances can be explained.
pub(super) fn check(schema: &Value) -> Result<usize, SchemaError> {
    let mut anchors = Anchors::new();
    let mut references = Vec::new();
    // Identifiers below the root change the meaning of fragments. Only the compiler checks such schemas.
    let mut has_bases = false;
    walk::<SchemaError>(schema, |part, _| {
        let text = |keyword| part.get(keyword).and_then(Value::as_str);
        for keyword in ["$anchor", "$dynamicAnchor"] {
            anchors.extend(text(keyword).map(|name| (name, part)));
        }
        references.extend(REFERENCES.into_iter().filter_map(text));
        has_bases |= text("$id").is_some() && !std::ptr::eq(part, schema);
        Ok(())
    })?;
    let is_here = |reference: &str| !has_bases && reference.starts_with('#');
    let lost = references
        .iter()
        .find(|reference| is_here(reference) && target(schema, &anchors, reference).is_none());
    if let Some(reference) = lost {
        return Err(SchemaError(format!(
            "the reference {reference:?} leads nowhere in the schema"
        )));
    }
    let again = expand(schema, &anchors)?;
    // The targets of other references are not known here: each may lead back.
    Ok(if references.iter().all(|reference| is_here(reference)) {
        again
    } else {
        again.max(references.len()).max(2)
    })
}

/// Whether such a schema checks an instance few times in total, if it checks each part `again` times as often as the
/// value that contains it.
pub(super) fn is_quick(instance: &Value, again: usize) -> bool {
    if again <= 1 {
        return true;
    }
    let mut all: usize = 0;
    let mut open = vec![(instance, 1_usize)];
    while let Some((value, looks)) = open.pop() {
        all = all.saturating_add(looks);
        if all > MAX_LOOKS {
            return false;
        }
        let below = looks.saturating_mul(again);
        open.extend(json::children(value).map(|child| (child, below)));
    }
    true
}

/// Bounds the schema with its references followed. Does not recurse, and visits each node once.
fn expand<'s>(schema: &'s Value, anchors: &Anchors<'s>) -> Result<usize, SchemaError> {
    let mut nodes: HashMap<*const Value, Node> = HashMap::new();
    let mut recurs: HashSet<*const Value> = HashSet::new();
    let mut again = 0;
    let mut frames = vec![frame(schema, schema, anchors)];
    nodes.insert(schema, Node::Open);
    while let Some(top) = frames.last_mut() {
        let Some((is_property, part)) = top.parts.pop() else {
            let extent = top.extent();
            if recurs.contains(&std::ptr::from_ref(top.node)) {
                again = again.max(extent.back);
            }
            nodes.insert(top.node, Node::Known(extent));
            frames.pop();
            if let Some(above) = frames.last_mut() {
                above.add(extent)?;
            }
            continue;
        };
        top.in_property = is_property;
        match nodes.get(&std::ptr::from_ref(part)) {
            Some(Node::Known(extent)) => {
                let extent = *extent;
                top.add(extent)?;
            }
            Some(Node::Open) => {
                recurs.insert(part);
                top.add_back(1);
            }
            None => {
                nodes.insert(part, Node::Open);
                frames.push(frame(part, schema, anchors));
                if frames.len() > MAX_FOLLOWED {
                    return Err(too_deep());
                }
            }
        }
    }
    Ok(again)
}

fn frame<'s>(node: &'s Value, root: &'s Value, anchors: &Anchors<'s>) -> Frame<'s> {
    let below = subschemas(node).map(|(property, part)| (property.is_some(), part));
    let references = REFERENCES.into_iter();
    let references = references
        .filter_map(|keyword| target(root, anchors, node.get(keyword)?.as_str()?))
        .map(|part| (false, part));
    Frame {
        node,
        parts: below.chain(references).collect(),
        extent: Extent { size: 1, depth: 1, back: 0 },
        in_property: false,
        back_by_property: 0,
    }
}

impl Frame<'_> {
    /// Adds the last part taken.
    fn add(&mut self, part: Extent) -> Result<(), SchemaError> {
        let extent = &mut self.extent;
        extent.size = extent.size.saturating_add(part.size);
        extent.depth = extent.depth.max(part.depth.saturating_add(1));
        if extent.size > MAX_EXPANDED {
            return Err(SchemaError(format!(
                "the schema has more than {MAX_EXPANDED} nodes when its references are followed"
            )));
        }
        if extent.depth > MAX_FOLLOWED {
            return Err(too_deep());
        }
        self.add_back(part.back);
        Ok(())
    }

    fn add_back(&mut self, back: usize) {
        if self.in_property {
            self.back_by_property = self.back_by_property.max(back);
        } else {
            self.extent.back = self.extent.back.saturating_add(back);
        }
    }

    fn extent(&self) -> Extent {
        Extent { back: self.extent.back.saturating_add(self.back_by_property), ..self.extent }
    }
}

fn too_deep() -> SchemaError {
    SchemaError(format!(
        "the schema nests deeper than {MAX_FOLLOWED} levels when its references are followed"
    ))
}

/// The target of a reference within the document: the root, or by a JSON pointer (RFC 6901 §6) or an anchor.
fn target<'s>(root: &'s Value, anchors: &Anchors<'s>, reference: &str) -> Option<&'s Value> {
    let fragment = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
    if fragment.is_empty() || fragment.starts_with('/') {
        root.pointer(&fragment)
    } else {
        anchors.get(fragment.as_ref()).copied()
    }
}
