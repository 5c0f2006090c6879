//! The travel graph of a call: its connections besides the gates, the size of its ship, and the rules that it lifts.

use std::sync::Arc;

use crate::connections::resolve;
use crate::errors::{UniverseError, invalid};
use crate::map::{RULES, Ship};
use crate::route::Travel;

use super::arguments::Ways;
use super::names::{Names, word};
use super::universe::{Snapshot, seconds_now};

/// The connections of a call, those of the file unless the call turns them off, and all rules that the call does not
/// lift.
pub(crate) fn of_call(
    now: &Snapshot,
    ways: &Ways,
    names: &mut Names<'_>,
) -> Result<Arc<Travel>, UniverseError> {
    let ship = word("ship", ways.ship.as_deref(), &Ship::WORDS)?;
    let time = seconds_now();
    let connections = ways.connections.as_deref().unwrap_or_default();
    let allowed = allowed(ways)?;
    if connections.is_empty() && allowed.is_empty() && ship.is_none() {
        return Ok(match ways.own_connections {
            Some(false) => Arc::default(),
            _ => Arc::clone(&now.travel),
        });
    }
    let mut list = Vec::new();
    let mut about = Vec::new();
    for connection in connections.iter().filter(|it| it.is_open(ship, time)) {
        let (from, to) = (names.system(&connection.from)?, names.system(&connection.to)?);
        if let Some(refused) = connection.refused(&now.map, from, to) {
            return Err(invalid("connections", "", refused));
        }
        list.push(connection.between(from, to));
        about.push(connection.about("call"));
    }
    // They follow the connections of the call, so that the position in an error is right for the call.
    if ways.own_connections != Some(false) {
        let (more, more_about, _) = resolve(&now.map, &now.connections, ship, time);
        list.extend(more);
        about.extend(more_about);
    }
    match Travel::new(list) {
        Ok(travel) => Ok(Arc::new(travel.knowing(about).for_ship(ship).allowing(allowed))),
        Err(error) => Err(invalid("connections", "", error.to_string())),
    }
}

/// The words of the rules that a call lifts.
fn allowed(ways: &Ways) -> Result<Vec<&'static str>, UniverseError> {
    let words = RULES.map(|rule| (rule.word, rule.word));
    let named = ways.allow.iter().flat_map(|list| list.iter());
    let allowed = named.map(|name| word("allow", Some(name), &words));
    Ok(allowed.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}
