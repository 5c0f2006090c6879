//! Connections besides the gates in the form that a search takes: those of the user's file, and those of a call.

use std::sync::Arc;

use crate::connections::Connection;
use crate::errors::{InvalidParameterError, UniverseError, shown};
use crate::map::Map;
use crate::route::{Cost, Extra, Extras};

use super::arguments::Ways;
use super::names::{Names, resolve_system_name};
use super::universe::Snapshot;

/// The connections of a file, and a sentence for each that is left out. A map may lack systems that the file names.
pub(crate) fn of_file(map: &Map, connections: &[Connection]) -> (Extras, Vec<String>) {
    let mut list = Vec::with_capacity(connections.len());
    let mut left_out = Vec::new();
    for connection in connections {
        let both = resolve_system_name(map, &connection.from)
            .and_then(|from| Ok((from, resolve_system_name(map, &connection.to)?)));
        let why = match both {
            Ok((from, to)) if from != to => {
                list.push(Extra {
                    from,
                    to,
                    both_ways: connection.both_ways.unwrap_or(true),
                    cost: connection.cost.and_then(Cost::new),
                });
                continue;
            }
            Ok(_) => "it leads back to where it begins".to_owned(),
            Err(unknown) => unknown.to_string(),
        };
        left_out.push(format!(
            "the connection from {} to {} is left out: {why}",
            shown(&connection.from),
            shown(&connection.to)
        ));
    }
    // A file has at most the allowed number, and connections from a system to itself are left out.
    (Extras::new(list).unwrap_or_default(), left_out)
}

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
                InvalidParameterError::new("connections.cost", &cost.to_string(), reason)
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
        Err(error) => Err(InvalidParameterError::new("connections", "", error.to_string()).into()),
    }
}
