//! What a person takes is not the time of a call: questions in both eras, over both transports.

use std::time::Duration;

use mcp_proto::input::ElicitResult;
use mcp_proto::{CallToolResult, Context, ElicitForm, Era, Field, Server, Tool};
use mcp_proto_client::{CallOptions, Client, ClientConfig, ClientError};
use serde_json::{Map, json};

use crate::common::Served;

const LIMIT: Duration = Duration::from_millis(400);

fn server() -> Server {
    let tool = |name| Tool::new(name, "Asks.").with_input_schema(json!({"type": "object"}));
    Server::builder("s", "1", ())
        .raw_tool(tool("ask").asking(), async |(), _, context: Context| {
            let form = ElicitForm::new("Who?").field("name", Field::text().required());
            let answer = context.elicit("who", &form)?;
            Ok(CallToolResult::text(answer.text("name").unwrap_or("nobody")))
        })
        .raw_tool(tool("hang"), async |(), _, _| {
            std::future::pending::<()>().await;
            Ok(CallToolResult::text(""))
        })
        .build()
        .unwrap()
}

/// A person that takes much longer than the time limit.
fn slow(era: Era) -> ClientConfig {
    ClientConfig::new(era).with_elicitation(async |_| {
        tokio::time::sleep(LIMIT * 3).await;
        ElicitResult::accept(Map::from_iter([("name".to_owned(), json!("Ada"))]))
    })
}

// modelcontextprotocol/python-sdk#1428: a form over Streamable HTTP is answered after the time limit of the call.
#[tokio::test]
async fn a_form_may_take_longer_than_the_call() {
    let served = Served::new(server()).await;
    let within = CallOptions::default().with_timeout(LIMIT);
    let mut asking = Vec::new();
    for era in [Era::Legacy, Era::Modern] {
        // The limit of the configuration, and that of the call, whichever is longer.
        for (config, options) in [
            (slow(era).with_timeout(LIMIT), CallOptions::default()),
            (slow(era), within.clone()),
            (slow(era).with_timeout(LIMIT), CallOptions::default().with_timeout(LIMIT * 100)),
        ] {
            let http = Client::http(&served.url(), config.clone()).await.unwrap();
            let memory = Client::memory(server(), config).await.unwrap();
            for client in [http, memory] {
                let options = options.clone();
                asking.push(async move {
                    let said = client.call_tool_with("ask", json!({}), &options).await;
                    assert_eq!(said.unwrap().text(), "Ada", "{era:?}");
                });
            }
        }
    }
    futures_util::future::join_all(asking).await;
}

// modelcontextprotocol/typescript-sdk#245: the time limit of a call is obeyed, whatever the client's own is.
#[tokio::test]
async fn the_limit_of_a_call_wins_and_the_time_of_machines_counts() {
    let served = Served::new(server()).await;
    for era in [Era::Legacy, Era::Modern] {
        let config = slow(era).with_timeout(LIMIT * 100);
        let http = Client::http(&served.url(), config.clone()).await.unwrap();
        let memory = Client::memory(server(), config).await.unwrap();
        for client in [http, memory] {
            let options = CallOptions::default().with_timeout(LIMIT);
            let late = client.call_tool_with("hang", json!({}), &options).await;
            assert_eq!(late, Err(ClientError::Timeout(LIMIT)), "{era:?}");
        }
        // Over HTTP a form that is open holds up no other call.
        let client = Client::http(&served.url(), slow(era)).await.unwrap();
        let options = CallOptions::default().with_timeout(LIMIT);
        let (asked, late) = tokio::join!(
            client.call_tool_with("ask", json!({}), &options),
            client.call_tool_with("hang", json!({}), &options),
        );
        assert_eq!(asked.unwrap().text(), "Ada");
        assert_eq!(late, Err(ClientError::Timeout(LIMIT)));
    }
}

#[tokio::test]
async fn a_question_that_nothing_answers_is_no_empty_result() {
    let client = Client::memory(server(), ClientConfig::new(Era::Modern)).await.unwrap();
    let error = client.call_tool("ask", json!({})).await.unwrap_err();
    assert!(matches!(error, ClientError::Refused(_) | ClientError::Rpc(_)), "{error}");
}
