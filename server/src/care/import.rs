//! `import`: a universe from a file.

use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use universe_core::{State, Strictness, TextError};

use super::{CareError, Request, Result, UniverseId};
use crate::commands::Replacement;
use crate::store::MAX_WRITE;

/// Other members, such as those that `export` writes, are ignored.
#[derive(Deserialize)]
struct ImportFile<'t> {
    name: Option<String>,
    #[serde(borrow)]
    state: Option<&'t RawValue>,
}

/// Reads and checks the file.
pub(super) fn read(file: &Path, id: Option<UniverseId>) -> Result<Request> {
    let failed = |error| CareError::File { file: file.to_owned(), error };
    let content = |problem: String| CareError::Content { file: file.to_owned(), problem };
    let bytes = std::fs::metadata(file).map_err(failed)?.len();
    if bytes > MAX_WRITE as u64 {
        return Err(content(format!(
            "{bytes} bytes are more than the {MAX_WRITE} that a universe may have"
        )));
    }
    let expected = |problem: &dyn std::fmt::Display| {
        content(format!(
            "{problem}; a JSON object with name and state was expected, as `export` writes it"
        ))
    };
    // A backup is no text.
    let text = std::fs::read_to_string(file).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => expected(&error),
        _ => failed(error),
    })?;
    let given: ImportFile<'_> =
        serde_json::from_str(&text).map_err(|problem| expected(&problem))?;
    let name = given.name.ok_or_else(|| expected(&"there is no name"))?;
    let name = Replacement::check_name(&name).map_err(content)?;
    let state = given.state.ok_or_else(|| expected(&"there is no state"))?;
    let state = state_of(state).map_err(|problem| content(problem.to_string()))?;
    let state = Box::new(state);
    Ok(Request::Import { id, name, state })
}

/// Reads a state from JSON text, one entity at a time.
pub(super) fn state_of(text: &RawValue) -> Result<State, TextError> {
    let value = |text: &str| serde_json::from_str(text).map_err(|problem| problem.to_string());
    let (state, _warnings) = State::read_text(text.get(), Strictness::Lenient, &value)?;
    Ok(state)
}
