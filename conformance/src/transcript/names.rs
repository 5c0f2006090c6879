//! Checks, before anything is sent, that every name a transcript uses is introduced by an earlier step of the same era.

use std::collections::BTreeSet;

use super::step::{Action, SendBody, Step, StreamSource, Wanted};
use super::{Era, Send};
use crate::error::Problem;
use crate::pattern::Pattern;

/// What has a name, as messages call it.
const VARIABLE: &str = "variable";
const CLIENT: &str = "client";
const STREAM: &str = "stream";

/// What the steps so far have introduced: of each kind the names.
#[derive(Clone, Default)]
struct DefinedNames(BTreeSet<(&'static str, String)>);

/// All variables.
///
/// # Errors
/// The first use of a name that nothing introduced, or the second introduction of one, with its line.
pub(super) fn check(steps: &[Step], era: Era) -> Result<BTreeSet<String>, (usize, Problem)> {
    let mut known = DefinedNames::default();
    check_list(steps, era, &mut known)?;
    let vars = known.0.into_iter().filter(|(kind, _)| *kind == VARIABLE);
    Ok(vars.map(|(_, name)| name).collect())
}

fn check_list(steps: &[Step], era: Era, known: &mut DefinedNames) -> Result<(), (usize, Problem)> {
    for step in steps.iter().filter(|step| step.is_for(era)) {
        let at = |problem: Problem| (step.line, problem);
        match &step.action {
            Action::Silent { streams, steps } => {
                for stream in streams {
                    known.stream(stream).map_err(at)?;
                }
                check_list(steps, era, known)?;
            }
            Action::Parallel(branches) => {
                // A branch sees what was known before the block, never what runs in parallel.
                let before = known.clone();
                for branch in branches {
                    let mut seen = before.clone();
                    check_list(branch, era, &mut seen)?;
                    known.merge(&seen, &before).map_err(at)?;
                }
            }
            action => known.check(action, era).map_err(at)?,
        }
    }
    Ok(())
}

impl DefinedNames {
    fn check(&mut self, action: &Action, era: Era) -> Result<(), Problem> {
        match action {
            Action::Open { client, opening, expect } => {
                self.introduce(CLIENT, client)?;
                for answer in &opening.answers {
                    self.uses(|visit| {
                        answer.value.each_name(&mut *visit);
                        answer.params.iter().for_each(|params| params.each_name(visit));
                    })?;
                }
                if era == Era::Legacy {
                    self.introduce(VARIABLE, &format!("{client}.session"))?;
                }
                self.patterns(expect.iter().flat_map(|expect| expect.patterns()))
            }
            Action::Http { send, expect } => {
                self.send(send)?;
                self.patterns(expect.patterns())
            }
            Action::Rpc { client, params, expect, .. } => {
                self.client(client)?;
                if let Some(params) = params {
                    self.uses(|visit| params.each_name(visit))?;
                }
                self.patterns(expect.patterns())
            }
            Action::Stream { name, source, expect } => {
                match source {
                    StreamSource::Http(send) => self.send(send)?,
                    StreamSource::Listen { client, filter, .. } => {
                        self.client(client)?;
                        self.uses(|visit| filter.each_name(visit))?;
                    }
                }
                self.introduce(STREAM, name)?;
                self.patterns(expect.iter().flat_map(|expect| expect.patterns()))
            }
            Action::Await {
                stream,
                wanted: Wanted::Event(pattern) | Wanted::Message(pattern) | Wanted::Comment(pattern),
            } => {
                self.stream(stream)?;
                self.patterns([pattern])
            }
            Action::End { stream } | Action::Close { stream } => {
                self.stream(stream)?;
                self.0.remove(&(STREAM, stream.clone()));
                Ok(())
            }
            Action::Check { name, pattern } => {
                self.uses(|visit| visit(name))?;
                self.patterns([pattern])
            }
            Action::Silent { .. } | Action::Parallel(_) => Ok(()),
        }
    }

    fn send(&self, send: &Send) -> Result<(), Problem> {
        self.uses(|visit| {
            send.path.names().for_each(&mut *visit);
            send.headers.iter().for_each(|(_, value)| value.names().for_each(&mut *visit));
            match &send.body {
                SendBody::Empty => {}
                SendBody::Json(template) => template.each_name(visit),
                SendBody::Text(text) => text.names().for_each(visit),
            }
        })
    }

    /// Within one answer a pattern may use what the same answer captures.
    fn patterns<'a>(
        &mut self,
        patterns: impl IntoIterator<Item = &'a Pattern>,
    ) -> Result<(), Problem> {
        for pattern in patterns {
            for name in pattern.captures() {
                self.introduce(VARIABLE, name)?;
            }
            self.uses(|visit| pattern.each_name(visit))?;
        }
        Ok(())
    }

    fn uses<'a>(&self, names: impl FnOnce(&mut dyn FnMut(&'a str))) -> Result<(), Problem> {
        let mut missing = None;
        names(&mut |name| {
            if missing.is_none() && !self.has(VARIABLE, name) {
                missing = Some(name);
            }
        });
        match missing {
            None => Ok(()),
            Some(name) => Err(Problem::new(format!(
                "the variable `{name}` is used, but no earlier step captures it"
            ))),
        }
    }

    fn client(&self, name: &str) -> Result<(), Problem> {
        if self.has(CLIENT, name) {
            return Ok(());
        }
        Err(Problem::new(format!("no earlier step opens the client `{name}`")).within("client"))
    }

    fn stream(&self, name: &str) -> Result<(), Problem> {
        if self.has(STREAM, name) {
            return Ok(());
        }
        let text = format!("no earlier step opens the stream `{name}`, or it was closed");
        Err(Problem::new(text))
    }

    /// Adds what a branch introduced, which no other branch may have introduced too.
    fn merge(&mut self, branch: &Self, before: &Self) -> Result<(), Problem> {
        for (kind, name) in branch.0.difference(&before.0) {
            self.introduce(kind, name)?;
        }
        self.0.retain(|name| branch.0.contains(name) || !before.0.contains(name));
        Ok(())
    }

    fn has(&self, kind: &'static str, name: &str) -> bool {
        self.0.contains(&(kind, name.to_owned()))
    }

    fn introduce(&mut self, kind: &'static str, name: &str) -> Result<(), Problem> {
        if self.0.insert((kind, name.to_owned())) {
            return Ok(());
        }
        Err(Problem::new(format!("the {kind} `{name}` is defined a second time")))
    }
}
