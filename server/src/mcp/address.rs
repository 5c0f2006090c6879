//! The URIs of resources: made from ids, and read back where no template does it.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use universe_core::Family;

use crate::access::encoded;

/// The list of universes.
pub(super) const LIST: &str = "universe://";
/// A universe's whole state.
pub(super) const WHOLE: &str = "universe://{id}";
/// A universe without its state, and the number of its entities of each kind.
pub(super) const SUMMARY: &str = "universe://{id}/summary";
/// Its hierarchies as indented text.
pub(super) const TREE: &str = "universe://{id}/tree{?limit,cursor}";
/// A drawing of it, as SVG and as a PNG image.
pub(super) const SVG: &str = "universe://{id}/picture.svg";
pub(super) const PNG: &str = "universe://{id}/picture.png";
/// Its history.
pub(super) const EVENTS: &str = "universe://{id}/events{?after,limit}";

/// The resource of a universe that a URI names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address<'u> {
    pub(super) universe: Cow<'u, str>,
    pub(super) part: AddressedPart<'u>,
}

/// The part of a universe that a URI names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AddressedPart<'u> {
    Whole,
    Summary,
    Tree,
    Picture,
    Events,
    Entity(Family, Cow<'u, str>),
}

/// Whether a text is one of the URI templates.
pub(super) fn is_template(text: &str) -> bool {
    let whole = [WHOLE, SUMMARY, TREE, SVG, PNG, EVENTS];
    let mut families = Family::ALL.into_iter();
    whole.contains(&text) || families.any(|family| entity_template(family) == text)
}

/// The template of a family's entities.
pub(super) fn entity_template(family: Family) -> String {
    format!("{WHOLE}/{}/{{{}}}", family.name(), entity_variable(family))
}

/// The name of the id's variable in that template.
pub(super) fn entity_variable(family: Family) -> &'static str {
    match family {
        Family::Stars => "starId",
        Family::Groups => "groupId",
        Family::Belts => "beltId",
        Family::SmallBodyFields => "fieldId",
        Family::ProtoplanetaryDisks => "diskId",
        Family::Nebulae => "nebulaId",
    }
}

/// The URI of a universe.
pub(super) fn universe(id: &str) -> String {
    format!("{LIST}{}", encoded(id))
}

impl<'u> Address<'u> {
    /// Parses a URI that matches one of the templates. `None` for any other.
    pub(super) fn read(uri: &'u str) -> Option<Self> {
        let path = uri.strip_prefix(LIST)?;
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        let mut segments = path.split('/');
        let universe = value(segments.next()?)?;
        let part = match (segments.next(), segments.next(), segments.next()) {
            (None, ..) => AddressedPart::Whole,
            (Some("summary"), None, _) => AddressedPart::Summary,
            (Some("tree"), None, _) => AddressedPart::Tree,
            (Some("picture.svg" | "picture.png"), None, _) => AddressedPart::Picture,
            (Some("events"), None, _) => AddressedPart::Events,
            (Some(family), Some(id), None) => {
                AddressedPart::Entity(Family::find(family)?, value(id)?)
            }
            _ => return None,
        };
        let fits = query.is_none() || part == AddressedPart::Events;
        fits.then_some(Self { universe, part })
    }
}

/// The value of a `{variable}`: not empty, made of unreserved and percent-encoded characters.
fn value(segment: &str) -> Option<Cow<'_, str>> {
    let fits =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte) || !byte.is_ascii();
    if segment.is_empty() || !segment.bytes().all(fits) {
        return None;
    }
    percent_decode_str(segment).decode_utf8().ok()
}
