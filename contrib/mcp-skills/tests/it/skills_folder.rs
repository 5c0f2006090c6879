//! Skills from a folder on disk: what is found, what is left out, and that nothing outside of a skill is ever served.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use mcp_skills::{MAX_SKILL_BYTES, MAX_SKILL_FILES, SkillError, Skills, SkillsConfig};
use tempfile::TempDir;

fn write(folder: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(bytes.as_ref()).unwrap();
}

fn skill(folder: &Path, name: &str) {
    let skill_md = format!("---\nname: {name}\ndescription: What {name} does.\n---\n\n# Body\n");
    write(folder, &format!("{name}/SKILL.md"), skill_md);
}

fn uris(skills: &Skills) -> Vec<&str> {
    skills.list().flat_map(|entry| entry.resources.listed()).map(|file| file.uri.as_str()).collect()
}

fn refusal(folder: &Path) -> SkillError {
    Skills::folder(folder).unwrap_err()
}

#[test]
fn sub_folders_with_a_skill_md_are_skills() {
    let dir = TempDir::new().unwrap();
    skill(dir.path(), "b");
    skill(dir.path(), "a");
    skill(dir.path(), ".hidden");
    write(dir.path(), "README.md", "not a skill");
    write(dir.path(), "notes/x.md", "not a skill");
    write(dir.path(), "a/refs/Ü b.md", "ü");
    write(dir.path(), "a/nested/SKILL.md", "no frontmatter is needed here");
    write(dir.path(), "a/.env", "secret");
    write(dir.path(), "a/.git/config", "secret");
    fs::create_dir(dir.path().join("a/empty")).unwrap();

    let skills = Skills::folder(dir.path()).unwrap();
    assert_eq!(
        uris(&skills),
        [
            "skill://a/SKILL.md",
            "skill://a/nested/SKILL.md",
            "skill://a/refs/%C3%9C%20b.md",
            "skill://b/SKILL.md"
        ]
    );
    assert_eq!(skills.read("skill://a/refs/%C3%9C%20b.md").unwrap().text.unwrap(), "ü");
    for uri in
        ["skill://a/.env", "skill://a/.git/config", "skill://.hidden/SKILL.md", "skill://README.md"]
    {
        assert!(skills.read(uri).is_err(), "{uri}");
    }
    assert!(skills.directory("skill://a/empty").is_err());
    let names: Vec<String> =
        skills.directory("skill://a").unwrap().into_iter().map(|node| node.name).collect();
    assert_eq!(names, ["a", "nested", "refs"]);
}

#[test]
fn folders_of_skills_are_part_of_their_paths() {
    let dir = TempDir::new().unwrap();
    for folder in ["acme/billing", "acme/support", "acme/.hidden", "acme/pdf/nested", ""] {
        skill(&dir.path().join(folder), "refunds");
    }
    skill(&dir.path().join("acme"), "pdf");
    let deep = vec!["d"; 15].join("/");
    skill(&dir.path().join(&deep), "last");
    skill(&dir.path().join(&deep).join("d"), "too-deep");
    let skills = Skills::folder(dir.path()).unwrap();
    let found: Vec<_> = skills.list().map(|entry| entry.uri.as_str()).collect();
    assert_eq!(
        found,
        [
            "skill://acme/billing/refunds/SKILL.md",
            "skill://acme/pdf/SKILL.md",
            "skill://acme/support/refunds/SKILL.md",
            &format!("skill://{deep}/last/SKILL.md"),
            "skill://refunds/SKILL.md",
        ]
    );
    // In the folder of a skill it is a file.
    assert!(skills.read("skill://acme/pdf/nested/refunds/SKILL.md").is_ok());
    assert!(skills.get("skill://acme/pdf/nested/refunds/SKILL.md").is_err());
}

#[test]
fn a_folder_with_a_skill_md_is_one_skill() {
    let dir = TempDir::new().unwrap();
    skill(dir.path(), "solo");
    skill(&dir.path().join("solo"), "nested");
    for path in ["solo", "solo/.", "solo/nested/.."] {
        let skills = Skills::folder(dir.path().join(path)).unwrap();
        assert_eq!(
            uris(&skills),
            ["skill://solo/SKILL.md", "skill://solo/nested/SKILL.md"],
            "{path}"
        );
    }
}

#[test]
fn the_empty_folder_has_no_skills_and_the_missing_one_is_an_error() {
    let dir = TempDir::new().unwrap();
    assert!(Skills::folder(dir.path()).unwrap().is_empty());
    let missing = dir.path().join("missing");
    assert!(matches!(refusal(&missing), SkillError::Read { path, .. } if path == missing));
}

#[test]
fn what_is_loaded_does_not_change_and_loading_again_does() {
    let dir = TempDir::new().unwrap();
    skill(dir.path(), "a");
    write(dir.path(), "a/x.txt", "one");
    let first = Skills::folder(dir.path()).unwrap();
    assert_eq!(Skills::folder(dir.path()).unwrap(), first);
    write(dir.path(), "a/x.txt", "two");
    assert_eq!(first.read("skill://a/x.txt").unwrap().text.unwrap(), "one");
    let second = Skills::folder(dir.path()).unwrap();
    assert_ne!(second, first);
    assert_eq!(second.read("skill://a/x.txt").unwrap().text.unwrap(), "two");
    fs::remove_dir_all(dir.path().join("a")).unwrap();
    assert_eq!(second.read("skill://a/x.txt").unwrap().text.unwrap(), "two");
}

