//! Tools, resources and prompts: registered in one way for a new server and for a running one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ServerBuilder;
use crate::content::{Resource, ResourceContents};
use crate::context::Context;
use crate::handler::{Handler, NoArguments, Taken, Takes};
use crate::prompt::{IntoPrompt, NewPrompt, Prompt};
use crate::resource::{IntoResource, ResourceTemplate, ResourceUri, reader};
use crate::scopes::{Guarded, Scopes};
use crate::tool::{IntoToolResult, NewTool, Tool};

impl<S: Clone + Send + Sync + 'static, K> ServerBuilder<S, K> {
    /// Adds a tool. Its handler is an async function of the state, the arguments and the [`Context`], any of them left
    /// out ([`Handler`]), and returns text, [`Json`](crate::Json), blocks of content and more ([`IntoToolResult`]).
    ///
    /// The schema of its arguments is derived from their type, published and enforced; one written by hand is refused.
    /// An explicit null for an optional member counts as left out, for any type. The schema of its result is that of
    /// [`Json`](crate::Json). A handler that makes its [`CallToolResult`](crate::CallToolResult) has none unless
    /// [`Tool::with_output_schema`] adds one; results are then checked against it, as with [`ServerBuilder::raw_tool`].
    ///
    /// ```
    /// use mcp_proto::{Context, Json, Server, Tool, ToolError};
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Clone)]
    /// struct Folder(&'static str);
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Named {
    ///     name: String,
    /// }
    ///
    /// #[derive(Serialize, JsonSchema)]
    /// struct Size {
    ///     bytes: u64,
    /// }
    ///
    /// // Any error becomes an internal one, whose cause is logged; the model reads only that it failed.
    /// async fn size(folder: Folder, asked: Named) -> Result<Json<Size>, ToolError> {
    ///     let bytes = tokio::fs::metadata(format!("{}/{}", folder.0, asked.name)).await?.len();
    ///     Ok(Json(Size { bytes }))
    /// }
    ///
    /// let server = Server::builder("files", "1.0.0", Folder("/srv"))
    ///     .tool(Tool::new("size", "The size of a file."), size)
    ///     .tool(Tool::new("where", "The folder."), async |folder: Folder| folder.0)
    ///     .tool(Tool::new("ping", "Answers."), async || "pong")
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    pub fn tool<T, H>(self, tool: Tool, handler: H) -> Self
    where
        T: Taken<Arguments: DeserializeOwned + JsonSchema + Send + 'static>,
        H: Handler<S, T> + Send + Sync + 'static,
        H::Future: Future<Output: IntoToolResult> + Send + 'static,
    {
        let new = NewTool::typed(tool, self.state.clone(), handler);
        self.then(move |offered| offered.add_tool(new))
    }

    /// Adds a tool whose input schema is written by hand ([`Tool::with_input_schema`]), and perhaps its output schema
    /// ([`Tool::with_output_schema`]); they are enforced, too.
    ///
    /// The handler sees the arguments as they were sent. That includes an explicit null for a member that the schema
    /// does not require, although the schema may not allow null there: models send it, so it is accepted as left out,
    /// and a handler that stores its arguments can distinguish the two. A handler that cannot use a null must ignore
    /// it.
    ///
    /// A result that does not match its output schema reaches the client as `INTERNAL_ERROR`, with the details in the
    /// log; see [`Tool::with_trusted_output`] for the cost of this check.
    pub fn raw_tool<F, R>(self, tool: Tool, handler: F) -> Self
    where
        F: Fn(S, Map<String, Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output: IntoToolResult> + Send + 'static,
    {
        let new = NewTool::raw(tool, self.state.clone(), handler);
        self.then(move |offered| offered.add_tool(new))
    }

    /// Adds a resource. Whenever it is read, the handler returns its contents: text, bytes, [`Json`](crate::Json) and
    /// more ([`IntoResource`]). The handler is an async function of the state and the [`Context`], any of them left out
    /// ([`Handler`]).
    pub fn resource<H, const STATE: bool, const CONTEXT: bool>(
        self,
        resource: Resource,
        handler: H,
    ) -> Self
    where
        H: Handler<S, Takes<NoArguments, STATE, false, CONTEXT>> + Send + Sync + 'static,
        H::Future: Future<Output: IntoResource> + Send + 'static,
    {
        let empty = ResourceContents::empty(resource.mime_type.clone());
        let reader = reader(self.state.clone(), empty, handler, |_| NoArguments {});
        self.then(move |offered| offered.add_resource(resource, reader))
    }

    /// Adds a family of resources. The handler takes the requested [`ResourceUri`] after the state, and returns its
    /// contents, or [`RequestError::not_found`](crate::RequestError::not_found) or `None`. If several templates match a
    /// URI, the one that was added first is used. A resource that was added individually takes precedence over
    /// templates.
    ///
    /// ```
    /// use mcp_proto::{RequestError, ResourceTemplate, ResourceUri, Server};
    ///
    /// async fn note(asked: ResourceUri) -> Result<&'static str, RequestError> {
    ///     match asked.get("day") {
    ///         Some("monday") => Ok("Write the docs."),
    ///         _ => Err(RequestError::not_found("there is a note for monday alone")),
    ///     }
    /// }
    ///
    /// let server = Server::builder("notes", "1.0.0", ())
    ///     .resource_template(ResourceTemplate::new("notes://{day}", "note"), note)
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    pub fn resource_template<H, const STATE: bool, const CONTEXT: bool>(
        self,
        template: ResourceTemplate,
        handler: H,
    ) -> Self
    where
        H: Handler<S, Takes<ResourceUri, STATE, true, CONTEXT>> + Send + Sync + 'static,
        H::Future: Future<Output: IntoResource> + Send + 'static,
    {
        let empty = ResourceContents::empty(template.mime_type.clone());
        let reader = reader(self.state.clone(), empty, handler, |asked| asked);
        self.then(move |offered| offered.add_template(template, reader))
    }

    /// Adds a prompt whose arguments are the members of the handler's type: texts and enumerations of texts. The
    /// required ones are listed first, in their order, then the optional ones by name. The values of enumerations are
    /// offered for completion. The handler is an async function of the state, the arguments and the [`Context`], any of
    /// them left out ([`Handler`]), and returns text, messages and more ([`IntoPrompt`]).
    ///
    /// ```
    /// use mcp_proto::{Prompt, Server};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Review {
    ///     /// The code.
    ///     code: String,
    ///     tone: Option<Tone>,
    /// }
    ///
    /// #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    /// #[serde(rename_all = "lowercase")]
    /// enum Tone {
    ///     Friendly,
    ///     Strict,
    /// }
    ///
    /// async fn review(asked: Review) -> String {
    ///     let tone = asked.tone.unwrap_or(Tone::Friendly);
    ///     format!("Review this ({tone:?}):\n{}", asked.code)
    /// }
    ///
    /// let server = Server::builder("reviews", "1.0.0", ())
    ///     .prompt(Prompt::new("review", "Reviews code."), review)
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<_, mcp_proto::BuildError>(())
    /// ```
    pub fn prompt<T, H>(self, prompt: Prompt, handler: H) -> Self
    where
        T: Taken<Arguments: DeserializeOwned + JsonSchema>,
        H: Handler<S, T> + Send + Sync + 'static,
        H::Future: Future<Output: IntoPrompt> + Send + 'static,
    {
        let new = NewPrompt::typed(prompt, self.state.clone(), handler);
        self.then(move |offered| offered.add_prompt(new))
    }

    /// Adds a prompt whose arguments are listed by hand ([`Prompt::with_argument`]); the handler gets them by name.
    pub fn raw_prompt<F, R>(self, prompt: Prompt, handler: F) -> Self
    where
        F: Fn(S, BTreeMap<String, String>, Context) -> R + Send + Sync + 'static,
        R: Future<Output: IntoPrompt> + Send + 'static,
    {
        let new = NewPrompt::raw(prompt, self.state.clone(), handler);
        self.then(move |offered| offered.add_prompt(new))
    }

    /// Requires scopes of callers over HTTP. Without them a caller does not see the item in a list, and a request for
    /// it gets 403 with a challenge that names all of them. Resources of skills are `skill://…`. If called again for
    /// the same item, the last call is used.
    ///
    /// It applies to callers whose [`Scopes`] are known: those that an
    /// [`Authorization`](crate::http::authorize::Authorization) accepted, or those whose scopes the embedding service
    /// put among the extensions of the HTTP request. Other callers, as on stdin and stdout, may use everything.
    pub fn require_scopes(self, guarded: Guarded, scopes: Scopes) -> Self {
        self.also(move |offered| offered.needs.fixed.insert(guarded, scopes))
    }
}
