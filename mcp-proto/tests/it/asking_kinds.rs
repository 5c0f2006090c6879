//! URLs, sampling and roots as they are sent, by revision, and what counts as an answer to them; what nobody is asked.

use mcp_proto::input::{
    MAX_QUESTIONS, ModelHint, ModelPreferences, SamplingContent, SamplingMessage, SamplingTool,
    ToolChoice,
};
use mcp_proto::{
    Context, CreateMessage, ElicitForm, ElicitUrl, Field, Interrupt, ProtocolVersion, Questions,
    Role,
};
use serde_json::{Map, Value, json};

use crate::asking_common::{answered, asked, asker, legacy, modern, name_form};

#[tokio::test]
async fn a_url_is_named_towards_the_revision_that_wants_a_name() {
    let ask = |context: &Context| {
        let url = ElicitUrl::new("Please pay.", "https://pay.example/?n=1").with_id("e-1");
        Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
    };
    let params =
        json!({ "mode": "url", "message": "Please pay.", "url": "https://pay.example/?n=1" });
    assert_eq!(asked("2026-07-28", ask).await, params);
    let mut named = params;
    named["elicitationId"] = json!("e-1");
    assert_eq!(asked("2025-11-25", ask).await, named);

    // Without a name of the server's own it is one that nobody can guess.
    let unnamed = || {
        asked("2025-11-25", |context| {
            let url = ElicitUrl::new("Please pay.", "https://pay.example/");
            Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
        })
    };
    let (one, other) = (unnamed().await, unnamed().await);
    assert_ne!(one["elicitationId"], other["elicitationId"]);
    assert_eq!(one["elicitationId"].as_str().unwrap().len(), 36);

    // Whatever a client brings along: nothing was filled in.
    let said = answered(json!({ "action": "accept", "content": { "card": "4111" } }), |context| {
        let url = ElicitUrl::new("Please pay.", "https://pay.example/");
        let answers = context.ask(&Questions::new().elicit_url("q", url))?;
        Ok(json!(answers.elicited("q")?.content))
    });
    assert_eq!(said.await, Ok(json!({})));
}

#[tokio::test]
async fn sampling_is_sent_whole_and_as_its_revision_wants_it() {
    fn message() -> CreateMessage {
        let mut message = CreateMessage::new(
            [
                SamplingMessage::user("Hello"),
                SamplingMessage::new(
                    Role::Assistant,
                    [SamplingContent::text("Hi."), SamplingContent::text("And?")],
                ),
            ],
            100,
        )
        .with_system_prompt("Be brief.");
        message.temperature = Some(0.5);
        message.stop_sequences = vec!["END".to_owned()];
        message.metadata = json!({ "k": 1 }).as_object().cloned();
        let mut preferences = ModelPreferences::default();
        preferences.hints.push(ModelHint { name: "sonnet".to_owned() });
        preferences.speed_priority = Some(1.0);
        message.model_preferences = Some(preferences);
        message
    }
    let ask = |context: &Context| Ok(json!(context.sample("q", &message())?.text()));
    let text = |text: &str| json!({ "type": "text", "text": text });
    let rest = json!({
        "maxTokens": 100,
        "systemPrompt": "Be brief.",
        "temperature": 0.5,
        "stopSequences": ["END"],
        "metadata": { "k": 1 },
        "modelPreferences": { "hints": [{ "name": "sonnet" }], "speedPriority": 1.0 },
    });
    for version in ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let mut params = asked(version, ask).await;
        let messages = params.as_object_mut().unwrap().remove("messages");
        assert_eq!(params, rest, "{version}");
        // A message of several pieces is new in 2025-11-25.
        let expected = if version < "2025-11-25" {
            json!([
                { "role": "user", "content": text("Hello") },
                { "role": "assistant", "content": text("Hi.") },
                { "role": "assistant", "content": text("And?") },
            ])
        } else {
            json!([
                { "role": "user", "content": text("Hello") },
                { "role": "assistant", "content": [text("Hi."), text("And?")] },
            ])
        };
        assert_eq!(messages, Some(expected), "{version}");
    }

    let with_tools = |context: &Context| {
        let tool = SamplingTool::new("add", "Adds.", json!({ "type": "object" }));
        let mut message = CreateMessage::text("2+2?", 100).with_tool(tool);
        message.tool_choice = Some(ToolChoice::Required);
        Ok(json!(context.sample("q", &message)?.text()))
    };
    for version in ["2025-11-25", "2026-07-28"] {
        let params = asked(version, with_tools).await;
        assert_eq!(params["toolChoice"], json!({ "mode": "required" }));
        assert_eq!(
            params["tools"],
            json!([{ "name": "add", "description": "Adds.", "inputSchema": { "type": "object" } }])
        );
    }
}