#[test]
fn a_folder_goes_through_the_checks_of_skills_made_in_code() {
    let dir = TempDir::new().unwrap();
    skill(dir.path(), "Bad_Name");
    assert!(matches!(refusal(dir.path()), SkillError::Name { name } if name == "Bad_Name"));

    let dir = TempDir::new().unwrap();
    write(dir.path(), "a/SKILL.md", "---\nname: b\ndescription: d\n---\n");
    let error = refusal(dir.path());
    assert!(error.to_string().contains("must be equal"), "{error}");

    let dir = TempDir::new().unwrap();
    write(dir.path(), "a/skill.md", "---\nname: a\ndescription: d\n---\n");
    let error = refusal(dir.path());
    assert!(
        matches!(&error, SkillError::NoSkillFile { found, .. } if found == "skill.md"),
        "{error}"
    );

    let dir = TempDir::new().unwrap();
    write(dir.path(), "a/SKILL.md/x", "");
    let error = refusal(dir.path());
    assert!(matches!(error, SkillError::NoSkillFile { .. }), "{error}");

    let dir = TempDir::new().unwrap();
    skill(dir.path(), "a");
    write(dir.path(), &format!("a/{}x", "d/".repeat(15)), "");
    assert_eq!(
        Skills::folder(dir.path()).unwrap().list().next().unwrap().resources.listed().len(),
        2
    );
    write(dir.path(), &format!("a/{}x", "d/".repeat(16)), "");
    assert!(matches!(refusal(dir.path()), SkillError::Path { .. }));
}

#[test]
fn the_first_name_is_told_of_many_that_are_wrong() {
    let dir = TempDir::new().unwrap();
    for name in ["bc", "bh", "ba", "bg", "bf", "be", "bb", "bd"] {
        write(dir.path(), &format!("{name}/SKILL.md"), "");
    }
    let error = refusal(dir.path());
    assert!(matches!(&error, SkillError::Frontmatter { skill, .. } if skill == "ba"), "{error}");
}

#[test]
fn the_limits_hold_before_anything_is_read() {
    let dir = TempDir::new().unwrap();
    skill(dir.path(), "a");
    for n in 1..MAX_SKILL_FILES {
        write(dir.path(), &format!("a/f{n}"), "");
    }
    assert_eq!(uris(&Skills::folder(dir.path()).unwrap()).len(), MAX_SKILL_FILES);
    write(dir.path(), "a/sub/one-more", "");
    // Counted before sizes are.
    fs::File::create(dir.path().join("a/sub/one-more")).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(refusal(dir.path()), SkillError::TooMany { what: "files", max: 512, .. }));

    let dir = TempDir::new().unwrap();
    skill(dir.path(), "a");
    for n in 0..512 {
        fs::create_dir(dir.path().join(format!("a/d{n}"))).unwrap();
    }
    assert!(matches!(refusal(dir.path()), SkillError::TooMany { what: "folders", max: 512, .. }));

    let dir = TempDir::new().unwrap();
    skill(dir.path(), "a");
    let large = fs::File::create(dir.path().join("a/large")).unwrap();
    let rest = MAX_SKILL_BYTES - fs::metadata(dir.path().join("a/SKILL.md")).unwrap().len();
    large.set_len(rest).unwrap();
    assert!(Skills::folder(dir.path()).is_ok());
    large.set_len(rest + 1).unwrap();
    assert!(matches!(refusal(dir.path()), SkillError::TooLarge { max: MAX_SKILL_BYTES, .. }));
    // So large that reading it would not end well.
    large.set_len(1 << 40).unwrap();
    assert!(matches!(refusal(dir.path()), SkillError::TooLarge { .. }));
}

