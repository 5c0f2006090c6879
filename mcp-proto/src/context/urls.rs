//! Requests that cannot be served before the user has opened a URL: URL elicitation as a precondition (−32042 in
//! 2025-11-25, `input_required` since then), and the notification that it is complete.

use serde_json::{Map, Value, json};

use super::Context;
use crate::input::{ElicitAction, ElicitUrl, Questions};
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::ErrorObject;
use crate::version::{Era, ProtocolVersion};

/// The keys of such questions in the modern era, numbered from 1.
const KEY: &str = "required-url-";

impl Interrupt {
    /// The request needs the user to visit these URLs first, for example to sign in. The client sends it again
    /// afterwards. The handler must check whether the user has completed the interaction: an answer says only that the
    /// user agreed to go.
    ///
    /// A client of 2025-11-25 gets the error −32042 with the URLs, and decides when to send its request again
    /// ([`Context::elicitation_complete`] can notify it). A modern one gets an `input_required` result with the URLs
    /// and comes back with the user's answer; if the user declined, the request is refused with −32602 instead of
    /// asking again. A client that does not support URLs is refused as by [`Interrupt::missing_capability`]; an empty
    /// list of URLs is −32603.
    pub fn urls_required(context: &Context, urls: impl IntoIterator<Item = ElicitUrl>) -> Self {
        let urls = urls.into_iter().enumerate();
        let questions = urls.fold(Questions::new(), |questions, (index, url)| {
            questions.elicit_url(format!("{KEY}{}", index + 1), url)
        });
        if questions.is_empty() {
            tracing::error!("a handler needs URLs to be opened, but names none");
            return ErrorObject::internal().into();
        }
        for (key, question) in questions.iter() {
            if let Some(refusal) =
                question.refusal(&context.client_capabilities, context.protocol_version)
            {
                return refusal.into();
            }
            if let Some(problem) = question.problem() {
                tracing::error!(problem, "a handler needs a URL to be opened that is not a URL");
                return ErrorObject::internal().into();
            }
            if declined(context, key) {
                return ErrorObject::invalid_params(format!(
                    "params.inputResponses[{key:?}]: the request cannot be served unless the user goes to the URL"
                ))
                .into();
            }
        }
        if context.era() == Era::Modern {
            return Self(Reason::Ask(Box::new(questions)));
        }
        let elicitations: Vec<_> = questions
            .iter()
            .map(|(_, question)| question.to_request(context.protocol_version).params)
            .collect();
        ErrorObject::new(
            ErrorObject::URL_ELICITATION_REQUIRED,
            "the user must open the URLs in data.elicitations first; make the request again afterwards",
        )
        .with_data(json!({ "elicitations": elicitations }))
        .into()
    }
}

impl Context {
    /// Notifies a client of 2025-11-25 that the interaction at the URL of this id ([`ElicitUrl::with_id`]) is complete
    /// (`notifications/elicitation/complete`). It is sent on the stream of this request, so only to its client, which
    /// must be the one whose user was asked to open the URL. In any other revision nothing is sent.
    pub async fn elicitation_complete(&self, elicitation_id: &str) {
        let knows = self.era() == Era::Legacy
            && self.protocol_version >= ProtocolVersion::V2025_11_25
            && self.client_capabilities.can_elicit_urls();
        if !knows {
            return;
        }
        let mut params = Map::new();
        params.insert("elicitationId".to_owned(), Value::from(elicitation_id));
        self.say("notifications/elicitation/complete", params).await;
    }
}

/// Whether the user has declined it in an earlier round.
fn declined(context: &Context, key: &str) -> bool {
    let answer = context.input.as_ref().and_then(|input| input.answer(key));
    answer
        .and_then(|answer| ElicitUrl::read(answer).ok())
        .is_some_and(|answer| answer.action != ElicitAction::Accept)
}
