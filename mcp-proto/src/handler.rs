//! What handlers take.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::context::Context;

/// A function or closure that handles calls: an async function of the state, the arguments and the [`Context`], in this
/// order. Each of the three may be left out. Tools and prompts have arguments of a type of their own, templates a
/// [`ResourceUri`](crate::ResourceUri), completions a [`CompletionRequest`](crate::CompletionRequest), lists of resources a
/// [`PageRequest`](crate::PageRequest), and resources none.
///
/// A closure names the types of its parameters. A handler takes a state that could be arguments (its type has
/// `serde::Deserialize` and `schemars::JsonSchema`, as `()`, texts and numbers have) only together with arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler for the state `{S}`",
    label = "not an async function of state, arguments and `Context`",
    note = "a handler is an async function of the state (`{S}`), its arguments and the `Context`, in this order; each may be left out",
    note = "the type of the arguments of a tool or a prompt needs `serde::Deserialize` and `schemars::JsonSchema`"
)]
pub trait Handler<S, T: Taken> {
    /// What it returns.
    type Future: Future;

    /// Handles a call.
    fn call(&self, state: S, arguments: T::Arguments, context: Context) -> Self::Future;
}

/// What a handler takes.
#[doc(hidden)]
pub trait Taken {
    /// The type of its arguments.
    type Arguments;
}

/// What is not a state or a context: arguments that clients send, and what the library makes for a handler.
#[doc(hidden)]
pub trait Arguments {}

impl<T: DeserializeOwned + JsonSchema> Arguments for T {}

/// A value that a handler returns as JSON. For a tool it is `structuredContent`, mirrored as text for clients that read
/// nothing else, and the schema of its type is published. For a resource it is text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// What a handler takes: arguments of type `A`, and whether the state, the arguments and the context.
#[doc(hidden)]
#[derive(Debug)]
pub struct Takes<A, const STATE: bool, const ARGUMENTS: bool, const CONTEXT: bool>(PhantomData<A>);

impl<A, const STATE: bool, const ARGUMENTS: bool, const CONTEXT: bool> Taken
    for Takes<A, STATE, ARGUMENTS, CONTEXT>
{
    type Arguments = A;
}

#[doc(hidden)]
#[derive(Debug, Deserialize)]
pub struct NoArguments {}

impl JsonSchema for NoArguments {
    fn schema_name() -> Cow<'static, str> {
        "NoArguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// Implements [`Handler`] for functions of some of the three. Each number of parameters is another `Fn` trait, so each
/// needs its own `impl`, which a function cannot write.
macro_rules! handler {
    (
        <$($generic:ident)?> $takes:ty,
        ($state:pat, $args:pat, $context:pat) => ($($taken:ident: $type:ty),*)
        $(where $($bound:tt)+)?
    ) => {
        impl<S, F, R $(, $generic)?> Handler<S, $takes> for F
        where
            F: Fn($($type),*) -> R,
            R: Future,
            $($($bound)+)?
        {
            type Future = R;

            fn call(&self, $state: S, $args: <$takes as Taken>::Arguments, $context: Context) -> R {
                self($($taken),*)
            }
        }
    };
}

// The bounds of `A` tell arguments from a state and a context. Where it cannot be either, the compiler's error is about
// the bound that is missing.
handler!(
    <A> Takes<A, true, true, true>,
    (state, arguments, context) => (state: S, arguments: A, context: Context)
);
handler!(
    <A> Takes<A, true, true, false>,
    (state, arguments, _) => (state: S, arguments: A)
    where A: Arguments
);
handler!(
    <A> Takes<A, false, true, true>,
    (_, arguments, context) => (arguments: A, context: Context)
    where A: Arguments
);
handler!(
    <A> Takes<A, false, true, false>,
    (_, arguments, _) => (arguments: A)
    where A: Arguments
);
handler!(
    <> Takes<NoArguments, true, false, true>,
    (state, _, context) => (state: S, context: Context)
);
handler!(<> Takes<NoArguments, true, false, false>, (state, _, _) => (state: S));
handler!(<> Takes<NoArguments, false, false, true>, (_, _, context) => (context: Context));
handler!(<> Takes<NoArguments, false, false, false>, (_, _, _) => ());
