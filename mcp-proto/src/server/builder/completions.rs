//! Completion of arguments, and whether there is what is to be completed.

use std::future::Future;

use super::{BuildError, ServerBuilder};
use crate::completion::{Completion, CompletionRequest, Reference};
use crate::context::Context;
use crate::interrupt::RequestError;

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    /// Completes an argument of a prompt.
    pub fn complete_prompt<F, R>(
        self,
        prompt: impl Into<String>,
        argument: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: Fn(S, CompletionRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        self.complete(Reference::Prompt(prompt.into()), argument.into(), handler)
    }

    /// Completes a variable of a resource template.
    pub fn complete_template<F, R>(
        self,
        uri_template: impl Into<String>,
        variable: impl Into<String>,
        handler: F,
    ) -> Self
    where
        F: Fn(S, CompletionRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        self.complete(
            Reference::Template(uri_template.into()),
            variable.into(),
            handler,
        )
    }

    fn complete<F, R>(mut self, reference: Reference, argument: String, handler: F) -> Self
    where
        F: Fn(S, CompletionRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        let (of, name) = (reference.clone(), argument.clone());
        let state = self.state.clone();
        if !self.completions.add(reference, argument, state, handler) {
            self.keep_first(Err(()), |()| {
                unfit(&of, &name, "there is another completion for it")
            });
        }
        self
    }

    /// Arguments with a closed set of values complete themselves.
    pub(super) fn complete_closed_sets(&mut self) {
        for prompt in self.prompts.list() {
            for argument in &prompt.arguments {
                if argument.values.is_empty() {
                    continue;
                }
                let values = argument.values.clone();
                let reference = Reference::Prompt(prompt.name.clone());
                self.completions
                    .add_if_absent(reference, &argument.name, values);
            }
        }
    }

    /// Whatever is completed must be there.
    pub(super) fn check_completions(&self) -> Result<(), BuildError> {
        for (reference, argument) in self.completions.keys() {
            let known: Option<Vec<&str>> = match reference {
                Reference::Prompt(name) => self.prompts.get(name).map(|prompt| {
                    let arguments = prompt.arguments.iter();
                    arguments.map(|known| known.name.as_str()).collect()
                }),
                Reference::Template(text) => {
                    let template = self.resources.template(text);
                    template.map(|template| template.variables().collect())
                }
            };
            let problem = match known {
                Some(known) if known.contains(&argument) => continue,
                Some(known) => format!("it has only {known:?}"),
                None => match reference {
                    Reference::Prompt(_) => "there is no such prompt".to_owned(),
                    Reference::Template(_) => {
                        "there is no such template; name it exactly as it was added".to_owned()
                    }
                },
            };
            return Err(unfit(reference, argument, problem));
        }
        Ok(())
    }
}

fn unfit(reference: &Reference, argument: &str, problem: impl Into<String>) -> BuildError {
    let (Reference::Prompt(of) | Reference::Template(of)) = reference;
    BuildError::Completion {
        of: of.clone(),
        argument: argument.to_owned(),
        problem: problem.into(),
    }
}
