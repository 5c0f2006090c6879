//! Content of every kind in every revision: clients whose kinds are a closed list are told by those they know.

use mcp_proto::content::MediaContent;
use mcp_proto::{
    Annotations, CallToolResult, ContentBlock, GetPromptResult, Icon, Prompt, PromptMessage,
    ProtocolVersion, Resource, ResourceContents, Role, Server, Tool,
};
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Map, Value, json};
use sha2::Digest as _;

use crate::common::Served;

const SOUND: &[u8] = b"RIFF\x00\xff";

fn meta() -> Map<String, Value> {
    Map::from_iter([("com.example/x".to_owned(), json!(1))])
}

fn hints() -> Annotations {
    Annotations::default()
        .with_audience([Role::User])
        .with_priority(0.5)
        .with_last_modified("2026-01-02T03:04:05Z")
}

/// A block of each kind, with all that may stand beside it.
fn blocks() -> Vec<ContentBlock> {
    let with = |mut media: MediaContent| {
        media.annotations = Some(hints());
        media.meta = Some(meta());
        media
    };
    let mut link = Resource::new("file:///report.pdf", "report");
    link.title = Some("The report".to_owned());
    link.description = Some("All of it.".to_owned());
    link.mime_type = Some("application/pdf".to_owned());
    link.icons = vec![Icon::new("https://example.com/i.png")];
    link.annotations = Some(hints());
    link.meta = Some(meta());
    let media = |block| match block {
        ContentBlock::Image(media) => ContentBlock::Image(with(media)),
        ContentBlock::Audio(media) => ContentBlock::Audio(with(media)),
        other => other,
    };
    vec![
        ContentBlock::text("text"),
        media(ContentBlock::image(b"png", "image/png")),
        media(ContentBlock::audio(SOUND, "audio/wav")),
        ContentBlock::resource_link(link),
        ContentBlock::resource_link(Resource::new("file:///bare", "bare")),
        ContentBlock::resource(ResourceContents::text("file:///a", "abc")),
    ]
}

fn server() -> Server {
    Server::builder("s", "1", ())
        .raw_tool(
            Tool::new("all", "").with_input_schema(json!({"type": "object"})),
            async |(), _, _| {
                let mut result = CallToolResult::default();
                result.content = blocks();
                Ok(result)
            },
        )
        .raw_prompt(Prompt::new("all", ""), async |(), _, _| {
            let messages = blocks().into_iter().enumerate();
            let messages = messages.map(|(index, block)| match index % 2 {
                0 => PromptMessage::user(block),
                _ => PromptMessage::assistant(block),
            });
            Ok(GetPromptResult::new(messages.collect::<Vec<_>>()))
        })
        .build()
        .unwrap()
}

/// The content of the tool's result and of the prompt's messages in a revision, over HTTP and over stdio.
async fn contents(version: ProtocolVersion) -> Vec<Vec<Value>> {
    let mut config = ClientConfig::new(version.era());
    config.version = Some(version);
    let served = Served::new(server()).await;
    let http = Client::http(&served.url(), config.clone()).await.unwrap();
    let stdio = Client::memory(server(), config).await.unwrap();
    let mut contents = Vec::new();
    for client in [http, stdio] {
        let result = client.call_tool_raw("all", json!({})).await.unwrap();
        contents.push(result["content"].as_array().unwrap().clone());
        let prompt = client.request("prompts/get", json!({"name": "all"})).await;
        let messages = prompt.unwrap()["messages"].as_array().unwrap().clone();
        let roles = ["user", "assistant", "user", "assistant", "user", "assistant"];
        let said = messages.iter().map(|message| message["role"].as_str().unwrap());
        assert!(said.eq(roles));
        contents.push(messages.iter().map(|message| message["content"].clone()).collect());
    }
    contents
}

fn hints_json() -> Value {
    json!({"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-02T03:04:05Z"})
}

#[tokio::test]
async fn each_revision_gets_the_kinds_that_it_knows() {
    let as_they_are: Vec<_> =
        blocks().iter().map(|block| serde_json::to_value(block).unwrap()).collect();
    let told = [
        json!({
            "type": "text",
            "text": "The report <file:///report.pdf> (application/pdf): All of it.",
            "annotations": hints_json(),
            "_meta": meta(),
        }),
        json!({"type": "text", "text": "bare <file:///bare>"}),
    ];
    let name = data_encoding::BASE64URL_NOPAD.encode(&sha2::Sha256::digest(SOUND));
    let embedded = json!({
        "type": "resource",
        "resource": {
            "uri": format!("ni:///sha-256;{name}"),
            "mimeType": "audio/wav",
            "blob": data_encoding::BASE64.encode(SOUND),
        },
        "annotations": hints_json(),
        "_meta": meta(),
    });
    for version in ProtocolVersion::ALL {
        let mut wanted = as_they_are.clone();
        if version < ProtocolVersion::V2025_06_18 {
            wanted[3..5].clone_from_slice(&told);
        }
        if version < ProtocolVersion::V2025_03_26 {
            wanted[2] = embedded.clone();
        }
        for content in contents(version).await {
            assert_eq!(content, wanted, "{version}");
        }
    }
}

/// The kinds of content that the schema of each revision has.
#[tokio::test]
async fn no_revision_gets_a_kind_that_it_does_not_have() {
    for version in ProtocolVersion::ALL {
        let mut known = vec!["text", "image", "resource"];
        if version >= ProtocolVersion::V2025_03_26 {
            known.push("audio");
        }
        if version >= ProtocolVersion::V2025_06_18 {
            known.push("resource_link");
        }
        let mut seen = Vec::new();
        for content in contents(version).await {
            seen.extend(content.iter().map(|block| block["type"].as_str().unwrap().to_owned()));
        }
        assert!(seen.iter().all(|kind| known.contains(&kind.as_str())), "{version}: {seen:?}");
        assert!(known.iter().all(|kind| seen.iter().any(|one| one == kind)), "{version}: {seen:?}");
    }
}

#[tokio::test]
async fn a_sound_that_is_no_base64_is_embedded_as_it_stands() {
    let server = Server::builder("s", "1", ()).raw_tool(
        Tool::new("sound", "").with_input_schema(json!({"type": "object"})),
        async |(), _, _| {
            let mut sound = ContentBlock::audio(b"", "audio/wav");
            if let ContentBlock::Audio(media) = &mut sound {
                media.data = "not Base64!".to_owned();
            }
            let mut result = CallToolResult::default();
            result.content = vec![sound];
            Ok(result)
        },
    );
    let mut config = ClientConfig::new(mcp_proto::Era::Legacy);
    config.version = Some(ProtocolVersion::V2024_11_05);
    let client = Client::memory(server.build().unwrap(), config).await.unwrap();
    let result = client.call_tool_raw("sound", json!({})).await.unwrap();
    assert_eq!(result["content"][0]["resource"]["blob"], "not Base64!");
}
