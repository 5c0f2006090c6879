//! `subscriptions/listen` (2026-07-28): one request that stays open and sends change notifications.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::lists::not_asked;
use super::{Change, Interest, Server};
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::json;
use crate::jsonrpc::{ErrorObject, Notification, Payload, RequestId, Result};
use crate::lifecycle::{
    MAX_SUBSCRIPTION_BYTES, MAX_SUBSCRIPTIONS, META_SERVER_INFO, META_SUBSCRIPTION_ID,
};
use crate::resource::{MAX_URI_BYTES, not_found};
use crate::scopes::Wanted;
use crate::task::Watched;

/// The most values in the `_meta` of a listen of which a handler gets a copy for each resource.
const MAX_META_VALUES: usize = 1_000;

impl Server {
    /// The error for a listener when all permits are taken.
    pub(crate) fn too_many_listeners() -> ErrorObject {
        ErrorObject::new(ErrorObject::INTERNAL, "too many listeners are open: try again later")
    }

    /// The interest of a listener in everything that this server notifies of.
    pub(crate) fn all_announced(&self) -> Interest {
        Interest {
            tools_list: self.0.announces(&Change::ToolsListChanged),
            prompts_list: self.0.announces(&Change::PromptsListChanged),
            resources_list: self.0.announces(&Change::ResourcesListChanged),
            resources: BTreeSet::new(),
            may_subscribe: self.0.announces_updates(),
            tasks: false,
        }
    }

    /// Acknowledges the accepted filter, then sends changes until the server closes or the client disconnects. Ends
    /// after the acknowledgment if nothing was accepted.
    pub(super) async fn listen(
        &self,
        mut params: Map<String, Value>,
        mut context: Context,
    ) -> Result<Payload> {
        let Some(Value::Object(wanted)) = params.remove("notifications") else {
            return Err(ErrorObject::invalid_params(
                "subscriptions/listen needs params.notifications, an object such as {\"toolsListChanged\": true}",
            ));
        };
        if self.0.on_subscribe.is_some() && !has_small_meta(&mut context) {
            return Err(ErrorObject::invalid_params(format!(
                "params._meta of subscriptions/listen has more than {MAX_META_VALUES} values"
            )));
        }
        let tasks = self.tasks_to_watch(wanted.get("taskIds"), &context).await?;
        let mut interest = self.agree(&wanted, &context).await?;
        let subscribes = self.0.announces_updates()
            && wanted.get("resourceSubscriptions").is_some_and(Value::is_array);
        // It may stay open for days, and no longer needs its request.
        drop((params, wanted));
        context.meta = Map::new();
        context.client_info = None;
        context.client_capabilities = Arc::default();
        let mut agreed = agreed(&interest, subscribes);
        if let Some(tasks) = &tasks {
            interest.tasks = !tasks.is_empty();
            let ids = tasks.iter().map(|task| &*task.id);
            agreed.insert("taskIds".to_owned(), ids.collect());
        }
        let ends = interest == Interest::default();
        let Some(mut listener) = self.0.changes.listen(interest) else {
            tracing::warn!("a listen was refused: every listener's place is taken");
            return Err(Self::too_many_listeners());
        };
        let subscription = json!({ META_SUBSCRIPTION_ID: context.request_id });
        let acknowledged = Notification::new(
            "notifications/subscriptions/acknowledged",
            json!({ "notifications": agreed, "_meta": subscription }),
        );
        // A failed send means that the client no longer reads; the transport drops this future in a moment.
        // One that will never receive anything ends at once.
        if context.outbox.send(acknowledged).await.is_ok() && !ends {
            let mut tasks = Watched::new(self.tasks(), tasks.unwrap_or_default());
            while let Some(mut change) = tokio::select! {
                biased;
                change = listener.next() => change.map(|change| change.notification().clone()),
                task = tasks.next() => Some(task),
            } {
                mark(&mut change, &context.request_id);
                if context.outbox.send(change).await.is_err() {
                    break;
                }
            }
        }
        self.ended(&context.request_id)
    }

