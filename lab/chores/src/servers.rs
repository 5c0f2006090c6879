//! Checks published servers with `mcp-conformance`, and writes `conformance/docs/servers.md`.
//!
//! `conformance/docs/servers.toml` says what is installed from npm and PyPI or built from `lab/peers/`, how it is
//! started, and which findings were confirmed by hand. A server has no network but its own loopback, so that no call of
//! a tool reaches anything. This is not a step of the test, since it depends on other projects alone.

mod page;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fs, thread};

use clap::Args;
use toml::{Table, Value};

use xtask::programs::given_or_judged;
use xtask::{Result, process, root, say, target};

/// The time limit for the packages of one server.
const INSTALL_DEADLINE: Duration = Duration::from_secs(600);
/// The port of the first server; each has two.
const PORT: usize = 20_000;

/// The newest revision with sessions, and the one without.
const NEWEST: &str = "--revision 2025-11-25 --revision 2026-07-28";

/// Installs its packages, unless they are.
const INSTALL: &str = r#"
set -e
[ -z "$SCRIPT" ] || cp "$PEERS/minimal/$SCRIPT" .
[ "$(cat installed 2>/dev/null)" != "$NPM $PYPI $CRATE" ] || exit 0
if [ -n "$NPM" ]; then
  echo '{"private":true,"type":"module"}' >package.json
  # What a package runs when it is installed is not needed by any of these.
  npm install --silent --ignore-scripts --no-audit --no-fund $NPM
fi
if [ -n "$PYPI" ]; then
  python3 -m venv .
  bin/pip install --quiet --disable-pip-version-check $PYPI
fi
if [ -n "$CRATE" ]; then (cd "$PEERS" && cargo build --quiet --locked -p "$CRATE"); fi
printf %s "$NPM $PYPI $CRATE" >installed
"#;

/// Starts the server if it listens, and checks it.
const CHECK: &str = r#"
ip link set lo up
if [ "$TRANSPORT" = http ]; then
  sh -c "exec env $SERVE" >http.log 2>&1 &
  for i in $(seq 150); do curl -s -o /dev/null --max-time 2 "$URL" && break; sleep 0.2; done
  set -- --url "$URL"
else
  set -- --command "env $SERVE"
fi
exec "$JUDGE" check --keep-alive 1 $REVISIONS --format json --output "$OUTPUT" --name "$NAME" "$@" >check.log 2>&1
"#;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The servers to check, by a part of their names; by default all. The page has the last results of the others.
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
    /// Write the page from the last results, and check nothing.
    #[arg(long)]
    page: bool,
    /// The `mcp-conformance` to check with, instead of one that is built.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// How many servers are checked at the same time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// The time limit for a check, in seconds.
    #[arg(long, default_value_t = 180)]
    limit: u64,
}

/// A server, and where its results are.
pub(super) struct Server {
    table: Table,
    folder: PathBuf,
    port: usize,
}

/// Checks the servers and writes the page. `true` when each MUST finding was confirmed by hand; a server that could not
/// be judged is said, and changes nothing else.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let path = root().join("conformance/docs/servers.toml");
    let list: Table = fs::read_to_string(path)?.parse()?;
    let tables = list.get("server").and_then(Value::as_array).into_iter().flatten();
    let servers = tables.filter_map(Value::as_table).enumerate();
    let servers: Vec<_> = servers.map(|(index, table)| Server::new(table, index)).collect();
    if !arguments.page {
        let judge = given_or_judged(arguments.program.as_ref(), "mcp-conformance")?;
        let wanted = servers.iter().filter(|server| server.name().contains(&arguments.only));
        let waiting = Mutex::new(wanted);
        let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
        thread::scope(|scope| {
            for _ in 0..arguments.jobs {
                scope.spawn(|| {
                    while let Some(server) = next() {
                        server.judge(&judge, Duration::from_secs(arguments.limit));
                    }
                });
            }
        });
    }
    page::write(&list, &servers)
}

impl Server {
    fn new(table: &Table, index: usize) -> Self {
        let mut server =
            Self { table: table.clone(), folder: PathBuf::new(), port: PORT + 2 * index };
        server.folder = target().join("servers").join(server.name().replace(['/', '@', ' '], "-"));
        server
    }

