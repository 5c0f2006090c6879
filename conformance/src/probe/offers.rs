//! What a server offers: its capabilities and lists, and which of its tools may be called.

use serde_json::{Value, json};

use super::bench::Bench;
use super::exchange::Exchange;
use crate::calls::ToolCall;
use crate::target::TargetError;

impl Bench {
    /// Opens it, and learns what the server offers.
    pub(crate) async fn learn(&mut self, named: &[ToolCall]) {
        self.open().await;
        self.look(named).await;
    }

    /// Learns what an open server offers.
    pub(crate) async fn look(&mut self, named: &[ToolCall]) {
        for (capability, method, member) in [
            ("tools", "tools/list", "tools"),
            ("resources", "resources/list", "resources"),
            ("resources", "resources/templates/list", "resourceTemplates"),
            ("prompts", "prompts/list", "prompts"),
        ] {
            if self.offers(capability) {
                let (items, pages) = self.all(method, member).await;
                self.lists.push((method, items, pages));
            }
        }
        let reads = |tool: &Value| tool.pointer("/annotations/readOnlyHint") == Some(&json!(true));
        let name = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
        let tools = self.items("tools/list").to_vec();
        let read_only = tools.iter().filter(|tool| reads(tool)).filter_map(name);
        self.callable = read_only.chain(named.iter().map(|it| it.name.clone())).collect();
        self.named = named.to_vec();
    }

    /// Every item of a list, page by page, and the exchanges.
    pub(crate) async fn all(&mut self, method: &str, member: &str) -> (Vec<Value>, Vec<Exchange>) {
        let (mut items, mut pages, mut cursor) = (Vec::new(), Vec::new(), None::<Value>);
        // A list that never ends is a separate finding.
        for _ in 0..100 {
            let params = cursor.take().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let page = self.ask(method, params).await;
            let result = page.result().cloned().unwrap_or_default();
            let more = result.get(member).and_then(Value::as_array);
            items.extend(more.into_iter().flatten().cloned());
            // A cursor that is not a string is a separate finding too.
            cursor = result.get("nextCursor").filter(|it| it.is_string()).cloned();
            pages.push(page);
            if cursor.is_none() {
                break;
            }
        }
        (items, pages)
    }

    /// The name and version that the server gives.
    pub(crate) fn server(&self) -> Option<String> {
        let result = self.greeting.result()?;
        let stated = "/_meta/io.modelcontextprotocol~1serverInfo";
        let info = result.get("serverInfo").or_else(|| result.pointer(stated))?;
        let text = |member: &str| info.get(member).and_then(Value::as_str);
        let version = text("version").map(|it| format!(" {it}"));
        Some(text("name")?.to_owned() + version.as_deref().unwrap_or_default())
    }

    /// Whether the server declares a capability.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        let capabilities = self.greeting.result().and_then(|it| it.get("capabilities"));
        capabilities.and_then(|it| it.get(capability)).is_some_and(Value::is_object)
    }

    /// The lists that the server answers with a result.
    pub(crate) fn answered(&self) -> impl Iterator<Item = &'static str> {
        let is_answered =
            |pages: &[Exchange]| pages.first().is_some_and(|it| it.result().is_some());
        let lists = self.lists.iter().filter(move |(.., pages)| is_answered(pages));
        lists.map(|(method, ..)| *method)
    }

    /// The items of a list.
    pub(crate) fn items(&self, method: &str) -> &[Value] {
        let list = self.lists.iter().find(|(known, ..)| *known == method);
        list.map_or(&[], |(_, items, _)| items.as_slice())
    }

    /// Whether all these tools exist.
    ///
    /// # Errors
    /// A tool is not offered.
    pub(crate) fn has_tools(&self, named: &[ToolCall]) -> Result<(), TargetError> {
        // A list that could not be read says nothing about names.
        if self.page("tools/list").result().is_none() && self.offers("tools") {
            return Ok(());
        }
        let names = self.items("tools/list").iter().filter_map(|it| it.get("name")?.as_str());
        let names: Vec<_> = names.collect();
        let Some(unknown) = named.iter().find(|call| !names.contains(&call.name.as_str())) else {
            return Ok(());
        };
        let near = |it: &&&str| strsim::jaro_winkler(it, &unknown.name);
        let nearest = names.iter().max_by(|one, other| near(one).total_cmp(&near(other)));
        Err(TargetError::Tool {
            target: self.endpoint.to_string(),
            name: unknown.name.clone(),
            nearest: nearest.map_or_else(
                || "it lists no tools".to_owned(),
                |it| format!("the most similar one is {it:?}"),
            ),
        })
    }

    /// The exchange that brought the first page of a list.
    pub(crate) fn page(&self, method: &str) -> Exchange {
        let list = self.lists.iter().find(|(known, ..)| *known == method);
        list.and_then(|(.., pages)| pages.first()).cloned().unwrap_or_default()
    }
}
