//! References inside a schema: each leads somewhere, and all of them followed make no bomb.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::SchemaError;
use super::walk::{subschemas, walk};

/// The most schema nodes when every reference is replaced by what it refers to. A handful of definitions that each
/// refer twice to the next would take that much to validate.
const MAX_EXPANDED: usize = 1_000_000;
/// The deepest nesting when references are followed; one that leads back to where it stands is not followed again.
const MAX_FOLLOWED: usize = 256;

/// The keywords that refer.
const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

/// What is known of a node while references are followed.
#[derive(Clone, Copy)]
enum Node {
    /// It is being looked at: a reference to it leads back.
    Open,
    /// Its size, and how deep it nests.
    Known { size: usize, depth: usize },
}

/// A node whose parts are being looked at.
struct Frame<'s> {
    node: &'s Value,
    parts: Vec<&'s Value>,
    size: usize,
    depth: usize,
}

/// The schemas of a document that have names in it.
type Anchors<'s> = HashMap<&'s str, &'s Value>;

/// Checks the references of a schema to itself. What the compiler does not need, it does not look at; but clients may.
/// References to anywhere else are the compiler's to refuse, which fetches nothing.
pub(super) fn check(schema: &Value) -> Result<(), SchemaError> {
    let mut anchors = Anchors::new();
    let mut references = Vec::new();
    // Identifiers below the root make fragments mean something else: such schemas the compiler judges alone.
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
    let lost = references.into_iter().find(|reference| {
        !has_bases && reference.starts_with('#') && target(schema, &anchors, reference).is_none()
    });
    match lost {
        Some(reference) => Err(SchemaError(format!(
            "the reference {reference:?} leads nowhere in the schema"
        ))),
        None => expand(schema, &anchors),
    }
}

/// Bounds the schema with its references followed. A stack of its own, each node once.
fn expand<'s>(schema: &'s Value, anchors: &Anchors<'s>) -> Result<(), SchemaError> {
    let mut nodes: HashMap<*const Value, Node> = HashMap::new();
    let mut frames = vec![frame(schema, schema, anchors)];
    nodes.insert(schema, Node::Open);
    while let Some(top) = frames.last_mut() {
        let Some(part) = top.parts.pop() else {
            let done = Node::Known {
                size: top.size,
                depth: top.depth,
            };
            let (size, depth) = (top.size, top.depth);
            nodes.insert(top.node, done);
            frames.pop();
            if let Some(above) = frames.last_mut() {
                above.add(size, depth)?;
            }
            continue;
        };
        match nodes.get(&std::ptr::from_ref(part)) {
            Some(Node::Known { size, depth }) => top.add(*size, *depth)?,
            Some(Node::Open) => {}
            None => {
                nodes.insert(part, Node::Open);
                frames.push(frame(part, schema, anchors));
                if frames.len() > MAX_FOLLOWED {
                    return Err(too_deep());
                }
            }
        }
    }
    Ok(())
}

fn frame<'s>(node: &'s Value, root: &'s Value, anchors: &Anchors<'s>) -> Frame<'s> {
    let mut parts: Vec<_> = subschemas(node).map(|(_, part)| part).collect();
    let references = REFERENCES.into_iter();
    parts.extend(
        references.filter_map(|keyword| target(root, anchors, node.get(keyword)?.as_str()?)),
    );
    Frame {
        node,
        parts,
        size: 1,
        depth: 1,
    }
}

impl Frame<'_> {
    fn add(&mut self, size: usize, depth: usize) -> Result<(), SchemaError> {
        self.size = self.size.saturating_add(size);
        self.depth = self.depth.max(depth.saturating_add(1));
        if self.size > MAX_EXPANDED {
            return Err(SchemaError(format!(
                "the schema has more than {MAX_EXPANDED} nodes when its references are followed"
            )));
        }
        if self.depth > MAX_FOLLOWED {
            return Err(too_deep());
        }
        Ok(())
    }
}

fn too_deep() -> SchemaError {
    SchemaError(format!(
        "the schema nests deeper than {MAX_FOLLOWED} levels when its references are followed"
    ))
}

/// Where a reference within the document leads: to the root, by a JSON pointer (RFC 6901 §6) or by an anchor.
fn target<'s>(root: &'s Value, anchors: &Anchors<'s>, reference: &str) -> Option<&'s Value> {
    let fragment = percent_decode_str(reference.strip_prefix('#')?)
        .decode_utf8()
        .ok()?;
    if fragment.is_empty() || fragment.starts_with('/') {
        root.pointer(&fragment)
    } else {
        anchors.get(fragment.as_ref()).copied()
    }
}
