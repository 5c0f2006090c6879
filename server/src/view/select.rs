//! Parts of a state: which entities, which of their members, a page at a time.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use universe_core::{ChildKind, Entity, Family, State, nearest};

/// The entities of a universe that are selected, and the size of a page. The default selects all entities.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only entities of these families.
    pub families: Option<Vec<Family>>,
    /// Only entities with these ids.
    pub ids: Option<Vec<String>>,
    /// Only the body or group of this id and everything below it.
    pub subtree: Option<String>,
    /// The number of levels below [`Selection::subtree`]. All levels if `None`.
    pub depth: Option<usize>,
    /// Only entities whose name or id contains this, ignoring case.
    pub name: Option<String>,
    /// Only bodies of this `bodyType`.
    pub kind: Option<String>,
    /// Only entities that orbit the entity of this id directly, or are directly in it.
    pub parent: Option<String>,
    /// The cursor of the page: the [`EntityPage::next`] of the page before.
    pub after: Option<String>,
    /// The most entities on a page.
    pub limit: Option<usize>,
}

/// An entity that was selected.
#[derive(Debug, Clone, Copy)]
pub struct SelectedEntity<'s> {
    /// Its family.
    pub family: Family,
    /// Its id.
    pub id: &'s str,
    /// The entity.
    pub entity: Entity<'s>,
}

/// A page of the selected entities, in the order of families and ids.
#[derive(Debug)]
pub struct EntityPage<'s> {
    /// The entities.
    pub found: Vec<SelectedEntity<'s>>,
    /// The number of entities on all pages.
    pub total: usize,
    /// The requested ids that no entity of the families has.
    pub missing: Vec<&'s str>,
    /// The cursor of the next page. `None` on the last page.
    pub next: Option<String>,
}

/// The most entities that are compared with a name that nothing has.
const COMPARED: usize = 10_000;
/// Separates family and id in [`EntityPage::next`].
const SEPARATOR: char = '/';

