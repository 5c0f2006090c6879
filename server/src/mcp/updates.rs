//! Notifies subscribed clients of the changes that the command service has made durable.
//!
//! | what happens | who receives `notifications/resources/updated` |
//! |---|---|
//! | a command or a `PUT`, a tick too | the universe's whole state, its summary, its pictures and its events |
//! | an entity is added, changed or removed, or gets or loses a child | besides these that entity, and the tree |
//! | the list of root bodies or root groups changes | besides these the tree |
//! | the state is replaced as a whole, or the universe is deleted | every resource of the universe |
//! | a universe is created, renamed or deleted | `universe://`; and all listeners receive `resources/list_changed` |
//!
//! Nothing is computed as long as no client has subscribed. Commands that became durable together cause one
//! notification.
//!
//! Subscribers learn what differs, not what was commanded. Which entities a command touches follows from the state, and
//! two persistent states are compared in the time of what they do not share. So the answer is exact, and a new command
//! needs no line in a table.
//!
//! `universe://` also shows revisions and times. Reported with every command, it would be a subscription to everything.

use std::collections::HashSet;
use std::sync::Arc;

use mcp_proto::{Change, ResourceUpdate, Server};
use universe_core::{Family, Id};

use super::address::{self, Address, AddressedPart};
use crate::commands::{self, CommandService, Universe};
use crate::store::UniverseId;

/// The most entities that one change names. A larger change counts as a change of everything.
const MAX_NOTIFIED: usize = 1_000;

/// The parts of a universe that changed, for [`concerns`].
struct Touched {
    universe: UniverseId,
    parts: Parts,
}

enum Parts {
    Everything,
    Some { entities: HashSet<(Family, Id)>, tree: bool },
}

/// Notifies the subscribers of `server` of changes in `service`.
pub(super) fn watch(service: &CommandService, server: &Server) {
    // The server holds the service. A strong reference here would keep both in memory forever.
    let server = server.downgrade();
    service.watch(move |change| {
        if let Some(server) = server.upgrade() {
            pass_on(&server, change);
        }
    });
}

fn pass_on(server: &Server, change: commands::Change<'_>) {
    match change {
        commands::Change::Created(_) => notify_list(server),
        commands::Change::Changed { before, after, replaced } => {
            if server.has_subscribers() {
                let parts = if replaced { Parts::Everything } else { changed_parts(before, after) };
                notify_update(server, &after.id, parts);
            }
            if before.name != after.name {
                notify_list(server);
            }
        }
        commands::Change::Deleted(id) => {
            notify_update(server, id, Parts::Everything);
            notify_list(server);
        }
    }
}

fn notify_list(server: &Server) {
    server.notify(Change::ResourcesListChanged);
    server.notify(Change::resource_updated(address::LIST));
}

fn notify_update(server: &Server, id: &UniverseId, parts: Parts) {
    let touched = Touched { universe: id.clone(), parts };
    let update = ResourceUpdate::new(address::universe(id.as_str())).with_detail(Arc::new(touched));
    server.notify(Change::ResourceUpdated(update));
}

fn changed_parts(before: &Universe, after: &Universe) -> Parts {
    let (before, after) = (&before.state, &after.state);
    let changed = after.changed_since(before).take(MAX_NOTIFIED + 1);
    let entities: HashSet<_> = changed.map(|(family, id)| (family, Id::clone(id))).collect();
    if entities.len() > MAX_NOTIFIED {
        return Parts::Everything;
    }
    Parts::Some { tree: !entities.is_empty() || after.roots_changed_since(before), entities }
}

/// Whether an update affects the subscribed resource.
pub(super) fn concerns(subscribed: &str, update: &ResourceUpdate) -> bool {
    let detail = update.detail.as_deref();
    let Some(touched) = detail.and_then(|detail| detail.downcast_ref::<Touched>()) else {
        return subscribed == update.uri;
    };
    let Some(address) = Address::read(subscribed) else {
        return false;
    };
    if address.universe != touched.universe.as_str() {
        return false;
    }
    match (&touched.parts, address.part) {
        (Parts::Everything, _)
        | (
            _,
            AddressedPart::Whole
            | AddressedPart::Summary
            | AddressedPart::Picture
            | AddressedPart::Events,
        ) => true,
        (Parts::Some { tree, .. }, AddressedPart::Tree) => *tree,
        (Parts::Some { entities, .. }, AddressedPart::Entity(family, id)) => {
            !entities.is_empty() && entities.contains(&(family, Id::from(&*id)))
        }
    }
}
