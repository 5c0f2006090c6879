//! Skills by path (SEP-2640): in folders, with the same name twice, one in the folder of another, and generated ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_proto::{Era, Server, StreamableHttpService};
use mcp_skills::{
    MAX_SKILL_FILES, ServedSkills, Skill, SkillError, SkillFiles, Skills, SkillsClient as _,
    SkillsExt as _,
};
use serde_json::{Value, json, to_value};

use crate::common::{Raw, every_client, refused};
use crate::listen::{listen, next, open};

fn plain(path: &str) -> Skill {
    Skill::new(path, "Does it.", "Do it.\n")
}

fn served(skills: impl IntoIterator<Item = Skill>) -> Server {
    let skills = ServedSkills::new(Skills::from_skills(skills).unwrap());
    Server::builder("s", "1", ()).skills(&skills).build().unwrap()
}

fn uris(skills: &Skills) -> Vec<&str> {
    skills.list().map(|entry| entry.uri.as_str()).collect()
}

fn files(skills: &Skills, uri: &str) -> Vec<String> {
    let listed = skills.get(uri).unwrap().resources.listed().iter();
    listed.map(|file| file.uri.clone()).collect()
}

#[tokio::test]
async fn names_may_repeat_and_folders_are_read_over_every_transport() {
    let server = served([
        plain("acme/billing/refunds").with_file("examples/email.md", "Dear\n"),
        plain("acme/support/refunds"),
        plain("refunds"),
    ]);
    let (clients, _served) = every_client(&server).await;
    for (how, client) in &clients {
        let listed = client.list_skills().await.unwrap();
        let uris: Vec<_> = listed.iter().map(|skill| skill.uri.as_str()).collect();
        let all = [
            "skill://acme/billing/refunds/SKILL.md",
            "skill://acme/support/refunds/SKILL.md",
            "skill://refunds/SKILL.md",
        ];
        assert_eq!(uris, all, "{how}");
        for skill in &listed {
            assert_eq!(skill.name(), "refunds");
            assert_eq!(client.get_skill(&skill.uri).await.unwrap(), *skill);
            for file in skill.resources.listed() {
                client.read_skill_file(skill, &file.uri).await.unwrap();
            }
        }
        let children = async |uri: &str| -> Vec<Value> {
            let read = client.read_directory(uri).await.unwrap();
            read.into_iter().map(|child| to_value(child).unwrap()).collect()
        };
        let folder = |uri: &str, name: &str| json!({"uri": uri, "name": name, "mimeType": "inode/directory"});
        assert_eq!(
            children("skill://acme").await,
            [folder("skill://acme/billing", "billing"), folder("skill://acme/support", "support")]
        );
        assert_eq!(
            children("skill://acme/billing").await,
            [folder("skill://acme/billing/refunds", "refunds")]
        );
        let root = children("skill://acme/billing/refunds").await;
        assert_eq!(root[0]["name"], "refunds");
        assert_eq!(root[1], folder("skill://acme/billing/refunds/examples", "examples"));
        let code = if client.era() == Era::Modern { -32602 } else { -32002 };
        for uri in ["skill://acme", "skill://acme/billing/SKILL.md", "skill://billing/refunds"] {
            let read = client.request("resources/read", json!({ "uri": uri })).await;
            assert_eq!(refused(read).code, code, "{uri}");
            let got = client.request("skills/get", json!({ "uri": uri })).await;
            assert_eq!(refused(got).code, -32602, "{uri}");
        }
        for uri in ["skill://acm", "skill://acme/", "skill://acme/x", "skill://"] {
            let read = client.request("resources/directory/read", json!({ "uri": uri })).await;
            assert_eq!(refused(read).code, -32602, "{uri}");
        }
    }
}

#[tokio::test]
async fn pages_go_on_behind_a_path_though_names_repeat() {
    let skills = ["a/x", "b/x", "x"].map(plain);
    let skills = ServedSkills::new(Skills::from_skills(skills).unwrap());
    let server = Server::builder("s", "1", ()).skills(&skills).page_size(1).build().unwrap();
    let service = StreamableHttpService::new(server);
    for (method, items) in [("skills/list", "skills"), ("resources/list", "resources")] {
        let (mut params, mut uris) = (json!({}), Vec::new());
        loop {
            let page = Raw::modern(method, params.clone()).send(&service).await.result();
            uris.push(page[items][0]["uri"].as_str().unwrap().to_owned());
            match page.get("nextCursor") {
                Some(cursor) => params["cursor"] = cursor.clone(),
                None => break,
            }
        }
        let all = ["skill://a/x/SKILL.md", "skill://b/x/SKILL.md", "skill://x/SKILL.md"];
        assert_eq!(uris, all, "{method}");
    }
}

