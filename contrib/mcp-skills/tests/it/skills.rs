//! Skills made in code: what is listed, read and refused. The same checks guard the other door, a folder.

use std::collections::BTreeSet;

use mcp_skills::{
    MAX_SKILL_BYTES, MAX_SKILL_FILES, Skill, SkillError, SkillUriError, Skills, SkillsConfig,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json, to_value};

fn pdf() -> Skill {
    let skill_md = "---\nname: pdf-processing\ndescription: Extract and fill PDF documents.\nlicense: MIT\nmetadata:\n  version: 1.5\nodd key: 1\n---\n\n# PDF\n";
    Skill::from_markdown("pdf-processing", skill_md)
        .with_file("templates/invoice.md", "# Invoice\n")
        .with_file("templates/regional/eu invoice.md", "# EU\n")
        .with_file("templates-old.txt", "old")
        .with_file("logo.png", b"\x89PNG\xff".as_slice())
        .with_file("scripts/SKILL.md", "nested, an ordinary file")
}

fn two() -> Skills {
    Skills::from_skills([pdf(), Skill::new("git-workflow", "How we commit.", "# Git\n")]).unwrap()
}

fn plain(name: &str) -> Skill {
    Skill::new(name, "d", "")
}

fn refusal(skill: Skill) -> SkillError {
    Skills::from_skills([skill]).unwrap_err()
}

#[test]
fn an_entry_lists_every_file_once_with_digest_and_size() {
    let skills = two();
    let entry = skills.get("skill://pdf-processing/SKILL.md").unwrap();
    assert_eq!(entry.name(), "pdf-processing");
    let entry = to_value(entry).unwrap();
    assert_eq!(
        entry["frontmatter"],
        json!({"name": "pdf-processing", "description": "Extract and fill PDF documents.", "license": "MIT",
               "metadata": {"version": 1.5}, "odd key": 1})
    );
    assert_eq!(
        entry.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["frontmatter", "resources", "uri"]
    );
    let resources = entry["resources"].as_array().unwrap();
    let uris: Vec<&str> = resources.iter().map(|file| file["uri"].as_str().unwrap()).collect();
    assert_eq!(
        uris,
        [
            "skill://pdf-processing/SKILL.md",
            "skill://pdf-processing/logo.png",
            "skill://pdf-processing/scripts/SKILL.md",
            "skill://pdf-processing/templates-old.txt",
            "skill://pdf-processing/templates/invoice.md",
            "skill://pdf-processing/templates/regional/eu%20invoice.md",
        ]
    );
    assert_eq!(
        resources[3],
        json!({"uri": uris[3], "size": 3,
               "digest": "sha256:cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4"})
    );
}

#[test]
fn the_list_is_in_the_order_of_names_and_goes_on_after_any() {
    let skills = Skills::from_skills(["b", "a-1", "c", "a"].map(plain)).unwrap();
    let names = |entries: Vec<&mcp_skills::SkillEntry>| -> Vec<String> {
        entries.iter().map(|entry| entry.name().to_owned()).collect()
    };
    assert_eq!(names(skills.list().collect()), ["a", "a-1", "b", "c"]);
    assert_eq!(names(skills.after("a").collect()), ["a-1", "b", "c"]);
    assert_eq!(names(skills.after("a-0").collect()), ["a-1", "b", "c"]);
    assert_eq!(names(skills.after("c").collect()), [""; 0]);
    assert_eq!(skills.after("").count(), skills.len());
    assert!(Skills::from_skills([]).unwrap().is_empty());
}

#[test]
fn files_are_read_as_text_or_base64_with_their_media_type() {
    let skills = two();
    let read = |uri: &str| to_value(skills.read(uri).unwrap()).unwrap();
    assert_eq!(
        read("skill://pdf-processing/templates/regional/eu%20invoice.md"),
        json!({"uri": "skill://pdf-processing/templates/regional/eu%20invoice.md", "mimeType": "text/markdown", "text": "# EU\n"})
    );
    assert_eq!(
        read("skill://pdf-processing/logo.png"),
        json!({"uri": "skill://pdf-processing/logo.png", "mimeType": "image/png", "blob": "iVBOR/8="})
    );
    let skill_md = read("skill://git-workflow/SKILL.md");
    assert_eq!(skill_md["mimeType"], "text/markdown");
    assert!(skill_md["text"].as_str().unwrap().ends_with("\n---\n\n# Git\n"));
}

