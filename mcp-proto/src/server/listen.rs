//! `subscriptions/listen` (2026-07-28): one request that stays open and tells of changes.

use serde_json::{Map, Value, json};

use super::{Interest, Server};
use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Notification, Payload, RequestId};
use crate::lifecycle::{META_SERVER_INFO, META_SUBSCRIPTION_ID};

impl Server {
    /// The refusal of a listener for which there is no place.
    pub(crate) fn too_many_listeners() -> ErrorObject {
        ErrorObject::new(
            ErrorObject::INTERNAL,
            "too many listeners are open: try again later",
        )
    }

    /// What a listener hears that takes whatever this server tells.
    pub(crate) fn everything_told(&self) -> Interest {
        Interest {
            tools_list: self.tells_tools_list(),
        }
    }

    /// Acknowledges what it agrees to, then tells of changes until the server closes or the client goes.
    pub(super) async fn listen(
        &self,
        mut params: Map<String, Value>,
        context: Context,
    ) -> Result<Payload, ErrorObject> {
        let Some(Value::Object(wanted)) = params.remove("notifications") else {
            return Err(ErrorObject::invalid_params(
                "subscriptions/listen needs params.notifications, an object such as {\"toolsListChanged\": true}",
            ));
        };
        let interest = self.agree(&wanted)?;
        let Some(mut listener) = self.changes().listen(interest) else {
            tracing::warn!("a listen was refused: every listener's place is taken");
            return Err(Self::too_many_listeners());
        };
        let subscription = json!({ META_SUBSCRIPTION_ID: context.request_id });
        let mut agreed = Map::new();
        if interest.tools_list {
            agreed.insert("toolsListChanged".to_owned(), Value::Bool(true));
        }
        let acknowledged = Notification::new(
            "notifications/subscriptions/acknowledged",
            json!({ "notifications": agreed, "_meta": subscription }),
        );
        // A failed send means that nobody reads any more; the transport drops this future in a moment.
        if context.outbox.send(acknowledged).await.is_ok() {
            while let Some(mut change) = listener.next().await {
                change
                    .params
                    .insert("_meta".to_owned(), subscription.clone());
                if context.outbox.send(change).await.is_err() {
                    break;
                }
            }
        }
        self.ended(&context.request_id)
    }

    /// What of the wish this server will really send.
    fn agree(&self, wanted: &Map<String, Value>) -> Result<Interest, ErrorObject> {
        let flag = |name: &str| match wanted.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(ErrorObject::invalid_params(format!(
                "params.notifications.{name} must be a boolean"
            ))),
        };
        // Judged although nothing of the kind is offered: a malformed wish is an error, an unmet one is not.
        let (_prompts, _resources) = (flag("promptsListChanged")?, flag("resourcesListChanged")?);
        match wanted.get("resourceSubscriptions") {
            None | Some(Value::Null) => {}
            Some(Value::Array(uris)) if uris.iter().all(Value::is_string) => {}
            Some(_) => {
                return Err(ErrorObject::invalid_params(
                    "params.notifications.resourceSubscriptions must be an array of strings",
                ));
            }
        }
        Ok(Interest {
            tools_list: flag("toolsListChanged")? && self.tells_tools_list(),
        })
    }

    /// The result that ends a listen gracefully.
    fn ended(&self, subscription: &RequestId) -> Result<Payload, ErrorObject> {
        Payload::of(&json!({
            "resultType": "complete",
            "_meta": { META_SUBSCRIPTION_ID: subscription, META_SERVER_INFO: self.0.info },
        }))
    }
}
