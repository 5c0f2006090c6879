//! The answers in transcripts of one era, and which of them is to a request.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Map, Value, json};

use crate::pattern::{Pattern, alike};
use crate::record::{MASKED, like};
use crate::shorten::shorten;
use crate::template::Vars;
use crate::transcript::{Action, BodyExpectation, Era, Expect, SendBody, Step, Transcript};

/// How much of params is shown and compared in search of the nearest, in characters.
const SHOWN: usize = 300;

/// What was recorded in one era.
#[derive(Debug)]
pub(super) struct Recording {
    answers: Vec<RecordedAnswer>,
    /// The revisions of the clients.
    pub(super) versions: Vec<String>,
    /// The status of the answer to a DELETE.
    pub(super) ended: u16,
}

/// How often each request was answered, by its first answer.
pub(super) type Used = BTreeMap<usize, usize>;

/// The answer to one request.
#[derive(Debug)]
pub(super) struct RecordedAnswer {
    method: String,
    /// The params without `_meta`. `None` for a recording that does not say them: then any fit.
    params: Option<Value>,
    pub(super) member: &'static str,
    pub(super) value: Value,
    /// What came before it.
    before: Vec<Value>,
    pub(super) status: u16,
    /// The file and the line.
    place: String,
    /// Whether HTTP refused it, maybe for its headers: such an answer is given only if there is no other.
    is_refusal: bool,
}

/// Why a request has no answer.
#[derive(Debug)]
pub(super) struct Unrecorded {
    pub(super) message: String,
    /// The most similar request of the method.
    pub(super) nearest: Option<Value>,
}

impl Recording {
    pub(super) fn of(era: Era, transcripts: &[&Transcript]) -> Self {
        let mut recording = Self { answers: Vec::new(), versions: Vec::new(), ended: 204 };
        for transcript in transcripts {
            let mut vars = Vars::default();
            for name in transcript.variables(era) {
                vars.set(&name, name.as_str().into());
            }
            for step in &transcript.steps {
                recording.add(transcript, era, &vars, step);
            }
        }
        if recording.versions.is_empty() {
            recording.versions.push(era.newest().to_owned());
        }
        let greeting = if era == Era::Modern { "server/discover" } else { "initialize" };
        let said = recording.greeting(era);
        for answer in &mut recording.answers {
            if answer.method == greeting && answer.member == "result" {
                complete(&mut answer.value, &said);
            } else if era == Era::Modern && answer.member == "result" {
                complete(&mut answer.value, &usual(&answer.method));
            }
        }
        let has_greeting = recording.answers.iter().any(|it| it.method == greeting);
        if !recording.answers.is_empty() && !has_greeting {
            recording.answers.push(RecordedAnswer {
                method: greeting.to_owned(),
                params: None,
                member: "result",
                value: said,
                before: Vec::new(),
                status: 200,
                place: String::new(),
                is_refusal: false,
            });
        }
        recording
    }

    pub(super) fn len(&self) -> usize {
        self.answers.iter().filter(|it| !it.place.is_empty()).count()
    }

    /// The answer to this request, after so many to the same.
    ///
    /// # Errors
    /// It was not recorded.
    pub(super) fn answer(
        &self,
        used: &mut Used,
        method: &str,
        params: &Value,
    ) -> Result<&RecordedAnswer, Unrecorded> {
        let params = comparable(params);
        let fits = |it: &RecordedAnswer| {
            it.method == method && it.params.as_ref().is_none_or(|known| is_like(known, &params))
        };
        let mut own: Vec<_> = self.answers.iter().enumerate().filter(|(_, it)| fits(it)).collect();
        if own.iter().any(|(_, it)| !it.is_refusal) {
            own.retain(|(_, it)| !it.is_refusal);
        }
        let Some((first, _)) = own.first() else {
            return Err(self.unrecorded(method, &params));
        };
        let count = used.entry(*first).or_default();
        let (_, answer) =
            own.get(*count).or(own.last()).ok_or_else(|| self.unrecorded(method, &params))?;
        *count = (*count + 1).min(own.len());
        Ok(answer)
    }

    fn unrecorded(&self, method: &str, params: &Value) -> Unrecorded {
        let written = |params: &Value| shorten(&params.to_string(), SHOWN);
        let named = |params: &Value| params.get("name").or_else(|| params.get("uri")).cloned();
        let near = |it: &RecordedAnswer| {
            let known = it.params.as_ref()?;
            let alike = strsim::jaro_winkler(&written(known), &written(params));
            let is_named = named(known).is_some() && named(known) == named(params);
            Some(alike + f64::from(u8::from(is_named)))
        };
        let own = self.answers.iter().filter(|it| it.method == method);
        let own = own.filter_map(|it| Some((near(it)?, it)));
        if let Some((_, nearest)) = own.max_by(|(one, _), (other, _)| one.total_cmp(other)) {
            let known = nearest.params.clone().unwrap_or_default();
            let (sent, shown) = (written(params), written(&known));
            return Unrecorded {
                message: format!(
                    "{method} was not recorded with {sent}; the nearest recorded one is {method} with {shown} ({})",
                    nearest.place
                ),
                nearest: Some(json!({"method": method, "params": known, "place": nearest.place})),
            };
        }
        let mut methods: Vec<_> = self.answers.iter().map(|it| it.method.as_str()).collect();
        methods.sort_unstable();
        methods.dedup();
        let message =
            format!("{method} was not recorded; the recorded methods are {}", methods.join(", "));
        Unrecorded { message, nearest: None }
    }

