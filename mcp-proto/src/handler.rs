//! Handlers without the types of their states and arguments.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::context::Context;

/// A handler that has its state: from what is asked and the context of a request to an answer.
pub(crate) trait Handle<A, T>:
    Fn(A, Context) -> BoxFuture<'static, T> + Send + Sync + 'static
{
}

impl<A, T, H> Handle<A, T> for H where
    H: Fn(A, Context) -> BoxFuture<'static, T> + Send + Sync + 'static
{
}

/// Gives a handler its state, of which each call gets a clone. The whole handler runs inside the future, so that a panic
/// of its synchronous part is caught too.
pub(crate) fn with_state<S, A, F, R>(state: S, handler: F) -> impl Handle<A, R::Output>
where
    S: Clone + Send + Sync + 'static,
    A: Send + 'static,
    F: Fn(S, A, Context) -> R + Send + Sync + 'static,
    R: Future + Send + 'static,
{
    let handler = Arc::new(handler);
    move |asked, context| {
        let (state, handler) = (state.clone(), Arc::clone(&handler));
        Box::pin(async move { handler(state, asked, context).await })
    }
}
