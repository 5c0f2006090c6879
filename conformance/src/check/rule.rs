//! What a rule is, and how it is answered.

use std::fmt;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::heard::{Heard, every, exchanges};
pub use super::verdict::{Finding, Verdict};
pub(super) use super::verdict::{Outcome, inapplicable, unclear, verdict};
use crate::probe::{Bench, Exchange, Logged, Raw, Revision};

/// An id of fewer bytes can be guessed, with any content: a random UUID has 16 before it is written out.
const SHORT: usize = 12;
/// Random ids of any kind differ in more than so many characters.
const COUNTED: usize = 6;

/// One sentence of the specification that can be seen from outside.
#[derive(Debug)]
pub struct Rule {
    /// Its stable name, such as `base.id-echo`.
    pub id: &'static str,
    /// How much it binds.
    pub level: Level,
    /// The section of the specification that the rule is from.
    pub section: &'static str,
    /// The rule in a sentence.
    pub title: &'static str,
    /// What to change in a server that breaks it.
    pub fix: &'static str,
    pub(super) scope: Scope,
    pub(super) probe: Probe,
}

/// How a rule is judged.
#[derive(Debug)]
pub(super) enum Probe {
    /// It asks the server, or looks at what is known of it.
    Asks(for<'a> fn(&'a mut Bench) -> BoxFuture<'a, Outcome>),
    /// What is wrong with a message that came while the other rules were checked.
    Hears(fn(&Heard<'_>) -> Option<String>),
    /// What is wrong in all that was exchanged.
    Looks(fn(&Logged) -> Vec<(String, &Exchange)>),
    /// What is wrong with a tool as it is listed.
    Reads(fn(&Value) -> Option<String>),
}

/// Which rules are wanted, by the beginnings of their names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// Only rules whose names begin with one of these; if it is empty, all rules.
    pub(crate) only: Vec<String>,
    /// No rule whose name begins with one of these.
    pub(crate) skip: Vec<String>,
}

impl Selection {
    /// Whether the rule of this name is wanted.
    pub(crate) fn has(&self, rule: &str) -> bool {
        let begins = |prefixes: &[String]| prefixes.iter().any(|it| rule.starts_with(it.as_str()));
        (self.only.is_empty() || begins(&self.only)) && !begins(&self.skip)
    }
}

/// How much a rule binds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// MUST or MUST NOT.
    #[default]
    #[serde(rename = "MUST")]
    Must,
    /// SHOULD or SHOULD NOT.
    #[serde(rename = "SHOULD")]
    Should,
    /// No sentence of the specification, but what careful servers do.
    #[serde(rename = "practice")]
    Practice,
}

/// The revisions and transports that a rule applies to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    pub(super) first: Revision,
    pub(super) last: Revision,
    pub(super) transport: Transport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Any,
    Http,
    Stdio,
}

impl Rule {
    pub(super) async fn judge(&self, bench: &mut Bench) -> Verdict {
        let outcome = match self.probe {
            Probe::Asks(ask) => ask(bench).await,
            Probe::Hears(wrong) => every(bench, wrong),
            Probe::Looks(wrong) => exchanges(bench, wrong),
            Probe::Reads(wrong) => every_item(bench, "tools/list", wrong),
        };
        verdict(outcome)
    }

    /// Whether it applies to this revision and transport.
    pub(super) fn is_for(&self, revision: Revision, http: bool) -> bool {
        let transport = match self.scope.transport {
            Transport::Any => true,
            Transport::Http => http,
            Transport::Stdio => !http,
        };
        transport && (self.scope.first..=self.scope.last).contains(&revision)
    }

