//! Completion of arguments.

use super::ServerBuilder;
use crate::completion::{Completion, CompletionRequest, Reference};
use crate::handler::{Handler, Taken, Takes};
use crate::interrupt::RequestError;
use crate::service::with_state;

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    /// Completes an argument of a prompt. The handler is an async function of the state, the [`CompletionRequest`] and
    /// the [`Context`](crate::Context); the state and the context may be left out ([`Handler`]).
    pub fn complete_prompt<H, const STATE: bool, const CONTEXT: bool>(
        self,
        prompt: impl Into<String>,
        argument: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<S, Takes<CompletionRequest, STATE, true, CONTEXT>> + Send + Sync + 'static,
        H::Future: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        self.complete(Reference::Prompt(prompt.into()), argument.into(), handler)
    }

    /// Completes a variable of a resource template, as [`complete_prompt`](Self::complete_prompt) an argument.
    pub fn complete_template<H, const STATE: bool, const CONTEXT: bool>(
        self,
        uri_template: impl Into<String>,
        variable: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Handler<S, Takes<CompletionRequest, STATE, true, CONTEXT>> + Send + Sync + 'static,
        H::Future: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        self.complete(Reference::Template(uri_template.into()), variable.into(), handler)
    }

    fn complete<T, H>(self, reference: Reference, argument: String, handler: H) -> Self
    where
        T: Taken<Arguments = CompletionRequest>,
        H: Handler<S, T> + Send + Sync + 'static,
        H::Future: Future<Output = Result<Completion, RequestError>> + Send + 'static,
    {
        let completer = with_state(self.state.clone(), move |state, request, context| {
            handler.call(state, request, context)
        });
        self.then(move |offered| offered.complete(reference, argument, completer))
    }
}
