//! Verbs for the care of the data: backup, restore, check, compact, export, import, generate, migrate.
//!
//! Commands that only read run beside a server, if there is one: they see the universes as of one moment and delay no
//! request. Commands that change something ask the server that holds the directory, or do it themselves if none does.

mod backup;
mod check;
mod database;
mod export;
mod generate;
mod import;
mod migrate;
mod online;
mod replay;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;

use crate::commands::{CommandService, ServiceError, ServiceLimits};
use crate::store::sqlite::care::{compact, restore};
use crate::store::sqlite::{Inspector, OpenError, Options, Unreadable};
use crate::store::{Finding, Size, SqliteStore, UniverseId};

pub(crate) use online::{Online, Request};

/// The exit code of `check` when it found damage.
pub const DAMAGED: u8 = 3;

/// What to do with the data instead of serving it.
#[derive(Debug, Clone, Subcommand)]
#[non_exhaustive]
pub enum Verb {
    /// Copies all universes with their histories into a file, also while a server runs. If some are damaged, it names
    /// them and exits with 3.
    Backup {
        /// The file, which must not exist yet.
        file: PathBuf,
    },
    /// Restores a backup into the data directory, which no server may be using.
    Restore {
        /// The backup.
        file: PathBuf,
        /// Moves what the directory has into a directory beside it, `replaced-1` or a higher number.
        #[arg(long)]
        replace: bool,
    },
    /// Looks for damage, also while a server runs: in the file, in what is known of every universe, in every entry and
    /// in every snapshot. Exits with 3 if there is any, and prints what to do.
    Check {
        /// First puts right what the rest of the store proves: records, heads, beginnings and entries in a wrong place.
        /// No server may be using the data directory.
        #[arg(long)]
        repair: bool,
    },
    /// Returns the space of deleted and trimmed data to the disk: in steps if a server runs, else by rewriting the file
    /// as a whole.
    Compact,
    /// Writes a universe as JSON, as `GET /universes/ID` gives it, to a file or to stdout; also while a server runs.
    /// One whose record, head, beginning and log do not fit together is refused.
    Export {
        /// The universe's id.
        id: UniverseId,
        /// The file, which must not exist yet.
        file: Option<PathBuf>,
        /// The universe as it was at this revision.
        #[arg(long, value_name = "N")]
        revision: Option<u64>,
    },
    /// Creates a universe from a file that `export` wrote, or from any JSON object with `name` and `state`. Its history
    /// begins with that state. Prints the new id.
    Import {
        /// The file.
        file: PathBuf,
        /// The id of the universe; a random one by default.
        #[arg(long)]
        id: Option<UniverseId>,
    },
    /// Makes a universe from a seed, the same for the same seed and options everywhere. Its state goes to stdout; with
    /// `--name` it becomes a universe of the data directory, and its id is printed.
    Generate(generate::GenerateArgs),
    /// Copies all universes, with histories, snapshots and idempotency keys, from a data directory into a database or
    /// back, and compares every revision. After an interruption it continues where it stopped.
    Migrate(migrate::MigrateArgs),
}

/// What a command of maintenance results in.
type Result<T, E = CareError> = std::result::Result<T, E>;

/// The reason for a failure, as a sentence.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CareError {
    /// The directory or the backup cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database cannot be read.
    #[error(
        "the data directory cannot be read: {0}; `universe-server check` says what is damaged, `universe-server restore` \
         goes back to a backup"
    )]
    Unreadable(#[from] Unreadable),
    /// The database is unavailable or does not allow the operation.
    #[error("{0}")]
    Database(String),
    /// An error of the service.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// No universe has this id.
    #[error("universe not found: {id}{hint}")]
    NotFound {
        /// The id.
        id: UniverseId,
        /// A suggestion of the id that was meant, after a semicolon.
        hint: String,
    },
    /// What the store knows of a universe does not fit together.
    #[error("universe {}: {}; {}", .0.universe, .0.problem, check::REPAIR)]
    Unsound(Finding),
    /// The data directory has an older format.
    #[error(
        "the data directory has format {found}, and this needs {present}: start the server once or run \
         `universe-server compact`, which bring it to that"
    )]
    OlderFormat {
        /// The format found.
        found: i32,
        /// The format needed.
        present: i32,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The content of a file is invalid.
    #[error("{}: {problem}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// What is wrong, and what would be valid.
        problem: String,
    },
    /// The recipe of a universe is invalid.
    #[error("{0}")]
    Recipe(String),
    /// A migration failed.
    #[error("{0}")]
    Migrate(String),
    /// The server that holds the directory reported an error.
    #[error("the server that holds the data directory: {0}")]
    Server(String),
    /// Stdout or the runtime failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Verb {
    /// Runs the command on a data directory.
    ///
    /// # Errors
    /// [`CareError`], as a sentence for the person who ran the command.
    pub async fn run(self, dir: &Path) -> Result<ExitCode> {
        let at = dir.to_owned();
        match self {
            Self::Backup { file } => off(move || backup::backup(&at, &file)).await,
            Self::Restore { file, replace } => off(move || put_back(&at, &file, replace)).await,
            Self::Check { repair } => off(move || check::check(&at, repair)).await,
            Self::Export { id, file, revision } => {
                off(move || export::export(&at, &id, file.as_deref(), revision)).await
            }
            Self::Compact => match Request::Compact.ask(dir).await? {
                Some(result) => say(&result),
                None => off(move || alone(&at)).await,
            },
            Self::Import { file, id } => {
                let request = off(move || import::read(&file, id)).await?;
                add(request, at).await
            }
            Self::Generate(given) => match off(move || given.request()).await? {
                Some(request) => add(request, at).await,
                None => Ok(ExitCode::SUCCESS),
            },
            Self::Migrate(given) => given.run(None).await,
        }
    }
}