    /// The part of the requested filter that this server will send.
    async fn agree(&self, wanted: &Map<String, Value>, context: &Context) -> Result<Interest> {
        let flag = |name: &str, change: &Change| match wanted.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag && self.0.announces(change)),
            Some(_) => Err(ErrorObject::invalid_params(format!(
                "params.notifications.{name} must be a boolean"
            ))),
        };
        // Checked even if nothing of the kind is offered: a malformed filter is an error, an unmet one is not.
        let uris = read_uris(wanted.get("resourceSubscriptions"))?;
        let mut interest = Interest {
            tools_list: flag("toolsListChanged", &Change::ToolsListChanged)?,
            prompts_list: flag("promptsListChanged", &Change::PromptsListChanged)?,
            resources_list: flag("resourcesListChanged", &Change::ResourcesListChanged)?,
            ..Interest::default()
        };
        if self.0.announces_updates() {
            for uri in uris {
                // A listen carries only changes, and nothing before its acknowledgement.
                match self.check_subscription(&uri, || context.silent()).await {
                    Ok(()) => {
                        interest.resources.insert(uri);
                    }
                    Err(RequestError::NotFound { .. }) => {}
                    Err(error) => {
                        let error = error.log("subscriptions/listen", &uri, &context.request_id);
                        return Err(not_asked(error, context.era()));
                    }
                }
            }
        }
        Ok(interest)
    }

    /// [`RequestError::NotFound`] for a resource that does not exist; another error for one that exists, but not for
    /// this caller.
    pub(crate) async fn check_subscription(
        &self,
        uri: &str,
        context: impl Fn() -> Context,
    ) -> Result<(), RequestError> {
        if uri.len() > MAX_URI_BYTES {
            return Err(not_found(uri));
        }
        if self.hides() && !self.is_visible(Wanted::Resource(uri), &context()) {
            return Err(not_found(uri));
        }
        if let Some(check) = &self.0.on_subscribe {
            return check(uri.to_owned(), context()).await;
        }
        let is_of_source = || self.0.source.as_ref().is_some_and(|source| source.has(uri));
        if self.offered().resources.knows(uri) || is_of_source() {
            Ok(())
        } else {
            Err(not_found(uri))
        }
    }

    /// The result that ends a listen gracefully.
    pub(crate) fn ended(&self, subscription: &RequestId) -> Result<Payload> {
        Payload::of(&json!({
            "resultType": "complete",
            "_meta": { META_SUBSCRIPTION_ID: subscription, META_SERVER_INFO: self.0.info },
        }))
    }
}

fn has_small_meta(context: &mut Context) -> bool {
    let meta = Value::Object(mem::take(&mut context.meta));
    let is_small = json::is_small(&meta, MAX_META_VALUES, usize::MAX);
    if let Value::Object(meta) = meta {
        context.meta = meta;
    }
    is_small
}

/// The filter that is acknowledged.
fn agreed(interest: &Interest, subscribes: bool) -> Map<String, Value> {
    let flags = [
        ("toolsListChanged", interest.tools_list),
        ("promptsListChanged", interest.prompts_list),
        ("resourcesListChanged", interest.resources_list),
    ];
    let flags = flags.into_iter().filter(|(_, agreed)| *agreed);
    let mut agreed: Map<_, _> =
        flags.map(|(name, _)| (name.to_owned(), Value::Bool(true))).collect();
    if subscribes {
        agreed.insert("resourceSubscriptions".to_owned(), json!(interest.resources));
    }
    agreed
}

/// Every message of a listen names the listen that it belongs to.
fn mark(change: &mut Notification, subscription: &RequestId) {
    let meta = change.params.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.insert(META_SUBSCRIPTION_ID.to_owned(), json!(subscription));
    }
}

fn read_uris(uris: Option<&Value>) -> Result<Vec<String>> {
    let uris = match uris {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(uris)) if uris.len() <= MAX_SUBSCRIPTIONS => uris,
        Some(Value::Array(uris)) => {
            return Err(ErrorObject::invalid_params(format!(
                "params.notifications.resourceSubscriptions has {} members; at most {MAX_SUBSCRIPTIONS} are taken",
                uris.len()
            )));
        }
        Some(_) => return Err(no_uris()),
    };
    let uris = uris.iter().map(|uri| uri.as_str().map(str::to_owned));
    let uris: Vec<String> = uris.collect::<Option<_>>().ok_or_else(no_uris)?;
    let bytes = uris.iter().map(String::len).fold(0, usize::saturating_add);
    if bytes > MAX_SUBSCRIPTION_BYTES {
        return Err(ErrorObject::invalid_params(format!(
            "the members of params.notifications.resourceSubscriptions have {bytes} bytes together; at most \
             {MAX_SUBSCRIPTION_BYTES} are taken"
        )));
    }
    Ok(uris)
}

fn no_uris() -> ErrorObject {
    ErrorObject::invalid_params(
        "params.notifications.resourceSubscriptions must be an array of strings",
    )
}
