//! The body of a request that describes a universe. Bodies with commands are read in `universes.rs`.

use mcp_proto::json::Meter;
use serde_json::{Map, Value};
use universe_core::{Findings, State, Strictness, TextError, nearest};

use super::answer::Failure;
use super::read;
use crate::commands::Replacement;
use crate::store::{Revision, UniverseId};

/// The members that a body may have besides its name: those that are read, and those that every answer has, so that a
/// client can send an answer back.
const NAMES: [&str; 8] =
    ["fork", "generate", "id", "createdAt", "updatedAt", "revision", "warnings", "state"];

/// The members of a body about a universe.
pub(super) struct UniverseBody {
    pub(super) replacement: Replacement,
    /// The universe to copy, and as of which revision.
    pub(super) fork: Option<(UniverseId, Option<Revision>)>,
    /// The recipe of a universe, not parsed yet.
    pub(super) generate: Option<Value>,
}

fn read_fork(fork: &Value) -> Result<(UniverseId, Option<Revision>), Failure> {
    let wrong = || {
        Failure::bad_request(
            "fork must be {\"id\": …, \"revision\": N}, of which revision may be left out",
        )
    };
    let known = ["id", "revision"];
    let mut given = fork.as_object().into_iter().flat_map(|it| it.keys());
    if let Some(name) = given.find(|name| !known.contains(&name.as_str())) {
        let hint = nearest::hint(name, known);
        return Err(Failure::bad_request(format!("{name:?} is not a member of fork{hint}")));
    }
    let id = fork.get("id").and_then(Value::as_str).ok_or_else(wrong)?;
    let revision = match fork.get("revision") {
        None => None,
        Some(revision) => Some(read::revision(revision).ok_or_else(wrong)?),
    };
    let id = UniverseId::new(id).map_err(|_| Failure::not_found(id))?;
    Ok((id, revision))
}

/// Reads any of `{name, state, fork, generate}`, with findings about unusual values. The state is read one entity at a
/// time.
pub(super) fn read_replacement(
    body: &[u8],
    meter: &Meter,
    strictness: Strictness,
) -> Result<(UniverseBody, Findings), Failure> {
    let (mut members, state) = match read::split_off(body, "state", meter) {
        Some((members, state)) => (members, Some(state)),
        None => match read::json(body, meter)? {
            Value::Object(members) => (members, None),
            _ => return Err(Failure::bad_request("the body must be a JSON object")),
        },
    };
    let name = match members.remove("name") {
        None => None,
        Some(Value::String(name)) => {
            Some(Replacement::check_name(&name).map_err(Failure::bad_request)?)
        }
        Some(_) => {
            return Err(Failure::bad_request("name must be a string that is not blank"));
        }
    };
    let mut warnings = Findings::default();
    if members.contains_key("state") || state.is_some_and(|state| !state.starts_with('{')) {
        return Err(Failure::bad_request("state must be an object; {} is an empty universe"));
    }
    let state = match state {
        None => None,
        Some(text) => {
            let used = meter.used();
            let value = |text: &str| {
                // The memory of the entity before is free again.
                meter.go_back_to(used);
                read::value(text.as_bytes(), meter)
            };
            let read = State::read_text(text, strictness, &value);
            let (state, odd) = read.map_err(|error| match error {
                TextError::Json(problem) => Failure::bad_request(problem),
                TextError::Findings(findings) => Failure::findings("state", &findings),
            })?;
            warnings = odd;
            Some(state)
        }
    };
    let fork = members.get("fork").map(read_fork).transpose()?;
    let generate = members.get("generate").cloned();
    judge_names(&members, strictness, &mut warnings)?;
    let replacement = Replacement { name, state };
    let given = UniverseBody { replacement, fork, generate };
    Ok((given, warnings))
}

/// Warns of unknown members, or refuses them.
fn judge_names(
    members: &Map<String, Value>,
    strictness: Strictness,
    warnings: &mut Findings,
) -> Result<(), Failure> {
    let mut unknown = Findings::default();
    let left_out = match strictness {
        Strictness::Strict => "",
        _ => "; it was left out",
    };
    for name in members.keys().filter(|name| !NAMES.contains(&&***name)) {
        let hint = nearest::hint(name, ["name", "state", "fork", "generate"]);
        let message = format!("is not a known member of a universe{left_out}{hint}");
        match strictness {
            Strictness::Strict => unknown.add(name, message),
            _ => warnings.add(name, message),
        }
    }
    if unknown.is_empty() { Ok(()) } else { Err(Failure::findings("malformed universe", &unknown)) }
}