/// Adds a universe, through the server that holds the directory, if there is one.
async fn add(request: Request, dir: PathBuf) -> Result<ExitCode> {
    if let Some(result) = request.ask(&dir).await? {
        return say(&result);
    }
    let store = off(move || Ok(SqliteStore::open(&dir, Options::default())?)).await?;
    let store = std::sync::Arc::new(store);
    let service = CommandService::new(store.clone(), ServiceLimits::default());
    let result = Online::new(service, store).take(request).await;
    say(&result.map_err(CareError::Database)?)
}

/// Runs blocking work outside the runtime's threads.
async fn off<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let done = service_host::run_blocking(work).await;
    done.map_err(io::Error::other)?
}

/// Prints a line on stdout.
fn say(line: &str) -> Result<ExitCode> {
    service_host::print(line)?;
    Ok(ExitCode::SUCCESS)
}

/// The command `restore`.
fn put_back(dir: &Path, file: &Path, replace: bool) -> Result<ExitCode> {
    let (universes, findings) = judge(file)?;
    if let Some(aside) = restore(dir, file, replace)? {
        say(&format!("what was there before is in {}", aside.display()))?;
    }
    let are = if universes == 1 { "is" } else { "are" };
    say(&format!("{} {are} in {}", counted(universes), dir.display()))?;
    check::tell(&findings)
}

/// The number of universes in a backup, if its file is sound, and which of them do not fit together.
fn judge(file: &Path) -> Result<(u64, Vec<Finding>)> {
    let content = |problem: String| CareError::Content {
        file: file.to_owned(),
        // The text of the error already begins with the name of the file.
        problem: match problem.strip_prefix(&format!("{}: ", file.display())) {
            Some(problem) => problem.to_owned(),
            None => problem,
        },
    };
    let parent = file.parent().unwrap_or(Path::new("."));
    let opened = Inspector::open_file(parent, file).map_err(|error| match error {
        OpenError::Unreadable { reason, .. } => content(reason),
        // Its advice is for a data directory.
        OpenError::Damaged { reason, .. } => content(format!(
            "{reason}: no backup, or a damaged one; `universe-server import` takes one universe as JSON"
        )),
        error => content(error.to_string()),
    })?;
    let found = opened.integrity()?;
    if let Some(first) = found.first() {
        return Err(content(format!("it is damaged: {first}")));
    }
    let is_known = opened.format()? >= Inspector::oldest_format();
    let findings = if is_known { opened.view()?.problems()? } else { Vec::new() };
    Ok((opened.universes()?, findings))
}

/// A number of universes, in words.
fn counted(universes: u64) -> String {
    match universes {
        1 => "1 universe".to_owned(),
        many => format!("{many} universes"),
    }
}

/// The command `compact`, without a server.
fn alone(dir: &Path) -> Result<ExitCode> {
    let (before, after) = compact(dir)?;
    say(&compacted(before, after))
}

fn compacted(before: Size, after: Size) -> String {
    let Size { file, free, .. } = after;
    format!("{} bytes before, {file} now, {free} of them free", before.file)
}

/// Refuses a format whose tables cannot be read.
fn present(inspector: &Inspector) -> Result<()> {
    let (found, present) = (inspector.format()?, Inspector::oldest_format());
    if found < present { Err(CareError::OlderFormat { found, present }) } else { Ok(()) }
}

/// Checks that there is a data directory of the present format.
///
/// # Errors
/// The problem with the directory.
pub(crate) fn is_present(dir: &Path) -> Result<()> {
    present(&Inspector::open(dir)?)
}

/// Writes a file under a temporary name and renames it once it is complete and on the disk. The file must not exist
/// yet.
fn write_new(file: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let failed = |error| CareError::File { file: file.to_owned(), error };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    // This reserves the name.
    drop(options.open(file).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => CareError::Content {
            file: file.to_owned(),
            problem: "exists already; name a new file".to_owned(),
        },
        _ => failed(error),
    })?);
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = file.with_file_name(name);
    let written = || {
        drop(options.open(&partial).map_err(failed)?);
        write(&partial)?;
        let whole = std::fs::File::open(&partial).map_err(failed)?;
        whole.sync_all().map_err(failed)?;
        std::fs::rename(&partial, file).map_err(failed)
    };
    written().inspect_err(|_| {
        for unfinished in [&partial, file] {
            // It may not exist.
            let _ = std::fs::remove_file(unfinished);
        }
    })
}
