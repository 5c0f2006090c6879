//! Skills as a server serves them (extension `io.modelcontextprotocol/skills`): listed, looked up, read as resources
//! and directories, and replaced while it runs.

use std::time::Duration;

use data_encoding::{BASE64, HEXLOWER};
use mcp_proto::scopes::Guarded;
use mcp_proto::{
    CacheHint, Change, Era, Page, PageRequest, Resource, ResourceContents, ResourceTemplate,
    ResourceUri, Scopes, Server, ServerBuilder, StreamableHttpService,
};
use mcp_skills::{ServedSkills, Skill, Skills, SkillsExt as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::common::{Raw, every_client, open_session, refused};
use crate::listen::{listen, next, open};

const SKILL_MD: &str = "---
name: pdf
description: Handles PDF files.
license: MIT
metadata:
  version: \"1.2\"
---

# PDF
";

fn skills(names: &[&str]) -> Skills {
    let pdf = Skill::from_markdown("pdf", SKILL_MD)
        .with_file("templates/a b.md", "# A\n")
        .with_file("templates/eu/b.md", "# B\n")
        .with_file("logo.png", vec![0x89, b'P', 0xff]);
    let others = names.iter().map(|name| Skill::new(*name, "Does it.", "Do it.\n"));
    Skills::from_skills(std::iter::once(pdf).chain(others)).unwrap()
}

fn served() -> ServedSkills {
    ServedSkills::new(skills(&["git", "zip"]))
}

fn builder() -> ServerBuilder<()> {
    Server::builder("s", "1", ()).skills(&served())
}

#[tokio::test]
async fn the_list_has_every_file_with_its_digest_and_its_frontmatter() {
    let (clients, _served) = every_client(&builder().build().unwrap()).await;
    for (how, client) in &clients {
        let listed = client.request("skills/list", json!({})).await.unwrap();
        assert!(listed.get("nextCursor").is_none());
        let names = listed["skills"].as_array().unwrap().iter();
        let names: Vec<_> = names.map(|skill| &skill["frontmatter"]["name"]).collect();
        assert_eq!(names, ["git", "pdf", "zip"], "{how}");
        let pdf = &listed["skills"][1];
        assert_eq!(pdf["uri"], "skill://pdf/SKILL.md");
        assert_eq!(
            pdf["frontmatter"],
            json!({
                "name": "pdf",
                "description": "Handles PDF files.",
                "license": "MIT",
                "metadata": {"version": "1.2"},
            })
        );
        let files = pdf["resources"].as_array().unwrap();
        assert_eq!(files.len(), 4);
        // What is read is what the list says.
        for file in files {
            let params = json!({"uri": file["uri"]});
            let read = client.request("resources/read", params).await.unwrap();
            let contents = &read["contents"][0];
            assert_eq!(contents["uri"], file["uri"]);
            let bytes = match contents.get("text") {
                Some(text) => text.as_str().unwrap().as_bytes().to_vec(),
                None => BASE64.decode(contents["blob"].as_str().unwrap().as_bytes()).unwrap(),
            };
            assert_eq!(file["size"], bytes.len());
            let digest = HEXLOWER.encode(&Sha256::digest(&bytes));
            assert_eq!(file["digest"], format!("sha256:{digest}"), "{how}");
        }
        let got = client.request("skills/get", json!({"uri": "skill://pdf/SKILL.md"})).await;
        let got = got.unwrap();
        assert_eq!(got["skill"], *pdf);
        assert!(got.get("nextCursor").is_none());
        for result in [&listed, &got] {
            let modern = client.era() == Era::Modern;
            let hint = (result.get("ttlMs"), result.get("cacheScope"));
            let (ttl, scope) = (json!(60_000), json!("public"));
            assert_eq!(hint, if modern { (Some(&ttl), Some(&scope)) } else { (None, None) });
            assert_eq!(result.get("resultType").is_some(), modern);
        }
    }
}

#[tokio::test]
async fn the_skill_file_is_a_resource_with_the_skills_name() {
    let server = builder().build().unwrap();
    let (clients, _served) = every_client(&server).await;
    for (how, client) in &clients {
        let listed = client.request("resources/list", json!({})).await.unwrap();
        assert_eq!(listed["resources"].as_array().unwrap().len(), 3, "{how}");
        assert_eq!(
            listed["resources"][1],
            json!({
                "uri": "skill://pdf/SKILL.md",
                "name": "pdf",
                "description": "Handles PDF files.",
                "mimeType": "text/markdown",
                "size": SKILL_MD.len(),
                "_meta": {
                    "io.modelcontextprotocol.skills/license": "MIT",
                    "io.modelcontextprotocol.skills/metadata": {"version": "1.2"},
                },
            })
        );
        let params = json!({"uri": "skill://pdf/SKILL.md"});
        let read = client.request("resources/read", params).await.unwrap();
        assert_eq!(
            read["contents"],
            json!([{"uri": "skill://pdf/SKILL.md", "mimeType": "text/markdown", "text": SKILL_MD}])
        );
    }
}

#[tokio::test]
async fn directories_are_read_child_by_child() {
    let (clients, _served) = every_client(&builder().build().unwrap()).await;
    let directory =
        |uri: &str, name: &str| json!({"uri": uri, "name": name, "mimeType": "inode/directory"});
    for (how, client) in &clients {
        let read = |uri: &str| client.request("resources/directory/read", json!({ "uri": uri }));
        let root = read("skill://pdf").await.unwrap();
        assert_eq!(root["resources"][0]["name"], "pdf");
        assert_eq!(
            root["resources"][1],
            json!({"uri": "skill://pdf/logo.png", "name": "logo.png", "mimeType": "image/png", "size": 3})
        );
        assert_eq!(root["resources"][2], directory("skill://pdf/templates", "templates"));
        assert_eq!(root["resources"].as_array().unwrap().len(), 3);
        let below = read("skill://pdf/templates").await.unwrap();
        assert_eq!(
            below["resources"],
            json!([
                {"uri": "skill://pdf/templates/a%20b.md", "name": "a b.md", "mimeType": "text/markdown", "size": 4},
                directory("skill://pdf/templates/eu", "eu"),
            ])
        );
        // SEP-2640 gives it no hint, but the Inspector refuses one without.
        let modern = client.era() == Era::Modern;
        let hint = (below.get("ttlMs"), below.get("cacheScope"));
        let (ttl, scope) = (json!(60_000), json!("public"));
        let told = modern.then_some((&ttl, &scope));
        assert_eq!(hint, told.unzip(), "{how}");
        assert_eq!(below.get("resultType").is_some(), modern);
    }
}

#[tokio::test]
async fn what_is_not_there_is_refused_by_each_method() {
    let (clients, _served) = every_client(&builder().build().unwrap()).await;
    for (how, client) in &clients {
        let read = match client.era() {
            Era::Modern => -32602,
            Era::Legacy => -32002,
        };
        for (method, uri, code) in [
            ("skills/get", "skill://no-such/SKILL.md", -32602),
            ("skills/get", "skill://pdf", -32602),
            ("skills/get", "skill://pdf/logo.png", -32602),
            ("resources/directory/read", "skill://pdf/SKILL.md", -32602),
            ("resources/directory/read", "skill://pdf/", -32602),
            ("resources/directory/read", "skill://no-such", -32602),
            ("resources/directory/read", "x:1", -32602),
            ("resources/read", "skill://pdf/templates", read),
            ("resources/read", "skill://pdf/no.md", read),
            ("resources/read", "skill://pdf/templates/../SKILL.md", read),
            ("resources/read", "skill://pdf/%53KILL.md", read),
        ] {
            let error = refused(client.request(method, json!({ "uri": uri })).await);
            assert_eq!(error.code, code, "{how} {method} {uri}");
            assert_eq!(error.data.unwrap()["uri"], uri, "{how} {method}");
        }
        for method in ["skills/get", "resources/directory/read"] {
            for params in [json!({}), json!({"uri": 1})] {
                let error = refused(client.request(method, params).await);
                assert_eq!(error.code, -32602);
                assert_eq!(error.message, "params.uri must be a string");
            }
        }
        let error = refused(client.request("skills/list", json!({"cursor": ""})).await);
        assert_eq!(error.code, -32602, "{how}");
    }
}

#[tokio::test]
async fn no_name_header_is_wanted_for_the_methods_of_the_extension() {
    let service = StreamableHttpService::new(builder().build().unwrap());
    for (method, uri) in
        [("skills/get", "skill://pdf/SKILL.md"), ("resources/directory/read", "skill://pdf")]
    {
        let raw = Raw::modern(method, json!({ "uri": uri }));
        assert!(raw.headers.get("mcp-name").is_none());
        let reply = raw.clone().send(&service).await;
        assert_eq!(reply.status, 200, "{method}");
        // One that is there means nothing.
        let reply = raw.set("mcp-name", "another").send(&service).await;
        assert_eq!(reply.status, 200, "{method}");
    }
}

/// The items of a list by one of their members, page by page.
async fn walk(
    server: &Server,
    method: &str,
    mut params: Value,
    at: (&str, &str),
) -> Vec<Vec<String>> {
    let service = StreamableHttpService::new(server.clone());
    let mut pages = Vec::new();
    loop {
        let result = Raw::modern(method, params.clone()).send(&service).await.result();
        let items = result[at.0].as_array().unwrap().iter();
        let items = items.map(|item| item[at.1].as_str().unwrap().to_owned());
        pages.push(items.collect());
        match result.get("nextCursor") {
            Some(cursor) => params["cursor"] = cursor.clone(),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn skills_directories_and_resources_come_in_pages() {
    let read = async |(), _| Ok(ResourceContents::text("x:1", ""));
    let server = builder()
        .page_size(2)
        .resource(Resource::new("x:1", "x1"), read)
        .list_resources(async |(), page: PageRequest, _| {
            assert_eq!((page.after, page.limit), (None, 2));
            Ok(Page::last(vec![Resource::new("x:2", "x2")]))
        })
        .build()
        .unwrap();
    let pages = walk(&server, "skills/list", json!({}), ("skills", "uri")).await;
    let md = |name: &str| format!("skill://{name}/SKILL.md");
    assert_eq!(pages, [vec![md("git"), md("pdf")], vec![md("zip")]]);
    let pages = walk(&server, "resources/list", json!({}), ("resources", "name")).await;
    assert_eq!(pages, [vec!["x1", "git"], vec!["pdf", "zip"], vec!["x2"]]);
    let root = json!({"uri": "skill://pdf"});
    let pages = walk(&server, "resources/directory/read", root, ("resources", "name")).await;
    assert_eq!(pages, [vec!["pdf", "logo.png"], vec!["templates"]]);
    // A cursor of one directory is none of another.
    let service = StreamableHttpService::new(server);
    let ask = |params: Value| Raw::modern("resources/directory/read", params).send(&service);
    let cursor = ask(json!({"uri": "skill://pdf"})).await.result()["nextCursor"].clone();
    let reply = ask(json!({"uri": "skill://pdf/templates", "cursor": cursor})).await;
    assert_eq!(reply.refusal().1, -32602);
}

#[tokio::test]
async fn other_resources_may_live_under_the_same_scheme() {
    let server = builder()
        .resource_template(
            ResourceTemplate::new("skill://{name}/{+path}", "other"),
            async |(), asked: ResourceUri, _| Ok(ResourceContents::text(asked.uri, "template")),
        )
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server);
    let read = async |uri: &str| {
        let raw = Raw::modern("resources/read", json!({ "uri": uri }));
        raw.send(&service).await.result()["contents"][0]["text"].clone()
    };
    assert_eq!(read("skill://pdf/SKILL.md").await, SKILL_MD);
    assert_eq!(read("skill://generated/SKILL.md").await, "template");
}

#[tokio::test]
async fn replaced_skills_are_served_at_once_and_cursors_stay_good() {
    let served = served();
    let server = Server::builder("s", "1", ()).skills(&served).page_size(1).build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    // The cursor of a page before goes on behind the same name, though that skill is gone.
    let list = |params: Value| Raw::modern("skills/list", params).send(&service);
    let first = list(json!({})).await.result();
    assert_eq!(first["skills"][0]["frontmatter"]["name"], "git");
    let zip = Skill::new("zip", "Does it otherwise.", "");
    let pdf = Skill::from_markdown("pdf", SKILL_MD).with_file("logo.png", vec![0x89, b'P', 0xff]);
    let new = Skill::new("new", "Is new.", "");
    served.replace(&server, Skills::from_skills([zip, pdf, new]).unwrap());
    let second = list(json!({"cursor": first["nextCursor"]})).await.result();
    assert_eq!(second["skills"][0]["frontmatter"]["name"], "new");
    let read = Raw::modern("resources/read", json!({"uri": "skill://git/SKILL.md"}));
    assert_eq!(read.send(&service).await.refusal().1, -32602);
    let raw = Raw::modern("resources/read", json!({"uri": "skill://new/SKILL.md"}));
    let text = raw.send(&service).await.result()["contents"][0]["text"].clone();
    assert!(text.as_str().unwrap().contains("Is new."), "{text}");
}

#[tokio::test]
async fn listeners_hear_which_files_of_replaced_skills_have_changed() {
    let served = served();
    let server = Server::builder("s", "1", ()).skills(&served);
    let server = server.resources_list_changed().subscriptions().build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    let wish = json!({
        "toolsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["skill://pdf/logo.png", "skill://git/SKILL.md", "skill://zip/SKILL.md", "skill://pdf"],
    });
    let mut stream = open(&service, listen(7, &wish)).await;
    let agreed = next(&mut stream).await["params"]["notifications"].take();
    let files = ["skill://git/SKILL.md", "skill://pdf/logo.png", "skill://zip/SKILL.md"];
    assert_eq!(agreed["resourceSubscriptions"], json!(files), "a directory is not read");
    let zip = Skill::new("zip", "Does it otherwise.", "");
    let pdf = Skill::from_markdown("pdf", SKILL_MD).with_file("logo.png", vec![0x89, b'P', 0xff]);
    served.replace(&server, Skills::from_skills([zip, pdf]).unwrap());
    let event = next(&mut stream).await;
    assert_eq!(event["method"], "notifications/resources/list_changed");
    // What is gone and what is other than before; not what is the same.
    for uri in ["skill://git/SKILL.md", "skill://zip/SKILL.md"] {
        let event = next(&mut stream).await;
        assert_eq!(event["params"]["uri"], uri, "{event}");
    }
    server.notify(Change::resource_updated("skill://pdf/logo.png"));
    assert_eq!(next(&mut stream).await["params"]["uri"], "skill://pdf/logo.png");
}

#[tokio::test]
async fn callers_need_the_scopes_of_a_skill() {
    let guarded = Guarded::Resources("skill://pdf/".to_owned());
    let server = builder().require_scopes(guarded, Scopes::of(["pdf"]));
    let service = StreamableHttpService::new(server.build().unwrap());
    let session = open_session(&service).await;
    for method in ["skills/get", "resources/read"] {
        for (skill, scope, status) in [("pdf", "pdf", 200), ("pdf", "x", 403), ("git", "x", 200)] {
            let params = json!({"uri": format!("skill://{skill}/SKILL.md")});
            for raw in [Raw::modern(method, params.clone()), Raw::legacy(&session, method, &params)]
            {
                let mut request = raw.request();
                request.extensions_mut().insert(Scopes::of([scope]));
                let got = service.handle(request).await.status().as_u16();
                assert_eq!(got, status, "{method} {skill} {scope}");
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_begins_without_skills_gets_them_later() {
    let served = ServedSkills::default();
    let server = Server::builder("s", "1", ()).skills(&served).build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    let listed = async || Raw::modern("skills/list", json!({})).send(&service).await.result();
    assert_eq!(listed().await["skills"], json!([]));
    served.replace(&server, skills(&[]));
    assert_eq!(listed().await["skills"][0]["uri"], "skill://pdf/SKILL.md");
}

#[tokio::test]
async fn what_is_declared_is_offered() {
    let service = StreamableHttpService::new(builder().build().unwrap());
    let discovered = Raw::modern("server/discover", json!({})).send(&service).await.result();
    let extensions = json!({"io.modelcontextprotocol/skills": {"directoryRead": true}});
    assert_eq!(discovered["capabilities"], json!({"resources": {}, "extensions": extensions}));
}

#[tokio::test]
async fn hints_of_skills_are_those_of_the_lists() {
    let hint = CacheHint::private(Duration::from_secs(1));
    let service = StreamableHttpService::new(builder().list_cache(hint).build().unwrap());
    let md = json!({"uri": "skill://pdf/SKILL.md"});
    for (method, params) in [
        ("skills/list", json!({})),
        ("skills/get", md.clone()),
        ("resources/list", json!({})),
        ("resources/read", md),
    ] {
        let result = Raw::modern(method, params).send(&service).await.result();
        let hint = (&result["ttlMs"], &result["cacheScope"]);
        assert_eq!(hint, (&json!(1_000), &json!("private")), "{method}");
    }
}
