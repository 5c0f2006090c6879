//! Runs the commands of one page in order, as in one terminal, in a separate folder, with the programs under test.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::block::{Block, How, blocks};
use xtask::{Result, process, programs, root, target};

/// The time limit for the commands of one page.
const DEADLINE: Duration = Duration::from_secs(120);

/// Shell functions for the commands: a failure of `curl` is an error, `head` does not close the pipe that it reads, and
/// `serving` waits for a server.
const PREAMBLE: &str = r#"set -euo pipefail
curl() { command curl --silent --show-error --fail-with-body "$@"; }
head() { command head "$@"; cat > /dev/null; }
serving() {
  for _ in $(seq 300); do
    if grep -q 'listening on' "$1"; then return; fi
    if ! kill -0 "$2" 2> /dev/null; then break; fi
    sleep 0.1
  done
  cat "$1" >&2
  return 1
}
"#;

/// A replacement for `cargo`: the programs that a reader would build are already built.
const CARGO: &str = r#"#!/usr/bin/env bash
set -eu
verb=$1
shift
package=universe-server
while [ $# -gt 0 ]; do
  case $1 in
    --release | --locked) shift ;;
    -p) package=$2; shift 2 ;;
    --) shift; break ;;
    *) echo "the stand-in for cargo does not know $1" >&2; exit 64 ;;
  esac
done
case $verb in
  run) exec "$package" "$@" ;;
  build) command -v "$package" > /dev/null ;;
  *) echo "the stand-in for cargo does not know $verb" >&2; exit 64 ;;
esac
"#;

/// A replacement for the conformance tool. Checks use only one revision, and skip the rule that waits.
fn conformance() -> String {
    let program = programs::judged("mcp-conformance");
    let program = program.to_string_lossy();
    let quoted = shlex::try_quote(&program).unwrap_or_default();
    format!(
        "#!/usr/bin/env bash\nif [ \"$1\" = check ]; then shift; set -- check --revision 2026-07-28 --keep-alive 1 --skip http.keep-alive \"$@\"; fi\nexec {quoted} \"$@\"\n"
    )
}

/// A replacement for the reader's own server, over pipes or on a port.
const SERVER: &str = "#!/usr/bin/env bash\nexec universe-server --store memory --demo \"$@\"\n";

/// The commands of a page as one script. `None` if it has no commands to run.
///
/// # Errors
/// The lines of blocks with wrong comments or languages, each with a description of the error.
pub(super) fn script(path: &str, page: &str) -> std::result::Result<Option<String>, Vec<String>> {
    let mut script = PREAMBLE.to_owned();
    let mut wrong = Vec::new();
    let mut runs = false;
    let mut found = blocks(page).into_iter().peekable();
    while let Some(block) = found.next() {
        let place = format!("{path}:{}", block.line);
        let printed = found.next_if(Block::is_printed);
        let plan = match (block.plan(), &printed) {
            (Ok(None), None) if !block.is_printed() => continue,
            (Ok(Some(plan)), None) => plan,
            (Ok(Some(plan)), Some(_)) if matches!(plan.how, How::Ends(0) | How::Skipped) => plan,
            (Ok(_), _) => {
                wrong.push(format!("{place}: `printed` is said of the output of the block above"));
                continue;
            }
            (Err(problem), _) => {
                wrong.push(format!("{place}: {problem}"));
                continue;
            }
        };
        if plan.how == How::Skipped {
            continue;
        }
        runs = true;
        script.push_str(&format!("echo '@@ {place}' >&2\n"));
        for command in plan.given {
            script.push_str(&format!("{command}\n"));
        }
        let text = &block.text;
        script.push_str(&match plan.how {
            How::Ends(0) if let Some(printed) = &printed => expecting(text, printed),
            How::Serves => format!(
                "(\nif [[ {quoted} != *--listen* ]]; then export UNIVERSE_LISTEN=127.0.0.1:3001; fi\n{text}) > served-{line} 2>&1 &\nserving served-{line} $!\n",
                line = block.line,
                quoted = shlex::try_quote(text).unwrap_or_default(),
            ),
            How::Ends(0) => text.clone(),
            How::Ends(code) => format!(
                "set +e\n(\nset -e\n{text})\ncode=$?\nset -e\nif [ $code != {code} ]; then echo \"exit code $code\" >&2; exit 1; fi\n"
            ),
            How::Skipped => String::new(),
        });
    }
    match (wrong.is_empty(), runs) {
        (false, _) => Err(wrong),
        (true, true) => Ok(Some(script)),
        (true, false) => Ok(None),
    }
}

