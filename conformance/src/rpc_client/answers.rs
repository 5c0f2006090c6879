//! What a client says when the server asks it something.

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

#[derive(Debug)]
struct State {
    used: Vec<bool>,
    unscripted: Vec<String>,
}

impl Answers {
    pub(super) fn new(scripted: Vec<Scripted>) -> Self {
        let used = vec![false; scripted.len()];
        let unscripted = Vec::new();
        Self { scripted, state: Mutex::new(State { used, unscripted }) }
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
        let fitting: Vec<usize> = self
            .scripted
            .iter()
            .enumerate()
            .filter_map(|(index, scripted)| fits(scripted).then_some(index))
            .collect();
        let mut state = self.state();
        let unused = fitting.iter().find(|index| state.used.get(**index) == Some(&false));
        let chosen = unused.or(fitting.last()).copied();
        if let Some((index, scripted)) =
            chosen.and_then(|index| Some((index, self.scripted.get(index)?)))
        {
            if let Some(used) = state.used.get_mut(index) {
                *used = true;
            }
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
        let unused = self
            .scripted
            .iter()
            .zip(&state.used)
            .filter(|(scripted, used)| !**used && !scripted.optional);
        unused.map(|(scripted, _)| scripted.method.clone()).collect()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
