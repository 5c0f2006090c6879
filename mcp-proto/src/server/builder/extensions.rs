//! Extensions: their identifiers, and the methods that they add.

use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{BuildError, ServerBuilder};
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::lifecycle::is_extension_id;

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    /// Declares an extension such as `com.example/thing`, with its settings. Its identifier is a `_meta` key with a
    /// prefix: the labels of a reversed domain name, a slash, and a name.
    pub fn extension(mut self, id: impl Into<String>, settings: Map<String, Value>) -> Self {
        let id = id.into();
        let checked = check_id(&id);
        self.kind.extensions.insert(id, Value::Object(settings));
        self.then(|_| checked)
    }

    /// Answers requests of a method that an extension adds, in both eras. The extension is declared, without settings
    /// unless [`ServerBuilder::extension`] sets some. The method must have a prefix that MCP does not use, such as
    /// `notes/` in `notes/search`.
    ///
    /// Params that do not match the handler's type get −32602 with the place of the error. `_meta` is not part of the
    /// params: it is in [`Context::meta`]. The result must be a JSON object; a `_meta` in it becomes the result's
    /// `_meta`. Scopes are required by [`Guarded::Method`](crate::scopes::Guarded::Method). The handler cannot ask the
    /// client. It finds the [`Server`](crate::Server) itself by [`Context::extension`].
    ///
    /// ```
    /// use mcp_proto::jsonrpc::Request;
    /// use mcp_proto::{Context, RequestError, Server};
    /// use serde_json::json;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Search {
    ///     words: String,
    /// }
    ///
    /// #[derive(serde::Serialize)]
    /// struct Found {
    ///     notes: Vec<String>,
    /// }
    ///
    /// async fn search((): (), asked: Search, _: Context) -> Result<Found, RequestError> {
    ///     Ok(Found { notes: vec![format!("about {}", asked.words)] })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::builder("notes", "1.0.0", ())
    ///     .extension_method("com.example/notes", "notes/search", search)
    ///     .build()?;
    /// let request = Request::new(1, "notes/search", json!({ "words": "tea" }));
    /// let answer = server.handle(request, Context::test()).await.outcome.unwrap();
    /// assert_eq!(answer.to_value()["notes"], json!(["about tea"]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn extension_method<P, O, F, R>(
        mut self,
        id: impl Into<String>,
        method: impl Into<String>,
        handler: F,
    ) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
        F: Fn(S, P, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        let (id, method) = (id.into(), method.into());
        let added = self.kind.methods.add(&id, method.clone(), self.state.clone(), handler);
        self.declared(id, &method, added)
    }

    /// Says that requests of this extension's method name a resource in `params.uri`: their callers need the scopes of
    /// that resource, as for `resources/read`.
    pub fn scopes_by_uri(self, method: impl Into<String>) -> Self {
        let method = method.into();
        self.also(move |offered| offered.needs.by_uri.insert(method))
    }

    /// Handles notifications that an extension adds, in both eras. Their method begins with `notifications/` and a
    /// prefix that MCP does not use, such as `notifications/notes/seen`. The extension is declared as by
    /// [`ServerBuilder::extension_method`].
    ///
    /// The handler runs before anything else of its connection is read: it must not block, and slow work belongs in a
    /// separate task. A notification that does not match its type is skipped and logged at debug level, since it has no
    /// answer. The `request_id` of its [`Context`] has no meaning.
    pub fn extension_notification<P, F>(
        mut self,
        id: impl Into<String>,
        method: impl Into<String>,
        handler: F,
    ) -> Self
    where
        P: DeserializeOwned + 'static,
        F: Fn(S, P, Context) + Send + Sync + 'static,
    {
        let (id, method) = (id.into(), method.into());
        let added = self.kind.methods.add_notification(method.clone(), self.state.clone(), handler);
        self.declared(id, &method, added)
    }

    fn declared(mut self, id: String, method: &str, added: Result<(), String>) -> Self {
        let added = added
            .map_err(|problem| BuildError::Server(format!("the method {method:?}: {problem}")));
        let checked = check_id(&id).and(added);
        let settings = self.kind.extensions.entry(id);
        settings.or_insert_with(|| Map::new().into());
        self.then(|_| checked)
    }
}

fn check_id(id: &str) -> Result<(), BuildError> {
    if is_extension_id(id) {
        Ok(())
    } else {
        Err(BuildError::Server(format!(
            "the extension {id:?} needs an identifier such as \"com.example/thing\": labels, a slash, a name"
        )))
    }
}