/// Commands whose output is compared with the block after them, in which `…` stands for anything.
fn expecting(text: &str, printed: &Block) -> String {
    let parts = printed.text.trim_end().split('…');
    let parts = parts.map(|part| format!("'{}'", part.replace('\'', r"'\''")));
    let (pattern, line) = (parts.collect::<Vec<_>>().join("*"), printed.line);
    format!(
        "{{\n{text}\n}} > printed-{line}\n[[ $(cat printed-{line}) == {pattern} ]] || {{ echo 'prints other than line {line}:' \"$(cat printed-{line})\" >&2; exit 1; }}\n"
    )
}

/// Runs the script of a page. `None` on success, else a description of the error and its position.
///
/// # Errors
/// When the script cannot be run.
pub(super) fn run(path: &str, script: &str) -> Result<Option<String>> {
    let folder = target().join("docs").join(path.replace(['/', '.'], "-"));
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let home = folder.join("home");
    fs::create_dir_all(&home)?;
    let stand_ins = folder.join("bin");
    fs::create_dir_all(&stand_ins)?;
    let conformance = conformance();
    for (name, text) in [("cargo", CARGO), ("my-server", SERVER), ("mcp-conformance", &conformance)]
    {
        executable(&stand_ins.join(name), text)?;
    }
    let file = folder.join("page.sh");
    fs::write(&file, elsewhere(script)?)?;
    let errors = folder.join("stderr");
    let mut command = Command::new("bash");
    command
        .arg(&file)
        .current_dir(&home)
        .env_clear()
        .env("PATH", search_path(&stand_ins)?)
        .env("HOME", &home)
        // Used by the examples.
        .env("REPOSITORY", root())
        .env("LANG", "C.UTF-8")
        .stdout(fs::File::create(folder.join("stdout"))?)
        .stderr(fs::File::create(&errors)?);
    let ended = process::shown(&mut command, DEADLINE);
    let said = fs::read_to_string(&errors)?;
    let at = said.lines().rfind(|line| line.starts_with("@@ "));
    let at = at.map_or(path, |line| line.trim_start_matches("@@ "));
    let last: Vec<&str> = said.lines().rev().take(5).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Ok(match ended {
        Ok(true) => None,
        Ok(false) => Some(format!("{at}: {}", last.join(" | "))),
        Err(error) => Some(format!("{at}: {error}")),
    })
}

