//! Reading a dump: one file or the files of a folder.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Activity, Figures, Warfare};
use crate::files::{self, Contents, FileError};

/// The largest file of a dump in bytes. The API's answers together have about 0.6 MB.
pub const MAX_DUMP_BYTES: u64 = 16 * 1024 * 1024;
/// The most files of a folder that are looked at.
pub const MAX_DUMP_FILES: usize = 64;
/// The most entries of one array.
pub const MAX_DUMP_ENTRIES: usize = 100_000;

/// The longest word for the state of faction warfare. The API's words have at most eleven characters.
const MAX_WORD: usize = 40;

#[derive(Deserialize)]
struct Kills {
    system_id: u32,
    ship_kills: u32,
    #[serde(default)]
    pod_kills: u32,
    #[serde(default)]
    npc_kills: u32,
}

#[derive(Deserialize)]
struct Jumps {
    system_id: u32,
    ship_jumps: u32,
}

#[derive(Deserialize)]
struct FactionWarfare {
    solar_system_id: u32,
    owner_faction_id: u32,
    occupier_faction_id: u32,
    #[serde(default)]
    contested: String,
    #[serde(default)]
    victory_points: u32,
    #[serde(default)]
    victory_points_threshold: u32,
}

/// Reads the dump at `path`: a file, or a folder whose `.json` files are read.
///
/// # Errors
/// [`FileError`]; a dump is read as a whole or not at all.
pub fn load(path: &Path) -> Result<Activity, FileError> {
    let io = |error| FileError::io(path, error);
    let mut activity = Activity::default();
    if fs::metadata(path).map_err(io)?.is_dir() {
        for file in files_of(path)? {
            read_file(&file, &mut activity)?;
        }
    } else {
        read_file(path, &mut activity)?;
    }
    let has = activity.has;
    if !(has.kills || has.jumps || has.faction_warfare) {
        let problem = format!("there is nothing of a dump in it: {EXPECTED}");
        return Err(FileError::content(path, problem));
    }
    Ok(activity)
}

const EXPECTED: &str = "it takes the arrays that the public API gives for system_kills, system_jumps or fw/systems, \
                        as .json files of a folder or as members of one object";

/// The `.json` files of a folder, by name.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let io = |error| FileError::io(folder, error);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            files.push(path);
        }
        if files.len() > MAX_DUMP_FILES {
            let problem =
                format!("it has more than {MAX_DUMP_FILES} .json files; a dump has three");
            return Err(FileError::content(folder, problem));
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn read_file(path: &Path, activity: &mut Activity) -> Result<(), FileError> {
    let wrong = |problem: String| FileError::content(path, problem);
    let Contents { bytes, written } = files::read(path, MAX_DUMP_BYTES)?;
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|error| wrong(format!("it is not JSON ({error}); {EXPECTED}")))?;
    let arrays: Vec<Value> = match value {
        Value::Object(members) => {
            members.into_iter().map(|(_, value)| value).filter(Value::is_array).collect()
        }
        array @ Value::Array(_) => vec![array],
        _ => Vec::new(),
    };
    if arrays.is_empty() {
        return Err(wrong(format!("there is no array in it: {EXPECTED}")));
    }
    for array in arrays {
        if let Some(left_out) = take(&array, activity).map_err(wrong)? {
            activity.left_out.get_or_insert(left_out);
        }
    }
    activity.written = match (activity.written, written) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    Ok(())
}

/// Decides by the first entry what an array contains, and takes it.
fn take(array: &Value, activity: &mut Activity) -> Result<Option<String>, String> {
    let entries = array.as_array().map_or(0, Vec::len);
    if entries > MAX_DUMP_ENTRIES {
        return Err(format!("an array of it has more than {MAX_DUMP_ENTRIES} entries"));
    }
    // An empty array means that nothing happened, but does not show which figure it belongs to.
    let Some(first) = array.as_array().and_then(|entries| entries.first()) else {
        return Ok(None);
    };
    let mut left_out = None;
    let has = |member: &str| first.get(member).is_some();
    if has("ship_jumps") {
        activity.has.jumps = true;
        for entry in typed::<Jumps>("system_jumps", array, &mut left_out)? {
            figures(&mut activity.systems, entry.system_id).ship_jumps = entry.ship_jumps;
        }
    } else if has("ship_kills") || has("npc_kills") || has("pod_kills") {
        (activity.has.kills, activity.has.ratting) = (true, true);
        for entry in typed::<Kills>("system_kills", array, &mut left_out)? {
            let figures = figures(&mut activity.systems, entry.system_id);
            figures.ship_kills = entry.ship_kills;
            figures.pod_kills = entry.pod_kills;
            figures.npc_kills = entry.npc_kills;
        }
    } else if has("solar_system_id") && has("occupier_faction_id") {
        activity.has.faction_warfare = true;
        for entry in typed::<FactionWarfare>("fw/systems", array, &mut left_out)? {
            let warfare = Warfare {
                owner: entry.owner_faction_id,
                occupier: entry.occupier_faction_id,
                contested: entry.contested.chars().take(MAX_WORD).collect(),
                victory_points: entry.victory_points,
                threshold: entry.victory_points_threshold,
            };
            activity.warfare.insert(entry.solar_system_id, warfare);
        }
    } else {
        return Err(format!("the arrays in it are not those of a dump: {EXPECTED}"));
    }
    Ok(left_out)
}

/// The entries that are understood. A bad entry costs itself, unless all are bad.
fn typed<T: DeserializeOwned>(
    what: &str,
    array: &Value,
    left_out: &mut Option<String>,
) -> Result<Vec<T>, String> {
    let entries = array.as_array().cloned().unwrap_or_default();
    let count = entries.len();
    let (mut good, mut wrong) = (Vec::with_capacity(count), Vec::new());
    for entry in entries {
        match serde_json::from_value(entry) {
            Ok(entry) => good.push(entry),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    let Some(first) = wrong.first() else {
        return Ok(good);
    };
    let said = format!(
        "{} of {count} entries of {what} are not understood; the first: {first}",
        wrong.len()
    );
    if good.is_empty() {
        return Err(said);
    }
    *left_out = Some(said);
    Ok(good)
}

fn figures(systems: &mut HashMap<u32, Figures>, system: u32) -> &mut Figures {
    systems.entry(system).or_default()
}
