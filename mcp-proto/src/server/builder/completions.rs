//! Completion of arguments.

use super::ServerBuilder;
use crate::completion::{Completion, CompletionRequest, Reference};
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::service::with_state;

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
        self.complete(Reference::Template(uri_template.into()), variable.into(), handler)
    }

    fn complete<F, R>(self, reference: Reference, argument: String, handler: F) -> Self
    where
        F: Fn(S, CompletionRequest, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        let completer = with_state(self.state.clone(), handler);
        self.then(move |offered| offered.complete(reference, argument, completer))
    }
}
