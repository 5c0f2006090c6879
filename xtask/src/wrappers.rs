//! The packages of npm and PyPI that carry `mcp-conformance`: built, installed and started, without a registry.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;

use xtask::install::{self, on_path};
use xtask::programs::given_or_judged;
use xtask::{Result, is_ci, process, root, say, target};

/// The time limit for each step.
const DEADLINE: Duration = Duration::from_secs(120);
const NAME: &str = "mcp-conformance";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The program for this machine, instead of one that is built for the test.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Builds both packages from the program and tries them. `true` when both start it and return its exit code.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let program = given_or_judged(arguments.program.as_ref(), NAME)?;
    match install::or_report("the packages", tools())? {
        Some(tools) => try_both(&program, tools),
        None => Ok(!is_ci()),
    }
}

/// Python and npm.
///
/// # Errors
/// Which one is missing.
fn tools() -> std::result::Result<(PathBuf, PathBuf), String> {
    let python = ["python3", "python"].into_iter().find_map(on_path);
    let python = python.ok_or("python3 not found")?;
    Ok((python, on_path("npm").ok_or("npm not found")?))
}

fn try_both(program: &Path, (python, npm): (PathBuf, PathBuf)) -> Result<bool> {
    let folder = target().join("wrappers");
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => fs::create_dir_all(&folder)?,
    }
    let out = folder.join("packages");
    let mut build = Command::new(&python);
    build.arg(root().join("conformance/wrappers/build.py")).arg("--out").arg(&out).arg(format!(
        "{}={}",
        platform()?,
        program.display()
    ));
    let built = said(&mut build)?;
    say(built.trim_end())?;
    let packages: Vec<&str> = built.lines().collect();
    let (wheels, archives): (Vec<&str>, Vec<&str>) =
        packages.iter().partition(|path| path.ends_with(".whl"));

    let of_npm = folder.join("npm");
    fs::create_dir_all(&of_npm)?;
    fs::write(of_npm.join("package.json"), "{\"private\":true}\n")?;
    let mut install = Command::new(&npm);
    install
        .args(["install", "--offline", "--no-audit", "--no-fund"])
        .args(&archives)
        .current_dir(&of_npm);
    process::succeed(&mut install, DEADLINE)?;

    let venv = folder.join("venv");
    let mut make = Command::new(&python);
    process::succeed(make.args(["-m", "venv"]).arg(&venv), DEADLINE)?;
    let scripts = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let mut install = Command::new(scripts.join("python"));
    install.args(["-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]).args(&wheels);
    process::succeed(&mut install, DEADLINE)?;

    let by_npm = of_npm.join("node_modules").join(".bin").join(match OS {
        "windows" => "mcp-conformance.cmd",
        _ => NAME,
    });
    let by_pip = scripts.join(format!("{NAME}{}", std::env::consts::EXE_SUFFIX));
    let mut passed = true;
    for (what, started) in [("npm", by_npm), ("pip", by_pip)] {
        let good = starts(&started)?;
        say(&format!("{what}: {}", if good { "starts" } else { "FAILED" }))?;
        passed &= good;
    }
    Ok(passed)
}

/// The standard output of a command that must succeed.
fn said(command: &mut Command) -> Result<String> {
    let finished = process::run(command, DEADLINE)?;
    if finished.success { Ok(finished.stdout) } else { Err(finished.stderr.into()) }
}

/// Whether the program prints its version, and its exit code is passed on.
fn starts(program: &Path) -> Result<bool> {
    let version = said(Command::new(program).arg("--version"))?;
    // No server listens on port 9 (discard).
    let mut absent = Command::new(program);
    absent.args(["check", "--url", "http://127.0.0.1:9/mcp"]);
    let code = absent.output()?.status.code();
    Ok(version.starts_with(NAME) && code == Some(3))
}

/// The name of this platform in Node.js.
fn platform() -> Result<String> {
    let system = match OS {
        "linux" => "linux",
        "macos" => "darwin",
        "windows" => "win32",
        other => return Err(format!("there is no package for {other}").into()),
    };
    let processor = match ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => return Err(format!("there is no package for {other}").into()),
    };
    Ok(format!("{system}-{processor}"))
}
