//! Ids that lead elsewhere, and such as are almost right.

use std::fs;

use proptest::prelude::*;
use proptest::sample::select;
use spec_server::project::{Kind, Project, ReadError};

use super::{SPEC, folder, openspec, spox};

#[test]
fn an_id_that_leads_elsewhere_is_refused_in_words() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC), ("changes/c/proposal.md", "")]);
    fs::create_dir_all(root.path().join("secret")).expect("a folder is made");
    fs::write(root.path().join("secret/spec.md"), SPEC).expect("a file is written");
    for id in [
        "",
        "..",
        ".",
        "../../secret",
        "a/../a",
        "a/./b",
        "/etc",
        "//a",
        "a//b",
        "a/",
        "a\\b",
        "..\\a",
        "a\0b",
        "a\nb",
        "a/../../../secret",
    ] {
        for result in [
            project.spec(id).map(drop),
            project.change(id).map(drop),
            project.archived(id).map(drop),
        ] {
            match result {
                Err(error @ ReadError::BadId { .. }) => {
                    assert!(error.to_string().contains(&format!("{id:?}")), "{error}");
                }
                other => panic!("{id:?}: {other:?}"),
            }
        }
        project.spec_path(id).expect_err("refused");
        project.existing_spec(id).expect_err("refused");
        project.change_folder(id).expect_err("refused");
    }
    let long = "a".repeat(2_000);
    assert!(matches!(project.spec(&long), Err(ReadError::BadId { .. })));
    assert!(matches!(project.change("a/b"), Err(ReadError::BadId { .. })));
}

#[test]
fn an_encoded_id_is_a_name_like_any_other() {
    let (root, project) = openspec(&[("specs/a/spec.md", SPEC)]);
    fs::write(root.path().join("spec.md"), SPEC).expect("a file is written");
    for id in ["%2e%2e", "%2e%2e%2f%2e%2e", "..%2f..", "a%00", "．．", "a%2fb"] {
        assert!(
            matches!(project.spec(id), Err(ReadError::NotFound { kind: Kind::Spec, .. })),
            "{id}"
        );
    }
}

#[test]
fn what_a_listing_passes_over_is_not_found_by_name() {
    let (_root, project) = openspec(&[
        ("specs/.git/spec.md", SPEC),
        ("specs/a/.b/spec.md", SPEC),
        ("changes/archive/x/proposal.md", ""),
        ("changes/.x/proposal.md", ""),
        ("changes/file", ""),
    ]);
    for id in [".git", "a/.b", "a"] {
        assert!(matches!(project.spec(id), Err(ReadError::NotFound { .. })), "{id}");
    }
    for id in ["archive", ".x", "file"] {
        assert!(matches!(project.change(id), Err(ReadError::NotFound { .. })), "{id}");
    }
    let (_root, project) = spox(&[("specs/_changes/spec.md", SPEC), ("specs/a/spec.md", SPEC)]);
    assert!(matches!(project.spec("_changes"), Err(ReadError::NotFound { .. })));
    assert!(matches!(project.spec("a/b"), Err(ReadError::BadId { .. })));
}

#[test]
fn not_found_carries_the_three_nearest() {
    let specs = ["user-auth", "user-audit", "user-author", "payments", "platform/user-auth"];
    let files: Vec<_> = specs.iter().map(|id| (format!("specs/{id}/spec.md"), SPEC)).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let (_root, project) = openspec(&files);
    let nearest = |id: &str| match project.spec(id) {
        Err(error @ ReadError::NotFound { .. }) => {
            let told = error.to_string();
            let ReadError::NotFound { nearest, .. } = error else { panic!() };
            assert!(nearest.iter().all(|name| told.contains(name)), "{told}");
            nearest
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(project.spec("User-Auth").expect("a spec").id, "user-auth");
    assert_eq!(nearest("User-Auht"), ["user-auth", "user-audit", "user-author"]);
    assert_eq!(nearest("payment"), ["payments"]);
    assert_eq!(nearest("auth"), ["platform/user-auth", "user-auth", "user-author"]);
    assert_eq!(nearest("zzz"), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is asked for: what is read lies below the folder of specs, or nothing is read.
    #[test]
    fn no_id_leads_out(parts in proptest::collection::vec(select(vec!["..", ".", "", "a", "b", "spec.md", "secret", "%2e%2e", "\\", "link", "é", "\0"]), 0..6), slash in select(vec!["/", "\\", "//"])) {
        let root = folder(&[("secret/spec.md", "# secret\n"), ("p/openspec/specs/a/spec.md", "# open\n"), ("p/spec.md", "# secret\n"), ("p/openspec/spec.md", "# secret\n")]);
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.path().join("secret"), root.path().join("p/openspec/specs/link")).unwrap();
        let project = Project::open(&root.path().join("p")).unwrap();
        let id = parts.join(slash);
        if let Ok(spec) = project.spec(&id) {
            prop_assert_eq!(&spec.id, &id);
            prop_assert_eq!(&spec.title, "open");
        }
        if let Ok(path) = project.spec_path(&id) {
            prop_assert!(path.starts_with(&project.layout().specs));
            prop_assert!(path.components().all(|part| !matches!(part, std::path::Component::ParentDir)));
        }
    }
}
