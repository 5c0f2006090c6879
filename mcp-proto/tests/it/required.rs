//! What must hold before a request goes on: URLs that the user must open first, and the rules of a conversation that a
//! model is asked to continue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_proto::input::{SamplingContent, SamplingMessage, SamplingTool, ToolChoice};
use mcp_proto::jsonrpc::{ErrorObject, Notification};
use mcp_proto::{
    CallToolResult, ContentBlock, Context, CreateMessage, ElicitUrl, Era, GetPromptResult,
    Interrupt, Prompt, ProtocolVersion, Role, Server, Tool, ToolError,
};
use mcp_proto_client::{Client, ClientConfig, ClientError};
use serde_json::{Map, Value, json};

use crate::common::{Served, request};
use crate::peer::Peer;

/// Whether the user has signed in.
type SignedIn = Arc<AtomicBool>;

fn urls() -> [ElicitUrl; 2] {
    ["files", "mail"].map(|what| {
        ElicitUrl::new(format!("Sign in for {what}."), format!("https://login.example/{what}"))
            .with_id(format!("id-{what}"))
    })
}

fn server(signed_in: &SignedIn) -> Server {
    let tool =
        |name: &str| Tool::new(name, "").asking().with_input_schema(json!({"type": "object"}));
    Server::builder("s", "1", Arc::clone(signed_in))
        .raw_tool(tool("files"), async |signed_in: SignedIn, _, context: Context| {
            if !signed_in.load(Ordering::SeqCst) {
                return Err(Interrupt::urls_required(&context, urls()).into());
            }
            context.elicitation_complete("id-files").await;
            Ok(CallToolResult::text("here they are"))
        })
        .raw_tool(tool("none"), async |_, _, context: Context| {
            Err::<(), ToolError>(Interrupt::urls_required(&context, []).into())
        })
        .raw_prompt(Prompt::new("files", ""), async |_, _, context: Context| {
            let left: Interrupt = Interrupt::urls_required(&context, urls());
            Err::<GetPromptResult, _>(left.into())
        })
        .build()
        .unwrap()
}

fn config(version: ProtocolVersion, capabilities: &Value) -> ClientConfig {
    let mut config = ClientConfig::new(version.era());
    config.version = Some(version);
    config.capabilities = capabilities.as_object().unwrap().clone();
    config
}

/// A client of each transport.
async fn clients(server: &Server, config: &ClientConfig) -> ([Client; 2], Served) {
    let served = Served::new(server.clone()).await;
    let http = Client::http(&served.url(), config.clone()).await.unwrap();
    let stdio = Client::memory(server.clone(), config.clone()).await.unwrap();
    ([http, stdio], served)
}

