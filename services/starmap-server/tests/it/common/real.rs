//! The real map, where it is at hand: it may not be distributed, so it lies outside of the project.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use starmap_server::map::{Map, Parts, PartsConstellation, PartsRegion, PartsSystem};

/// The folder of the real map's files. Where there is none, the test that asks says on stderr that it skips.
pub(crate) fn real_folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("../shared/data/eve");
    if folder.join("systems.csv").is_file() {
        return Some(folder);
    }
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not by a macro: what those print is shown for tests that fail only.
    let _ = writeln!(io::stderr(), "skipped: {test}: the real map is not at ../shared/data/eve");
    None
}

/// The real map, or `None` with a word on stderr.
pub(crate) fn real() -> Option<Map> {
    let (map, warnings) = Map::new(real_parts()?).unwrap();
    assert_eq!(warnings, []);
    Some(map)
}

/// What the real map is made of, read in the plainest way, so that it can judge the loaders.
pub(crate) fn real_parts() -> Option<Parts> {
    let folder = real_folder()?;
    let rows =
        |file: &str| -> Vec<Vec<String>> { rows(&fs::read_to_string(folder.join(file)).unwrap()) };
    let mut text = String::new();
    let packed = fs::File::open(folder.join("positions.csv.gz")).unwrap();
    GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let positions: HashMap<u32, [f64; 3]> = self::rows(&text)
        .iter()
        .map(|row| (number(&row[0]), [1, 2, 3].map(|at| row[at].parse().unwrap())))
        .collect();
    let systems = rows("systems.csv").into_iter().map(|row| PartsSystem {
        id: number(&row[0]),
        name: row[1].clone(),
        security: row[2].parse().unwrap(),
        constellation: number(&row[3]),
        position: positions.get(&number(&row[0])).copied(),
    });
    let constellations = rows("constellations.csv").into_iter();
    let constellations = constellations.map(|row| PartsConstellation {
        id: number(&row[0]),
        name: row[1].clone(),
        region: number(&row[2]),
    });
    let regions = rows("regions.csv")
        .into_iter()
        .map(|row| PartsRegion { id: number(&row[0]), name: row[1].clone() });
    let gates = rows("stargates.csv").into_iter();
    let gates = gates.map(|row| (number(&row[1]), number(&row[2])));
    Some(Parts {
        version: String::new(),
        regions: regions.collect(),
        constellations: constellations.collect(),
        systems: systems.collect(),
        gates: gates.collect(),
        ..Parts::default()
    })
}

/// No field is quoted in these files.
fn rows(text: &str) -> Vec<Vec<String>> {
    let split = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().skip(1).map(split).collect()
}

fn number(field: &str) -> u32 {
    field.parse().unwrap()
}