#[tokio::test]
async fn sampled_messages_are_one_piece_or_several() {
    let sampled = |content: Value| {
        let answer = json!({ "role": "assistant", "content": content, "model": "m" });
        answered(answer, |context| {
            let said = context.sample("q", &CreateMessage::text("?", 9))?;
            Ok(json!([said.content.len(), said.text()]))
        })
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    assert_eq!(sampled(text("a")).await, Ok(json!([1, "a"])));
    assert_eq!(sampled(json!([text("a"), text("b")])).await, Ok(json!([2, "a\nb"])));
    let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
    assert_eq!(sampled(image).await, Ok(json!([1, ""])));
    for content in [json!(null), json!("a"), json!([1]), json!({ "type": "film" })] {
        assert!(
            sampled(content).await.unwrap_err().starts_with("a CreateMessageResult is wanted: ")
        );
    }
    // It was given none.
    let tool = json!({ "type": "tool_use", "id": "1", "name": "add", "input": { "a": 2 } });
    assert_eq!(
        sampled(tool.clone()).await,
        Err("the model uses tools, although it was given none".to_owned())
    );
    let answer =
        json!({ "role": "assistant", "content": tool, "model": "m", "stopReason": "toolUse" });
    let used = answered(answer, |context| {
        let tool = SamplingTool::new("add", "Adds.", json!({ "type": "object" }));
        let said = context.sample("q", &CreateMessage::text("2+2?", 9).with_tool(tool))?;
        Ok(json!([said.content, said.stop_reason]))
    });
    let tool = json!({ "type": "tool_use", "id": "1", "name": "add", "input": { "a": 2 } });
    assert_eq!(used.await, Ok(json!([[tool], "toolUse"])));
}

#[tokio::test]
async fn roots_are_files() {
    let roots = |answer: Value| answered(answer, |context| Ok(json!(context.list_roots("q")?)));
    assert_eq!(roots(json!({ "roots": [] })).await, Ok(json!([])));
    let good = json!([{ "uri": "file:///a" }, { "uri": "file:///b", "name": "B" }]);
    assert_eq!(roots(json!({ "roots": good })).await, Ok(good));
    assert_eq!(
        roots(json!({ "roots": [{ "uri": "file:///a", "name": null }] })).await,
        Ok(json!([{ "uri": "file:///a" }]))
    );
    for uri in ["https://a.example/", "/a", "FILE:///a", "file:a", ""] {
        assert_eq!(
            roots(json!({ "roots": [{ "uri": "file:///a" }, { "uri": uri }] })).await,
            Err("the uri of a root must begin with file://".to_owned())
        );
    }
    for answer in [json!({}), json!(null), json!({ "roots": {} }), json!({ "roots": [1] })] {
        roots(answer).await.unwrap_err();
    }
    roots(json!({ "roots": [{ "uri": "file:///a", "name": 1 }] })).await.unwrap_err();
    // It has no parameters.
    for (version, params) in [("2025-11-25", json!(null)), ("2026-07-28", json!({}))] {
        let asked = asked(version, |context| Ok(json!(context.list_roots("q")?))).await;
        assert_eq!(asked, params);
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_the_authors_mistake() {
    type Mistake = fn(&Context) -> Result<Value, Interrupt>;
    let mistakes: [Mistake; 10] = [
        |context| {
            let form = ElicitForm::new("?").field("f", Field::integer().with_default("x"));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let form = ElicitForm::new("?").field("f", Field::one_of(["a"]).with_default("b"));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let form = ElicitForm::new("?").field("f", Field::text().with_pattern("["));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let form = ElicitForm::new("?").field("f", Field::one_of(Vec::<String>::new()));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let form = ElicitForm::new("?").field("f", Field::any_of_titled([]));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let url = ElicitUrl::new("?", "pay.example");
            Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
        },
        |context| Ok(json!(context.list_roots(&"k".repeat(129))?)),
        |context| {
            let many = (0..33).fold(Questions::new(), |all, key| all.roots(key.to_string()));
            Ok(json!(context.ask(&many)?.roots("0")?))
        },
        // Read what was not asked.
        |context| {
            let answers = context.ask(&Questions::new())?;
            Ok(json!(answers.sampled("q")?.text()))
        },
        |context| {
            let typed: Option<Map<String, Value>> = context.elicit_typed("q", "?")?;
            Ok(json!(typed.map(|members| members.len())))
        },
    ];
    for (index, mistake) in mistakes.into_iter().enumerate() {
        let server = asker(mistake).build().unwrap();
        let outcome = modern(&server, json!({})).await;
        assert_eq!(outcome.unwrap_err().0, -32603, "{index}");
        let mut peer = legacy(server, "2025-11-25").await;
        assert_eq!(peer.next().await["error"]["code"], -32603, "{index}");
    }
    // As many and as long as may be.
    let server = asker(|context| {
        let key = |n| format!("{n:0>128}");
        let many = (0..32).fold(Questions::new(), |all, n| all.roots(key(n)));
        Ok(json!(context.ask(&many)?.roots(&key(0))?))
    });
    let result = modern(&server.build().unwrap(), json!({})).await.unwrap();
    assert_eq!(result["inputRequests"].as_object().unwrap().len(), 32);
}

#[tokio::test]
async fn what_a_revision_does_not_know_is_not_asked() {
    type Ask = fn(&Context) -> Result<Value, Interrupt>;
    let form: Ask = |context| Ok(json!(context.elicit("q", &name_form())?.content));
    let several: Ask = |context| {
        let form = ElicitForm::new("?").field("f", Field::any_of(["a"]));
        Ok(json!(context.elicit("q", &form)?.content))
    };
    let url: Ask = |context| {
        let url = ElicitUrl::new("?", "https://pay.example/");
        Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
    };
    let tools: Ask = |context| {
        let tool = SamplingTool::new("add", "Adds.", json!({ "type": "object" }));
        Ok(json!(context.sample("q", &CreateMessage::text("?", 9).with_tool(tool))?.text()))
    };
    for (ask, since) in [
        (form, ProtocolVersion::V2025_06_18),
        (several, ProtocolVersion::V2025_11_25),
        (url, ProtocolVersion::V2025_11_25),
        (tools, ProtocolVersion::V2025_11_25),
    ] {
        for version in ProtocolVersion::ALL {
            if version == ProtocolVersion::LATEST {
                continue;
            }
            let server = asker(ask).build().unwrap();
            let said = legacy(server, version.as_str()).await.next().await;
            if version >= since {
                assert!(said.get("method").is_some(), "{version}: {said}");
            } else {
                assert_eq!(said["error"]["code"], -32602, "{version}: {said}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_questions_as_there_may_be_are_all_taken_back() {
    let server = asker(|context| {
        let many = (0..MAX_QUESTIONS).fold(Questions::new(), |all, key| all.roots(key.to_string()));
        Ok(json!(context.ask(&many)?.roots("0")?))
    });
    let mut peer = legacy(server.build().unwrap(), "2025-11-25").await;
    let mut open = Vec::new();
    for _ in 0..MAX_QUESTIONS {
        open.push(peer.next().await["id"].clone());
    }
    tokio::time::advance(std::time::Duration::from_secs(301)).await;
    let answer = loop {
        let said = peer.next().await;
        if said.get("method").is_none() {
            break said;
        }
        assert_eq!(said["method"], "notifications/cancelled");
        open.retain(|question| *question != said["params"]["requestId"]);
    };
    assert_eq!(answer["result"]["isError"], true);
    assert!(open.is_empty(), "{} are left", open.len());
}