    /// Takes over the answers of a step and of those within it.
    fn add(&mut self, transcript: &Transcript, era: Era, vars: &Vars, step: &Step) {
        if !step.is_for(era) {
            return;
        }
        for inner in step.nested().into_iter().flatten() {
            self.add(transcript, era, vars, inner);
        }
        let place = format!("{}:{}", transcript.source_name(), step.line);
        match &step.action {
            Action::Open { opening, expect, .. } => {
                let version = opening.version.clone();
                let version = version.unwrap_or_else(|| era.newest().to_owned());
                if !self.versions.contains(&version) {
                    self.versions.push(version);
                }
                if let Some(expect) = expect.as_ref().filter(|_| era == Era::Legacy) {
                    self.expected("initialize", None, expect, vars, place);
                }
            }
            Action::Rpc { method, params, expect, .. } => {
                let params = params.as_ref().map_or(Ok(Value::Null), |it| it.fill(vars));
                let Ok(params) = params else { return };
                self.expected(method, Some(comparable(&params)), expect, vars, place);
            }
            Action::Http { send, expect } if send.method == Method::DELETE => {
                self.ended = status(expect, vars).unwrap_or(self.ended);
            }
            Action::Http { send, expect } => {
                let SendBody::Json(message) = &send.body else { return };
                let Ok(message) = message.fill(vars) else { return };
                let Some(method) = message.get("method").and_then(Value::as_str) else { return };
                let params = message.get("params").unwrap_or(&Value::Null);
                self.expected(method, Some(comparable(params)), expect, vars, place);
            }
            _ => {}
        }
    }

    fn expected(
        &mut self,
        method: &str,
        params: Option<Value>,
        expect: &Expect,
        vars: &Vars,
        place: String,
    ) {
        let example = |pattern: &Pattern| pattern.example(vars, like);
        let body = match &expect.body {
            BodyExpectation::Result(pattern) => Some(("result", example(pattern))),
            BodyExpectation::Error(pattern) => Some(("error", example(pattern))),
            BodyExpectation::Message(pattern) | BodyExpectation::Json(pattern) => {
                let message = example(pattern).unwrap_or_default();
                let of = |member| Some((member, Some(message.get(member)?.clone())));
                of("result").or_else(|| of("error"))
            }
            BodyExpectation::Any | BodyExpectation::Text(_) => None,
        };
        let Some((member, Some(value))) = body else { return };
        // A status that is not compared is that of every answer that was no refusal.
        let status = status(expect, vars).unwrap_or(200);
        let before = expect.notifications.as_ref().and_then(example);
        let before = match before {
            Some(Value::Array(messages)) => messages,
            _ => Vec::new(),
        };
        self.answers.push(RecordedAnswer {
            method: method.to_owned(),
            params,
            member,
            value,
            before,
            status,
            place,
            is_refusal: status >= 400,
        });
    }

    /// What a server says of itself whose greeting was not recorded.
    fn greeting(&self, era: Era) -> Value {
        let offered = |family: &str| self.answers.iter().any(|it| it.method.starts_with(family));
        let families = [
            ("tools", "tools/"),
            ("resources", "resources/"),
            ("prompts", "prompts/"),
            ("completions", "completion/"),
            ("logging", "logging/"),
        ];
        let capabilities = families.into_iter().filter(|(_, family)| offered(family));
        let capabilities: Map<_, _> =
            capabilities.map(|(name, _)| (name.to_owned(), json!({}))).collect();
        let info = json!({"name": "mcp-conformance mock", "version": env!("CARGO_PKG_VERSION")});
        if era == Era::Legacy {
            let version = self.versions.first();
            return json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info});
        }
        json!({
            "resultType": "complete",
            "supportedVersions": self.versions,
            "capabilities": capabilities,
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": info},
        })
    }
}

impl RecordedAnswer {
    /// What came before the answer, for this token of progress: progress that nobody asked for is left out.
    pub(super) fn notifications(&self, token: Option<&Value>) -> Vec<Value> {
        let own = self.before.iter().filter_map(|message| {
            let mut message = message.clone();
            if let Some(known) = message.pointer_mut("/params/progressToken") {
                *known = token?.clone();
            }
            Some(message)
        });
        own.collect()
    }
}

/// What a modern result has at the least, which a transcript need not name.
fn usual(method: &str) -> Value {
    if method.ends_with("/list") || method == "resources/read" {
        return json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
    }
    json!({"resultType": "complete"})
}

/// Adds the members that a result lacks.
fn complete(result: &mut Value, members: &Value) {
    if let (Some(result), Some(members)) = (result.as_object_mut(), members.as_object()) {
        for (name, value) in members {
            result.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
}

fn status(expect: &Expect, vars: &Vars) -> Option<u16> {
    u16::try_from(expect.status.as_ref()?.example(vars, like)?.as_u64()?).ok()
}

/// Params as they are compared.
fn comparable(params: &Value) -> Value {
    let mut members = params.as_object().cloned().unwrap_or_default();
    members.remove("_meta");
    if members.get("arguments").is_some_and(|it| it == &json!({})) {
        members.remove("arguments");
    }
    members.into()
}

/// Whether params are what was recorded, in which a secret may be masked.
fn is_like(known: &Value, sent: &Value) -> bool {
    alike(known, sent, &|known, _| known == MASKED)
}
