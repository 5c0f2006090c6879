//! Words that people use for one thing when they speak of software: a question with one of them finds, with less weight,
//! texts with another.
//!
//! General words of the trade; nothing here is of one project. A phrase of two words is written with `_`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem::stem;

/// Each line is a group of words that may stand for each other.
const GROUPS: [&str; 51] = [
    "remove delete uninstall erase clear unset get_rid drop",
    "folder directory path",
    "setting config configuration option preference",
    "error failure problem mistake invalid wrong broken fail fault bug",
    "print display output show report",
    "install setup set_up init initialize initialization",
    "disable turn_off opt_out switch_off suppress",
    "enable turn_on opt_in activate",
    "create make generate add new build scaffold",
    "telemetry analytics statistics tracking",
    "prompt ask confirm confirmation interactive question",
    "script noninteractive automation unattended batch",
    "fix repair remediation correct solve resolve cure",
    "reset default original initial restore",
    "finish complete completion done ready",
    "anonymous identity identify identifier",
    "stop exit quit cancel abort interrupt graceful",
    "start begin launch first",
    "copy fork duplicate clone",
    "rename move",
    "edit modify change alter update",
    "overwrite replace preserve keep lose",
    "check validate validation verify verification",
    "name title identifier",
    "list overview index",
    "file document",
    "user person people customer team",
    "old legacy previous outdated earlier",
    "empty nothing none missing absent",
    "choose select selection pick",
    "order sort sorted sequence",
    "large size limit maximum big long",
    "fast performance speed slow latency",
    "language translation locale",
    "send submit post transmit upload",
    "receive get fetch download retrieve",
    "read load parse open",
    "write save store persist",
    "unreachable offline network unavailable connection",
    "suggest suggestion recommend hint guidance",
    "warn warning notice notify notification",
    "terminal shell console command_line",
    "cycle circular loop acyclic",
    "permission allowed access authorize forbidden",
    "password secret credential token",
    "login sign_in authentication authenticate",
    "cost price fee charge payment",
    "time date day duration",
    "message text feedback",
    "record collect log track",
    "priority precedence win wins",
];

/// The terms that may be meant by the term `term`, or by a phrase of two, `"get rid"` with both stemmed.
pub(super) fn kin(term: &str) -> &'static [String] {
    static KIN: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(read);
    KIN.get(term).map_or(&[], Vec::as_slice)
}

fn read() -> HashMap<String, Vec<String>> {
    let mut kin: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS {
        let terms = group.split(' ').map(|entry| {
            let words: Vec<String> = entry.split('_').map(stem).collect();
            words.join(" ")
        });
        let terms: Vec<String> = terms.collect();
        for term in &terms {
            let others = terms
                .iter()
                .filter(|other| *other != term && !other.contains(' '));
            let known = kin.entry(term.clone()).or_default();
            for other in others {
                if !known.contains(other) {
                    known.push(other.clone());
                }
            }
        }
    }
    kin
}
