//! `backup`: all universes with their histories, as they were at one moment, in one file.

use std::path::Path;
use std::process::ExitCode;

use super::{CareError, Inspector, Result, check, counted, judge, say, write_new};

pub(super) fn backup(dir: &Path, file: &Path) -> Result<ExitCode> {
    let inspector = Inspector::open(dir)?;
    write_new(file, |partial| {
        let name = partial.to_str().ok_or_else(|| CareError::Content {
            file: file.to_owned(),
            problem: "the name of a backup must be UTF-8".to_owned(),
        })?;
        inspector.copy_to(name).map_err(|error| {
            if !error.is_full() {
                return CareError::from(error);
            }
            let problem = "its disk is full: name a file on another one".to_owned();
            CareError::Content { file: file.to_owned(), problem }
        })
    })?;
    let (universes, findings) = judge(file)?;
    let bytes = std::fs::metadata(file).map(|written| written.len());
    let bytes = bytes.map_err(|error| CareError::File { file: file.to_owned(), error })?;
    say(&format!("{}, {bytes} bytes, in {}", counted(universes), file.display()))?;
    // What is damaged is in the copy as it is: it may be repaired there.
    check::tell(&findings)
}
