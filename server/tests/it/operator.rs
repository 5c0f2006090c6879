//! What an operator meets: disks that are full or only read, pipes that are closed, collectors of figures, a store that
//! has lost a part of what frames it. What comes from a report of users of other programs names its thread.

mod disks;
mod figures;
mod frames;
mod pipes;
mod renewal;
mod reports;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::harness::process::binary;

/// The binary where a shell line has changed the file systems that it sees, with a directory as `$0`; `None`, and a
/// word about it, where that is not allowed.
async fn elsewhere(line: &str, dir: &Path) -> Option<Command> {
    let mut command = Command::new("unshare");
    let settings = binary();
    for (name, _) in settings.as_std().get_envs() {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command.args(["--mount", "--map-root-user", "sh", "-c"]);
    let mut tried = Command::new("unshare");
    tried.args(["--mount", "--map-root-user", "sh", "-c", line]).arg(dir);
    let is_allowed = tried.stderr(Stdio::null()).status().await.is_ok_and(|it| it.success());
    if !is_allowed {
        eprintln!("skipped: file systems cannot be mounted here");
        return None;
    }
    command.arg(format!("{line} && exec \"$@\"")).arg(dir).arg(settings.as_std().get_program());
    Some(command)
}

/// The same where nothing can be written in the directory.
async fn only_read(dir: &Path) -> Option<Command> {
    elsewhere("mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\"", dir).await
}

/// The same where the directory is empty, and has room for so many bytes.
async fn small(dir: &Path, size: &str) -> Option<Command> {
    elsewhere(&format!("mount -t tmpfs -o size={size} none \"$0\""), dir).await
}

fn on(mut command: Command, dir: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
    command.args(arguments).arg("--data-dir").arg(dir);
    command
}