#[test]
fn a_skill_has_the_files_of_the_skills_in_its_folder() {
    let outer = || plain("a").with_file("x.md", "x");
    let inner = || plain("a/b").with_file("y.md", "y");
    let skills = Skills::from_skills([inner(), plain("a/c/d/e"), outer()]).unwrap();
    assert_eq!(
        uris(&skills),
        ["skill://a/SKILL.md", "skill://a/b/SKILL.md", "skill://a/c/d/e/SKILL.md"]
    );
    assert_eq!(
        files(&skills, "skill://a/SKILL.md"),
        [
            "skill://a/SKILL.md",
            "skill://a/b/SKILL.md",
            "skill://a/b/y.md",
            "skill://a/c/d/e/SKILL.md",
            "skill://a/x.md"
        ]
    );
    assert_eq!(
        files(&skills, "skill://a/b/SKILL.md"),
        ["skill://a/b/SKILL.md", "skill://a/b/y.md"]
    );
    let digest = |skill: &str, uri: &str| {
        let entry = skills.get(skill).unwrap();
        let file = entry.resources.listed().iter().find(|file| file.uri == uri);
        file.unwrap().digest.clone()
    };
    let y = "skill://a/b/y.md";
    assert_eq!(digest("skill://a/SKILL.md", y), digest("skill://a/b/SKILL.md", y));
    let names = |uri: &str| -> Vec<String> {
        skills.directory(uri).unwrap().into_iter().map(|child| child.name).collect()
    };
    assert_eq!(names("skill://a"), ["a", "b", "c", "x.md"]);
    assert_eq!(names("skill://a/b"), ["b", "y.md"]);
    assert_eq!(names("skill://a/c"), ["d"]);
    // The same with the inner files given, and refused with others.
    let inner_md = skills.read("skill://a/b/SKILL.md").unwrap().text.unwrap();
    let given = outer().with_file("b/SKILL.md", inner_md).with_file("b/y.md", "y");
    let again = Skills::from_skills([given.clone(), inner(), plain("a/c/d/e")]).unwrap();
    assert_eq!(again, skills);
    for wrong in [given.with_file("b/z.md", "z"), outer().with_file("b/y.md", "other")] {
        let error = Skills::from_skills([wrong, inner()]).unwrap_err();
        assert!(
            matches!(&error, SkillError::Nested { skill, inner } if skill == "a" && inner == "a/b"),
            "{error}"
        );
    }
    // The limits hold for what was added, too.
    let many = |path: &str, n: usize| {
        (1..n).fold(plain(path), |skill, n| skill.with_file(format!("f{n}"), ""))
    };
    assert!(Skills::from_skills([plain("a"), many("a/b", MAX_SKILL_FILES - 1)]).is_ok());
    let error = Skills::from_skills([plain("a"), many("a/b", MAX_SKILL_FILES)]).unwrap_err();
    assert!(matches!(&error, SkillError::TooMany { skill, .. } if skill == "a"), "{error}");
}

#[test]
fn paths_of_skills_are_encoded_or_refused() {
    let skills = Skills::from_skills([plain("Ünï c/b:2@x/pdf"), plain("b:2@x/pdf")]).unwrap();
    assert_eq!(
        uris(&skills),
        ["skill://%C3%9Cn%C3%AF%20c/b:2@x/pdf/SKILL.md", "skill://b%3A2%40x/pdf/SKILL.md"]
    );
    let folder = skills.directory("skill://%C3%9Cn%C3%AF%20c").unwrap();
    assert_eq!((folder.len(), folder[0].name.as_str()), (1, "b:2@x"));
    assert!(skills.get("skill://b:2@x/pdf/SKILL.md").is_err());
    let deep = |segments: usize| vec!["a"; segments].join("/");
    assert!(Skills::from_skills([plain(&deep(16))]).is_ok());
    for path in ["/a", "a//b", "../a", ".a/b", "a\\b/c", "a\n/b", &deep(17)] {
        let error = Skills::from_skills([plain(path)]).unwrap_err();
        assert!(
            matches!(&error, SkillError::Path { skill, path: told, .. } if skill == path && told == path),
            "{error}"
        );
    }
    // The name is the last segment, and the frontmatter's.
    let skill_md = "---\nname: acme\ndescription: d\n---\n";
    let error = Skills::from_skills([Skill::from_markdown("acme/pdf", skill_md)]).unwrap_err();
    assert!(error.to_string().contains("must be equal"), "{error}");
}