#[test]
fn the_limits_of_all_skills_hold_for_folders() {
    let dir = TempDir::new().unwrap();
    for name in ["a", "b"] {
        skill(dir.path(), name);
    }
    let size: u64 = Skills::folder(dir.path())
        .unwrap()
        .list()
        .map(|entry| entry.resources.listed()[0].size)
        .sum();
    let mut config = SkillsConfig::default();
    config.max_bytes = size;
    assert!(Skills::folder_with(dir.path(), config).is_ok());
    config.max_bytes = size - 1;
    let error = Skills::folder_with(dir.path(), config).unwrap_err();
    assert!(matches!(error, SkillError::AllTooLarge { .. }), "{error}");
    let mut config = SkillsConfig::default();
    config.max_skills = 1;
    let error = Skills::folder_with(dir.path(), config).unwrap_err();
    assert!(matches!(error, SkillError::TooManySkills { max: 1 }), "{error}");
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_link_out_of_the_skill_is_refused() {
        let dir = TempDir::new().unwrap();
        write(dir.path(), "secret.txt", "secret");
        skill(&dir.path().join("skills"), "other");
        for target in ["../../secret.txt", "../other/SKILL.md", "..", "../other", "/etc"] {
            skill(&dir.path().join("skills"), "a");
            symlink(target, dir.path().join("skills/a/link")).unwrap();
            let error = refusal(&dir.path().join("skills"));
            assert!(
                matches!(&error, SkillError::Link { skill, path } if skill == "a" && path == "link"),
                "{target}: {error}"
            );
            fs::remove_dir_all(dir.path().join("skills/a")).unwrap();
        }
        // A folder whose name begins like the skill's is not in it.
        skill(&dir.path().join("skills"), "a");
        write(dir.path(), "skills/a2/x", "secret");
        symlink("../a2/x", dir.path().join("skills/a/link")).unwrap();
        assert!(matches!(refusal(&dir.path().join("skills")), SkillError::Link { .. }));
    }

    #[test]
    fn a_skill_md_that_is_a_link_out_is_refused() {
        let dir = TempDir::new().unwrap();
        write(dir.path(), "real.md", "---\nname: a\ndescription: d\n---\n");
        fs::create_dir_all(dir.path().join("skills/a")).unwrap();
        symlink("../../real.md", dir.path().join("skills/a/SKILL.md")).unwrap();
        assert!(matches!(refusal(&dir.path().join("skills")), SkillError::Link { .. }));
    }

    /// The shape of a mounted Kubernetes volume: what is visible are links into a hidden folder beside them.
    #[test]
    fn links_inside_a_skill_are_followed() {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("a");
        write(&root, "..2026/SKILL.md", "---\nname: a\ndescription: d\n---\n");
        write(&root, "..2026/refs/x.txt", "x");
        symlink("..2026", root.join("..data")).unwrap();
        symlink("..data/SKILL.md", root.join("SKILL.md")).unwrap();
        symlink("..data/refs", root.join("refs")).unwrap();
        let skills = Skills::folder(dir.path()).unwrap();
        assert_eq!(uris(&skills), ["skill://a/SKILL.md", "skill://a/refs/x.txt"]);
        assert_eq!(skills.read("skill://a/refs/x.txt").unwrap().text.unwrap(), "x");
    }

    #[test]
    fn a_skills_folder_may_be_a_link_and_its_name_is_the_links() {
        let dir = TempDir::new().unwrap();
        write(dir.path(), "store/a-v2/SKILL.md", "---\nname: a\ndescription: d\n---\n");
        fs::create_dir(dir.path().join("skills")).unwrap();
        symlink("../store/a-v2", dir.path().join("skills/a")).unwrap();
        for path in ["skills", "skills/a"] {
            let skills = Skills::folder(dir.path().join(path)).unwrap();
            assert_eq!(uris(&skills), ["skill://a/SKILL.md"], "{path}");
        }
    }

    #[test]
    fn links_on_the_way_to_skills_are_not_followed() {
        let dir = TempDir::new().unwrap();
        skill(&dir.path().join("elsewhere"), "a");
        skill(&dir.path().join("skills/acme"), "b");
        symlink("../elsewhere", dir.path().join("skills/elsewhere")).unwrap();
        symlink("..", dir.path().join("skills/acme/up")).unwrap();
        symlink("../../elsewhere/a", dir.path().join("skills/acme/a")).unwrap();
        let skills = Skills::folder(dir.path().join("skills")).unwrap();
        assert_eq!(uris(&skills), ["skill://acme/a/SKILL.md", "skill://acme/b/SKILL.md"]);
    }

    #[test]
    fn circles_of_links_end() {
        let dir = TempDir::new().unwrap();
        skill(dir.path(), "a");
        symlink(".", dir.path().join("a/one")).unwrap();
        symlink(".", dir.path().join("a/two")).unwrap();
        assert!(matches!(
            refusal(dir.path()),
            SkillError::Path { .. } | SkillError::TooMany { .. }
        ));
        fs::remove_file(dir.path().join("a/two")).unwrap();
        fs::remove_file(dir.path().join("a/one")).unwrap();
        symlink("one", dir.path().join("a/one")).unwrap();
        assert!(matches!(refusal(dir.path()), SkillError::Read { .. }));
    }

    #[test]
    fn what_is_no_regular_file_or_has_no_utf8_name_is_refused() {
        let dir = TempDir::new().unwrap();
        skill(dir.path(), "a");
        let socket = UnixListener::bind(dir.path().join("a/socket")).unwrap();
        let error = refusal(dir.path());
        assert!(error.to_string().contains("neither a regular file"), "{error}");
        drop(socket);
        fs::remove_file(dir.path().join("a/socket")).unwrap();
        for name in [b"\xff".as_slice(), b"a\\b", b"a\nb"] {
            let path = dir.path().join("a").join(OsStr::from_bytes(name));
            fs::write(&path, "").unwrap();
            assert!(matches!(refusal(dir.path()), SkillError::Path { .. }), "{name:?}");
            fs::remove_file(&path).unwrap();
        }
        assert!(Skills::folder(dir.path()).is_ok());
    }
}
