//! The types of members, by method and revision. Which members must be there is what other rules ask.

use serde_json::Value;

use crate::probe::Revision;

/// What a member is, if it is there.
#[derive(Clone, Copy)]
enum Is {
    Text,
    Bool,
    Number,
    Object,
    Texts,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An object with these members.
    One(&'static [Member]),
    /// An array of objects with these members.
    Each(&'static [Member]),
}

/// The name of a member, what it is, and the first revision that says so.
type Member = (&'static str, Is, Revision);

use Is::{Bool, Each, Number, Object, One, Text, Texts, Word};
use Revision::{
    V2024_11_05 as FIRST, V2025_03_26 as MARCH, V2025_06_18 as JUNE, V2025_11_25 as NOVEMBER,
};

const ROLES: &[&str] = &["user", "assistant"];
const LEVELS: &[&str] = &[
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];
const ICONS: &[Member] = &[
    ("src", Text, NOVEMBER),
    ("mimeType", Text, NOVEMBER),
    ("sizes", Texts, NOVEMBER),
    ("theme", Text, NOVEMBER),
];
const IMPLEMENTATION: &[Member] = &[
    ("name", Text, FIRST),
    ("version", Text, FIRST),
    ("title", Text, JUNE),
    ("websiteUrl", Text, NOVEMBER),
    ("description", Text, NOVEMBER),
    ("icons", Each(ICONS), NOVEMBER),
];
const OFFERED: &[Member] = &[("listChanged", Bool, FIRST), ("subscribe", Bool, FIRST)];
const CAPABILITIES: &[Member] = &[
    ("tools", One(OFFERED), FIRST),
    ("resources", One(OFFERED), FIRST),
    ("prompts", One(OFFERED), FIRST),
    ("logging", Object, FIRST),
    ("completions", Object, MARCH),
    ("experimental", Object, FIRST),
    ("extensions", Object, Revision::V2026_07_28),
];
const ANNOTATIONS: &[Member] = &[
    ("audience", Texts, FIRST),
    ("priority", Number, FIRST),
    ("lastModified", Text, JUNE),
];
const HINTS: &[Member] = &[
    ("title", Text, MARCH),
    ("readOnlyHint", Bool, MARCH),
    ("destructiveHint", Bool, MARCH),
    ("idempotentHint", Bool, MARCH),
    ("openWorldHint", Bool, MARCH),
];
const TOOL: &[Member] = &[
    ("name", Text, FIRST),
    ("title", Text, JUNE),
    ("description", Text, FIRST),
    ("annotations", One(HINTS), MARCH),
    ("execution", Object, NOVEMBER),
    ("icons", Each(ICONS), NOVEMBER),
    ("_meta", Object, JUNE),
];
const RESOURCE: &[Member] = &[
    ("uri", Text, FIRST),
    ("uriTemplate", Text, FIRST),
    ("name", Text, FIRST),
    ("title", Text, JUNE),
    ("description", Text, FIRST),
    ("mimeType", Text, FIRST),
    ("size", Number, FIRST),
    ("annotations", One(ANNOTATIONS), FIRST),
    ("icons", Each(ICONS), NOVEMBER),
    ("_meta", Object, JUNE),
];
const ARGUMENT: &[Member] = &[
    ("name", Text, FIRST),
    ("title", Text, JUNE),
    ("description", Text, FIRST),
    ("required", Bool, FIRST),
];
const PROMPT: &[Member] = &[
    ("name", Text, FIRST),
    ("title", Text, JUNE),
    ("description", Text, FIRST),
    ("arguments", Each(ARGUMENT), FIRST),
    ("icons", Each(ICONS), NOVEMBER),
    ("_meta", Object, JUNE),
];
const CONTENTS: &[Member] = &[
    ("uri", Text, FIRST),
    ("mimeType", Text, FIRST),
    ("text", Text, FIRST),
    ("blob", Text, FIRST),
    ("_meta", Object, JUNE),
];
const CONTENT: &[Member] = &[
    ("type", Text, FIRST),
    ("text", Text, FIRST),
    ("data", Text, FIRST),
    ("mimeType", Text, FIRST),
    ("uri", Text, JUNE),
    ("name", Text, JUNE),
    ("resource", One(CONTENTS), FIRST),
    ("annotations", One(ANNOTATIONS), FIRST),
    ("_meta", Object, JUNE),
];
const MESSAGE: &[Member] = &[
    ("role", Word(ROLES), FIRST),
    ("content", One(CONTENT), FIRST),
];
const VALUES: &[Member] = &[
    ("values", Texts, FIRST),
    ("total", Number, FIRST),
    ("hasMore", Bool, FIRST),
];

/// What a result of a method has.
fn of_result(method: &str) -> &'static [Member] {
    match method {
        "initialize" => &[
            ("protocolVersion", Text, FIRST),
            ("capabilities", One(CAPABILITIES), FIRST),
            ("serverInfo", One(IMPLEMENTATION), FIRST),
            ("instructions", Text, FIRST),
        ],
        "server/discover" => &[
            ("supportedVersions", Texts, FIRST),
            ("capabilities", One(CAPABILITIES), FIRST),
            ("instructions", Text, FIRST),
        ],
        "tools/list" => &[("tools", Each(TOOL), FIRST)],
        "resources/list" => &[("resources", Each(RESOURCE), FIRST)],
        "resources/templates/list" => &[("resourceTemplates", Each(RESOURCE), FIRST)],
        "prompts/list" => &[("prompts", Each(PROMPT), FIRST)],
        "tools/call" => &[("content", Each(CONTENT), FIRST), ("isError", Bool, FIRST)],
        "resources/read" => &[("contents", Each(CONTENTS), FIRST)],
        "prompts/get" => &[
            ("description", Text, FIRST),
            ("messages", Each(MESSAGE), FIRST),
        ],
        "completion/complete" => &[("completion", One(VALUES), FIRST)],
        _ => &[],
    }
}

/// What the params of a notification have.
fn of_notification(method: &str) -> &'static [Member] {
    match method {
        "notifications/progress" => &[
            ("progress", Number, FIRST),
            ("total", Number, FIRST),
            ("message", Text, MARCH),
        ],
        "notifications/message" => &[("level", Word(LEVELS), FIRST), ("logger", Text, FIRST)],
        "notifications/resources/updated" => &[("uri", Text, FIRST)],
        "notifications/cancelled" => &[("reason", Text, FIRST)],
        _ => &[],
    }
}

/// What is wrong with a message that came after a request of this method, if something is.
pub(super) fn wrong(method: &str, message: &Value, revision: Revision) -> Option<String> {
    if let Some(sent) = message.get("method").and_then(Value::as_str) {
        let params = message.get("params")?;
        let problem = members(params, of_notification(sent), revision, "/params")?;
        return Some(format!("{sent}: {problem}"));
    }
    let result = message.get("result")?;
    // What needs input, or became a task, is of another shape.
    if result.get("resultType").is_some_and(|it| it != "complete") || result.get("task").is_some() {
        return None;
    }
    let problem = members(result, of_result(method), revision, "/result")?;
    Some(format!("{method}: {problem}"))
}

fn members(value: &Value, all: &[Member], revision: Revision, path: &str) -> Option<String> {
    let known = all.iter().filter(|(.., since)| *since <= revision);
    known.into_iter().find_map(|(name, is, _)| {
        let member = value.get(name)?;
        problem(member, *is, revision, &format!("{path}/{name}"))
    })
}

fn problem(value: &Value, is: Is, revision: Revision, path: &str) -> Option<String> {
    let what = match is {
        Text if !value.is_string() => "a string",
        Bool if !value.is_boolean() => "true or false",
        Number if !value.is_number() => "a number",
        Object | One(_) if !value.is_object() => "an object",
        Each(_) | Texts if !value.is_array() => "an array",
        Word(words) if !value.as_str().is_some_and(|it| words.contains(&it)) => {
            return Some(format!(
                "{path} is {value}; it ought to be one of {}",
                words.join(", ")
            ));
        }
        Texts => {
            let mut items = value.as_array()?.iter();
            return items
                .any(|item| !item.is_string())
                .then(|| format!("{path} has an item that is not a string"));
        }
        One(all) => return members(value, all, revision, path),
        Each(all) => {
            let mut items = value.as_array()?.iter().enumerate();
            return items.find_map(|(index, item)| {
                problem(item, One(all), revision, &format!("{path}/{index}"))
            });
        }
        Text | Bool | Number | Object | Word(_) => return None,
    };
    Some(format!("{path} is not {what}"))
}
