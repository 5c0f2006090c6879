//! Resources: listed with all that is known of them, read by URI and by template, not found in the words of each era.

use mcp_proto::uri_template::Variables;
use mcp_proto::{
    Annotations, BuildError, CompletionRequest, Context, Era, Icon, PageRequest,
    ReadResourceResult, RequestError, Resource, ResourceContents, ResourceTemplate, ResourceUri,
    Role, Server, ServerBuilder,
};
use serde_json::{Map, Value, json};

use crate::common::{every_client, refused};

fn meta(key: &str, value: impl Into<Value>) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value.into())])
}

fn server() -> Server {
    let mut known = Resource::new("notes://all?of=it", "all")
        .with_title("All notes")
        .with_description("Every note there is.")
        .with_mime_type("text/plain")
        .with_size(12)
        .with_annotations(
            Annotations::default()
                .with_audience([Role::User])
                .with_priority(0.5)
                .with_last_modified("2026-01-02T03:04:05Z"),
        );
    known.icons.push(Icon::new("https://example.com/i.png"));
    known.meta = Some(meta("com.example/pages", 3));
    let mut family = ResourceTemplate::new("notes://{day}/{+path}{?lang}", "note")
        .with_title("A note")
        .with_description("One note.")
        .with_mime_type("text/plain");
    family.icons.push(Icon::new("data:image/png;base64,AA=="));
    family.meta = Some(meta("com.example/family", true));
    Server::builder("s", "1", "state")
        .resource(known, async |state, _| {
            let contents = ResourceContents::text("notes://all?of=it", state)
                .with_mime_type("text/plain")
                .with_meta(meta("com.example/part", 1));
            let mut read = ReadResourceResult::from(vec![
                contents,
                ResourceContents::blob("notes://all/1", [0, 159, 255]).with_mime_type("image/x"),
            ]);
            read.meta = Some(meta("com.example/read", "whole"));
            Ok(read)
        })
        .resource(Resource::new("notes://none", "none"), async |_, _| {
            Ok(Vec::<ResourceContents>::new())
        })
        .resource(Resource::new("notes://broken", "broken"), async |_, _| {
            Err::<ResourceContents, _>(RequestError::internal("the disk is on fire"))
        })
        .resource(Resource::new("notes://panic", "panic"), async |_, _| {
            if true {
                panic!("the password is 1234");
            }
            Ok(ResourceContents::text("", ""))
        })
        .resource_template(family, async |_, asked: ResourceUri, _| {
            if asked.get("day") == Some("never") {
                return Err(RequestError::not_found("there is no such day")
                    .with_data("days", vec!["monday"]));
            }
            if asked.get("day") == Some("secret") {
                return Err(RequestError::invalid_params("that is not yours"));
            }
            let told =
                format!("{:?} {:?} {:?}", asked.get("day"), asked.get("path"), asked.get("lang"));
            Ok(ResourceContents::text(asked.uri, told))
        })
        .resource_template(
            ResourceTemplate::new("notes://{anything}", "later"),
            async |_, asked: ResourceUri, _| Ok(ResourceContents::text(asked.uri, "later")),
        )
        .build()
        .unwrap()
}

#[tokio::test]
async fn whatever_is_known_of_a_resource_is_listed() {
    let (clients, _served) = every_client(&server()).await;
    for (how, client) in &clients {
        let listed = client.request("resources/list", json!({})).await.unwrap();
        assert_eq!(
            listed["resources"][0],
            json!({
                "uri": "notes://all?of=it",
                "name": "all",
                "title": "All notes",
                "description": "Every note there is.",
                "mimeType": "text/plain",
                "size": 12,
                "icons": [{"src": "https://example.com/i.png"}],
                "annotations": {
                    "audience": ["user"],
                    "priority": 0.5,
                    "lastModified": "2026-01-02T03:04:05Z",
                },
                "_meta": {"com.example/pages": 3},
            }),
            "{how}"
        );
        let none = json!({"uri": "notes://none", "name": "none"});
        assert_eq!(listed["resources"][1], none);
        let listed = client.request("resources/templates/list", json!({})).await;
        assert_eq!(
            listed.unwrap()["resourceTemplates"][0],
            json!({
                "uriTemplate": "notes://{day}/{+path}{?lang}",
                "name": "note",
                "title": "A note",
                "description": "One note.",
                "mimeType": "text/plain",
                "icons": [{"src": "data:image/png;base64,AA=="}],
                "_meta": {"com.example/family": true},
            }),
        );
    }
}

#[tokio::test]
async fn a_resource_is_read_in_several_parts_as_text_and_base64_with_metadata() {
    let (clients, _served) = every_client(&server()).await;
    for (how, client) in &clients {
        let params = json!({"uri": "notes://all?of=it"});
        let read = client.request("resources/read", params).await.unwrap();
        assert_eq!(
            read["contents"],
            json!([
                {
                    "uri": "notes://all?of=it",
                    "mimeType": "text/plain",
                    "text": "state",
                    "_meta": {"com.example/part": 1},
                },
                {"uri": "notes://all/1", "mimeType": "image/x", "blob": "AJ//"},
            ]),
            "{how}"
        );
        let meta = &read["_meta"];
        assert_eq!(meta["com.example/read"], "whole");
        let server = meta.get("io.modelcontextprotocol/serverInfo").is_some();
        assert_eq!(server, client.era() == Era::Modern, "{how}");
    }
}

