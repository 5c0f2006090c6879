//! Instructions per call, by callgrind.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::Programs;
use super::case::{Case, Program};
use super::connection::Connection;
use crate::process::Server;
use crate::{Result, target};

/// How many calls the first run makes: enough for every lazy start to be over.
const WARM_UP: u64 = 200;

/// What one call costs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    pub(super) instructions: f64,
    /// The length of the last answer's body.
    pub(super) answer_bytes: usize,
}

/// The instructions of one call: what `calls` more of them add.
pub(super) fn per_call(programs: &Programs, case: &Case, calls: u64) -> Result<Count> {
    let folder = target().join("bench");
    fs::create_dir_all(&folder)?;
    let (few, _) = total(programs, case, WARM_UP, &folder)?;
    let (many, answer_bytes) = total(programs, case, WARM_UP + calls, &folder)?;
    let more = many
        .checked_sub(few)
        .ok_or("more calls took fewer instructions")?;
    #[expect(clippy::cast_precision_loss, reason = "both are far below 2^52")]
    let instructions = more as f64 / calls as f64;
    Ok(Count {
        instructions,
        answer_bytes,
    })
}

/// All instructions of a server that answers this many calls, from its start to its end. The profile stays in
/// `folder`, for `callgrind_annotate`.
fn total(programs: &Programs, case: &Case, calls: u64, folder: &Path) -> Result<(u64, usize)> {
    let label = case.name.replace([' ', '/', ','], "-");
    let profile = folder.join(format!("{label}.{calls}.callgrind"));
    let data = folder.join(format!("{label}.data"));
    // Left behind by a run that was broken off; a file that is not there is fine.
    let _ = fs::remove_file(&profile);
    let _ = fs::remove_dir_all(&data);
    let mut arguments: Vec<OsString> = vec!["-q".into(), "--tool=callgrind".into()];
    let mut out = OsString::from("--callgrind-out-file=");
    out.push(&profile);
    arguments.push(out);
    arguments.push(programs.path(case.program).into());
    arguments.extend(case.program.arguments(&data));
    let server = Server::start(Path::new("valgrind"), &arguments)?;
    let mut connection = Connection::open(server.url())?;
    let call = case.prepare(&mut connection)?;
    let mut answer_bytes = 0;
    for number in 0..calls {
        answer_bytes = call.make(&mut connection, number)?;
    }
    drop(connection);
    server.stop()?;
    let _ = fs::remove_dir_all(&data);
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
            Self::Floor | Self::Echo => vec!["127.0.0.1:0".into()],
            Self::Universe => vec![
                "--listen".into(),
                "127.0.0.1:0".into(),
                "--data-dir".into(),
                data.into(),
            ],
        }
    }
}
