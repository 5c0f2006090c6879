//! `.spox/config.toml` and what can be wrong with it.

use spec_server::project::{Project, ProjectError};

use super::{CONFIG, SPEC, archived, folder};

#[test]
fn folders_are_where_it_says() {
    let config = "\u{feff}[paths]\r\nspec_folder = \"./docs/specs//\"\r\nchanges_folder = \"work\"\r\narchive_folder = \"done\"\r\nmore = 1\r\n";
    let root = folder(&[
        (".spox/config.toml", config),
        ("docs/specs/a/spec.md", SPEC),
        ("work/c/proposal.md", ""),
        ("done/2025-01-02-d/proposal.md", ""),
    ]);
    let project = Project::open(root.path()).expect("a project");
    assert_eq!(project.spec_ids().expect("ids"), ["a"]);
    assert_eq!(project.change_ids().expect("ids"), ["c"]);
    assert_eq!(archived(&project), ["2025-01-02-d"]);
}

#[test]
fn an_archive_among_the_changes_is_no_change() {
    let config = CONFIG.replace("specs/_archive", "specs/_changes/done");
    let root = folder(&[
        (".spox/config.toml", config.as_str()),
        ("specs/_changes/done/2025-01-02-d/proposal.md", ""),
        ("specs/_changes/c/proposal.md", ""),
    ]);
    let project = Project::open(root.path()).expect("a project");
    assert_eq!(project.change_ids().expect("ids"), ["c"]);
    project.change("done").expect_err("no change");
}

#[test]
fn each_mistake_is_told_with_what_would_be_right() {
    let without = |line: &str| CONFIG.replace(line, "");
    let with = |value: &str| CONFIG.replace("\"specs/_changes\"", value);
    for (config, words) in [
        ("[paths\n".to_owned(), vec!["not TOML"]),
        (String::new(), vec!["[paths] is missing"]),
        ("paths = 1\n".to_owned(), vec!["[paths]"]),
        (
            without("spec_folder = \"specs/\"\n"),
            vec!["spec_folder is missing", "spec_folder = \"specs/\""],
        ),
        (without("archive_folder = \"specs/_archive\"\n"), vec!["archive_folder is missing"]),
        (with("7"), vec!["changes_folder", "string"]),
        (with("\"\""), vec!["changes_folder", "not a folder"]),
        (with("\"../out\""), vec!["changes_folder", "leads out"]),
        (with("\"a/../../out\""), vec!["changes_folder", "leads out"]),
        (with("\"/etc\""), vec!["changes_folder", "leads out"]),
        (with("\"a\\u0000b\""), vec!["changes_folder"]),
    ] {
        let root = folder(&[(".spox/config.toml", config.as_str())]);
        match Project::open(root.path()) {
            Err(error @ ProjectError::Config { .. }) => {
                let told = error.to_string();
                assert!(told.contains(".spox/config.toml"), "{told}");
                for word in words {
                    assert!(told.contains(word), "{config}: {told}");
                }
            }
            other => panic!("{config}: {other:?}"),
        }
    }
}

#[test]
fn a_file_that_is_no_text_or_far_too_long_is_refused() {
    let root = folder(&[(".spox/config.toml", "")]);
    let path = root.path().join(".spox/config.toml");
    for (bytes, word) in [(vec![0xff_u8; 4], "UTF-8"), (vec![b'#'; 2 * 1024 * 1024], "bytes")] {
        std::fs::write(&path, bytes).expect("a file is written");
        let error = Project::open(root.path()).expect_err("no project").to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn rules_that_are_not_known_hide_no_spec() {
    for rules in ["", "[rules]\nsystem = []\n", "[rules]\nsystem = [\"newer\"]\n"] {
        let config = CONFIG.replace("[rules]\nsystem = [\"mcp\"]\n", rules);
        let root = folder(&[(".spox/config.toml", config.as_str()), ("specs/a/spec.md", SPEC)]);
        let project = Project::open(root.path()).expect("a project");
        assert_eq!(project.spec_ids().expect("ids"), ["a"]);
    }
}
