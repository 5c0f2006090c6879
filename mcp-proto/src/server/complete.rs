//! `completion/complete`: for arguments that something offered has.

use serde_json::{Map, Value, json};

use super::Server;
use crate::completion::{CompleteParams, Reference};
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::jsonrpc::{ErrorObject, Payload};

impl Server {
    pub(super) async fn complete_argument(
        &self,
        params: &Map<String, Value>,
        context: Context,
    ) -> Result<Payload, ErrorObject> {
        let params = CompleteParams::read(params)?;
        self.check_reference(&params.reference, &params.argument)?;
        let era = context.era();
        let completion = self.0.completions.complete(params, context).await;
        let completion = completion.map_err(Interrupt::into_error)?;
        self.complete(&json!({ "completion": completion }), None, None, era)
    }

    /// −32602 for an argument that nothing offered has.
    fn check_reference(&self, reference: &Reference, argument: &str) -> Result<(), ErrorObject> {
        let known: Vec<&str> = match reference {
            Reference::Prompt(name) => match self.0.prompts.get(name) {
                Some(prompt) => prompt
                    .arguments
                    .iter()
                    .map(|one| one.name.as_str())
                    .collect(),
                None => return Err(self.0.prompts.unknown(name)),
            },
            Reference::Template(text) => match self.0.resources.template(text) {
                Some(template) => template.variables().collect(),
                // A resource without variables has nothing to complete.
                None => {
                    let shown: String = text.chars().take(200).collect();
                    return Err(ErrorObject::invalid_params(format!(
                        "params.ref.uri {shown:?} is no resource template of this server; \
                         resources/templates/list tells which there are"
                    )));
                }
            },
        };
        if known.contains(&argument) {
            return Ok(());
        }
        Err(ErrorObject::invalid_params(format!(
            "params.argument.name must be one of {known:?}"
        )))
    }
}
