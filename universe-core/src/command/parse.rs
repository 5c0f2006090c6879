//! From JSON to a command.

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use serde_json::Value;

use super::action::{Action, RecordKind, Snapshot};
use super::{Command, CommandKind};
use crate::catalog;
use crate::check::{check_object, describe};
use crate::date::Instant;
use crate::entity::{ChildKind, Id, Members, Record};
use crate::finding::{Findings, Path, Quoted};
use crate::member::Mode;
use crate::nearest;
use crate::state::{IN_EXTRA, State, read_group_child, read_records};
use crate::warning::{self, Strictness};

/// Why a JSON value is not a command: every finding, with its path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed command: {findings}")]
pub struct CommandError {
    findings: Findings,
}

impl CommandError {
    /// What is wrong, with paths into the command.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl Command {
    /// Reads a command. Unknown members are kept.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it without regard to a universe: an unknown `type` (with a list of all known
    /// ones), missing members, wrong types, ids that do not match, and for a snapshot every broken invariant.
    pub fn from_value(value: Value) -> Result<Self, CommandError> {
        parse(value, None).map(|(command, _)| command).map_err(|findings| CommandError { findings })
    }

    /// Reads a command as [`Command::from_value`] does, and warns of what is odd about it: unknown members, numbers
    /// outside of their range, rings inside out, empty ids, texts that are not colours.
    ///
    /// # Errors
    ///
    /// As for [`Command::from_value`]; with [`Strictness::Strict`] also for what is odd.
    pub fn read(value: Value, strictness: Strictness) -> Result<(Self, Findings), CommandError> {
        parse(value, Some(strictness)).map_err(|findings| CommandError { findings })
    }
}

impl Command {
    /// Reads a list of commands as [`Command::read`] reads each; paths begin with the place in the list.
    ///
    /// # Errors
    ///
    /// What is wrong with any of them.
    pub fn read_all(
        values: Vec<Value>,
        strictness: Strictness,
    ) -> Result<(Vec<Self>, Findings), CommandError> {
        let (mut warnings, mut wrong) = (Findings::default(), Findings::default());
        let mut commands = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            match Self::read(value, strictness) {
                Ok((command, odd)) => {
                    commands.push(command);
                    warnings.extend(Some(index), odd);
                }
                Err(error) => wrong.extend(Some(index), error.findings),
            }
        }
        match wrong.into_result() {
            Ok(()) => Ok((commands, warnings)),
            Err(findings) => Err(CommandError { findings }),
        }
    }
}

fn parse(value: Value, strictness: Option<Strictness>) -> Result<(Command, Findings), Findings> {
    let mut findings = Findings::default();
    let Value::Object(mut given) = value else {
        let found = describe(&value);
        findings
            .push(&Path::ROOT, format_args!("expected an object with a \"type\", found {found}"));
        return Err(findings);
    };
    let spec = match given.get("type") {
        Some(Value::String(name)) => catalog::command(name),
        _ => None,
    };
    let Some(spec) = spec else {
        if let Some(message) = wrapped(&given) {
            findings.push(&Path::ROOT, message);
            return Err(findings);
        }
        findings.push(&Path::ROOT.at(&"type"), unknown_type(given.get("type")));
        return Err(findings);
    };
    check_object(&given, spec.fields, Mode::New, &Path::ROOT, &mut findings);
    if spec.kind == CommandKind::Tick && given.contains_key("dt") && given.contains_key("until") {
        findings.push(&Path::ROOT.at(&"until"), "is given beside dt: give one of them");
    }
    findings.into_result()?;
    let mut warnings = Findings::default();
    if let Some(strictness) = strictness {
        warning::judge(&given, spec.fields, Mode::New, strictness, &mut warnings);
        if strictness == Strictness::Strict && !warnings.is_empty() {
            return Err(warnings);
        }
    }

    let action = action(spec.kind, &mut given);
    let mut findings = Findings::default();
    judge(&action, &mut findings);
    findings.into_result()?;
    let command = Command { kind: spec.kind, given, action };
    Ok((command, warnings))
}