#[test]
fn a_directory_gives_its_direct_children() {
    let skills = two();
    let children = |uri: &str| to_value(skills.directory(uri).unwrap()).unwrap();
    let root = children("skill://pdf-processing");
    let names: Vec<&Value> = root.as_array().unwrap().iter().map(|child| &child["name"]).collect();
    assert_eq!(names, ["pdf-processing", "logo.png", "scripts", "templates", "templates-old.txt"]);
    assert_eq!(
        root[3],
        json!({"uri": "skill://pdf-processing/templates", "name": "templates", "mimeType": "inode/directory"})
    );
    assert_eq!(
        children("skill://pdf-processing/templates/regional"),
        json!([{"uri": "skill://pdf-processing/templates/regional/eu%20invoice.md", "name": "eu invoice.md",
                "mimeType": "text/markdown", "size": 5}])
    );
    let odd = Skills::from_skills([plain("odd").with_file("a b/c d/e", "")]).unwrap();
    let below = to_value(odd.directory("skill://odd/a%20b").unwrap()).unwrap();
    assert_eq!(
        below,
        json!([{"uri": "skill://odd/a%20b/c%20d", "name": "c d", "mimeType": "inode/directory"}])
    );
}

#[test]
fn skill_md_is_a_resource_with_the_frontmatters_name_and_description() {
    let skills = two();
    let resources: Vec<Value> = skills.resources().map(|node| to_value(node).unwrap()).collect();
    assert_eq!(resources.len(), 2);
    assert_eq!(resources[0]["uri"], "skill://git-workflow/SKILL.md");
    assert!(resources[0].get("_meta").is_none());
    let size = skills.get("skill://pdf-processing/SKILL.md").unwrap().resources.listed()[0].size;
    assert_eq!(
        resources[1],
        json!({"uri": "skill://pdf-processing/SKILL.md", "name": "pdf-processing",
               "description": "Extract and fill PDF documents.", "mimeType": "text/markdown", "size": size,
               "_meta": {"io.modelcontextprotocol.skills/license": "MIT",
                         "io.modelcontextprotocol.skills/metadata": {"version": 1.5}}})
    );
    let child = &skills.directory("skill://pdf-processing").unwrap()[0];
    assert_eq!(to_value(child).unwrap(), resources[1]);
}

#[test]
fn what_is_not_there_or_of_another_kind_is_told_apart() {
    let skills = two();
    let md = "skill://pdf-processing/SKILL.md";
    for uri in [
        "skill://none/SKILL.md",
        "skill://pdf-processing",
        "skill://pdf-processing/logo.png",
        "skill://pdf-processing/scripts/SKILL.md",
        "SKILL://pdf-processing/SKILL.md",
        "",
    ] {
        assert_eq!(skills.get(uri), Err(SkillUriError::NotASkill(uri.into())), "{uri}");
    }
    for uri in [
        "skill://none",
        "skill://pdf-processing/",
        "skill://pdf-processing/templ",
        "skill://",
        "test://x",
    ] {
        assert_eq!(skills.read(uri), Err(SkillUriError::NotFound(uri.into())), "{uri}");
        assert_eq!(skills.directory(uri), Err(SkillUriError::NotFound(uri.into())), "{uri}");
    }
    assert_eq!(skills.directory(md), Err(SkillUriError::NotADirectory(md.into())));
    for uri in ["skill://pdf-processing", "skill://pdf-processing/templates"] {
        assert_eq!(skills.read(uri), Err(SkillUriError::NotAFile(uri.into())), "{uri}");
    }
    let long = format!("skill://{}", "é".repeat(5_000));
    assert!(skills.read(&long).unwrap_err().to_string().chars().count() < 400);
}

