//! The lists, page by page. A cursor is sealed and holds the two items between which the next page begins, so it stays
//! valid when the list changes (MCP "Pagination").

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::offered::Offered;
use super::{Method, Server, wire};
use crate::cache::{CacheHint, CacheScope};
use crate::content::Resource;
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::resource::{PageRequest, ResourceSource};
use crate::scopes::Wanted;
use crate::seal::{cursor, open_cursor};
use crate::version::Era;

/// The start of a page, which a cursor holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Start {
    /// At the first item. A cursor never means this.
    Beginning,
    /// After the item `after`, or at the item `at` if `after` no longer exists.
    Between { after: String, at: String },
    /// Within the items of a source, at the source's own cursor.
    Source(Option<String>),
    /// Within the items that a handler lists, at the handler's own cursor.
    More(Option<String>),
}

impl Server {
    /// A list of what is registered one by one.
    pub(super) fn list_registered(
        &self,
        offered: &Offered,
        method: Method,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload> {
        let shows = |wanted| self.shows(offered, wanted, context);
        match method {
            Method::ListTools => {
                let tools = offered.tools.list().filter(|it| shows(Wanted::Tool(&it.name, None)));
                let tools: Vec<_> = tools.map(|it| it.listed(context.protocol_version)).collect();
                let tools = tools.iter().map(AsRef::as_ref);
                self.list(offered, method, tools, |tool| &tool.name, params, context)
            }
            Method::ListPrompts => {
                let prompts = offered.prompts.list();
                let prompts = prompts.filter(|it| shows(Wanted::Prompt(&it.name, None)));
                self.list(offered, method, prompts, |it| &it.name, params, context)
            }
            Method::ListTemplates => {
                let templates = offered.resources.templates();
                let templates = templates.filter(|it| shows(Wanted::Resource(&it.uri_template)));
                self.list(offered, method, templates, |it| &it.uri_template, params, context)
            }
            _ => {
                let resources = offered.resources.list();
                let resources = resources.filter(|it| shows(Wanted::Resource(&it.uri)));
                self.list(offered, method, resources, |it| &it.uri, params, context)
            }
        }
    }

    /// A list of known items, in their order.
    fn list<'l, T: Serialize + 'l>(
        &self,
        offered: &Offered,
        method: Method,
        items: impl Iterator<Item = &'l T>,
        key: fn(&T) -> &str,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload> {
        let start = self.start(method.name(), params, context)?;
        let cut = cut(items, key, &start, self.0.page_size);
        let (items, next) = cut.ok_or_else(|| moved(method))?;
        let hint = self.list_hint(offered, method);
        self.list_payload(method, &items, next.as_ref(), hint, context)
    }

    /// `resources/list`: those registered one by one, then those of a source, then those that a handler
    /// lists.
    pub(super) async fn list_resources(
        &self,
        params: &Map<String, Value>,
        context: Context,
    ) -> Result<Payload> {
        let method = Method::ListResources;
        let size = self.0.page_size;
        let offered = self.offered();
        let shows = |one: &Resource| self.shows(&offered, Wanted::Resource(&one.uri), &context);
        let mut start = self.start(method.name(), params, &context)?;
        let mut page: Vec<Cow<'_, Resource>> = Vec::new();
        if let Start::Beginning | Start::Between { .. } = start {
            let shown = offered.resources.list().filter(|one| shows(one));
            let cut = cut(shown, |one| &one.uri, &start, size);
            let (items, next) = cut.ok_or_else(|| moved(method))?;
            page.extend(items.into_iter().map(Cow::Borrowed));
            start = next.unwrap_or(Start::Source(None));
        }
        if let Start::Source(after) = start {
            let room = size.saturating_sub(page.len());
            let (listed, next) = from_source(self.0.source.as_deref(), after, room);
            let listed = listed.into_iter().filter(|one| shows(one));
            page.extend(listed.map(Cow::Owned));
            start = next;
        }
        let mut next = Some(start);
        if let Some(Start::More(after)) = &next {
            let limit = size.saturating_sub(page.len());
            if !offered.resources.lists_more() {
                next = None;
            } else if limit > 0 {
                let after = after.clone();
                let asked = PageRequest { after, limit };
                let (more, key) = list_more(&offered, asked, &context).await?;
                let more = more.into_iter().filter(|one| shows(one));
                page.extend(more.map(Cow::Owned));
                next = key.map(|key| Start::More(Some(key)));
            }
        }
        let hint = self.list_hint(&offered, method);
        self.list_payload(method, &page, next.as_ref(), hint, &context)
    }

    pub(super) fn list_payload<T: Serialize>(
        &self,
        method: Method,
        items: &[T],
        next: Option<&Start>,
        hint: CacheHint,
        context: &Context,
    ) -> Result<Payload> {
        let next = next.map(|next| self.cursor(method.name(), next, context));
        let list = wire::List { name: method.list_member(), items, next_cursor: next.transpose()? };
        self.complete(&list, Some(hint), None, context.era())
    }

    /// The cache hint, the same for all pages of a list. A list is never public if a handler lists items, if items need
    /// scopes, or if only some callers see them, since it then depends on the caller.
    pub(super) fn list_hint(&self, offered: &Offered, method: Method) -> CacheHint {
        self.hint(offered, offered.resources.lists_more() && method == Method::ListResources)
    }

    /// The same; `made` for a list of which a handler lists items.
    pub(super) fn hint(&self, offered: &Offered, made: bool) -> CacheHint {
        let chosen = self.0.list_cache;
        if made || self.hides() || !offered.needs.is_empty() {
            return CacheHint { scope: CacheScope::Private, ..chosen.unwrap_or(CacheHint::NONE) };
        }
        chosen.unwrap_or(wire::PUBLIC_LIST)
    }

    /// Where the page that is asked for begins in the list of this name.
    pub(crate) fn start(
        &self,
        list: &str,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Start> {
        let text = match params.get("cursor") {
            None | Some(Value::Null) => return Ok(Start::Beginning),
            Some(Value::String(text)) => text,
            Some(_) => {
                return Err(ErrorObject::invalid_params(
                    "params.cursor must be a string; leave it out to begin at the first page",
                ));
            }
        };
        open_cursor(&self.0.rounds.keys, list, context.principal(), text)
            .and_then(|opened| serde_json::from_str(&opened).ok())
            .ok_or_else(|| {
                ErrorObject::invalid_params(format!(
                    "params.cursor was not given by this server for {list}: start again without it"
                ))
            })
    }

    pub(crate) fn cursor(&self, list: &str, next: &Start, context: &Context) -> Result<String> {
        let unmade = |problem: &dyn std::fmt::Display| {
            tracing::error!(%problem, "a cursor could not be made");
            ErrorObject::internal()
        };
        let text = serde_json::to_string(next).map_err(|problem| unmade(&problem))?;
        cursor(&self.0.rounds.keys, list, context.principal(), &text)
            .map_err(|problem| unmade(&problem))
    }
}

async fn list_more(
    offered: &Offered,
    page: PageRequest,
    context: &Context,
) -> Result<(Vec<Resource>, Option<String>)> {
    match offered.resources.list_more(page, context.clone()).await {
        None => Ok((Vec::new(), None)),
        Some(Ok(page)) => Ok((page.items, page.next)),
        Some(Err(error)) => {
            let error = error.log("resources/list", "", &context.request_id);
            Err(not_asked(error, context.era()))
        }
    }
}

/// The page of `size` items that begins there, and where the next one does; `None` when the list has changed so much
/// that the position is unknown.
fn cut<'l, T: 'l>(
    items: impl Iterator<Item = &'l T>,
    key: fn(&T) -> &str,
    start: &Start,
    size: usize,
) -> Option<(Vec<&'l T>, Option<Start>)> {
    let items: Vec<_> = items.collect();
    let place = |wanted: &str| items.iter().position(|item| key(item) == wanted);
    let skipped = match start {
        Start::Between { after, at } => {
            place(after).map(|found| found + 1).or_else(|| place(at))?
        }
        _ => 0,
    };
    let rest = known_range::items(&items, skipped..);
    let (page, more) = rest.split_at(size.min(rest.len()));
    let next = page.last().zip(more.first());
    let next = next.map(|(last, first)| Start::Between {
        after: key(last).to_owned(),
        at: key(first).to_owned(),
    });
    Some((page.to_vec(), next))
}

/// At most this many items of the source, and the start of the next page.
fn from_source(
    source: Option<&dyn ResourceSource>,
    after: Option<String>,
    room: usize,
) -> (Vec<Resource>, Start) {
    match source {
        None => (Vec::new(), Start::More(None)),
        Some(source) if room == 0 => {
            let rest = source.list(PageRequest { after: after.clone(), limit: 1 });
            let is_over = rest.items.is_empty() && rest.next.is_none();
            (Vec::new(), if is_over { Start::More(None) } else { Start::Source(after) })
        }
        Some(source) => {
            let page = source.list(PageRequest { after, limit: room });
            let next = page.next.map(|next| Start::Source(Some(next)));
            (page.items, next.unwrap_or(Start::More(None)))
        }
    }
}

/// The error if both items next to the cursor are gone: guessing a position could omit others.
fn moved(method: Method) -> ErrorObject {
    ErrorObject::invalid_params(format!(
        "the list has changed where params.cursor points: start {} again without it",
        method.name()
    ))
}

/// A list cannot ask its client (2026-07-28: `input_required` is for three methods only).
pub(super) fn not_asked(error: RequestError, era: Era) -> ErrorObject {
    error.into_interrupt(era, None).into_error()
}
