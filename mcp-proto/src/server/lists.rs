//! The four lists, page by page. A cursor is sealed and says after which item the next page begins, so it stays right
//! when the list changes (MCP "Pagination").

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Method, Server, wire};
use crate::cache::CacheHint;
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::jsonrpc::{ErrorObject, Payload};
use crate::resource::{PageRequest, Resource};
use crate::seal::{cursor, open_cursor};
use crate::version::Era;

/// Where a page begins.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Start {
    Beginning,
    /// Behind the item of this key. The index is where it was, for when it is no more.
    After {
        index: usize,
        key: String,
    },
    /// In what a handler lists, behind its own key.
    More(Option<String>),
}

/// Some items of a list, and where the next page begins.
struct Cut<'l, T> {
    items: Vec<&'l T>,
    next: Option<Start>,
}

impl Server {
    pub(super) fn list_tools(
        &self,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        let era = context.era();
        let tools: Vec<_> = self.0.tools.list().map(|tool| tool.listed(era)).collect();
        let tools = tools.iter().map(AsRef::as_ref);
        self.list(Method::ListTools, tools, |tool| &tool.name, params, context)
    }

    pub(super) fn list_prompts(
        &self,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        let prompts = self.0.prompts.list();
        self.list(
            Method::ListPrompts,
            prompts,
            |prompt| &prompt.name,
            params,
            context,
        )
    }

    pub(super) fn list_templates(
        &self,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        let templates = self.0.resources.templates();
        self.list(
            Method::ListTemplates,
            templates,
            |one| &one.uri_template,
            params,
            context,
        )
    }

    /// A list whose items are registered one by one.
    fn list<'l, T: Serialize + 'l>(
        &self,
        method: Method,
        items: impl Iterator<Item = &'l T>,
        key: fn(&T) -> &str,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        let start = self.start(method, params, context)?;
        let cut = cut(items, key, &start, self.0.page_size);
        let next = cut
            .next
            .map(|next| self.cursor(method, &next, context))
            .transpose()?;
        self.list_payload(method, &cut.items, next, context)
    }

    /// `resources/list`: those registered one by one, then those that a handler lists.
    pub(super) async fn list_resources(
        &self,
        params: &Map<String, Value>,
        context: Context,
    ) -> Result<Payload, ErrorObject> {
        let method = Method::ListResources;
        let start = self.start(method, params, &context)?;
        let (mut items, next, more) = match start {
            Start::More(after) => (Vec::new(), None, Some(after)),
            start => {
                let cut = cut(
                    self.0.resources.list(),
                    |one| &one.uri,
                    &start,
                    self.0.page_size,
                );
                let more = cut.next.is_none().then_some(None);
                (cut.items, cut.next, more)
            }
        };
        let mut listed = Vec::new();
        let mut next = next;
        if let Some(after) = more.filter(|_| self.0.resources.lists_more()) {
            let limit = self.0.page_size.saturating_sub(items.len());
            if limit == 0 {
                next = Some(Start::More(after));
            } else {
                (listed, next) = self
                    .list_more(PageRequest { after, limit }, &context)
                    .await?;
            }
        }
        items.extend(&listed);
        let next = next
            .map(|next| self.cursor(method, &next, &context))
            .transpose()?;
        self.list_payload(method, &items, next, &context)
    }

    async fn list_more(
        &self,
        page: PageRequest,
        context: &Context,
    ) -> Result<(Vec<Resource>, Option<Start>), ErrorObject> {
        match self.0.resources.list_more(page, context.clone()).await {
            None => Ok((Vec::new(), None)),
            Some(Ok(page)) => Ok((page.items, page.next.map(|key| Start::More(Some(key))))),
            Some(Err(error)) => Err(not_asked(error, context.era())),
        }
    }

    fn list_payload<T: Serialize>(
        &self,
        method: Method,
        items: &[&T],
        next: Option<String>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        let list = wire::List {
            name: method.list_member(),
            items,
            next_cursor: next,
        };
        let hint = self.list_hint(method);
        self.complete(&list, Some(hint), None, context.era())
    }

    /// Lists that handlers make are their callers' own unless the builder says otherwise.
    fn list_hint(&self, method: Method) -> CacheHint {
        match self.0.list_cache {
            Some(hint) => hint,
            None if method == Method::ListResources && self.0.resources.lists_more() => {
                CacheHint::NONE
            }
            None => wire::PUBLIC_LIST,
        }
    }

    fn start(
        &self,
        method: Method,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Start, ErrorObject> {
        let text = match params.get("cursor") {
            None | Some(Value::Null) => return Ok(Start::Beginning),
            Some(Value::String(text)) => text,
            Some(_) => {
                return Err(ErrorObject::invalid_params(
                    "params.cursor must be a string",
                ));
            }
        };
        open_cursor(
            &self.0.rounds.keys,
            method.name(),
            context.principal(),
            text,
        )
        .and_then(|opened| Start::read(&opened))
        .ok_or_else(|| {
            ErrorObject::invalid_params(format!(
                "params.cursor is none that this server gave for {}: start again without it",
                method.name()
            ))
        })
    }

    fn cursor(
        &self,
        method: Method,
        next: &Start,
        context: &Context,
    ) -> Result<String, ErrorObject> {
        let (keys, text) = (&self.0.rounds.keys, next.to_text());
        cursor(keys, method.name(), context.principal(), &text).map_err(|problem| {
            tracing::error!(%problem, "a cursor could not be made");
            ErrorObject::internal()
        })
    }
}

impl Start {
    fn to_text(&self) -> String {
        match self {
            Self::Beginning => "b".to_owned(),
            Self::After { index, key } => format!("a{index}\n{key}"),
            Self::More(None) => "m".to_owned(),
            Self::More(Some(key)) => format!("m{key}"),
        }
    }

    fn read(text: &str) -> Option<Self> {
        if text == "b" {
            return Some(Self::Beginning);
        }
        if let Some(after) = text.strip_prefix('a') {
            let (index, key) = after.split_once('\n')?;
            let (index, key) = (index.parse().ok()?, key.to_owned());
            return Some(Self::After { index, key });
        }
        let key = text.strip_prefix('m')?;
        Some(Self::More((!key.is_empty()).then(|| key.to_owned())))
    }
}

fn cut<'l, T: 'l>(
    items: impl Iterator<Item = &'l T>,
    key: fn(&T) -> &str,
    start: &Start,
    size: usize,
) -> Cut<'l, T> {
    let items: Vec<_> = items.collect();
    let skipped = match start {
        Start::Beginning | Start::More(_) => 0,
        Start::After { index, key: after } => items
            .iter()
            .position(|item| key(item) == after)
            .map_or(*index, |found| found + 1),
    };
    let rest = items.get(skipped..).unwrap_or_default();
    let (page, more) = rest.split_at(size.min(rest.len()));
    let next = page
        .last()
        .filter(|_| !more.is_empty())
        .map(|last| Start::After {
            index: skipped + page.len(),
            key: key(last).to_owned(),
        });
    Cut {
        items: page.to_vec(),
        next,
    }
}

/// A list cannot ask its client (2026-07-28: `input_required` is for three methods alone).
pub(super) fn not_asked(error: RequestError, era: Era) -> ErrorObject {
    error.into_interrupt(era, None).into_error()
}