#[cfg(unix)]
fn executable(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn executable(path: &Path, text: &str) -> Result<()> {
    Ok(fs::write(path, text)?)
}

/// The search path: the replacements, the programs under test, and the programs of the machine.
fn search_path(stand_ins: &Path) -> Result<std::ffi::OsString> {
    let judged = ["universe-server", "spec-server"].map(programs::judged);
    let judged = judged.iter().filter_map(|it| it.parent()).map(Path::to_path_buf);
    let system = std::env::var_os("PATH").unwrap_or_default();
    let own = std::iter::once(stand_ins.to_path_buf()).chain(judged);
    Ok(std::env::join_paths(own.chain(std::env::split_paths(&system)))?)
}

/// The script with every port on this machine replaced by a free one.
fn elsewhere(script: &str) -> Result<String> {
    let mut moved = String::with_capacity(script.len());
    // Held until all ports are chosen, so that no two are the same.
    let mut chosen: BTreeMap<&str, (TcpListener, String)> = BTreeMap::new();
    let mut rest = script;
    while let Some(at) = ["127.0.0.1:", "localhost:", "--port "]
        .iter()
        .filter_map(|before| Some(rest.find(before)? + before.len()))
        .min()
    {
        let (before, after) = rest.split_at(at);
        let digits = after.find(|c: char| !c.is_ascii_digit());
        let (port, after) = after.split_at(digits.unwrap_or(after.len()));
        moved.push_str(before);
        if port.len() < 4 {
            moved.push_str(port);
        } else if let Some((_, free)) = chosen.get(port) {
            moved.push_str(free);
        } else {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let free = listener.local_addr()?.port().to_string();
            moved.push_str(&free);
            chosen.insert(port, (listener, free));
        }
        rest = after;
    }
    moved.push_str(rest);
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_commands_has_no_script() {
        assert_eq!(script("a.md", "```json\n{}\n```\n"), Ok(None));
        let skipped = "<!-- not run: takes an hour -->\n```sh\nx\n```\n";
        assert_eq!(script("a.md", skipped), Ok(None));
        let wrong = script("a.md", "```bash\nx\n```\n").expect_err("wrong");
        assert!(wrong[0].starts_with("a.md:2: "), "{wrong:?}");
    }

    #[test]
    fn each_port_becomes_one_that_is_free() {
        let moved =
            elsewhere("a 127.0.0.1:3001/x --port 3002 localhost:3001 127.0.0.1:0").expect("free");
        let ports: Vec<&str> =
            moved.split(|c: char| !c.is_ascii_digit()).filter(|word| word.len() > 3).collect();
        let [one, two, same] = ports[..] else {
            panic!("three ports in {moved}");
        };
        assert!(one == same && one != two && one != "3001", "{moved}");
        assert!(moved.ends_with("127.0.0.1:0"), "{moved}");
    }

    #[cfg(unix)]
    #[test]
    fn a_failure_is_reported_with_the_line_of_its_block() {
        let name = format!("test-{}", std::process::id());
        let page =
            "```sh\ncd /\nexport A=1\n```\ntext\n```sh\ntest \"$A$PWD\" = 1/\nfalse | true\n```\n";
        let script = script(&name, page).expect("good").expect("commands");
        let failure = run(&name, &script).expect("runs").expect("a failure");
        assert!(failure.starts_with(&format!("{name}:7: ")), "{failure}");
        fs::remove_dir_all(target().join("docs").join(&name)).expect("clean up");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_printed_is_what_is_shown() {
        let name = format!("test-printed-{}", std::process::id());
        for (shown, passes) in [("it's … here\n", true), ("it's … there\n", false)] {
            let page = format!(
                "```sh\nA=1\necho \"it's $RANDOM here\"\n```\n<!-- printed -->\n```text\n{shown}```\n```sh\ntest $A = 1\n```\n"
            );
            let script = script(&name, &page).expect("good").expect("commands");
            assert_eq!(run(&name, &script).expect("runs").is_none(), passes);
        }
        fs::remove_dir_all(target().join("docs").join(&name)).expect("clean up");
        assert!(script("a.md", "<!-- printed -->\n```json\n1\n```\n").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn an_expected_exit_code_is_the_only_one_that_passes() {
        let name = format!("test-exit-{}", std::process::id());
        for (code, passes) in [(3, true), (4, false)] {
            let page = format!("<!-- exits with {code} -->\n```sh\n(exit 3)\n```\n");
            let script = script(&name, &page).expect("good").expect("commands");
            assert_eq!(run(&name, &script).expect("runs").is_none(), passes);
        }
        fs::remove_dir_all(target().join("docs").join(&name)).expect("clean up");
    }
}
