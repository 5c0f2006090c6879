//! The official schema of each revision, and where a message does not fit it.

pub(crate) mod local;
mod words;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::json::put;
use crate::probe::Revision;

/// The text of each schema, as the specification publishes it.
const TEXTS: [(Revision, &str); 5] = [
    (Revision::V2024_11_05, include_str!("../schema/2024-11-05.json")),
    (Revision::V2025_03_26, include_str!("../schema/2025-03-26.json")),
    (Revision::V2025_06_18, include_str!("../schema/2025-06-18.json")),
    (Revision::V2025_11_25, include_str!("../schema/2025-11-25.json")),
    (Revision::V2026_07_28, include_str!("../schema/2026-07-28.json")),
];

/// Where a message of a server does not fit the schema of a revision, if it does not. `asked` is the method that a
/// response answers. Results of methods that the revision does not have, such as those of extensions, are held against
/// what all results have in common.
pub(crate) fn misfit(revision: Revision, asked: &str, message: &Value) -> Option<String> {
    let schema = LOADED.iter().find(|it| it.revision == revision)?;
    if let Some(method) = message.get("method") {
        return schema.of_method(method.as_str()?, message);
    }
    let message = &identified(message);
    if message.get("error").is_some() {
        let general = schema.find(schema.error(), message, "");
        return general.or_else(|| schema.find(schema.of_error(message)?, message, ""));
    }
    let frame = schema.find(schema.response(), message, "");
    frame.or_else(|| {
        let result = message.get("result")?;
        if let Some(problem) = odd_question(asked, result).filter(|_| revision.is_modern()) {
            return Some(format!("/result {problem} (InputRequiredResult of {revision})"));
        }
        schema.find(&schema.of_result(asked, result)?, result, "/result")
    })
}

/// What the schema says of a result that needs input only in words.
fn odd_question(asked: &str, result: &Value) -> Option<&'static str> {
    result.get("resultType").filter(|it| **it == "input_required")?;
    if !matches!(asked, "tools/call" | "prompts/get" | "resources/read") {
        return Some("needs input, which a result of this method cannot");
    }
    let has = |member| result.get(member).is_some();
    let is_empty = !has("inputRequests") && !has("requestState");
    is_empty.then_some("has neither inputRequests nor requestState")
}

/// JSON-RPC wants an error without a known request to have the id null, and the schemas have no place for it. A wrong
/// id is another finding.
fn identified(message: &Value) -> Value {
    let mut message = message.clone();
    if message.get("id").is_none_or(Value::is_null) {
        put(&mut message, "id", 0);
    }
    message
}

static LOADED: LazyLock<Vec<Schema>> = LazyLock::new(|| {
    let schemas = TEXTS.iter();
    schemas.filter_map(|(revision, text)| Schema::read(*revision, text)).collect()
});

/// The schema of one revision.
struct Schema {
    revision: Revision,
    /// The member that holds the definitions: drafts of JSON Schema name it differently.
    holder: &'static str,
    whole: Value,
    /// The definition of the requests or notifications of each method.
    methods: BTreeMap<String, String>,
    /// Those that were compiled, at most one for each definition. Nothing for what the schema does not have.
    compiled: Mutex<BTreeMap<String, Option<Arc<Validator>>>>,
}

impl Schema {
    fn read(revision: Revision, text: &str) -> Option<Self> {
        let whole: Value = serde_json::from_str(text).ok()?;
        let holder = match whole.get("$defs") {
            Some(_) => "$defs",
            None => "definitions",
        };
        let definitions = whole.get(holder)?.as_object()?;
        let of_method = |(name, definition): (&String, &Value)| {
            let method = definition.pointer("/properties/method/const")?.as_str()?;
            // A union of one has the method of that one.
            let is_union = ["Client", "Server"].iter().any(|it| name.starts_with(it));
            (!is_union).then(|| (method.to_owned(), name.clone()))
        };
        Some(Self {
            revision,
            holder,
            methods: definitions.iter().filter_map(of_method).collect(),
            whole,
            compiled: Mutex::default(),
        })
    }

    /// What frames a result.
    fn response(&self) -> &'static str {
        if self.has("JSONRPCResultResponse") { "JSONRPCResultResponse" } else { "JSONRPCResponse" }
    }

    /// What an error is.
    fn error(&self) -> &'static str {
        if self.has("JSONRPCErrorResponse") { "JSONRPCErrorResponse" } else { "JSONRPCError" }
    }

    /// The definition of the errors with the code of this one, if they have one. That of an unsupported version is held
    /// against it by a rule of its own.
    fn of_error(&self, message: &Value) -> Option<&str> {
        let code = message.pointer("/error/code").filter(|it| **it != -32022)?;
        let mut all = self.whole.get(self.holder)?.as_object()?.iter();
        let has = |it: &Value| {
            it.pointer("/properties/error/allOf/1/properties/code/const") == Some(code)
        };
        all.find_map(|(name, it)| has(it).then_some(name.as_str()))
    }

    fn has(&self, definition: &str) -> bool {
        let all = self.whole.get(self.holder);
        all.is_some_and(|it| it.get(definition).is_some())
    }

    /// A request or a notification.
    fn of_method(&self, method: &str, message: &Value) -> Option<String> {
        let general = match message.get("id") {
            Some(_) => "JSONRPCRequest",
            None => "JSONRPCNotification",
        };
        let own = self.methods.get(method).map_or(general, String::as_str);
        self.find(own, message, "")
    }

    /// Checks the result of a method.
    fn of_result(&self, asked: &str, result: &Value) -> Option<String> {
        let kind = result.get("resultType").and_then(Value::as_str);
        let request = self.methods.get(asked);
        let own = request.and_then(|it| it.strip_suffix("Request"));
        Some(match (kind, own) {
            (Some("input_required"), Some(_)) if self.revision.is_modern() => {
                "InputRequiredResult".to_owned()
            }
            // Kinds of extensions. Before there were kinds, a call could become a task.
            (Some(kind), _) if self.revision.is_modern() && kind != "complete" => return None,
            (_, Some("CallTool")) if result.get("task").is_some() => "CreateTaskResult".to_owned(),
            (_, Some(own)) if self.has(&format!("{own}Result")) => format!("{own}Result"),
            (_, Some(_)) => "EmptyResult".to_owned(),
            (_, None) => return None,
        })
    }

    /// Where a value that stands at `at` does not fit a definition.
    fn find(&self, definition: &str, value: &Value, at: &str) -> Option<String> {
        let validator = self.compiled(definition)?;
        let error = validator.validate(value).err()?;
        let (path, problem) = words::explain(&error);
        let path = format!("{at}{path}");
        let path = if path.is_empty() { "the message" } else { &path };
        Some(format!("{path} {problem} ({definition} of {})", self.revision))
    }

    fn compiled(&self, definition: &str) -> Option<Arc<Validator>> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = compiled.get(definition) {
            return known.clone();
        }
        let validator = self.has(definition).then(|| self.compile(definition));
        let validator = validator.flatten().map(Arc::new);
        compiled.insert(definition.to_owned(), validator.clone());
        validator
    }

    fn compile(&self, definition: &str) -> Option<Validator> {
        let schema = json!({
            "$schema": self.whole.get("$schema"),
            "$ref": format!("#/{}/{definition}", self.holder),
            self.holder: self.whole.get(self.holder),
        });
        let options = jsonschema::options().offline();
        options.should_validate_formats(false).build(&schema).ok()
    }
}
