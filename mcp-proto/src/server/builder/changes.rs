//! The changes that a server notifies its listeners of, and who may listen.

use std::sync::Arc;

use super::ServerBuilder;
use crate::change::ResourceUpdate;
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::service::with_state;

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    /// Lets clients subscribe to resources: [`Server::notify`](crate::Server::notify) will send
    /// [`Change::ResourceUpdated`](crate::Change::ResourceUpdated). Any caller may subscribe to any resource that was
    /// added and to any URI that matches a template, without a call of the handler that reads it. If callers may not
    /// read everything, [`ServerBuilder::on_subscribe`] decides.
    ///
    /// In the legacy era a session keeps its subscriptions, at most
    /// [`MAX_SUBSCRIPTIONS`](crate::lifecycle::MAX_SUBSCRIPTIONS), and their updates are sent on its GET stream. A
    /// stream in another process notices a new subscription through the session store within
    /// [`HttpConfig::keep_alive`](crate::http::HttpConfig::keep_alive).
    pub fn subscriptions(mut self) -> Self {
        self.kind.subscriptions = true;
        self
    }

    /// Decides which URIs can be subscribed to, and by whom; [`ServerBuilder::subscriptions`] alone accepts every URI
    /// of a resource or a template. For a URI that the function reports as not found, a listen leaves it out, and the
    /// legacy `resources/subscribe` gets −32002. Any other error refuses the request. Messages that the function sends
    /// before a listen is acknowledged are dropped, and a listen with more than 1,000 values in its `_meta` is refused,
    /// since each call gets a copy.
    pub fn on_subscribe<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(S, String, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), RequestError>> + Send + 'static,
    {
        self.kind.on_subscribe = Some(Box::new(with_state(self.state.clone(), handler)));
        self.subscriptions()
    }

    /// Decides which updates belong to a URI that was subscribed to: for families of resources, or filters in a query.
    /// By default the URIs must be equal. It runs for every subscription and update, on the listener's task: it must be
    /// quick, and it gets URIs as clients wrote them. If it panics, the listener does not receive the update. This also
    /// lets clients subscribe, as [`ServerBuilder::subscriptions`] does.
    pub fn subscription_matcher(
        mut self,
        matches: impl Fn(&str, &ResourceUpdate) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.kind.matcher = Some(Arc::new(matches));
        self.subscriptions()
    }

    /// Declares that [`Server::notify`](crate::Server::notify) will send changes of the tool list;
    /// [`Server::show_tools`](crate::Server::show_tools) sends them itself.
    pub fn tools_list_changed(mut self) -> Self {
        self.kind.tools_list_changed = true;
        self
    }

    /// The same for the list of resources and templates.
    pub fn resources_list_changed(mut self) -> Self {
        self.kind.resources_list_changed = true;
        self
    }

    /// The same for the list of prompts.
    pub fn prompts_list_changed(mut self) -> Self {
        self.kind.prompts_list_changed = true;
        self
    }

    /// Sets how many listeners (listens, GET streams, stdio) may be open at once. 20,000 by default. The budget limits
    /// how many of them one client may have ([`HttpConfig::budget`](crate::http::HttpConfig::budget)).
    pub fn max_listeners(mut self, max: usize) -> Self {
        self.kind.max_listeners = max;
        self
    }
}
