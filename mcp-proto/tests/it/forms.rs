//! Enumerations of every form as arguments: published so that clients take them, and explained where they do not fit.

#![expect(dead_code, reason = "types that are read, and told by Debug")]

use mcp_proto::{Base64, Json, Server, ServerBuilder, StreamableHttpService, Tool};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::common::{Raw, every_client};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Green,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Described {
    /// Not loud.
    Soft,
    /// Not soft.
    Loud,
    Mute,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    /// All around.
    Circle { radius: f64 },
    /// Four corners.
    Square { side: f64 },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c", rename_all = "lowercase")]
enum Adjacent {
    Number(u32),
    Text(String),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum External {
    Nothing,
    Point { x: u32 },
    Line(Vec<u32>),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Name(String),
    Range { from: u32, to: u32 },
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Forms {
    colour: Option<Colour>,
    described: Option<Described>,
    shape: Option<Shape>,
    adjacent: Option<Adjacent>,
    external: Option<External>,
    untagged: Option<Untagged>,
    colours: Option<Vec<Colour>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Flattened {
    /// What it is called.
    name: String,
    #[serde(flatten)]
    shape: Shape,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Twice {
    #[serde(flatten)]
    shape: Shape,
    #[serde(flatten)]
    adjacent: Adjacent,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct FlatText {
    #[serde(flatten)]
    untagged: Untagged,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Seen {
    seen: String,
}

fn builder<A>() -> ServerBuilder<()>
where
    A: DeserializeOwned + JsonSchema + std::fmt::Debug + Send + 'static,
{
    Server::builder("s", "1", ())
        .tool(Tool::new("see", ""), async |it: A| Json(Seen { seen: format!("{it:?}") }))
}

/// The published schema.
async fn schema<A>() -> Value
where
    A: DeserializeOwned + JsonSchema + std::fmt::Debug + Send + 'static,
{
    let service = StreamableHttpService::new(builder::<A>().build().unwrap());
    let list = Raw::modern("tools/list", json!({})).send(&service).await;
    list.result()["tools"][0]["inputSchema"].clone()
}

/// What every client is answered: the text of the result.
async fn answers<A>(arguments: &Value) -> Vec<String>
where
    A: DeserializeOwned + JsonSchema + std::fmt::Debug + Send + 'static,
{
    let server = builder::<A>().build().unwrap();
    let (clients, served) = every_client(&server).await;
    let mut answers = Vec::new();
    for (_, client) in &clients {
        let params = json!({"name": "see", "arguments": arguments});
        let answer = client.request("tools/call", params).await.unwrap();
        let text = answer["content"][0]["text"].as_str().unwrap();
        let failure = serde_json::from_str::<Value>(text).unwrap();
        let message = failure["error"]["message"].as_str();
        answers.push(message.unwrap_or(text).to_owned());
    }
    drop(clients);
    served.ended().await;
    answers
}

#[cfg(feature = "validate")]
#[tokio::test]
async fn a_wrong_value_names_the_right_ones_whatever_the_form() {
    for (arguments, wanted) in [
        (json!({"colour": "blue"}), r#"/colour: "blue" is not one of "#),
        (json!({"colours": ["red", "blue"]}), r#"/colours/1: "blue" is not one of "#),
        (json!({"described": "shrill"}), r#"/described: "shrill" is not one of "#),
        (json!({"described": 7}), "/described: 7 is not one of "),
        (
            json!({"shape": {"kind": "hexagon", "side": 1}}),
            r#"/shape/kind: "hexagon" is not one of "circle", "square""#,
        ),
        (
            json!({"shape": {"side": 1}}),
            r#"/shape: needs the member "kind", one of "circle", "square""#,
        ),
        (
            json!({"shape": "circle"}),
            r#"/shape: must be an object with "kind", one of "circle", "square""#,
        ),
        (
            json!({"shape": {"kind": "square", "side": "x"}}),
            r#"/shape/side: "x" is not of type "number""#,
        ),
        (
            json!({"adjacent": {"t": "date", "c": 1}}),
            r#"/adjacent/t: "date" is not one of "number", "text""#,
        ),
        (json!({"adjacent": {"t": "text", "c": 1}}), r#"/adjacent/c: 1 is not of type "string""#),
        (
            json!({"external": "something"}),
            r#"/external: must be one of "nothing", or an object with one of the members "#,
        ),
        (
            json!({"external": {"plane": 1}}),
            r#"/external: must be one of "nothing", or an object with one of the members "#,
        ),
        (
            json!({"external": {"point": {"x": "y"}}}),
            r#"/external/point/x: "y" is not of type "integer""#,
        ),
        (
            json!({"untagged": 5}),
            r#"/untagged: must be a string, or an object with "from" and "to""#,
        ),
        (json!({"untagged": {"from": 1}}), r#"/untagged: "to" is a required property"#),
    ] {
        for answer in answers::<Forms>(&arguments).await {
            assert!(answer.contains(wanted), "{arguments}: {answer}");
            assert!(!answer.contains("; "), "more than one finding: {answer}");
        }
    }
    for value in ["red", "green"] {
        let answer = &answers::<Forms>(&json!({"colour": "blue"})).await[0];
        assert!(answer.contains(&format!("{value:?}")), "{answer}");
    }
    for value in ["soft", "loud", "mute"] {
        let answer = &answers::<Forms>(&json!({"described": "x"})).await[0];
        assert!(answer.contains(&format!("{value:?}")), "{answer}");
    }
}

#[tokio::test]
async fn a_flattened_enumeration_is_published_as_one_plain_object() {
    let published = schema::<Flattened>().await;
    assert_eq!(published["type"], "object");
    for keyword in ["oneOf", "anyOf", "allOf"] {
        assert!(published.get(keyword).is_none(), "{published}");
    }
    assert_eq!(published["properties"]["kind"]["enum"], json!(["circle", "square"]));
    let about = published["properties"]["kind"]["description"].as_str().unwrap();
    assert_eq!(about, "circle: All around.\nsquare: Four corners.");
    assert_eq!(published["properties"]["radius"]["type"], "number");
    assert_eq!(published["properties"]["side"]["type"], "number");
    assert_eq!(published["properties"]["name"]["description"], "What it is called.");
    let mut required: Vec<_> = published["required"].as_array().unwrap().clone();
    required.sort_by_key(ToString::to_string);
    assert_eq!(required, ["kind", "name"]);

    let good = json!({"name": "a", "kind": "square", "side": 2});
    assert!(answers::<Flattened>(&good).await[0].contains("Square"));
    for (arguments, wanted) in [
        (json!({"name": "a", "kind": "line"}), "circle"),
        (json!({"name": "a", "kind": "square"}), "side"),
        (json!({"name": "a"}), "kind"),
    ] {
        for answer in answers::<Flattened>(&arguments).await {
            assert!(answer.contains("invalid arguments for see"), "{answer}");
            assert!(answer.contains(wanted), "{arguments}: {answer}");
        }
    }
}

#[tokio::test]
async fn several_flattened_enumerations_and_an_enumeration_by_itself_are_plain_objects() {
    let published = schema::<Twice>().await;
    for keyword in ["oneOf", "anyOf", "allOf"] {
        assert!(published.get(keyword).is_none(), "{published}");
    }
    let members = published["properties"].as_object().unwrap();
    let members: Vec<_> = members.keys().map(String::as_str).collect();
    assert_eq!(members, ["c", "kind", "radius", "side", "t"]);
    let good = json!({"kind": "circle", "radius": 1, "t": "text", "c": "x"});
    assert!(answers::<Twice>(&good).await[0].contains("Text"));

    let published = schema::<Shape>().await;
    assert_eq!(published["type"], "object");
    assert_eq!(published["required"], json!(["kind"]));
    let good = json!({"kind": "circle", "radius": 1});
    assert!(answers::<Shape>(&good).await[0].contains("Circle"));
}

#[test]
fn a_form_that_is_not_an_object_cannot_be_flattened() {
    for built in [builder::<FlatText>().build(), builder::<External>().build()] {
        let error = built.unwrap_err().to_string();
        assert!(error.contains("is not an object"), "{error}");
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Upload {
    files: Vec<File>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct File {
    /// What is in it.
    data: Base64,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Bytes {
    bytes: Base64,
}

#[tokio::test]
async fn bytes_are_published_as_base64_and_read_as_such() {
    let published = schema::<Upload>().await;
    let data = &published["properties"]["files"]["items"]["properties"]["data"];
    let wanted =
        json!({"type": "string", "contentEncoding": "base64", "description": "What is in it."});
    assert_eq!(*data, wanted);
    for text in ["aGk=", "aGk", ""] {
        let good = json!({"files": [{"data": text}]});
        assert!(answers::<Upload>(&good).await[0].contains("Base64(["));
    }
    // What no schema says is told with its place, too.
    for text in ["a", "a-_=", "aGk= "] {
        let bad = json!({"files": [{"data": "aGk="}, {"data": text}]});
        for answer in answers::<Upload>(&bad).await {
            assert!(answer.contains("/files/1/data: the text is not Base64"), "{answer}");
        }
    }
    let back = Server::builder("s", "1", ())
        .tool(Tool::new("back", ""), async |it: Bytes| Json(Bytes { bytes: it.bytes }));
    let (clients, served) = every_client(&back.build().unwrap()).await;
    for (name, client) in &clients {
        let params = json!({"name": "back", "arguments": {"bytes": "aGk"}});
        let answer = client.request("tools/call", params).await.unwrap();
        assert_eq!(answer["structuredContent"]["bytes"], "aGk=", "{name}");
    }
    drop(clients);
    served.ended().await;
}