#[tokio::test]
async fn generated_files_are_dynamic_and_are_read_as_they_are_now() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let now = move || format!("Run {}.\n", counted.fetch_add(1, Ordering::Relaxed));
    let daily = Skill::generated("reports/daily", "Reports: today's \"numbers\".", now)
        .with_generated_file("data/now.bin", || [0xff_u8, 0x00].to_vec())
        .with_file("notes.md", "fixed");
    let server = served([daily, plain("git")]);
    let (clients, _served) = every_client(&server).await;
    let md = "skill://reports/daily/SKILL.md";
    for (how, client) in &clients {
        let listed = client.request("skills/list", json!({})).await.unwrap();
        let entry = json!({
            "uri": md,
            "frontmatter": {"name": "daily", "description": "Reports: today's \"numbers\"."},
            "resources": "dynamic",
        });
        assert_eq!(listed["skills"][1], entry, "{how}");
        let got = client.request("skills/get", json!({ "uri": md })).await.unwrap();
        assert_eq!(got["skill"], entry);
        let skill = client.get_skill(md).await.unwrap();
        assert_eq!(skill.resources, SkillFiles::Dynamic);
        // The client compares the frontmatter, which is the same each time; the body is another.
        let one = client.read_skill_file(&skill, md).await.unwrap().text.unwrap();
        let other = client.read_skill_file(&skill, md).await.unwrap().text.unwrap();
        assert_ne!(one, other, "{how}");
        assert!(one.contains("\n---\n\nRun "), "{one}");
        // Clients may keep what is fixed.
        let cached = async |uri: &str| {
            let read = client.request("resources/read", json!({ "uri": uri })).await.unwrap();
            read.get("ttlMs").cloned()
        };
        let (fixed, generated) = (cached("skill://git/SKILL.md").await, cached(md).await);
        let is_modern = client.era() == Era::Modern;
        assert_eq!(fixed, is_modern.then(|| json!(60_000)));
        assert_eq!(generated, is_modern.then(|| json!(0)));
        let folder = client.read_directory("skill://reports/daily").await.unwrap();
        let folder = to_value(folder).unwrap();
        assert_eq!(folder[0]["name"], "daily");
        assert!(folder[0].get("size").is_none());
        assert_eq!(folder[2]["size"], 5);
        let data = client.read_directory("skill://reports/daily/data").await.unwrap();
        assert!(to_value(&data[0]).unwrap().get("size").is_none());
        let read = client.read_skill_file(&skill, &data[0].uri).await.unwrap();
        assert_eq!((read.blob.as_deref(), read.text), (Some("/wA="), None));
    }
    // A skill around it has its files, and is dynamic with it.
    let skills = Skills::from_skills([plain("a"), Skill::generated("a/b", "d", String::new)]);
    let skills = skills.unwrap();
    assert_eq!(skills.get("skill://a/SKILL.md").unwrap().resources, SkillFiles::Dynamic);
    assert!(skills.read("skill://a/b/SKILL.md").is_ok());
}

#[tokio::test]
async fn generated_files_count_as_changed_when_skills_are_replaced() {
    let skills = || {
        let daily = plain("daily").with_generated_file("now.md", || "now");
        Skills::from_skills([daily, plain("git")]).unwrap()
    };
    let served = ServedSkills::new(skills());
    let server = Server::builder("s", "1", ()).skills(&served);
    let server = server.resources_list_changed().subscriptions().build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    let wish = json!({"resourceSubscriptions": [
        "skill://daily/SKILL.md", "skill://daily/now.md", "skill://git/SKILL.md",
    ]});
    let mut stream = open(&service, listen(7, &wish)).await;
    next(&mut stream).await;
    served.replace(&server, skills());
    assert_eq!(next(&mut stream).await["params"]["uri"], "skill://daily/now.md");
    server.notify(mcp_proto::Change::resource_updated("skill://git/SKILL.md"));
    assert_eq!(next(&mut stream).await["params"]["uri"], "skill://git/SKILL.md");
}
