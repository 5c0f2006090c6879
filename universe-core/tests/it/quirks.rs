//! Where the recorded program broke its own invariants: what happens here instead, case by case.
//!
//! The table lists every difference with its reason. A case that is not listed matches exactly; a
//! listed case that no longer differs in the listed way is an error.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use universe_core::{Command, State};

use crate::support::{Case, cases, faults, same, step};

/// How the outcome of a case differs from the recorded one.
#[derive(Debug, PartialEq)]
enum Difference {
    /// Same events, sound universe.
    Repaired,
    /// Refused with this code and event; nothing changes.
    Refused(&'static str, Value),
    /// No well-formed command: a finding at this path.
    Malformed(&'static str),
    /// The recorded start breaks an invariant and is no universe: a finding at this path.
    StartRefused(&'static str),
}

use Difference::{Malformed, Refused, Repaired, StartRefused};

const OVERWRITE: &str = "overwriting a body would orphan its children and list it twice";
const UNKNOWN_PARENT: &str = "a body would have a parent that does not exist";
const LINKS: &str = "links change on both sides at once, through the hierarchy commands";
const IDS: &str = "an entity's id is its key and cannot be changed";
const START: &str = "the start is not a universe, so no command can be sent to it";
const GHOST: &str = "a group would list what does not exist";
const MOVES: &str = "what is put in a group leaves the one it was in";
const CYCLE: &str = "a group would be in itself";

fn attach_failed(reason: &str, child: &str, parent: Option<&str>) -> Value {
    json!({ "type": "attachFailed", "reason": reason, "childId": child, "parentId": parent })
}

fn move_failed(reason: &str, child: &str, target: Option<&str>) -> Value {
    json!({ "type": "moveToGroupFailed", "reason": reason, "childId": child, "targetGroupId": target })
}

fn star_not_found(id: &str) -> Value {
    json!({ "type": "starNotFound", "id": id })
}

fn group_not_found(id: &str) -> Value {
    json!({ "type": "groupNotFound", "id": id })
}

// The table is read by column.
#[rustfmt::skip]
fn differences() -> Vec<(&'static str, Difference, &'static str)> {
    vec![
        ("addStar/existingRootIdOverwritten", Refused("STAR_ALREADY_EXISTS", attach_failed("alreadyExists", "rogue", None)), OVERWRITE),
        ("addStar/existingChildIdOverwrittenAsRoot", Refused("STAR_ALREADY_EXISTS", attach_failed("alreadyExists", "mars", None)), OVERWRITE),
        ("addStar/existingParentLosesChildrenList", Refused("STAR_ALREADY_EXISTS", attach_failed("alreadyExists", "earth", Some("sol"))), OVERWRITE),
        ("addStar/unknownParent", Refused("ATTACH_FAILED_NOT_FOUND", attach_failed("notFound", "lost", Some("nowhere"))), UNKNOWN_PARENT),
        ("addStar/emptyStringParent", Refused("ATTACH_FAILED_NOT_FOUND", attach_failed("notFound", "lost", Some(""))), UNKNOWN_PARENT),
        ("addStar/ownParent", Refused("ATTACH_FAILED_CYCLE", attach_failed("cycle", "ouro", Some("ouro"))), "a body would orbit itself"),
        ("updateStar/parentIdNotResynced", Refused("STAR_MEMBER_MANAGED", attach_failed("managedMember", "luna", Some("mars"))), LINKS),
        ("updateStar/parentIdToNull", Refused("STAR_MEMBER_MANAGED", json!({ "type": "detachFailed", "reason": "managedMember", "childId": "luna" })), LINKS),
        ("updateStar/childrenOverwritten", Refused("STAR_MEMBER_MANAGED", attach_failed("managedMember", "earth", Some("sol"))), LINKS),
        ("updateStar/idOverwritten", Malformed("/payload/id"), IDS),
        ("updateStar/selfParent", Refused("STAR_MEMBER_MANAGED", attach_failed("managedMember", "rogue", Some("rogue"))), LINKS),
        ("removeStar/fieldsDisksBeltsGroupsKeepReferences", Repaired, "a removed body leaves its group; fields, disks and belts may name any host"),
        ("removeStar/groupedSystemLeavesDanglingGroupChild", Repaired, "a removed body leaves its group"),
        ("removeStar/danglingChildIdReported", StartRefused("/stars/p/children/0"), START),
        ("removeStar/duplicateRootIdsAllDropped", StartRefused("/rootIds/0"), START),
        ("attachStar/childWithMissingOldParent", StartRefused("/stars/c/parentId"), START),
        ("detachStar/parentMissing", StartRefused("/stars/c/parentId"), START),
        ("detachStar/emptyStringParentCountsAsNone", StartRefused("/stars/c/parentId"), START),
        ("addGroup/groupChildrenNotReparented", Repaired, MOVES),
        ("addGroup/danglingChildrenAccepted", Refused("STAR_NOT_FOUND", star_not_found("nobody")), GHOST),
        ("addGroup/unknownParent", Refused("GROUP_NOT_FOUND", group_not_found("nowhere")), "a group would have a parent that does not exist"),
        ("addGroup/existingRootIdOverwritten", Refused("GROUP_ALREADY_EXISTS", move_failed("alreadyExists", "g-other", None)), "overwriting a group would lose its children and list it twice"),
        ("addGroup/ownParent", Refused("MOVE_TO_GROUP_FAILED_CYCLE", move_failed("cycle", "g", Some("g"))), CYCLE),
        ("updateGroup/parentNotResynced", Refused("GROUP_MEMBER_MANAGED", move_failed("managedMember", "g-leaf", Some("g-other"))), LINKS),
        ("updateGroup/childrenOverwritten", Refused("GROUP_MEMBER_MANAGED", move_failed("managedMember", "sol", Some("g-top"))), LINKS),
        ("updateGroup/idOverwritten", Malformed("/payload/id"), IDS),
        ("removeGroup/nestedPromotedButNotListedByGrandparent", Repaired, "groups that move up are listed by their new parent"),
        ("removeGroup/missingChildGroupSkipped", StartRefused("/groups/r/children/0"), START),
        ("addToGroup/system", Repaired, MOVES),
        ("addToGroup/unknownSystemAccepted", Refused("STAR_NOT_FOUND", star_not_found("nobody")), GHOST),
        ("addToGroup/unknownChildGroupAccepted", Refused("GROUP_NOT_FOUND", group_not_found("nobody")), GHOST),
        ("addToGroup/nestedGroupKeepsOldParentListing", Repaired, MOVES),
        ("addToGroup/itself", Refused("MOVE_TO_GROUP_FAILED_CYCLE", move_failed("cycle", "g-other", Some("g-other"))), CYCLE),
        ("addToGroup/ancestorMakesCycle", Refused("MOVE_TO_GROUP_FAILED_CYCLE", move_failed("cycle", "g-top", Some("g-leaf"))), CYCLE),
        ("removeFromGroup/sameIdBothTypesRemovesBoth", Repaired, "the group of that id becomes a root group, too"),
        ("moveToGroup/unknownSystemAccepted", Refused("STAR_NOT_FOUND", star_not_found("nobody")), GHOST),
        ("moveToGroup/unknownGroupAccepted", Refused("GROUP_NOT_FOUND", group_not_found("nobody")), GHOST),
        ("setSmallBodyFields/keyIdMismatchStored", Malformed("/fields/key/id"), IDS),
        ("updateSmallBodyField/idPatched", Malformed("/patch/id"), IDS),
        ("setProtoplanetaryDisks/keyIdMismatchStored", Malformed("/disks/key/id"), IDS),
        ("updateProtoplanetaryDisk/idPatched", Malformed("/patch/id"), IDS),
        ("setNebulae/keyIdMismatchStored", Malformed("/nebulae/key/id"), IDS),
        ("updateNebula/idPatched", Malformed("/patch/id"), IDS),
        ("replaceSnapshot/inconsistentAccepted", Malformed("/snapshot/rootIds/0"), "a snapshot is a universe"),
    ]
}

/// What becomes of a case: how it differs from the recorded one, if it does.
fn outcome(case: &Case) -> Option<Difference> {
    let [command] = case.commands.as_slice() else { panic!("{} is a sequence", case.name) };
    let first_path = |findings: &universe_core::Findings| {
        let path = findings.iter().next().unwrap().path.clone();
        &*path.leak()
    };
    let mut state = match State::from_value(case.state.clone()) {
        Ok(state) => state,
        Err(findings) => return Some(StartRefused(first_path(&findings))),
    };
    let command = match Command::from_value(command.clone()) {
        Ok(command) => command,
        Err(error) => return Some(Malformed(first_path(error.findings()))),
    };
    let before = state.to_value();
    let result = step(&mut state, &command);
    let after = state.to_value();
    state.check().unwrap_or_else(|findings| panic!("{}: {findings}", case.name));
    assert_eq!(faults(&after), [].into(), "{}", case.name);
    match result {
        Err(refusal) => {
            assert_eq!(after, before, "{}: a refusal changes nothing", case.name);
            let [event] = refusal.events.as_slice() else { panic!("{}: one event", case.name) };
            Some(Refused(refusal.code(), serde_json::to_value(event).unwrap()))
        }
        Ok(events) => {
            assert!(same(&events, &case.events[0]), "{}: {events}", case.name);
            (!same(&after, case.after.as_ref().unwrap())).then_some(Repaired)
        }
    }
}

#[test]
fn differences_from_the_recorded_program_are_the_listed_ones() {
    let cases = cases("quirk");
    assert_eq!(cases.len(), 46);
    let mut listed: BTreeMap<_, _> = BTreeMap::new();
    for (name, difference, reason) in differences() {
        assert!(!reason.is_empty());
        assert!(listed.insert(name, difference).is_none(), "{name} is listed twice");
    }
    let mut wrong = Vec::new();
    for case in &cases {
        let (ours, listed) = (outcome(case), listed.remove(case.name.as_str()));
        if ours != listed {
            wrong.push(format!("{}: listed {listed:?}, is {ours:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(listed.is_empty(), "no such case: {listed:?}");
}

#[test]
fn a_patch_may_repeat_what_it_may_not_set() {
    let case =
        cases("conform").into_iter().find(|case| case.name == "addToGroup/rootGroup").unwrap();
    let mut state = State::from_value(case.state).unwrap();
    let start = state.to_value();
    let (groups, stars) =
        (start["groups"].as_object().unwrap(), start["stars"].as_object().unwrap());
    for (kind, entities) in [("updateGroup", groups), ("updateStar", stars)] {
        for (id, entity) in entities {
            let command = json!({ "type": kind, "id": id, "payload": entity });
            step(&mut state, &Command::from_value(command).unwrap()).unwrap();
        }
    }
    assert_eq!(state.to_value(), start);

    // The order of children, and the members of an entry, are not a patch's to set either.
    let other = json!([{ "id": "sol", "type": "group" }, { "id": "g-mid", "type": "group" }]);
    let reversed = json!([{ "id": "g-mid", "type": "group" }, { "id": "sol", "type": "system" }]);
    for (children, child) in [(other, "sol"), (reversed, "g-mid")] {
        let payload = json!({ "children": children });
        let command = json!({ "type": "updateGroup", "id": "g-top", "payload": payload });
        let refusal = state.apply(&Command::from_value(command).unwrap()).unwrap_err();
        let event = serde_json::to_value(&refusal.events[0]).unwrap();
        assert_eq!(event, move_failed("managedMember", child, Some("g-top")));
    }
}