impl Selection {
    /// Finds the selected entities. Visits each entity of the families, unless ids or a subtree are selected.
    ///
    /// # Errors
    /// A sentence: the subtree or the parent does not exist, or the cursor is not one of [`EntityPage::next`].
    pub fn of<'s>(&'s self, state: &'s State) -> Result<EntityPage<'s>, String> {
        let after = self.after.as_deref().map(read_cursor).transpose()?;
        let below = match &self.subtree {
            Some(root) => Some(subtree(state, root, self.depth)?),
            None => None,
        };
        if let Some(parent) = &self.parent
            && state.star(parent).is_none()
            && state.group(parent).is_none()
        {
            return Err(unknown(state, parent));
        }
        let name = self.name.as_ref().map(|name| name.to_lowercase());
        let mut part = EntityPage { found: Vec::new(), total: 0, missing: Vec::new(), next: None };
        let limit = self.limit.unwrap_or(usize::MAX);
        let mut offer = |found: SelectedEntity<'s>| {
            if !self.fits(&found, name.as_deref()) {
                return;
            }
            part.total += 1;
            if after.is_some_and(|after| (found.family, found.id) <= after) {
                return;
            }
            if part.found.len() < limit {
                part.found.push(found);
            } else if part.next.is_none() {
                part.next = part.found.last().map(SelectedEntity::cursor);
            }
        };
        let families = self.families.as_deref().unwrap_or(&Family::ALL);
        let asked: Option<BTreeSet<&str>> =
            self.ids.as_ref().map(|ids| ids.iter().map(String::as_str).collect());
        let families = Family::ALL.into_iter().filter(|family| families.contains(family));
        for family in families.clone() {
            let entity = |id| Some((id, state.entity(family, id)?));
            match (&asked, &below) {
                (Some(ids), None) => {
                    let ids = ids.iter().filter_map(|id| entity(*id));
                    ids.for_each(|(id, entity)| offer(SelectedEntity { family, id, entity }));
                }
                (asked, Some(below)) => {
                    let inside = below.iter().filter(|(of, _)| *of == family);
                    let ids = inside
                        .filter(|(_, id)| asked.as_ref().is_none_or(|asked| asked.contains(id)));
                    let ids = ids.filter_map(|(_, id)| entity(*id));
                    ids.for_each(|(id, entity)| offer(SelectedEntity { family, id, entity }));
                }
                (None, None) => state
                    .entities(family)
                    .for_each(|(id, entity)| offer(SelectedEntity { family, id, entity })),
            }
        }
        let exists = |id: &str| families.clone().any(|family| state.entity(family, id).is_some());
        part.missing = asked.iter().flatten().filter(|id| !exists(id)).copied().collect();
        Ok(part)
    }

    /// Why nothing was selected, with what was probably meant.
    pub fn nothing(&self, state: &State) -> String {
        let all = || Family::ALL.into_iter().flat_map(|family| state.entities(family));
        let shown = |text: &str| text.chars().take(80).collect::<String>();
        if all().next().is_none() {
            return "the universe is empty".to_owned();
        }
        if let Some(kind) = &self.kind {
            let kinds = all().filter_map(|(_, entity)| entity.text("bodyType"));
            let kinds = kinds.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
            if kinds.is_empty() {
                return "no body of this universe has a kind, its `bodyType`".to_owned();
            }
            if !kinds.iter().any(|known| known == kind) {
                let (kind, kinds) = (shown(kind), kinds.join(", "));
                return format!("no body is of the kind {kind:?}; the kinds here are {kinds}");
            }
        }
        if let Some(name) = &self.name {
            let all = || all().take(COMPARED);
            let names: Vec<_> = all().filter_map(|(_, entity)| entity.name()).collect();
            let mut hint = nearest::hint(name, names.iter().map(|name| &**name));
            if hint.is_empty() {
                hint = nearest::hint(name, all().map(|(id, _)| id));
            }
            return format!("no entity of those has {:?} in its name or id{hint}", shown(name));
        }
        "no entity fits all that was asked for".to_owned()
    }

    /// The ids nearest to one that nothing has, as a sentence. `None` if none is near.
    pub fn meant(&self, state: &State, id: &str) -> Option<String> {
        let ids = Family::ALL.into_iter().flat_map(|family| state.entities(family));
        let hint = nearest::hint(id, ids.map(|(id, _)| id).take(COMPARED));
        (!hint.is_empty()).then(|| format!("nothing has the id {id:?}{hint}"))
    }

    fn fits(&self, found: &SelectedEntity<'_>, name: Option<&str>) -> bool {
        let named = |name: &str| {
            let has = |text: &str| text.to_lowercase().contains(name);
            has(found.id) || found.entity.name().as_deref().is_some_and(has)
        };
        let of_kind = |kind: &String| found.entity.text("bodyType").as_deref() == Some(kind);
        name.is_none_or(named)
            && self.kind.as_ref().is_none_or(of_kind)
            && self.parent.as_ref().is_none_or(|parent| found.parent().as_deref() == Some(parent))
    }
}

impl<'s> SelectedEntity<'s> {
    /// The entity that it orbits, or the group that it is in.
    pub fn parent(&self) -> Option<Cow<'s, str>> {
        match self.entity {
            Entity::Star(star) => star.parent_id().map(Cow::Borrowed),
            Entity::Group(group) => group.parent_group_id().map(Cow::Borrowed),
            Entity::Record(_) => ["parentId", "hostStarId", "centralStarId"]
                .iter()
                .find_map(|member| self.entity.text(member)),
        }
    }

    /// The entity as JSON, with its id and these members only. What follows from its members and the units of the
    /// universe is computed.
    pub fn with_members<'m>(
        &self,
        state: &State,
        members: &'m [String],
    ) -> impl Serialize + use<'s, 'm> {
        let facts = self.facts(state);
        Members { found: *self, members, facts }
    }

    /// The whole entity as JSON, with what follows from its members and the units of the universe.
    pub fn with_facts(&self, state: &State) -> impl Serialize + use<'s> {
        WithFacts { entity: self.entity, facts: self.facts(state) }
    }

    fn facts(&self, state: &State) -> Vec<(&'static str, f64)> {
        match self.entity {
            Entity::Star(star) => state.facts(star),
            Entity::Group(_) | Entity::Record(_) => Vec::new(),
        }
    }

    fn cursor(&self) -> String {
        format!("{}{SEPARATOR}{}", self.family.name(), self.id)
    }
}