    /// Where it holds, for people.
    #[must_use]
    pub fn holds_for(&self) -> String {
        let transport = match self.scope.transport {
            Transport::Any => "HTTP and stdio",
            Transport::Http => "HTTP",
            Transport::Stdio => "stdio",
        };
        format!("{} to {}, {transport}", self.scope.first, self.scope.last)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// The rule does not hold, as this answer shows. One that did not come shows nothing, nor does a busy server's.
pub(super) fn finding(seen: impl Into<String>, exchange: &Exchange) -> Outcome {
    match exchange.shows_nothing() {
        Some(why) => Err(unclear(why)),
        None => proven(seen, exchange),
    }
}

/// The rule does not hold, whatever came in this exchange.
pub(super) fn proven(seen: impl Into<String>, exchange: &Exchange) -> Outcome {
    let found = Finding { seen: seen.into(), exchange: exchange.clone() };
    Err(Verdict::Finding(found.into()))
}

/// Whether what a rule is about is there.
pub(crate) fn applies(is_there: bool, otherwise: impl Into<String>) -> Outcome {
    if is_there { Ok(()) } else { Err(inapplicable(otherwise)) }
}

/// Whether a capability that a rule is about is declared.
pub(super) fn declares(bench: &Bench, capability: &str) -> Outcome {
    applies(bench.offers(capability), format!("the server does not declare {capability}"))
}

/// The server answers no harmless request with a result.
pub(super) struct Unserved;

impl From<Unserved> for Verdict {
    fn from(Unserved: Unserved) -> Self {
        unclear("neither ping nor a list is answered with a result")
    }
}

/// A request that the server answers with a result, and that changes nothing.
pub(super) fn plain(bench: &Bench) -> Result<&'static str, Unserved> {
    bench.plain.ok_or(Unserved)
}

/// That request, to which something is done.
pub(super) fn good(bench: &mut Bench) -> Result<Raw, Unserved> {
    let method = plain(bench)?;
    let message = bench.message(method, json!({}));
    Ok(bench.framed(&message))
}

/// Another session or program. The error says why none could be opened; the rule that wanted it is then not judged.
pub(super) async fn another(bench: &Bench) -> Result<Bench, Verdict> {
    let mut fresh = bench.fresh().await;
    if fresh.greeting.result().is_some() {
        return Ok(fresh);
    }
    fresh.end().await;
    let outcome = fresh.greeting.outcome();
    Err(unclear(format!("another session could not be opened: {outcome}")))
}

/// It holds, or it does not for what was seen.
pub(super) fn holds_if(holds: bool, seen: impl Into<String>, exchange: &Exchange) -> Outcome {
    if holds { Ok(()) } else { finding(seen, exchange) }
}

/// It holds, or it does not for what this is answered.
pub(super) fn holds_for(holds: bool, this: impl fmt::Display, exchange: &Exchange) -> Outcome {
    holds_if(holds, format!("{this}: {}", exchange.outcome()), exchange)
}

/// A good request got a result. An internal error says nothing: what the request needs may be out of reach today.
pub(super) fn served(request: impl fmt::Display, exchange: &Exchange) -> Outcome {
    if exchange.result().is_none() && exchange.code() == Some(-32603) {
        return Err(unclear(format!("{request}: {}", exchange.outcome())));
    }
    holds_for(exchange.result().is_some(), request, exchange)
}

/// It holds if the request was refused with the code for wrong parameters.
pub(super) fn invalid_params(exchange: &Exchange) -> Outcome {
    holds_if(exchange.code() == Some(-32602), exchange.outcome(), exchange)
}

/// A finding for the first item of a list that `wrong` reports a problem with.
pub(super) fn every_item(
    bench: &Bench,
    list: &str,
    wrong: fn(&Value) -> Option<String>,
) -> Outcome {
    for item in bench.items(list) {
        let name = item.get("name").and_then(Value::as_str).unwrap_or("one without a name");
        if let Some(problem) = wrong(item) {
            return finding(format!("{name}: {problem}"), &bench.page(list));
        }
    }
    Ok(())
}

/// Whether two ids that were given one after the other are too short, or differ only in a few digits at their end.
pub(super) fn are_counted(one: &str, two: &str) -> bool {
    let same = one.bytes().zip(two.bytes()).take_while(|(one, two)| one == two).count();
    let is_tail = |id: &str| id.bytes().skip(same).all(|byte| byte.is_ascii_hexdigit());
    let longest = one.len().max(two.len());
    one.len().min(two.len()) < SHORT || longest - same <= COUNTED && is_tail(one) && is_tail(two)
}

/// A connection of the other caller, or the reason why it could not be opened.
pub(super) async fn another_caller(bench: &Bench) -> Result<Bench, Verdict> {
    let missing = || inapplicable("this needs a second user (--other-token-env)");
    let other = bench.of_another_caller().await.ok_or_else(missing)?;
    if other.greeting.result().is_some() {
        return Ok(other);
    }
    Err(unclear(format!("the second user is refused: {}", other.greeting.outcome())))
}