#[track_caller]
fn refusal(answer: Result<Value, ClientError>) -> ErrorObject {
    match answer {
        Err(ClientError::Rpc(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn received(notifications: &mut tokio::sync::broadcast::Receiver<Notification>) -> Vec<Value> {
    let mut received = Vec::new();
    while let Ok(said) = notifications.try_recv() {
        received.push(json!({"method": said.method, "params": said.params}));
    }
    received
}

#[tokio::test]
async fn a_client_of_2025_11_25_gets_the_urls_as_an_error_and_the_word_that_it_is_done() {
    let config = config(ProtocolVersion::V2025_11_25, &json!({"elicitation": {"url": {}}}));
    let signed_in = SignedIn::default();
    let server = server(&signed_in);
    let (clients, _served) = clients(&server, &config).await;
    let elicitations = json!({"elicitations": [
        {"mode": "url", "elicitationId": "id-files", "url": "https://login.example/files", "message": "Sign in for files."},
        {"mode": "url", "elicitationId": "id-mail", "url": "https://login.example/mail", "message": "Sign in for mail."},
    ]});
    for client in &clients {
        let call = client.call_tool_raw("files", json!({})).await;
        let prompt = client.request("prompts/get", json!({"name": "files"})).await;
        for answer in [call, prompt] {
            let error = refusal(answer);
            assert_eq!(error.code, -32042);
            assert_eq!(error.data, Some(elicitations.clone()));
        }
    }
    signed_in.store(true, Ordering::SeqCst);
    for client in &clients {
        let mut notifications = client.notifications();
        let result = client.call_tool_raw("files", json!({})).await.unwrap();
        assert_eq!(result["content"][0]["text"], "here they are");
        let done = json!({"method": "notifications/elicitation/complete", "params": {"elicitationId": "id-files"}});
        assert_eq!(received(&mut notifications), [done]);
    }
}

#[tokio::test]
async fn other_clients_are_refused_or_asked_and_never_told_more() {
    let can = json!({"elicitation": {"form": {}, "url": {}}});
    let forms = json!({"elicitation": {}});
    for (version, capabilities, code) in [
        (ProtocolVersion::V2025_11_25, &forms, -32602),
        (ProtocolVersion::V2025_11_25, &json!({}), -32602),
        (ProtocolVersion::V2025_06_18, &can, -32602),
        (ProtocolVersion::V2025_03_26, &can, -32602),
        (ProtocolVersion::V2024_11_05, &can, -32602),
        (ProtocolVersion::V2026_07_28, &forms, -32021),
        (ProtocolVersion::V2026_07_28, &json!({}), -32021),
    ] {
        let signed_in = SignedIn::default();
        let server = server(&signed_in);
        let config = config(version, capabilities);
        let (clients, _served) = clients(&server, &config).await;
        for client in &clients {
            let error = refusal(client.call_tool_raw("files", json!({})).await);
            assert_eq!(error.code, code, "{version}");
            assert!(error.message.contains(r#"{"elicitation":{"url":{}}}"#), "{}", error.message);
        }
        signed_in.store(true, Ordering::SeqCst);
        for client in &clients {
            let mut notifications = client.notifications();
            client.call_tool_raw("files", json!({})).await.unwrap();
            assert_eq!(received(&mut notifications), [Value::Null; 0], "{version}");
        }
    }
}

#[tokio::test]
async fn a_modern_client_is_asked_until_it_is_done_or_declined() {
    let config = config(ProtocolVersion::V2026_07_28, &json!({"elicitation": {"url": {}}}));
    let signed_in = SignedIn::default();
    let server = server(&signed_in);
    let (clients, _served) = clients(&server, &config).await;
    let asked = |result: &Value| {
        assert_eq!(result["resultType"], "input_required", "{result}");
        let requests = result["inputRequests"].as_object().unwrap();
        let wanted = ["files", "mail"].map(|what| {
            json!({"method": "elicitation/create", "params": {
                "mode": "url",
                "message": format!("Sign in for {what}."),
                "url": format!("https://login.example/{what}"),
            }})
        });
        assert!(requests.values().eq(&wanted), "{result}");
        requests.keys().cloned().collect::<Vec<_>>()
    };
    for client in &clients {
        signed_in.store(false, Ordering::SeqCst);
        let first = client.call_tool_raw("files", json!({})).await.unwrap();
        let keys = asked(&first);
        let answered = |result: &Value, actions: [&str; 2]| {
            let answers: Map<_, _> = keys
                .iter()
                .zip(actions)
                .map(|(key, action)| (key.clone(), json!({"action": action})))
                .collect();
            json!({"name": "files", "arguments": {}, "inputResponses": answers, "requestState": result["requestState"]})
        };
        let again = async |result: &Value, actions| {
            client.request("tools/call", answered(result, actions)).await
        };
        // Agreed, but not there yet: asked again, with a state that is good for the next round.
        let second = again(&first, ["accept", "accept"]).await.unwrap();
        assert_eq!(asked(&second), keys);
        for no in ["decline", "cancel"] {
            let error = refusal(again(&second, ["accept", no]).await);
            assert_eq!(error.code, -32602);
            assert!(error.message.contains(&keys[1]), "{}", error.message);
        }
        signed_in.store(true, Ordering::SeqCst);
        let mut notifications = client.notifications();
        let done = again(&second, ["accept", "accept"]).await.unwrap();
        assert_eq!(done["content"][0]["text"], "here they are");
        assert_eq!(received(&mut notifications), [Value::Null; 0]);
        assert_eq!(refusal(client.call_tool_raw("none", json!({})).await).code, -32603);
    }
}

fn use_of(ids: &[&str]) -> SamplingMessage {
    let uses = ids.iter().map(|&id| SamplingContent::ToolUse {
        id: id.to_owned(),
        name: "look".to_owned(),
        input: Map::new(),
    });
    SamplingMessage::new(Role::Assistant, uses.collect::<Vec<_>>())
}

fn result_of(ids: &[&str]) -> SamplingMessage {
    let results = ids.iter().map(|&id| SamplingContent::ToolResult {
        tool_use_id: id.to_owned(),
        content: vec![ContentBlock::text("seen")],
        is_error: false,
    });
    SamplingMessage::new(Role::User, results.collect::<Vec<_>>())
}

fn joined(one: SamplingMessage, other: SamplingMessage) -> SamplingMessage {
    let content = [one.content, other.content].concat();
    SamplingMessage::new(one.role, content)
}

fn as_role(role: Role, message: SamplingMessage) -> SamplingMessage {
    SamplingMessage::new(role, message.content)
}

/// A server whose one tool asks the model to go on with this conversation.
fn sampling(message: CreateMessage) -> Server {
    let tool = Tool::new("ask", "").asking().with_input_schema(json!({"type": "object"}));
    Server::builder("s", "1", Arc::new(message))
        .raw_tool(tool, async |message: Arc<CreateMessage>, _, context: Context| {
            let said = context.sample("said", &message)?;
            Ok::<_, ToolError>(CallToolResult::text(said.text()))
        })
        .build()
        .unwrap()
}

/// What a modern client gets, and the first line that a legacy one does.
async fn put(message: &CreateMessage, capabilities: &Value) -> [Value; 2] {
    let config = config(ProtocolVersion::V2026_07_28, capabilities);
    let client = Client::memory(sampling(message.clone()), config).await.unwrap();
    let modern = match client.call_tool_raw("ask", json!({})).await {
        Ok(result) => result,
        Err(ClientError::Rpc(error)) => json!({ "error": error }),
        Err(other) => panic!("{other}"),
    };
    let mut peer = Peer::new(sampling(message.clone()));
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "0"},
    });
    peer.send(&request(1, "initialize", &params)).await;
    peer.next().await;
    peer.send(&request(2, "tools/call", &json!({"name": "ask"}))).await;
    [modern, peer.next().await]
}

#[tokio::test]
async fn a_conversation_that_breaks_the_rules_is_never_sent() {
    let (user, assistant) = (SamplingMessage::user("u"), SamplingMessage::assistant("a"));
    let can = json!({"sampling": {"tools": {}}});
    for (what, messages) in [
        (
            "a result beside text",
            vec![user.clone(), use_of(&["1"]), joined(result_of(&["1"]), user.clone())],
        ),
        ("a result of another use", vec![user.clone(), use_of(&["1"]), result_of(&["2"])]),
        ("one of two results", vec![user.clone(), use_of(&["1", "2"]), result_of(&["1"])]),
        ("a result too many", vec![user.clone(), use_of(&["1"]), result_of(&["1", "2"])]),
        ("a result twice", vec![user.clone(), use_of(&["1"]), result_of(&["1", "1"])]),
        ("a use twice", vec![user.clone(), use_of(&["1", "1"]), result_of(&["1"])]),
        ("no result", vec![user.clone(), use_of(&["1"]), user.clone()]),
        ("no result before the end", vec![user.clone(), use_of(&["1"])]),
        (
            "a result later",
            vec![user.clone(), use_of(&["1"]), assistant.clone(), result_of(&["1"])],
        ),
        ("a result without a use", vec![result_of(&["1"])]),
        ("a result again", vec![use_of(&["1"]), result_of(&["1"]), result_of(&["1"])]),
        ("a use of the user", vec![as_role(Role::User, use_of(&["1"])), result_of(&["1"])]),
        (
            "a result of the assistant",
            vec![use_of(&["1"]), as_role(Role::Assistant, result_of(&["1"]))],
        ),
    ] {
        for answer in put(&CreateMessage::new(messages, 10), &can).await {
            assert_eq!(answer["error"]["code"], -32603, "{what}: {answer}");
            assert!(answer.get("method").is_none(), "{what}: {answer}");
        }
    }
    for (what, messages) in [
        ("a plain one", vec![user.clone(), assistant.clone(), user.clone()]),
        ("no message", vec![]),
        ("balanced", vec![user.clone(), use_of(&["1", "2"]), result_of(&["2", "1"])]),
        (
            "a use beside text",
            vec![user.clone(), joined(assistant.clone(), use_of(&["1"])), result_of(&["1"])],
        ),
        (
            "the same id in another turn",
            vec![use_of(&["1"]), result_of(&["1"]), use_of(&["1"]), result_of(&["1"]), user],
        ),
    ] {
        let [modern, legacy] = put(&CreateMessage::new(messages, 10), &can).await;
        assert_eq!(
            modern["inputRequests"]["said"]["method"], "sampling/createMessage",
            "{what}: {modern}"
        );
        assert_eq!(legacy["method"], "sampling/createMessage", "{what}: {legacy}");
        assert_eq!(legacy["params"], modern["inputRequests"]["said"]["params"]);
    }
}

#[tokio::test]
async fn tools_are_for_clients_that_can_sample_with_them() {
    let plain = CreateMessage::text("u", 10);
    let with_tool =
        plain.clone().with_tool(SamplingTool::new("look", "", json!({"type": "object"})));
    let mut with_choice = plain.clone();
    with_choice.tool_choice = Some(ToolChoice::None);
    let with_history = CreateMessage::new([use_of(&["1"]), result_of(&["1"])], 10);
    let without = json!({"sampling": {}});
    for message in [&with_tool, &with_choice, &with_history] {
        let [modern, legacy] = put(message, &without).await;
        assert_eq!(modern["error"]["code"], -32021, "{modern}");
        assert_eq!(
            modern["error"]["data"]["requiredCapabilities"],
            json!({"sampling": {"tools": {}}})
        );
        assert_eq!(legacy["error"]["code"], -32602, "{legacy}");
        let [modern, _] = put(message, &json!({"sampling": {"tools": {}}})).await;
        assert_eq!(modern["resultType"], "input_required");
    }
    let [modern, _] = put(&plain, &without).await;
    assert_eq!(modern["resultType"], "input_required");
}

#[tokio::test]
async fn a_model_without_tools_uses_none() {
    let mut message = CreateMessage::text("u", 10);
    message.tool_choice = Some(ToolChoice::Auto);
    let config = config(ProtocolVersion::LATEST, &json!({"sampling": {"tools": {}}}));
    assert_eq!(config.version.unwrap().era(), Era::Modern);
    let client = Client::memory(sampling(message), config).await.unwrap();
    let answer = json!({
        "role": "assistant",
        "content": {"type": "tool_use", "id": "1", "name": "look", "input": {}},
        "model": "m",
    });
    let params = json!({"name": "ask", "inputResponses": {"said": answer}});
    let error = refusal(client.request("tools/call", params).await);
    assert_eq!(error.code, -32602);
    assert!(error.message.contains("it was given none"), "{}", error.message);
}
