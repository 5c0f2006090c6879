//! Where no project is around the folder the server was started in, the client's roots say which is meant.

use mcp_proto::Era;
use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};

use super::harness::{Copy, binary, error_of, structured};

/// The server in a folder without a project, for a client that works in these folders.
async fn working_in(roots: &[String], era: Era, elsewhere: &Copy) -> Client {
    let roots: Vec<Value> = roots.iter().map(|uri| json!({ "uri": uri })).collect();
    let mut config = ClientConfig::new(era).with_answers(move |question| {
        let roots = roots.clone();
        async move {
            match question.method.as_str() {
                "roots/list" => Ok(json!({ "roots": roots })),
                other => Err(ErrorObject::method_not_found(other)),
            }
        }
    });
    config.capabilities.insert("roots".to_owned(), json!({}));
    let mut command = binary();
    command.arg("mcp").current_dir(elsewhere.root());
    Client::stdio(command, config).await.unwrap()
}

#[tokio::test]
async fn the_first_root_with_a_project_is_meant() {
    let (elsewhere, project) = (Copy::empty(), Copy::of("library"));
    let folder = project.root().to_str().unwrap();
    for era in [Era::Legacy, Era::Modern] {
        for uri in [
            format!("file://{folder}"),
            format!("file://localhost{folder}"),
            format!("file://{}", folder.replace('-', "%2D")),
        ] {
            let roots = ["file:///nowhere".to_owned(), uri];
            let client = working_in(&roots, era, &elsewhere).await;
            let told = structured(&client, "list_specs", json!({})).await;
            assert_eq!(told["specs"][0]["id"], "lending");
            client.close().await.unwrap();
        }
        // Resources and prompts ask as well, each as the first request of a client.
        for (method, params) in [
            ("resources/read", json!({"uri": "spec://lending"})),
            ("prompts/get", json!({"name": "propose_change", "arguments": {"idea": "x"}})),
        ] {
            let roots = [format!("file://{folder}")];
            let client = working_in(&roots, era, &elsewhere).await;
            let answer = client.request_in_rounds(method, params).await;
            assert!(answer.is_ok(), "{method}: {answer:?}");
            client.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn roots_without_a_project_or_of_other_kinds_are_of_no_use() {
    let (elsewhere, project) = (Copy::empty(), Copy::of("library"));
    let folder = project.root().to_str().unwrap();
    for era in [Era::Legacy, Era::Modern] {
        for uri in [
            format!("file://elsewhere{folder}"),
            format!("file://{folder}/specs"),
            format!("file://{folder}?x"),
        ] {
            let client = working_in(&[uri], era, &elsewhere).await;
            let error = error_of(&client, "list_specs", json!({})).await;
            assert_eq!(error["code"], "NO_PROJECT");
            client.close().await.unwrap();
        }
    }
}
