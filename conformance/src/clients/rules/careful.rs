//! What careful clients do before servers that err or mean harm.

use super::super::rule::Judge::{After, In};
use super::super::rule::{ClientRule, last, missing, never};
use super::super::scene::Scene;
use super::super::script::TRAP;
use super::super::seen::{Ended, SceneRun};
use super::super::stage::ENDLESS;
use super::{MUST, PRACTICE};
use crate::check::Outcome;

/// Why a rule about what comes after the list does not apply.
const NO_LIST: &str = "the client did not list the tools";

pub(super) const RULES: &[ClientRule] = &[
    ClientRule {
        id: "client.wrong-id",
        level: MUST,
        section: "Base protocol, Responses (JSON-RPC 2.0 §5)",
        title: "A response with an id that the client never used is ignored",
        fix: "match responses to requests by id, including its JSON type, and drop a response that matches none",
        scenes: &[Scene::WrongId],
        judge: After("tools/list", NO_LIST, |seen| {
            let mut calls = seen.calls("tools/call");
            let trap = calls.find(|request| request.param("name").is_some_and(|name| name == TRAP));
            never(trap, "the client called a tool from the response with the wrong id")
        }),
    },
    ClientRule {
        id: "client.redirect",
        level: PRACTICE,
        section: "Security best practices",
        title: "A redirect to another origin is not followed",
        fix: "follow redirects only within the same origin: sessions and tokens belong to one origin",
        scenes: &[Scene::Redirects],
        judge: In(|seen| {
            let elsewhere = seen.requests.iter().find(|request| request.elsewhere);
            never(elsewhere, "the client sent this to the other origin")?;
            let is_silent = seen.requests.is_empty();
            if is_silent { missing("the client sent no request") } else { Ok(()) }
        }),
    },
    ClientRule {
        id: "client.endless",
        level: PRACTICE,
        section: "Security best practices",
        title: "The client limits the size of a message that it reads",
        fix: "stop reading a message above a documented size, and close the connection",
        scenes: &[Scene::Endless],
        judge: After("tools/list", NO_LIST, |seen| {
            let taken = seen.requests.iter().find(|request| request.taken >= ENDLESS);
            never(taken, format!("the client read {} MiB of one event", ENDLESS >> 20))?;
            ended(seen)
        }),
    },
    ClientRule {
        id: "client.garbage",
        level: PRACTICE,
        section: "Base protocol, Messages",
        title: "An answer that is not JSON fails the call, and does not block or crash the client",
        fix: "fail the call with the error of the JSON parser",
        scenes: &[Scene::Garbage],
        judge: After("tools/list", NO_LIST, ended),
    },
];

/// Checks that the client exited and was not ended by a signal.
fn ended(seen: &SceneRun) -> Outcome {
    let wrong = match &seen.ended {
        Ended::Late(after) => {
            format!("the client was still running after {} s", after.as_secs_f64())
        }
        Ended::Itself(how) if how.contains("signal") => format!("the client ended with {how}"),
        Ended::Itself(_) => return Ok(()),
    };
    last(seen.calls("tools/list").last(), &wrong, &wrong)
}