/// What to say of a command inside an object, or under its own name.
fn wrapped(given: &Members) -> Option<String> {
    let mut members = given.iter();
    let (name, inner) = members.next()?;
    if members.next().is_some() {
        return None;
    }
    let inner = inner.as_object()?;
    if inner.contains_key("type") {
        return Some(format!(
            "holds the command once more in `{name}`: send the inner object itself"
        ));
    }
    catalog::command(name)?;
    Some(format!(
        "has its type as a name: send {{\"type\":\"{name}\", …}} with the members beside it"
    ))
}

/// Builds the action of a command that the checker has passed. A value of another type than the
/// checked one reads as empty.
fn action(kind: CommandKind, given: &mut Members) -> Action {
    let fields = RecordKind::SmallBodyField;
    let disks = RecordKind::ProtoplanetaryDisk;
    let nebulae = RecordKind::Nebula;
    match kind {
        CommandKind::Tick => {
            let dt = given.get("dt").and_then(Value::as_f64).unwrap_or(1.0);
            match given.get("until").and_then(Instant::of) {
                Some(until) => Action::TickUntil { until },
                None => Action::Tick { dt },
            }
        }
        CommandKind::AddStar => {
            Action::AddStar { id: id(given, "id"), payload: take_members(given, "payload") }
        }
        CommandKind::UpdateStar => {
            Action::UpdateStar { id: id(given, "id"), payload: take_members(given, "payload") }
        }
        CommandKind::RemoveStar => Action::RemoveStar { id: id(given, "id") },
        CommandKind::AttachStar => {
            Action::AttachStar { child: id(given, "childId"), parent: id(given, "parentId") }
        }
        CommandKind::DetachStar => Action::DetachStar { child: id(given, "childId") },
        CommandKind::AddGroup => {
            Action::AddGroup { id: id(given, "id"), payload: take_members(given, "payload") }
        }
        CommandKind::UpdateGroup => {
            Action::UpdateGroup { id: id(given, "id"), payload: take_members(given, "payload") }
        }
        CommandKind::RemoveGroup => Action::RemoveGroup { id: id(given, "id") },
        CommandKind::AddToGroup => Action::AddToGroup {
            group: id(given, "groupId"),
            child: Arc::new(read_group_child(take(given, "child"))),
        },
        CommandKind::RemoveFromGroup => {
            Action::RemoveFromGroup { group: id(given, "groupId"), child: id(given, "childId") }
        }
        CommandKind::MoveToGroup => Action::MoveToGroup {
            child: id(given, "childId"),
            kind: match given.get("childType").and_then(Value::as_str) {
                Some("group") => ChildKind::Group,
                _ => ChildKind::System,
            },
            target: given.get("targetGroupId").and_then(Value::as_str).map(Id::from),
        },
        CommandKind::SetSmallBodyFields => set_records(fields, given),
        CommandKind::UpdateSmallBodyField => update_record(fields, given),
        CommandKind::RemoveSmallBodyField => remove_record(fields, given),
        CommandKind::SetProtoplanetaryDisks => set_records(disks, given),
        CommandKind::AddProtoplanetaryDisk => {
            let members = take_members(given, "disk");
            let id = id(&members, "id");
            let record = Record { members: members.into() };
            Action::AddRecord { kind: disks, id, record }
        }
        CommandKind::UpdateProtoplanetaryDisk => update_record(disks, given),
        CommandKind::RemoveProtoplanetaryDisk => remove_record(disks, given),
        CommandKind::SetNebulae => set_records(nebulae, given),
        CommandKind::UpdateNebula => update_record(nebulae, given),
        CommandKind::RemoveNebula => remove_record(nebulae, given),
        CommandKind::UpdateRing => Action::UpdateRing {
            planet: id(given, "planetId"),
            patch: take_members(given, "patch"),
        },
        CommandKind::RemoveRing => Action::RemoveRing { planet: id(given, "planetId") },
        CommandKind::ReplaceSnapshot => {
            let mut given = take_members(given, "snapshot");
            let mut state = State::from_sections(&mut given);
            let beside = IN_EXTRA.iter().filter_map(|name| given.get_key_value(*name));
            state.extra = Arc::new(beside.map(|(name, it)| (name.clone(), it.clone())).collect());
            Action::ReplaceSnapshot { snapshot: Box::new(Snapshot { given, state }) }
        }
    }
}

