//! What the handler of a prompt may return.

use std::borrow::Cow;

use super::{GetPromptResult, PromptMessage};
use crate::content::ContentBlock;
use crate::interrupt::RequestError;

/// What the handler of a prompt may return.
///
/// | type | messages |
/// |---|---|
/// | `String`, `&'static str`, `Cow<'static, str>` | one of the user with this text |
/// | [`ContentBlock`] | one of the user with this content |
/// | [`PromptMessage`], and a `Vec` or an array of them | these |
/// | `Result` of any of these with [`RequestError`] | these, or the error |
/// | [`GetPromptResult`] | the whole result, made by the handler |
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "its handler returns `{Self}`",
    note = "a prompt returns `String`, `&'static str`, `ContentBlock`, `PromptMessage`, a list of messages, `GetPromptResult`, or a `Result<_, RequestError>` of these"
)]
pub trait IntoPrompt: Sized {
    /// The result.
    ///
    /// # Errors
    /// Why it cannot be filled in.
    fn into_prompt(self) -> Result<GetPromptResult, RequestError>;
}

impl IntoPrompt for GetPromptResult {
    fn into_prompt(self) -> Result<GetPromptResult, RequestError> {
        Ok(self)
    }
}

impl IntoPrompt for String {
    fn into_prompt(self) -> Result<GetPromptResult, RequestError> {
        Ok(GetPromptResult::text(self))
    }
}

impl IntoPrompt for &'static str {
    fn into_prompt(self) -> Result<GetPromptResult, RequestError> {
        Ok(GetPromptResult::text(self))
    }
}

impl IntoPrompt for Cow<'static, str> {
    fn into_prompt(self) -> Result<GetPromptResult, RequestError> {
        Ok(GetPromptResult::text(self))
    }
}

impl IntoPrompt for ContentBlock {
    fn into_prompt(self) -> Result<GetPromptResult, RequestError> {
        PromptMessage::user(self).into_prompt()
    }
}

impl IntoPrompt for PromptMessage {
    fn into_prompt(self) -> Result<GetPromptResult, RequestError> {
        [self].into_prompt()
    }
}

impl IntoPrompt for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<GetPromptResult, RequestError> {
        Ok(GetPromptResult::new(self))
    }
}

impl<const N: usize> IntoPrompt for [PromptMessage; N] {
    fn into_prompt(self) -> Result<GetPromptResult, RequestError> {
        Ok(GetPromptResult::new(self))
    }
}

// For one type of errors alone, so that a closure need not name it.
impl<T: IntoPrompt> IntoPrompt for Result<T, RequestError> {
    fn into_prompt(self) -> Result<GetPromptResult, RequestError> {
        self?.into_prompt()
    }
}