#[tokio::test]
async fn a_template_decodes_its_variables_and_the_first_that_matches_counts() {
    let (clients, _served) = every_client(&server()).await;
    for (how, client) in &clients {
        for (uri, told) in [
            ("notes://monday/a/b.md?lang=de", r#"Some("monday") Some("a/b.md") Some("de")"#),
            ("notes://caf%C3%A9%2Fbar/x", r#"Some("café/bar") Some("x") None"#),
            ("notes://monday", "later"),
        ] {
            let read = client.request("resources/read", json!({"uri": uri})).await;
            let read = read.unwrap();
            assert_eq!(read["contents"][0]["text"], told, "{how} {uri}");
            assert_eq!(read["contents"][0]["uri"], uri);
        }
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_in_the_words_of_the_era() {
    let (clients, _served) = every_client(&server()).await;
    let long = format!("notes://{}", "a".repeat(9_000));
    for (how, client) in &clients {
        let not_found = match client.era() {
            Era::Modern => -32602,
            Era::Legacy => -32002,
        };
        for uri in
            ["other://all", "notes://none", "notes://never/x", "", "NOTES://all?of=it", &long]
        {
            let answer = client.request("resources/read", json!({"uri": uri})).await;
            let error = refused(answer);
            assert_eq!(error.code, not_found, "{how} {uri}");
            let data = error.data.unwrap();
            assert_eq!(data["uri"], uri, "{how}");
            if uri == "notes://never/x" {
                assert_eq!(error.message, "there is no such day");
                assert_eq!(data["days"], json!(["monday"]));
            }
            assert!(error.message.len() < 400, "{}", error.message.len());
        }
    }
}

#[tokio::test]
async fn other_failures_have_their_own_codes_and_tell_nothing_of_the_inside() {
    let (clients, _served) = every_client(&server()).await;
    for (how, client) in &clients {
        for (params, code) in [
            (json!({"uri": "notes://broken"}), -32603),
            (json!({"uri": "notes://panic"}), -32603),
            (json!({"uri": "notes://secret/x"}), -32602),
            (json!({}), -32602),
            (json!({"uri": 1}), -32602),
            (json!({"uri": null}), -32602),
        ] {
            // Without a URI the client sends no header either.
            let error = refused(client.request("resources/read", params.clone()).await);
            assert_eq!(error.code, code, "{how} {params}");
            assert!(!error.message.contains("1234"));
        }
    }
}

#[test]
fn what_cannot_be_served_is_refused_when_the_server_is_built() {
    async fn read((): (), _: mcp_proto::Context) -> Result<ResourceContents, RequestError> {
        Ok(ResourceContents::text("", ""))
    }
    async fn member(
        (): (),
        _: ResourceUri,
        _: mcp_proto::Context,
    ) -> Result<ResourceContents, RequestError> {
        Ok(ResourceContents::text("", ""))
    }
    let fails = |builder: ServerBuilder<()>| match builder.build().unwrap_err() {
        BuildError::Resource { uri, problem } => (uri, problem),
        other => panic!("{other}"),
    };
    let new = || Server::builder("s", "1", ());
    for uri in ["", "notes", "1:x", "a b:c", "x:ä", "x:a b", ":x"] {
        let (told, problem) = fails(new().resource(Resource::new(uri, "n"), read));
        assert_eq!(told, uri);
        assert!(problem.starts_with("a URI has a scheme"), "{problem}");
    }
    let twice = || Resource::new("x:1", "n");
    let (_, problem) = fails(new().resource(twice(), read).resource(twice(), read));
    assert_eq!(problem, "another resource has the same URI");
    let template = |text: &str| ResourceTemplate::new(text, "n");
    let (uri, _) = fails(new().resource_template(template("x:{"), member));
    assert_eq!(uri, "x:{");
    let (_, problem) = fails(
        new()
            .resource_template(template("x:{a}"), member)
            .resource_template(template("x:{a}"), member),
    );
    assert_eq!(problem, "another template is the same");
    let mut pictured = twice();
    pictured.icons.push(Icon::new("javascript:alert(1)"));
    let (_, problem) = fails(new().resource(pictured, read));
    assert!(problem.contains("https: or data:"), "{problem}");
}

#[tokio::test]
async fn handlers_are_called_without_a_server_too() {
    async fn read((): (), asked: ResourceUri, _: Context) -> Result<String, RequestError> {
        Ok(format!("{} {:?}", asked.uri, asked.get("day")))
    }
    async fn list((): (), page: PageRequest, _: Context) -> Result<String, RequestError> {
        Ok(format!("{:?} {}", page.after, page.limit))
    }
    async fn complete(
        (): (),
        asked: CompletionRequest,
        _: Context,
    ) -> Result<String, RequestError> {
        Ok(format!("{} {:?}", asked.value, asked.arguments.get("id")))
    }
    let asked = ResourceUri::new("notes://monday", Variables::from([("day", "monday")]));
    let read = read((), asked, Context::test()).await.unwrap();
    assert_eq!(read, "notes://monday Some(\"monday\")");
    let listed = list((), PageRequest::new(Some("a".to_owned()), 3), Context::test()).await;
    assert_eq!(listed.unwrap(), "Some(\"a\") 3");
    let asked = CompletionRequest::new("mo").with_argument("id", "7");
    let completed = complete((), asked, Context::test()).await.unwrap();
    assert_eq!(completed, "mo Some(\"7\")");
}

#[test]
fn a_variable_that_is_no_number_names_no_resource() {
    let asked = ResourceUri::new("part://7x", Variables::from([("id", "7"), ("day", "7x")]));
    assert_eq!(asked.parse("id"), Ok(7));
    for variable in ["day", "other"] {
        let refused = asked.parse::<u8>(variable);
        assert!(matches!(refused, Err(RequestError::NotFound { .. })), "{refused:?}");
    }
}
