//! Lists of extensions: who sees what, pages and cache hints, as for the lists of MCP itself.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Server;
use super::lists::Start;
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::resource::{Page, PageRequest};
use crate::scopes::Wanted;
use crate::version::Era;

impl Server {
    /// Whether the caller may see something: by its scopes, and by
    /// [`ServerBuilder::visible_to`](crate::ServerBuilder::visible_to).
    pub fn is_shown(&self, wanted: Wanted<'_>, context: &Context) -> bool {
        self.shows(&self.offered(), wanted, context)
    }

    /// The page that a client asks for by `params.cursor`, for the handler of an extension's list. Cursors are sealed:
    /// each is good only for its caller and for the list of this name.
    ///
    /// # Errors
    /// −32602 for a cursor that this server did not give for this list.
    pub fn page_request(
        &self,
        list: &str,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<PageRequest, RequestError> {
        let after = match self.start(list, params, context)? {
            Start::More(after) => after,
            _ => None,
        };
        Ok(PageRequest { after, limit: self.0.page_size })
    }

    /// The result of an extension's list: the items under the name `member`, the cursor of the next page, and the cache
    /// hint of [`Server::with_list_hint`].
    ///
    /// # Errors
    /// −32603 for items that cannot be serialised.
    pub fn page_result<T: Serialize>(
        &self,
        list: &str,
        member: &str,
        page: Page<T>,
        context: &Context,
    ) -> Result<Map<String, Value>, RequestError> {
        let items = serde_json::to_value(page.items)?;
        let mut result = Map::from_iter([(member.to_owned(), items)]);
        if let Some(next) = page.next {
            let cursor = self.cursor(list, &Start::More(Some(next)), context)?;
            result.insert("nextCursor".to_owned(), cursor.into());
        }
        Ok(self.with_list_hint(result, context))
    }

    /// Adds the cache hint that the server's lists have
    /// ([`ServerBuilder::list_cache`](crate::ServerBuilder::list_cache)) to the result of an extension's method. Older
    /// revisions have none.
    #[must_use]
    pub fn with_list_hint(
        &self,
        mut result: Map<String, Value>,
        context: &Context,
    ) -> Map<String, Value> {
        if context.era() == Era::Modern
            && let Ok(Value::Object(hint)) = serde_json::to_value(self.hint(&self.offered(), false))
        {
            result.extend(hint);
        }
        result
    }
}
