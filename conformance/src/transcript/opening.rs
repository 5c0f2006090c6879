//! How a client is opened: who it is, what it can be asked, and what it answers.

use serde_json::Value;

use super::fields::Fields;
use crate::error::{Problem, each_element};
use crate::pattern::Pattern;
use crate::template::Template;

/// What `open` says besides the name of the client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Opening {
    pub(crate) version: Option<String>,
    /// The client's capabilities; none if absent.
    pub(crate) capabilities: Option<Value>,
    /// The client's name and version; this runner's if absent.
    pub(crate) info: Option<Value>,
    pub(crate) answers: Vec<Scripted>,
}

/// The answer to a question of the server.
#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    /// Such as `elicitation/create`.
    pub(crate) method: String,
    /// The parameters it is for; any if absent.
    pub(crate) params: Option<Pattern>,
    /// `result` or `error`.
    pub(crate) member: &'static str,
    pub(crate) value: Template,
    /// Whether the server may leave the question out.
    pub(crate) optional: bool,
}

impl Opening {
    pub(super) fn parse(fields: &mut Fields) -> Result<Self, Problem> {
        let answers = fields.parse("answers", |source| {
            let items = source.as_array();
            let items = items.ok_or_else(|| Problem::new("expected an array of answers"))?;
            each_element(items, Scripted::parse)
        });
        Ok(Self {
            version: fields.optional_string("version")?,
            capabilities: fields.parse("capabilities", object)?,
            info: fields.parse("clientInfo", object)?,
            answers: answers?.unwrap_or_default(),
        })
    }
}

impl Scripted {
    fn parse(source: &Value) -> Result<Self, Problem> {
        let mut fields = Fields::of(source)?;
        let method = fields.string("method")?;
        let params = fields.parse("params", Pattern::parse)?;
        if params.as_ref().is_some_and(|params| !params.captures().is_empty()) {
            let text =
                "`$capture` cannot be used here: one question is compared with several answers";
            return Err(Problem::new(text).within("params"));
        }
        let (member, value) = match (
            fields.parse("result", Template::parse)?,
            fields.parse("error", Template::parse)?,
        ) {
            (Some(result), None) => ("result", result),
            (None, Some(error)) => ("error", error),
            _ => return Err(Problem::new("either `result` or `error` is needed")),
        };
        let optional = match fields.optional("optional") {
            None | Some(Value::Bool(false)) => false,
            Some(Value::Bool(true)) => true,
            Some(_) => return Err(Problem::new("expected true or false").within("optional")),
        };
        fields.finish()?;
        Ok(Self { method, params, member, value, optional })
    }
}

fn object(source: &Value) -> Result<Value, Problem> {
    match source {
        Value::Object(_) => Ok(source.clone()),
        _ => Err(Problem::new("expected an object")),
    }
}
