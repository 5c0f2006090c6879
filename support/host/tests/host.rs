//! What surrounds a server: its files, its watches, its endpoint.

#[path = "host/asking.rs"]
mod asking;
#[path = "host/tls.rs"]
mod tls;

use std::error::Error;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant, SystemTime};

use mcp_proto::Server;
use mcp_proto::http::Hosts;
use service_host::{
    Asking, Changes, Depth, EndpointArgs, Host, HostError, ReplaceError, Stamp, Watcher, replace,
    replace_unless_changed,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

type Outcome = Result<(), Box<dyn Error>>;

/// Longer than any machine needs.
const LONG: Duration = Duration::from_secs(30);

/// A server that listens, until it is dropped.
struct RunningServer {
    address: SocketAddr,
    task: JoinHandle<Result<(), HostError>>,
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RunningServer {
    async fn start(
        host: Host,
        server: Server,
        mut endpoint: EndpointArgs,
    ) -> Result<Self, Box<dyn Error>> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = free.local_addr()?;
        drop(free);
        endpoint.listen = Some(address);
        let task = tokio::spawn(async move {
            let stop = CancellationToken::new();
            host.run(server, &endpoint, "x", stop).await
        });
        let begun = Instant::now();
        while TcpStream::connect(address).await.is_err() {
            let may_come = begun.elapsed() < LONG && !task.is_finished();
            assert!(may_come, "it does not listen");
            tokio::task::yield_now().await;
        }
        Ok(Self { address, task })
    }
}

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
    assert_eq!(fs::read_dir(dir.path())?.count(), 1, "nothing is left beside it");
    Ok(())
}

#[test]
fn a_new_file_has_the_permissions_of_every_new_file() -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir()?;
    let mode = |name: &str| -> Result<u32, std::io::Error> {
        Ok(fs::metadata(dir.path().join(name))?.permissions().mode())
    };
    fs::write(dir.path().join("usual.md"), "")?;
    replace(&dir.path().join("new.md"), b"")?;
    assert_eq!(mode("new.md")?, mode("usual.md")?);
    Ok(())
}

#[test]
fn a_file_with_the_time_and_length_of_another_is_another() -> Outcome {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("spec.md");
    fs::write(&path, "mine")?;
    let (read, time) = (Stamp::of(&path)?, fs::metadata(&path)?.modified()?);
    // The clock of the file system ticks some hundred times a second.
    let differs = || -> Result<bool, std::io::Error> {
        fs::write(&path, "hers")?;
        File::options().write(true).open(&path)?.set_modified(time)?;
        Ok(Stamp::of(&path)? != read)
    };
    let begun = Instant::now();
    while !differs()? {
        assert!(begun.elapsed() < LONG, "it looks the same");
    }
    Ok(())
}

#[test]
fn the_stamp_of_a_folder_tells_what_comes_and_goes() -> Outcome {
    let dir = tempfile::tempdir()?;
    let now = SystemTime::now();
    let stamp = Stamp::of(dir.path())?.ok_or("no stamp")?;
    assert!(stamp.age(now + LONG).is_some_and(|age| age >= LONG / 2));
    assert_eq!(stamp.age(now - LONG), None);
    let begun = Instant::now();
    loop {
        fs::write(dir.path().join("spec.md"), "")?;
        fs::remove_file(dir.path().join("spec.md"))?;
        if Stamp::of(dir.path())?.as_ref() != Some(&stamp) {
            return Ok(());
        }
        assert!(begun.elapsed() < LONG, "it looks the same");
    }
}

#[test]
fn what_somebody_else_wrote_is_not_written_over() -> Outcome {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("tasks.md");
    fs::write(&path, "mine")?;
    let read = Stamp::of(&path)?;
    fs::write(&path, "theirs, and longer")?;
    let refused = replace_unless_changed(&path, read.as_ref(), b"mine again");
    assert!(matches!(refused, Err(ReplaceError::Changed(_))), "{refused:?}");
    assert_eq!(fs::read(&path)?, b"theirs, and longer");
    replace_unless_changed(&path, Stamp::of(&path)?.as_ref(), b"now")?;
    assert_eq!(fs::read(&path)?, b"now");
    let refused = replace_unless_changed(&path, None, b"new");
    assert!(matches!(refused, Err(ReplaceError::Changed(_))), "{refused:?}");
    assert_eq!(fs::read_dir(dir.path())?.count(), 1, "nothing is left beside it");
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
async fn a_link_to_a_folder_is_not_followed() -> Outcome {
    let (dir, outside) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let (root, outside) = (dir.path().canonicalize()?, outside.path().canonicalize()?);
    std::os::unix::fs::symlink(&outside, root.join("link"))?;
    let mut watcher = Watcher::new(&[(&root, Depth::Tree)])?;
    fs::write(outside.join("secret.md"), "text")?;
    // The last report comes after all before it.
    let last = root.join("last.md");
    fs::write(&last, "text")?;
    loop {
        let Changes::Paths(paths) = timeout(LONG, watcher.changed()).await? else {
            return Err("everything is told".into());
        };
        assert!(!paths.contains(&root.join("link/secret.md")), "{paths:?}");
        if paths.contains(&last) {
            return Ok(());
        }
    }
}

#[tokio::test]
async fn an_address_that_others_reach_needs_a_name_and_a_token() -> Outcome {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    for (address, hosts, proxies, needed) in [
        ("0.0.0.0:0", &[][..], &[][..], "--allowed-host"),
        ("0.0.0.0:0", &["specs.example"], &[], "--auth-token-file"),
        ("0.0.0.0:0", &["*"], &[], "--auth-token-file"),
        // A proxy on the same machine lets others in.
        ("127.0.0.1:0", &["specs.example"], &[], "--allow-anyone"),
        ("127.0.0.1:0", &[], &["127.0.0.1"], "--allow-anyone"),
    ] {
        let endpoint = EndpointArgs {
            listen: Some(address.parse()?),
            allowed_host: names(hosts),
            trusted_proxy: names(proxies),
            ..EndpointArgs::default()
        };
        let server = Server::builder("x", "1", ()).build()?;
        let refused = Host::default().run(server, &endpoint, "x", CancellationToken::new()).await;
        assert!(
            matches!(&refused, Err(HostError::Endpoint(error)) if error.to_string().contains(needed)),
            "{refused:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_token_file_without_a_token_is_named() -> Outcome {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("token");
    let long = "s".repeat(4_097);
    for (text, problem) in [
        ("\nsecret\n", "its first line is empty"),
        ("open sesame\n", "characters that no token has"),
        (&long, "more than 4096 bytes"),
    ] {
        fs::write(&file, text)?;
        let endpoint = EndpointArgs {
            port: Some(0),
            asking: Asking { token_file: Some(file.clone()), ..Asking::default() },
            ..EndpointArgs::default()
        };
        let server = Server::builder("x", "1", ()).build()?;
        let refused = Host::default().run(server, &endpoint, "x", CancellationToken::new()).await;
        assert!(refused.is_err_and(|error| error.to_string().contains(problem)));
    }
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