/// The message about a missing or unknown `type`: the nearest names, or all of them.
fn unknown_type(given: Option<&Value>) -> String {
    let names: Vec<_> = catalog::commands().map(|spec| spec.kind.name()).collect();
    let known = names.join(", ");
    let Some(given) = given else {
        return format!("is missing; expected one of {known}");
    };
    let found = describe(given);
    match given.as_str().map(|given| nearest::hint(given, names)) {
        Some(hint) if !hint.is_empty() => format!("{found} is not a command{hint}"),
        _ => format!("{found} is not a command; expected one of {known}"),
    }
}

fn set_records(kind: RecordKind, given: &mut Members) -> Action {
    let records = read_records(take(given, kind.map_name()));
    Action::SetRecords { kind, records }
}

fn update_record(kind: RecordKind, given: &mut Members) -> Action {
    Action::UpdateRecord { kind, id: id(given, "id"), patch: take_members(given, "patch") }
}

fn remove_record(kind: RecordKind, given: &Members) -> Action {
    Action::RemoveRecord { kind, id: id(given, "id") }
}

fn id(given: &Members, name: &str) -> Id {
    given.get(name).and_then(Value::as_str).unwrap_or_default().into()
}

fn take(given: &mut Members, name: &str) -> Value {
    given.get_mut(name).map(mem::take).unwrap_or_default()
}

fn take_members(given: &mut Members, name: &str) -> Members {
    match take(given, name) {
        Value::Object(members) => members,
        _ => Members::new(),
    }
}

/// Checks what the types leave open and what needs no universe.
fn judge(action: &Action, findings: &mut Findings) {
    match action {
        Action::UpdateStar { id, payload } | Action::UpdateGroup { id, payload } => {
            judge_id("payload", payload, id, findings);
        }
        Action::UpdateRecord { id, patch, .. } => judge_id("patch", patch, id, findings),
        Action::AddGroup { payload, .. } => judge_children(payload, findings),
        Action::ReplaceSnapshot { snapshot } => {
            // What follows from elements is not part of the command.
            let mut state = snapshot.state.clone();
            state.derive_all();
            state.check_in(&Path::ROOT.at(&"snapshot"), findings);
        }
        _ => {}
    }
}

fn judge_id(body: &str, patch: &Members, id: &str, findings: &mut Findings) {
    match patch.get("id") {
        None => {}
        Some(given) if given.as_str() == Some(id) => {}
        Some(given) => {
            let (id, found) = (Quoted(id), describe(given));
            let message =
                format_args!("an id cannot be changed: leave it out or give {id}, found {found}");
            findings.push(&Path::ROOT.at(&body).at(&"id"), message);
        }
    }
}

fn judge_children(group: &Members, findings: &mut Findings) {
    let payload = Path::ROOT.at(&"payload");
    let children = payload.at(&"children");
    let mut seen = HashSet::new();
    let given = group.get("children").and_then(Value::as_array).into_iter().flatten();
    for (index, child) in given.enumerate() {
        let entry =
            (child.get("type").and_then(Value::as_str), child.get("id").and_then(Value::as_str));
        if !seen.insert(entry) {
            findings.push(&children.at(&index), "is listed more than once");
        }
    }
}