    /// A member of its table; empty without it.
    pub(super) fn text(&self, member: &str) -> &str {
        self.table.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    /// The name that was given, or that of its first package, with the version.
    pub(super) fn name(&self) -> &str {
        let all = ["name", "npm", "pypi"].map(|member| self.text(member));
        let first = all.into_iter().find(|it| !it.is_empty()).unwrap_or_default();
        if self.text("name").is_empty() { first.split(' ').next().unwrap_or(first) } else { first }
    }

    /// The transports that it offers.
    pub(super) fn transports(&self) -> impl Iterator<Item = &'static str> {
        ["stdio", "http"].into_iter().filter(|it| self.table.contains_key(*it))
    }

    /// The results of a transport.
    pub(super) fn report(&self, transport: &str) -> Result<serde_json::Value> {
        let report = fs::read_to_string(self.output(transport));
        Ok(serde_json::from_str(&report.map_err(|_| "the check did not end in time")?)?)
    }

    fn output(&self, transport: &str) -> PathBuf {
        self.folder.join(format!("{transport}.json"))
    }

    /// Installs it and checks it over each transport. What goes wrong is said, and the page has no results of it.
    fn judge(&self, judge: &Path, limit: Duration) {
        let over = |transport| -> Result<()> {
            self.check(judge, transport, NEWEST, limit)?;
            let report = self.report(transport)?;
            let spoken = page::revisions(&report, "revisions");
            match spoken.last() {
                // An older server is judged in the newest revision that it speaks.
                Some(last) if !NEWEST.contains(*last) => {
                    self.check(judge, transport, &format!("--revision {last}"), limit)
                }
                _ => Ok(()),
            }
        };
        let checked = self.install().and_then(|()| self.transports().try_for_each(over));
        let what = checked.err().map_or_else(|| "checked".to_owned(), |error| error.to_string());
        // Without a stdout there is nobody to tell.
        let _ = say(&format!("{}: {what}", self.name()));
    }

    fn install(&self) -> Result<()> {
        fs::create_dir_all(self.folder.join("home"))?;
        for (name, content) in
            self.table.get("files").and_then(Value::as_table).into_iter().flatten()
        {
            fs::write(self.folder.join(name), content.as_str().unwrap_or_default())?;
        }
        let mut command = Command::new("sh");
        command.args(["-c", INSTALL]).current_dir(&self.folder);
        command.env("PEERS", root().join("lab/peers"));
        command
            .envs(["npm", "pypi", "crate", "script"].map(|it| (it.to_uppercase(), self.text(it))));
        process::succeed(&mut command, INSTALL_DEADLINE)
    }

    fn check(&self, judge: &Path, transport: &str, revisions: &str, limit: Duration) -> Result<()> {
        let output = self.output(transport);
        if output.exists() {
            fs::remove_file(&output)?;
        }
        let port = (self.port + usize::from(transport == "http")).to_string();
        let url = match self.text("url") {
            "" => "http://127.0.0.1:{port}/mcp",
            url => url,
        };
        let (folder, built) = (self.folder.display(), target().join("debug"));
        let path = std::env::var("PATH").unwrap_or_default();
        let path =
            format!("{folder}/node_modules/.bin:{folder}/bin:{}:{path}:/usr/sbin", built.display());
        let (serve, url) =
            (self.text(transport).replace("{port}", &port), url.replace("{port}", &port));
        let mut command = Command::new("unshare");
        command.args("--map-root-user --net --pid --fork --kill-child sh -c".split(' ')).arg(CHECK);
        command.current_dir(&self.folder).env_clear();
        command.envs([("PATH", &*path), ("LANG", "C.UTF-8"), ("NAME", self.name())]);
        command.envs([
            ("TRANSPORT", transport),
            ("SERVE", &serve),
            ("REVISIONS", revisions),
            ("URL", &url),
        ]);
        command
            .envs([("HOME", &self.folder.join("home")), ("OUTPUT", &output)])
            .env("JUDGE", judge);
        process::shown(&mut command, limit).map(drop)
    }
}
