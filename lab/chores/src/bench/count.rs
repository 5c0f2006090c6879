//! Instructions per call, by callgrind.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::case::Program;
use super::connection::Connection;
use super::exchange::Calls;
use xtask::process::Server;
use xtask::{Result, target};

/// The number of calls of the first run: enough to finish all lazy initialization.
const WARM_UP: u64 = 200;

/// The cost of one call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    pub(super) instructions: f64,
    /// The length of the last answer's body.
    pub(super) answer_bytes: usize,
}

/// A program under callgrind: its name, the folder for its data, and the preparation of its calls.
pub(super) struct Counted<'a> {
    pub(super) name: &'a str,
    pub(super) program: &'a Path,
    pub(super) arguments: Vec<OsString>,
    pub(super) data: Option<&'a Path>,
    pub(super) prepare: &'a dyn Fn(&mut Connection) -> Result<Calls>,
}

/// The instructions of one call, as the mean over `calls` additional calls.
pub(super) fn per_call(counted: &Counted<'_>, calls: u64) -> Result<Count> {
    let folder = target().join("bench");
    fs::create_dir_all(&folder)?;
    let (few, _) = total(counted, WARM_UP, &folder)?;
    let (many, answer_bytes) = total(counted, WARM_UP + calls, &folder)?;
    let more = many.checked_sub(few).ok_or("more calls took fewer instructions")?;
    #[expect(clippy::cast_precision_loss, reason = "both are far below 2^52")]
    let instructions = more as f64 / calls as f64;
    Ok(Count { instructions, answer_bytes })
}

/// All instructions of a server that answers this many calls, from its start to its end. The profile is kept in
/// `folder` for `callgrind_annotate`.
fn total(counted: &Counted<'_>, calls: u64, folder: &Path) -> Result<(u64, usize)> {
    let label = counted.name.replace([' ', '/', ','], "-");
    let profile = folder.join(format!("{label}.{calls}.callgrind"));
    // An interrupted run may have left this file. It need not exist.
    let _ = fs::remove_file(&profile);
    let clean = || counted.data.map(fs::remove_dir_all);
    let _ = clean();
    let mut arguments: Vec<OsString> = vec!["-q".into(), "--tool=callgrind".into()];
    let mut out = OsString::from("--callgrind-out-file=");
    out.push(&profile);
    arguments.push(out);
    arguments.push(counted.program.into());
    arguments.extend(counted.arguments.iter().cloned());
    let server = Server::start(Path::new("valgrind"), &arguments)?;
    let mut connection = Connection::open(server.url())?;
    let mut script = (counted.prepare)(&mut connection)?;
    let mut answer_bytes = 0;
    for _ in 0..calls {
        answer_bytes = script.make(&mut connection)?;
    }
    drop(connection);
    server.stop()?;
    let _ = clean();
    let profile = fs::read_to_string(&profile)?;
    let total = profile
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("totals: "))
        .ok_or("callgrind wrote no total")?;
    Ok((total.trim().parse()?, answer_bytes))
}

impl Program {
    /// How the program is started: on a free port, and with its data in a separate folder.
    pub(super) fn arguments(self, data: &Path) -> Vec<OsString> {
        match self {
            Self::Floor | Self::Ours => vec!["127.0.0.1:0".into()],
            Self::Universe => {
                vec!["--listen".into(), "127.0.0.1:0".into(), "--data-dir".into(), data.into()]
            }
        }
    }
}
