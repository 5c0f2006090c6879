//! The lock file: a contract as JSON that people can read in the history of a repository.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::{Contract, ItemKind};
use crate::transcript::files;

/// The version of the format.
const FORMAT: u64 = 1;

#[derive(Serialize)]
struct Lock<'a> {
    lock: u64,
    #[serde(flatten)]
    contract: &'a Contract,
}

impl Contract {
    /// The text of a lock file. The same contract has the same text, whatever the order of the server's lists.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub fn to_lock(&self) -> serde_json::Result<String> {
        let lock = Lock { lock: FORMAT, contract: self };
        Ok(serde_json::to_string_pretty(&lock)? + "\n")
    }
}

/// Reads a lock file, or the JSON of a list's result or response.
pub(super) fn read(path: &Path) -> Result<Contract, String> {
    let text = files::read(path).map_err(|error| error.problem.to_string())?;
    let mut value: Value =
        serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}"))?;
    let version = value.as_object_mut().and_then(|lock| lock.remove("lock"));
    let mut contract = match version {
        Some(version) if version == FORMAT => serde_json::from_value(value)
            .map_err(|error| format!("not a lock file as `snapshot` writes it: {error}"))?,
        Some(_) => {
            return Err(format!(
                "the lock file has another version; this program reads version {FORMAT}"
            ));
        }
        None => listed(value.get("result").unwrap_or(&value))?,
    };
    contract.source = path.display().to_string();
    Ok(contract)
}

/// The contract in the result of one list, or of several in one object.
fn listed(result: &Value) -> Result<Contract, String> {
    let mut contract = Contract::default();
    for kind in ItemKind::ALL {
        if let Some(items) = result.get(kind.member()).and_then(Value::as_array) {
            contract.add(kind, items);
        }
    }
    if contract.lists.is_empty() {
        return Err(
            "this is neither a lock file, which `snapshot` writes, nor the result of a list \
                    such as {\"tools\":[…]}"
                .to_owned(),
        );
    }
    Ok(contract)
}
