//! The differences between two universes, found without visiting the parts that they share.

use imbl::OrdMap;
use imbl::ordmap::DiffItem;

use super::{Records, State};
use crate::entity::Id;
use crate::family::Family;

impl State {
    /// The entities that are not the same in `earlier`: added, changed or removed, members and children alike.
    ///
    /// Between a universe and its result after some commands, the cost depends on the entities that the commands
    /// touched. Between universes that share nothing, it is the cost of a full comparison.
    pub fn changed_since<'a>(
        &'a self,
        earlier: &'a Self,
    ) -> impl Iterator<Item = (Family, &'a Id)> {
        let records = |family, now: &'a Records, then: &'a Records| {
            differing(now, then).map(move |id| (family, id))
        };
        let stars = differing(&self.stars, &earlier.stars).map(|id| (Family::Stars, id));
        let groups = differing(&self.groups, &earlier.groups).map(|id| (Family::Groups, id));
        stars
            .chain(groups)
            .chain(records(Family::Belts, &self.belts, &earlier.belts))
            .chain(records(
                Family::SmallBodyFields,
                &self.small_body_fields,
                &earlier.small_body_fields,
            ))
            .chain(records(
                Family::ProtoplanetaryDisks,
                &self.protoplanetary_disks,
                &earlier.protoplanetary_disks,
            ))
            .chain(records(Family::Nebulae, &self.nebulae, &earlier.nebulae))
    }

    /// Whether the lists of root bodies and root groups may differ from those of `earlier`. The cost is as for
    /// [`State::changed_since`].
    pub fn roots_changed_since(&self, earlier: &Self) -> bool {
        self.root_ids.may_differ(&earlier.root_ids)
            || self.root_group_ids.may_differ(&earlier.root_group_ids)
    }
}

fn differing<'a, V: PartialEq>(
    now: &'a OrdMap<Id, V>,
    then: &'a OrdMap<Id, V>,
) -> impl Iterator<Item = &'a Id> {
    then.diff(now).map(|item| match item {
        DiffItem::Add(id, _) | DiffItem::Remove(id, _) => id,
        DiffItem::Update { new: (id, _), .. } => id,
    })
}
