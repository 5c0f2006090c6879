//! Pages of MCP Apps.

use std::future::ready;

use super::{BuildError, ServerBuilder};
use crate::apps::UiResource;
use crate::handler::{Handler, NoArguments, Takes};
use crate::resource::{IntoResource, reader};

impl<S: Clone + Send + Sync + 'static, K> ServerBuilder<S, K> {
    /// Adds a page that is the same for every caller. Tools name it by [`Tool::with_ui`](crate::Tool::with_ui); it
    /// receives their results, so it need not contain data of a user.
    pub fn ui_page(self, page: UiResource, html: impl Into<String>) -> Self {
        let html: String = html.into();
        self.ui_resource(page, move || ready(html.clone()))
    }

    /// Adds a page whose HTML a handler creates whenever it is read, as that of
    /// [`resource`](ServerBuilder::resource) creates its text.
    pub fn ui_resource<H, const STATE: bool, const CONTEXT: bool>(
        self,
        page: UiResource,
        handler: H,
    ) -> Self
    where
        H: Handler<S, Takes<NoArguments, STATE, false, CONTEXT>> + Send + Sync + 'static,
        H::Future: Future<Output: IntoResource> + Send + 'static,
    {
        let reader = reader(self.state.clone(), page.empty(), handler, |_| NoArguments {});
        self.then(move |offered| {
            let checked = page.check();
            checked.map_err(|problem| BuildError::Resource { uri: page.uri.clone(), problem })?;
            offered.add_resource(page.listed(), reader)
        })
    }
}
