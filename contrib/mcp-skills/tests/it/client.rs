//! A client of a server with skills: what it lists and reads, and what it refuses.

use mcp_proto::{Era, Server};
use mcp_proto_client::{Client, ClientConfig};
use mcp_skills::{ServedSkills, Skill, Skills, SkillsClient as _, SkillsExt as _};
use serde_json::{Value, json};

use crate::common::every_client;
use crate::fake::Fake;

#[tokio::test]
async fn skills_are_listed_and_read_over_every_transport_in_both_eras() {
    let skills = Skills::from_skills([Skill::new("git", "Does it.", "Do it.\n")]).unwrap();
    let server = Server::builder("s", "1", ()).skills(&ServedSkills::new(skills)).build().unwrap();
    let (clients, _served) = every_client(&server).await;
    for (way, client) in clients {
        let skills = client.list_skills().await.unwrap();
        assert_eq!(skills[0].uri, "skill://git/SKILL.md");
        assert_eq!(client.get_skill(&skills[0].uri).await.unwrap(), skills[0]);
        let file = client.read_skill_file(&skills[0], &skills[0].uri).await;
        assert!(file.unwrap().text.unwrap().ends_with("Do it.\n"), "{way}");
        let folder = client.read_directory("skill://git").await.unwrap();
        assert_eq!(folder.len(), 1, "{way}");
    }
}

#[tokio::test]
async fn a_skill_that_is_not_what_was_listed_is_refused() {
    let skill_md = "---\nname: a\ndescription: b\n---\n";
    let good = json!({
        "uri": "skill://a/SKILL.md",
        "digest": "sha256:4b1c0f0a",
        "size": skill_md.len(),
    });
    let changed = |member: &str, value: Value| {
        let mut file = good.clone();
        file[member] = value;
        file
    };
    use sha2::Digest as _;
    let digest = data_encoding::HEXLOWER.encode(&sha2::Sha256::digest(skill_md));
    let digest = format!("sha256:{digest}");
    let whole = changed("digest", json!(digest));
    for (file, description, problem) in [
        (whole.clone(), "b", None),
        (whole.clone(), "c", Some("frontmatter")),
        (good.clone(), "b", Some("digest")),
        (changed("size", json!(1)), "b", Some("size")),
        (changed("uri", json!("skill://a/other")), "b", Some("not listed")),
        (json!(null), "b", None),
    ] {
        let resources = if file.is_null() { json!("dynamic") } else { json!([file]) };
        let fake = Fake::new(move |seen, _| match seen.name() {
            "skills/list" => seen.result(json!({"skills": [{
                "uri": "skill://a/SKILL.md",
                "frontmatter": {"name": "a", "description": description},
                "resources": resources,
            }]})),
            _ => {
                seen.result(json!({"contents": [{"uri": "skill://a/SKILL.md", "text": skill_md}]}))
            }
        })
        .await;
        let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await;
        let client = client.unwrap();
        let skills = client.list_skills().await.unwrap();
        // Listing reads nothing.
        assert_eq!(fake.names(), ["skills/list"]);
        let read = client.read_skill_file(&skills[0], &skills[0].uri).await;
        match (read, problem) {
            (Ok(_), None) => {}
            (Err(error), Some(problem)) => {
                assert!(error.to_string().contains(problem), "{error}");
            }
            (read, _) => panic!("{problem:?}: {read:?}"),
        }
    }
}

#[tokio::test]
async fn an_entry_without_files_is_refused() {
    for resources in
        [json!("other"), json!(null), json!({}), json!([{"uri": "skill://a/SKILL.md"}])]
    {
        let fake = Fake::new(move |seen, _| {
            seen.result(json!({"skill": {
                "uri": "skill://a/SKILL.md",
                "frontmatter": {"name": "a", "description": "b"},
                "resources": resources,
            }}))
        })
        .await;
        let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await.unwrap();
        let error = client.get_skill("skill://a/SKILL.md").await.unwrap_err();
        assert!(error.to_string().contains("skills/get"), "{error}");
    }
}
