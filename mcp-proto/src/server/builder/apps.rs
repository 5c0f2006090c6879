//! Pages of MCP Apps.

use std::sync::Arc;

use super::{BuildError, ServerBuilder};
use crate::apps::UiResource;
use crate::context::Context;
use crate::interrupt::RequestError;

impl<S: Clone + Send + Sync + 'static, K> ServerBuilder<S, K> {
    /// Adds a page that is the same for every caller. Tools name it by [`Tool::with_ui`](crate::Tool::with_ui); it
    /// receives their results, so it need not contain data of a user.
    pub fn ui_page(self, page: UiResource, html: impl Into<String>) -> Self {
        let html: Arc<str> = html.into().into();
        self.ui_resource(page, move |_, _| {
            let html = Arc::clone(&html);
            async move { Ok(String::from(&*html)) }
        })
    }

    /// Adds a page whose HTML a handler creates whenever it is read.
    pub fn ui_resource<O, F, R>(self, page: UiResource, handler: F) -> Self
    where
        O: Into<String>,
        F: Fn(S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, RequestError>> + Send + 'static,
    {
        let uri = page.uri.clone();
        let checked = page.check();
        let checked = checked.map_err(|problem| BuildError::Resource { uri, problem });
        let (page, handler) = (Arc::new(page), Arc::new(handler));
        self.then(|_| checked).resource(page.listed(), move |state, context| {
            let (page, handler) = (Arc::clone(&page), Arc::clone(&handler));
            async move {
                let html = handler(state, context).await?;
                Ok::<_, RequestError>(page.contents(html.into()))
            }
        })
    }
}
