//! What the author of a refused command probably meant: ids that come near to one that nothing has.

use universe_core::{Event, Family, Reason, Refusal, State, nearest};

/// How many ids of a family are compared. The limit keeps a mistake about a large universe as cheap as one about a
/// small universe.
const COMPARED: usize = 10_000;

/// `; did you mean A or B?` for the first id in a refusal that does not exist. Empty if there is no suggestion.
pub(super) fn hint(refusal: &Refusal, state: &State) -> String {
    let unknown = refusal.events.iter().flat_map(ids).find(|(families, id)| {
        let is_there = |family: &Family| state.entity(*family, id).is_some();
        !families.iter().any(is_there)
    });
    let Some((families, id)) = unknown else {
        return String::new();
    };
    let known = families.iter().flat_map(|family| {
        let known = state.entities(*family).map(|(id, _)| id);
        known.take(COMPARED)
    });
    nearest::hint(id, known)
}

/// The ids that an event is about, each with the families that it may belong to.
fn ids(event: &Event) -> Vec<(&'static [Family], &str)> {
    use Family::{Groups, Nebulae, ProtoplanetaryDisks, SmallBodyFields, Stars};
    match event {
        Event::StarNotFound { id }
        | Event::RingNotFound { planet_id: id }
        | Event::DetachFailed { reason: Reason::NotFound, child_id: id } => vec![(&[Stars], id)],
        Event::AttachFailed { reason: Reason::NotFound, child_id, parent_id } => {
            let parent = parent_id.iter().map(|id| (&[Stars][..], &**id));
            parent.chain([(&[Stars][..], &**child_id)]).collect()
        }
        Event::GroupNotFound { id } => vec![(&[Groups], id)],
        Event::MoveToGroupFailed { reason: Reason::NotFound, child_id, target_group_id } => {
            let target = target_group_id.iter().map(|id| (&[Groups][..], &**id));
            target.chain([(&[Stars, Groups][..], &**child_id)]).collect()
        }
        Event::SmallBodyFieldNotFound { id } => vec![(&[SmallBodyFields], id)],
        Event::ProtoplanetaryDiskNotFound { id } => vec![(&[ProtoplanetaryDisks], id)],
        Event::NebulaNotFound { id } => vec![(&[Nebulae], id)],
        _ => Vec::new(),
    }
}