/// Some members of an entity.
struct Members<'s, 'm> {
    found: SelectedEntity<'s>,
    members: &'m [String],
    facts: Vec<(&'static str, f64)>,
}

/// An entity with facts in place of members of the same names.
struct WithFacts<'s> {
    entity: Entity<'s>,
    facts: Vec<(&'static str, f64)>,
}

impl Serialize for WithFacts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.facts.is_empty() {
            return self.entity.serialize(serializer);
        }
        let mut written = serde_json::to_value(self.entity).map_err(S::Error::custom)?;
        if let Some(members) = written.as_object_mut() {
            members
                .extend(self.facts.iter().map(|(name, fact)| ((*name).to_owned(), (*fact).into())));
        }
        written.serialize(serializer)
    }
}

impl Serialize for Members<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SelectedEntity { id, entity, .. } = self.found;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        for member in self.members.iter().filter(|member| *member != "id") {
            match (member.as_str(), entity) {
                ("parentId", Entity::Star(star)) => {
                    map.serialize_entry(member, &star.parent_id())?;
                }
                ("parentGroupId", Entity::Group(group)) => {
                    map.serialize_entry(member, &group.parent_group_id())?;
                }
                ("children", Entity::Star(star)) => {
                    map.serialize_entry(member, &star.children().collect::<Vec<_>>())?;
                }
                ("children", Entity::Group(group)) => {
                    map.serialize_entry(member, &group.children().collect::<Vec<_>>())?;
                }
                _ => {
                    let fact = self.facts.iter().find(|(name, _)| name == member);
                    if let Some((_, fact)) = fact {
                        map.serialize_entry(member, fact)?;
                    } else if let Some(value) = entity.get(member) {
                        map.serialize_entry(member, value)?;
                    }
                }
            }
        }
        map.end()
    }
}

/// The error for an unknown id, with the nearest ids.
fn unknown(state: &State, id: &str) -> String {
    let ids = Family::ALL.into_iter().flat_map(|family| state.entities(family).map(|(id, _)| id));
    let shown: String = id.chars().take(80).collect();
    let hint = nearest::hint(id, ids);
    format!("nothing in this universe has the id {shown:?}{hint}")
}

fn read_cursor(cursor: &str) -> Result<(Family, &str), String> {
    let read =
        cursor.split_once(SEPARATOR).and_then(|(family, id)| Some((Family::find(family)?, id)));
    read.ok_or_else(|| "cursor must be the `next` of the page before".to_owned())
}

/// A body or group with everything below it, down to a depth. Not recursive, since the universe determines the depth.
fn subtree<'s>(
    state: &'s State,
    root: &'s str,
    depth: Option<usize>,
) -> Result<BTreeSet<(Family, &'s str)>, String> {
    let family = match (state.star(root), state.group(root)) {
        (Some(_), _) => Family::Stars,
        (None, Some(_)) => Family::Groups,
        (None, None) => return Err(unknown(state, root)),
    };
    let mut below = BTreeSet::new();
    let mut open = vec![(family, root, 0)];
    while let Some((family, id, level)) = open.pop() {
        if !below.insert((family, id)) || depth.is_some_and(|depth| level >= depth) {
            continue;
        }
        match family {
            Family::Groups => {
                let children = state.group(id).into_iter().flat_map(|group| group.children());
                open.extend(children.map(|child| match child.kind() {
                    ChildKind::System => (Family::Stars, child.id(), level + 1),
                    ChildKind::Group => (Family::Groups, child.id(), level + 1),
                }));
            }
            _ => {
                let children = state.star(id).into_iter().flat_map(|star| star.children());
                open.extend(children.map(|child| (Family::Stars, child, level + 1)));
            }
        }
    }
    Ok(below)
}
