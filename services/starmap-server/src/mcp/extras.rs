//! The connections of a call besides the gates, in the form that a search takes.

use std::sync::Arc;

use crate::errors::{UniverseError, invalid};
use crate::route::{Cost, Extra, Extras};

use super::arguments::Ways;
use super::names::Names;
use super::universe::Snapshot;

/// The connections of a call, and those of the file unless the call turns them off.
pub(crate) fn of_call(
    now: &Snapshot,
    ways: &Ways,
    names: &mut Names<'_>,
) -> Result<Arc<Extras>, UniverseError> {
    let own = match ways.own_connections {
        Some(false) => Arc::default(),
        _ => Arc::clone(&now.extras),
    };
    let connections = ways.connections.as_deref().unwrap_or_default();
    if connections.is_empty() {
        return Ok(own);
    }
    let mut list = Vec::with_capacity(connections.len() + own.list().len());
    for connection in connections {
        let cost = match connection.cost {
            None => None,
            Some(cost) => Some(Cost::new(cost).ok_or_else(|| {
                let reason = "it is a number of jumps";
                invalid("connections.cost", &cost.to_string(), reason)
            })?),
        };
        list.push(Extra {
            from: names.system(&connection.from)?,
            to: names.system(&connection.to)?,
            both_ways: connection.both_ways.unwrap_or(true),
            cost,
        });
    }
    // They follow the connections of the call, so that the position in an error is right for the call.
    list.extend_from_slice(own.list());
    match Extras::new(list) {
        Ok(extras) => Ok(Arc::new(extras)),
        Err(error) => Err(invalid("connections", "", &error.to_string())),
    }
}
