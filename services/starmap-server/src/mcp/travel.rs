//! The travel graph of a call: its connections besides the gates, and the rules that it lifts.

use std::sync::Arc;

use crate::errors::{UniverseError, invalid};
use crate::map::{ONLY_ENDS, SystemIndex};
use crate::route::{Cost, Extra, Travel};

use super::arguments::Ways;
use super::names::{Names, word};
use super::universe::{Snapshot, connections_on, seconds_now};
use crate::connections::Ship;

/// The connections of a call, those of the file unless the call turns them off, and all rules that the call does not
/// lift.
pub(crate) fn of_call(
    now: &Snapshot,
    ways: &Ways,
    names: &mut Names<'_>,
) -> Result<Arc<Travel>, UniverseError> {
    let ship = word("ship", ways.ship.as_deref(), &SHIPS)?;
    let time = seconds_now();
    let own = match (ways.own_connections, ship) {
        (Some(false), _) => Arc::default(),
        (_, None) => Arc::clone(&now.travel),
        (_, Some(_)) => Arc::new(connections_on(&now.map, &now.connections, ship, time).0),
    };
    let connections = ways.connections.as_deref().unwrap_or_default();
    let allowed = allowed(now, ways)?;
    if connections.is_empty() && allowed.is_empty() {
        return Ok(own);
    }
    let mut list = Vec::with_capacity(connections.len() + own.list().len());
    for connection in connections.iter().filter(|it| it.is_open(ship, time)) {
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
    match Travel::new(list) {
        Ok(travel) => Ok(Arc::new(travel.allowing(allowed))),
        Err(error) => Err(invalid("connections", "", &error.to_string())),
    }
}

/// The words for the sizes of ships that travel by gates.
const SHIPS: [(&str, Ship); 4] = [
    ("small", Ship::Small),
    ("medium", Ship::Medium),
    ("large", Ship::Large),
    ("xlarge", Ship::Xlarge),
];

/// The systems that the words of a call let it pass.
fn allowed(now: &Snapshot, ways: &Ways) -> Result<Vec<SystemIndex>, UniverseError> {
    let words = ONLY_ENDS.map(|rule| (rule.word, rule.id));
    let mut allowed = Vec::new();
    for name in ways.allow.iter().flat_map(|list| list.iter()) {
        let id = word("allow", Some(name), &words)?;
        allowed.extend(id.and_then(|id| now.map.system_by_id(id)));
    }
    Ok(allowed)
}
