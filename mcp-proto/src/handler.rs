//! What the handler of a tool takes.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::context::Context;

/// A function or closure that handles calls: an async function of the state, the arguments and the [`Context`], in this
/// order. Each of the three may be left out.
///
/// A closure names the types of its parameters. A handler takes a state that could be arguments (its type has
/// `serde::Deserialize` and `schemars::JsonSchema`, as `()`, texts and numbers have) only together with arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler for the state `{S}`",
    label = "not an async function of state, arguments and `Context`",
    note = "a handler is an async function of the state (`{S}`), its arguments and the `Context`, in this order; each may be left out",
    note = "the type of its arguments needs `serde::Deserialize` and `schemars::JsonSchema`"
)]
pub trait Handler<S, T> {
    /// The type of its arguments.
    type Arguments;
    /// What it returns.
    type Future: Future;

    /// Handles a call.
    fn call(&self, state: S, arguments: Self::Arguments, context: Context) -> Self::Future;
}

/// What a handler takes: arguments of type `A`, and whether the state, the arguments and the context.
#[doc(hidden)]
#[derive(Debug)]
pub struct Takes<A, const STATE: bool, const ARGUMENTS: bool, const CONTEXT: bool>(PhantomData<A>);

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
        <$($generic:ident)?> $takes:ty, $arguments:ty,
        ($state:pat, $given:pat, $context:pat) => ($($taken:ident: $type:ty),*)
        $(where $($bound:tt)+)?
    ) => {
        impl<S, F, R $(, $generic)?> Handler<S, $takes> for F
        where
            F: Fn($($type),*) -> R,
            R: Future,
            $($($bound)+)?
        {
            type Arguments = $arguments;
            type Future = R;

            fn call(&self, $state: S, $given: $arguments, $context: Context) -> R {
                self($($taken),*)
            }
        }
    };
}

// The bounds of `A` tell arguments from a state and a context. Where it cannot be either, the compiler's error is about
// the bound that is missing.
handler!(
    <A> Takes<A, true, true, true>, A,
    (state, arguments, context) => (state: S, arguments: A, context: Context)
);
handler!(
    <A> Takes<A, true, true, false>, A,
    (state, arguments, _) => (state: S, arguments: A)
    where A: DeserializeOwned + JsonSchema
);
handler!(
    <A> Takes<A, false, true, true>, A,
    (_, arguments, context) => (arguments: A, context: Context)
    where A: DeserializeOwned + JsonSchema
);
handler!(
    <A> Takes<A, false, true, false>, A,
    (_, arguments, _) => (arguments: A)
    where A: DeserializeOwned + JsonSchema
);
handler!(
    <> Takes<NoArguments, true, false, true>, NoArguments,
    (state, _, context) => (state: S, context: Context)
);
handler!(
    <> Takes<NoArguments, true, false, false>, NoArguments,
    (state, _, _) => (state: S)
);
handler!(
    <> Takes<NoArguments, false, false, true>, NoArguments,
    (_, _, context) => (context: Context)
);
handler!(<> Takes<NoArguments, false, false, false>, NoArguments, (_, _, _) => ());
