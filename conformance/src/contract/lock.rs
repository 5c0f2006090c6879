//! The lock file: a contract as JSON that people can read in the history of a repository.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Contract, ItemKind, MAX_LOCK_BYTES};

/// The version of the format.
const FORMAT: u64 = 1;

impl Contract {
    /// The text of a lock file. The same contract has the same text, whatever the order of the server's lists.
    #[must_use]
    pub fn to_lock(&self) -> String {
        let mut lock = Map::new();
        lock.insert("lock".to_owned(), FORMAT.into());
        let mut put = |name: &str, value: Option<Value>| {
            lock.extend(value.map(|value| (name.to_owned(), value)));
        };
        put("server", self.server.clone());
        put("revision", self.revision.clone().map(Value::from));
        put("capabilities", self.capabilities.clone());
        put("instructions", self.instructions.clone().map(Value::from));
        put("notes", (!self.notes.is_empty()).then(|| json!(self.notes)));
        for (kind, items) in &self.lists {
            put(kind.member(), Some(json!(items)));
        }
        format!("{:#}\n", Value::Object(lock))
    }

    fn from_lock(value: &Value) -> Result<Self, String> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let mut contract = Self {
            server: value.get("server").cloned(),
            revision: text("revision"),
            capabilities: value.get("capabilities").cloned(),
            instructions: text("instructions"),
            ..Self::default()
        };
        let notes = value.get("notes").and_then(Value::as_array).into_iter().flatten();
        contract.notes = notes.filter_map(|it| it.as_str().map(str::to_owned)).collect();
        for kind in ItemKind::ALL {
            let Some(items) = value.get(kind.member()) else {
                continue;
            };
            let items = items.as_object();
            let items = items.ok_or_else(|| format!("its {} are not an object", kind.member()))?;
            let items: BTreeMap<_, _> = items.clone().into_iter().collect();
            contract.lists.insert(kind, items);
        }
        Ok(contract)
    }
}

/// Reads a lock file, or the JSON of a list's result or response.
pub(super) fn read(path: &Path) -> Result<Contract, String> {
    let mut text = String::new();
    let read =
        File::open(path).and_then(|file| file.take(MAX_LOCK_BYTES + 1).read_to_string(&mut text));
    read.map_err(|error| format!("cannot be read: {error}"))?;
    if text.len() as u64 > MAX_LOCK_BYTES {
        return Err(format!("the file is longer than {MAX_LOCK_BYTES} bytes"));
    }
    let value: Value = serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}"))?;
    let mut contract = match value.get("lock").map(Value::as_u64) {
        Some(Some(FORMAT)) => Contract::from_lock(&value)?,
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
