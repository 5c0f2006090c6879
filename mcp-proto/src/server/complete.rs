//! `completion/complete`: for arguments of prompts and resource templates.

use serde_json::{Map, Value, json};

use super::Server;
use super::offered::Offered;
use crate::completion::{CompleteParams, Reference};
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::scopes::Wanted;

impl Server {
    pub(super) async fn complete_argument(
        &self,
        params: &Map<String, Value>,
        context: Context,
    ) -> Result<Payload> {
        let params = CompleteParams::read(params)?;
        let offered = self.offered();
        self.check_reference(&offered, &params, &context)?;
        let era = context.era();
        let completion = offered.completions.complete(params, context).await;
        let completion = completion.map_err(Interrupt::into_error)?;
        self.complete(&json!({ "completion": completion }), None, None, era)
    }

    /// −32602 for an argument that no prompt or template on offer has.
    fn check_reference(
        &self,
        offered: &Offered,
        params: &CompleteParams,
        context: &Context,
    ) -> Result<()> {
        let visible = |wanted| self.is_visible(wanted, context);
        let known: Vec<&str> = match &params.reference {
            Reference::Prompt(name) => {
                match offered.prompts.get(name).filter(|_| visible(Wanted::Prompt(name, None))) {
                    Some(prompt) => prompt.arguments.iter().map(|one| one.name.as_str()).collect(),
                    None => return Err(self.unknown_prompt(offered, name, context)),
                }
            }
            Reference::Template(text) => {
                match offered.resources.template(text).filter(|_| visible(Wanted::Resource(text))) {
                    Some(template) => template.variables().collect(),
                    // A resource without variables has nothing to complete.
                    None => {
                        let shown: String = text.chars().take(200).collect();
                        return Err(ErrorObject::invalid_params(format!(
                            "params.ref.uri {shown:?} is not a resource template of this server; \
                         resources/templates/list lists them"
                        )));
                    }
                }
            }
        };
        if known.contains(&params.argument.as_str()) {
            return Ok(());
        }
        Err(ErrorObject::invalid_params(format!("params.argument.name must be one of {known:?}")))
    }
}
