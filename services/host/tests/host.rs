//! The room around a server: its files, its watches, its door.

use std::error::Error;
use std::fs;
use std::time::Duration;

use mcp_proto::Server;
use mcp_proto::http::Hosts;
use service_host::{
    Changes, Depth, Door, Host, HostError, ReplaceError, Stamp, Watcher, replace,
    replace_unless_changed,
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

type Outcome = Result<(), Box<dyn Error>>;

/// Longer than any machine needs.
const LONG: Duration = Duration::from_secs(30);

#[test]
fn a_file_is_replaced_whole_and_keeps_its_permissions() -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("spec.md");
    replace(&path, b"one")?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640))?;
    replace(&path, b"two")?;
    assert_eq!(fs::read(&path)?, b"two");
    assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o777, 0o640);
    assert_eq!(
        fs::read_dir(dir.path())?.count(),
        1,
        "nothing is left beside it"
    );
    Ok(())
}

#[test]
fn a_new_file_is_as_open_as_any() -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir()?;
    let (ours, any) = (dir.path().join("ours"), dir.path().join("any"));
    replace(&ours, b"one")?;
    fs::write(&any, b"one")?;
    let mode = |path| fs::metadata(path).map(|it| it.permissions().mode());
    assert_eq!(mode(&ours)?, mode(&any)?);
    Ok(())
}

#[test]
fn what_somebody_else_wrote_is_not_written_over() -> Outcome {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("tasks.md");
    fs::write(&path, "mine")?;
    let read = Stamp::of(&path)?;
    fs::write(&path, "theirs, and longer")?;
    let refused = replace_unless_changed(&path, read.as_ref(), b"mine again");
    assert!(
        matches!(refused, Err(ReplaceError::Changed(_))),
        "{refused:?}"
    );
    assert_eq!(fs::read(&path)?, b"theirs, and longer");
    replace_unless_changed(&path, Stamp::of(&path)?.as_ref(), b"now")?;
    assert_eq!(fs::read(&path)?, b"now");
    let refused = replace_unless_changed(&path, None, b"new");
    assert!(
        matches!(refused, Err(ReplaceError::Changed(_))),
        "{refused:?}"
    );
    assert_eq!(
        fs::read_dir(dir.path())?.count(),
        1,
        "nothing is left beside it"
    );
    Ok(())
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let missing = replace("/nowhere/at/all.md".as_ref(), b"");
    assert!(missing.is_err_and(|error| error.to_string().contains("/nowhere/at/all.md")));
    let unwatched = Watcher::new(&[("/nowhere".as_ref(), Depth::Tree)]);
    assert!(unwatched.is_err_and(|error| error.to_string().contains("/nowhere")));
}

#[tokio::test]
async fn a_change_anywhere_below_is_told_by_its_path() -> Outcome {
    let dir = tempfile::tempdir()?;
    let root = dir.path().canonicalize()?;
    let mut watcher = Watcher::new(&[(&root, Depth::Tree)])?;
    let deep = root.join("a/b");
    fs::create_dir_all(&deep)?;
    let folder = timeout(LONG, watcher.changed()).await?;
    assert!(
        matches!(&folder, Changes::Paths(paths) if paths.contains(&root.join("a"))),
        "{folder:?}"
    );
    let file = deep.join("spec.md");
    fs::write(&file, "text")?;
    loop {
        match timeout(LONG, watcher.changed()).await? {
            Changes::Paths(paths) if !paths.contains(&file) => {}
            _ => return Ok(()),
        }
    }
}

#[tokio::test]
async fn an_address_that_others_reach_needs_a_name() -> Outcome {
    let door = Door {
        listen: Some("0.0.0.0:0".parse()?),
        ..Door::default()
    };
    let server = Server::builder("x", "1", ()).build()?;
    let refused = Host::default()
        .run(server, &door, "x", CancellationToken::new())
        .await;
    assert!(
        matches!(&refused, Err(HostError::Door(error)) if error.to_string().contains("--allowed-host")),
        "{refused:?}"
    );
    Ok(())
}

#[tokio::test]
async fn a_token_file_without_a_token_is_named() -> Outcome {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("token");
    fs::write(&file, "\nsecret\n")?;
    let door = Door {
        port: Some(0),
        token_file: Some(file.clone()),
        ..Door::default()
    };
    let server = Server::builder("x", "1", ()).build()?;
    let refused = Host::default()
        .run(server, &door, "x", CancellationToken::new())
        .await;
    assert!(refused.is_err_and(|error| error.to_string().contains("its first line is empty")));
    Ok(())
}

#[test]
fn names_of_hosts_say_what_they_mean() {
    let list = |names: &[&str]| {
        Hosts::from_names(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(list(&["a.example", "*"]), Ok(Hosts::Any));
    assert!(list(&["http://a.example"]).is_err());
}
