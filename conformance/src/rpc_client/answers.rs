//! What a client says when the server asks it something.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::shorten::shorten;
use crate::template::Vars;
use crate::transcript::Scripted;

/// How many unscripted questions are kept until they are read.
const MOST_KEPT: usize = 100;

/// The answers that a transcript scripts, and what became of them.
#[derive(Debug)]
pub(super) struct Answers {
    scripted: Vec<Scripted>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The indices of the answers that were used.
    used: BTreeSet<usize>,
    unscripted: Vec<String>,
}

impl Answers {
    pub(super) fn new(scripted: Vec<Scripted>) -> Self {
        Self { scripted, state: Mutex::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.scripted.is_empty()
    }

    /// The first answer not used yet that fits; when all that fit are used, the last of them again. `ping` needs no
    /// script.
    pub(super) fn to(&self, question: &Value, vars: &Vars) -> (&'static str, Value) {
        let method = question.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = question.get("params");
        let fits = |scripted: &Scripted| {
            scripted.method == method
                && scripted
                    .params
                    .as_ref()
                    .is_none_or(|pattern| pattern.compare(params, &mut vars.clone()).is_empty())
        };
        let fitting = || self.scripted.iter().enumerate().filter(|(_, scripted)| fits(scripted));
        let mut state = self.state();
        let unused = fitting().find(|(index, _)| !state.used.contains(index));
        if let Some((index, scripted)) = unused.or_else(|| fitting().next_back()) {
            state.used.insert(index);
            return match scripted.value.fill(vars) {
                Ok(value) => (scripted.member, value),
                Err(problem) => ("error", json!({"code": -32603, "message": problem.to_string()})),
            };
        }
        if method == "ping" {
            return ("result", json!({}));
        }
        if state.unscripted.len() < MOST_KEPT {
            let asked = params.map_or_else(String::new, |params| shorten(&params.to_string(), 300));
            state.unscripted.push(format!("{method} {asked}"));
        }
        let message = format!("the transcript has no answer to {method}");
        ("error", json!({"code": -32601, "message": message}))
    }

    pub(super) fn unscripted(&self) -> Vec<String> {
        std::mem::take(&mut self.state().unscripted)
    }

    pub(super) fn unused(&self) -> Vec<String> {
        let state = self.state();
        let scripted = self.scripted.iter().enumerate();
        let unused = scripted.filter(|(index, it)| !state.used.contains(index) && !it.optional);
        unused.map(|(_, it)| it.method.clone()).collect()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
