//! The members that a result must have, by the method that it answers. The schemas of all revisions agree on them.

use serde_json::Value;

/// The required type of a member.
#[derive(Clone, Copy)]
enum Is {
    Text,
    Object,
    Array,
    /// An array of objects, each with these members.
    Items(&'static [(&'static str, Self)]),
    /// An object with these members.
    Members(&'static [(&'static str, Self)]),
    /// A JSON Schema of an object.
    ObjectSchema,
}

use Is::{Array, Items, Members, Object, ObjectSchema, Text};

const INITIALIZE: &[(&str, Is)] = &[
    ("protocolVersion", Text),
    ("capabilities", Object),
    ("serverInfo", Members(&[("name", Text), ("version", Text)])),
];
const DISCOVER: &[(&str, Is)] = &[("supportedVersions", Array), ("capabilities", Object)];
const TOOLS: &[(&str, Is)] = &[("tools", Items(&[("name", Text), ("inputSchema", ObjectSchema)]))];
const RESOURCES: &[(&str, Is)] = &[("resources", Items(&[("name", Text), ("uri", Text)]))];
const TEMPLATES: &[(&str, Is)] =
    &[("resourceTemplates", Items(&[("name", Text), ("uriTemplate", Text)]))];
const PROMPTS: &[(&str, Is)] = &[("prompts", Items(&[("name", Text)]))];
const CALL: &[(&str, Is)] = &[("content", Items(&[("type", Text)]))];
const READ: &[(&str, Is)] = &[("contents", Items(&[("uri", Text)]))];
const PROMPT: &[(&str, Is)] = &[("messages", Items(&[("role", Text), ("content", Object)]))];
const COMPLETION: &[(&str, Is)] = &[("completion", Members(&[("values", Array)]))];

/// What is missing in the result of a method, if something is.
pub(super) fn missing(method: &str, result: &Value) -> Option<String> {
    let is_complete = result.get("resultType").is_none_or(|kind| kind == "complete");
    // What became a task has its result elsewhere.
    if !is_complete || method == "tools/call" && result.get("task").is_some() {
        return None;
    }
    let members = match method {
        "initialize" => INITIALIZE,
        "server/discover" => DISCOVER,
        "tools/list" => TOOLS,
        "resources/list" => RESOURCES,
        "resources/templates/list" => TEMPLATES,
        "prompts/list" => PROMPTS,
        "tools/call" => CALL,
        "resources/read" => READ,
        "prompts/get" => PROMPT,
        "completion/complete" => COMPLETION,
        _ => return None,
    };
    lacking(result, members, "")
}

fn lacking(value: &Value, members: &[(&str, Is)], path: &str) -> Option<String> {
    members.iter().find_map(|(name, is)| {
        let path = format!("{path}/{name}");
        let Some(member) = value.get(name) else {
            return Some(format!("{path} is missing"));
        };
        wrong(member, *is, &path)
    })
}

fn wrong(value: &Value, is: Is, path: &str) -> Option<String> {
    let what = match is {
        Text if !value.is_string() => "a string",
        Array | Items(_) if !value.is_array() => "an array",
        Object | Members(_) | ObjectSchema if !value.is_object() => "an object",
        ObjectSchema if value.get("type").is_none_or(|kind| kind != "object") => {
            return Some(format!("{path} is not a schema of type \"object\""));
        }
        Items(members) => {
            let items = value.as_array().into_iter().flatten().enumerate();
            return items
                .map(|(index, item)| (format!("{path}/{index}"), item))
                .find_map(|(path, item)| lacking(item, members, &path));
        }
        Members(members) => return lacking(value, members, path),
        Text | Array | Object | ObjectSchema => return None,
    };
    Some(format!("{path} is not {what}"))
}