#[test]
fn names_that_the_rules_forbid_are_refused() {
    for name in
        ["", "Git", "git_workflow", "-git", "git-", "git--flow", "..", "a/", &"x".repeat(65)]
    {
        let error = refusal(plain(name));
        assert!(
            matches!(&error, SkillError::Name { name: told } if name.ends_with(told)),
            "{name:?}: {error}"
        );
    }
    assert!(Skills::from_skills([plain(&"x".repeat(64))]).is_ok());
    let twice = Skills::from_skills([plain("a"), plain("b"), plain("a")]).unwrap_err();
    assert!(matches!(&twice, SkillError::Duplicate { skill } if skill == "a"), "{twice}");
}

#[test]
fn frontmatter_that_the_rules_forbid_is_refused_with_the_reason() {
    for (skill_md, told) in [
        ("# Title\n", "must begin with YAML frontmatter"),
        ("---\nname: x\ndescription: d\n", "no end"),
        ("---\nname: y\ndescription: d\n---\n", "must be equal"),
        ("---\nname: x\n---\n", "no description"),
        ("---\nname: x\ndescription: '  '\n---\n", "description is empty"),
        ("---\nname: x\ndescription: d\nx: [\n---\n", "line 5"),
        ("---\nname: x\ndescription: d\nx: &a 1\ny: *a\n---\n", "line 5: aliases"),
        (
            "---\nname: x\ndescription: d\nmetadata:\n  io.modelcontextprotocol/y: 1\n---\n",
            "reserved",
        ),
    ] {
        let error = refusal(Skill::from_markdown("x", skill_md));
        assert!(matches!(&error, SkillError::Frontmatter { skill, .. } if skill == "x"), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn paths_that_would_leave_or_hide_are_refused() {
    for path in
        ["../x", "/etc/x", "a//b", "a/../b", "a/./b", ".env", "a/.git/x", "a\\b", "", "a/", "a\0"]
    {
        let error = refusal(plain("x").with_file(path, ""));
        assert!(
            matches!(&error, SkillError::Path { path: told, .. } if told == path),
            "{path:?}: {error}"
        );
    }
    let twice = refusal(plain("x").with_file("a", "1").with_file("a", "2"));
    assert!(twice.to_string().contains("twice"), "{twice}");
    let again = refusal(plain("x").with_file("SKILL.md", "2"));
    assert!(again.to_string().contains("twice"), "{again}");
    let both = refusal(plain("x").with_file("a/b/c", "1").with_file("a/b", "2"));
    assert!(both.to_string().contains("both a file and a directory"), "{both}");
}

#[test]
fn the_limits_of_one_skill_are_inclusive() {
    let files = |n: usize| (1..n).fold(plain("x"), |skill, n| skill.with_file(format!("f{n}"), ""));
    assert!(Skills::from_skills([files(MAX_SKILL_FILES)]).is_ok());
    let error = refusal(files(MAX_SKILL_FILES + 1));
    assert_eq!(error.to_string(), "skill \"x\": more than 512 files");

    let base = Skills::from_skills([plain("x")]).unwrap().list().next().unwrap().resources.listed()
        [0]
    .size;
    let bytes = |n: u64| plain("x").with_file("f", vec![0; usize::try_from(n - base).unwrap()]);
    assert!(Skills::from_skills([bytes(MAX_SKILL_BYTES)]).is_ok());
    let error = refusal(bytes(MAX_SKILL_BYTES + 1));
    assert!(error.to_string().contains("more than 16777216 bytes"), "{error}");
}

#[test]
fn the_limits_of_all_skills_together_can_be_set() {
    let size = |skills: &Skills| -> u64 {
        skills.list().flat_map(|entry| entry.resources.listed()).map(|file| file.size).sum()
    };
    let three = || ["a", "b", "c"].map(plain);
    let all = Skills::from_skills(three()).unwrap();
    let mut config = SkillsConfig::default();
    config.max_bytes = size(&all);
    config.max_skills = 3;
    assert_eq!(Skills::from_skills_with(three(), config).unwrap(), all);
    config.max_bytes -= 1;
    let error = Skills::from_skills_with(three(), config).unwrap_err();
    assert!(matches!(error, SkillError::AllTooLarge { max } if max == config.max_bytes), "{error}");
    config.max_bytes += 1;
    config.max_skills = 2;
    let error = Skills::from_skills_with(three(), config).unwrap_err();
    assert!(matches!(error, SkillError::TooManySkills { max: 2 }), "{error}");
}

fn proptest_config() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(proptest_config())]

    /// Whatever path is given: it is refused, or it is served below the skill, at one URI that decodes to it.
    #[test]
    fn a_path_is_refused_or_served_below_its_skill(
        path in prop_oneof!["\\PC{0,12}", vec(select(vec!["a", "b c", "..", ".", "", "%2e%2e", "é", "a%2Fb", "\\", "?", "#"]), 0..5).prop_map(|parts| parts.join("/"))]
    ) {
        let Ok(skills) = Skills::from_skills([plain("x").with_file(path.clone(), "secret")]) else {
            return Ok(());
        };
        let entry = skills.get("skill://x/SKILL.md").unwrap();
        prop_assert_eq!(entry.resources.listed().len(), 2);
        let uri = &entry.resources.listed()[1].uri;
        let below = uri.strip_prefix("skill://x/").unwrap();
        prop_assert!(below.split('/').all(|part| !part.is_empty() && !part.starts_with('.')), "{}", uri);
        prop_assert!(below.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\\\"<>^`{|}[]".contains(&byte)), "{}", uri);
        let below = decoded(below);
        prop_assert_eq!(below, path);
        prop_assert_eq!(skills.read(uri).unwrap().text.unwrap(), "secret");
        // From the folder up to the file, each directory lists the next.
        for (end, _) in uri.match_indices('/').filter(|(at, _)| *at > "skill:/".len()) {
            let children = skills.directory(&uri[..end]).unwrap();
            let leads = children.iter().any(|child| *uri == child.uri || uri.starts_with(&format!("{}/", child.uri)));
            prop_assert!(leads);
        }
    }

    /// Only the URIs that are listed are read, and only what leads to them are directories.
    #[test]
    fn only_what_is_listed_is_served(
        scheme in select(vec!["skill://", "skill:///", "skill:", "SKILL://", "file://", "/", ""]),
        parts in vec(select(vec![
            "pdf-processing", "git-workflow", "templates", "regional", "eu%20invoice.md", "eu invoice.md", "invoice.md",
            "SKILL.md", "logo.png", "scripts", "..", ".", "", "%2e%2e", "%2E.", "templates%2Finvoice.md", "..%2f",
            "%2F", "logo%2Epng", "\\..", "etc", "passwd",
        ]), 0..7),
    ) {
        let skills = two();
        let uri = format!("{scheme}{}", parts.join("/"));
        let listed: BTreeSet<&str> = skills.list().flat_map(|entry| entry.resources.listed()).map(|file| file.uri.as_str()).collect();
        let directory = uri.len() > "skill://".len() && listed.iter().any(|file| file.starts_with(&format!("{uri}/")));
        prop_assert_eq!(skills.read(&uri).is_ok(), listed.contains(uri.as_str()), "{}", &uri);
        prop_assert_eq!(skills.directory(&uri).is_ok(), directory, "{}", &uri);
        prop_assert_eq!(skills.get(&uri).is_ok(), skills.list().any(|entry| entry.uri == uri), "{}", &uri);
    }

    /// Frontmatter from outside never panics, and a description that is written is read back.
    #[test]
    fn any_frontmatter_is_read_or_refused(
        text in prop_oneof![
            "\\PC{0,40}",
            "(?s).{0,40}",
            vec(select(vec!["a", ": ", "\n", "  ", "- ", "[", "]", "{", "}", "'", "\"", "|", ">", "&a", "*a", "!", "#", "\t", "? ", "%", "\\", ",", "é", "\u{feff}", "1", "-"]), 0..30).prop_map(|parts| parts.concat()),
        ],
        description in "[^ ]\\PC{0,40}",
    ) {
        let skill_md = format!("---\nname: x\ndescription: d\n{text}\n---\n");
        let _ = Skills::from_skills([Skill::from_markdown("x", skill_md)]);
        let skills = Skills::from_skills([Skill::new("x", &description, "")]);
        if !description.trim().is_empty() {
            let skills = skills.unwrap();
            prop_assert_eq!(skills.list().next().unwrap().description(), description);
        }
    }
}

fn decoded(encoded: &str) -> String {
    percent_encoding::percent_decode_str(encoded).decode_utf8().unwrap().into_owned()
}
