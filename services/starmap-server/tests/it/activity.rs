//! Reading dumps of the public API: their shapes, levels, and files that are none.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use proptest::prelude::*;
use serde_json::{Value, json};
use starmap_server::activity::{
    self, Activity, Figures, Kinds, Level, Measure, faction_id, faction_name,
};
use tempfile::TempDir;

use crate::assert_has;
use crate::harness::dump;

fn read(contents: &[u8]) -> Result<Activity, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("dump.json");
    fs::write(&path, contents).unwrap();
    activity::load(&path).map_err(|error| {
        let error = error.to_string();
        assert!(error.contains("dump.json"), "{error}");
        error
    })
}

fn read_json(value: &Value) -> Result<Activity, String> {
    read(value.to_string().as_bytes())
}

#[test]
fn one_file_or_a_folder_say_the_same() {
    let whole = read_json(&dump()).unwrap();
    let folder = TempDir::new().unwrap();
    // Names do not matter, but their ending does.
    for (name, member) in
        [("a.json", "fw_systems"), ("kills.json", "system_kills"), ("z.json", "system_jumps")]
    {
        fs::write(folder.path().join(name), dump()[member].to_string()).unwrap();
    }
    fs::write(folder.path().join("notes.txt"), "no dump").unwrap();
    let parts = activity::load(folder.path()).unwrap();
    assert_eq!(
        parts.has(),
        Kinds { kills: true, ratting: true, jumps: true, faction_warfare: true }
    );
    assert_eq!(parts.has(), whole.has());
    for id in 30_000_001..30_000_021 {
        assert_eq!(parts.figures(id), whole.figures(id));
        assert_eq!(parts.warfare(id), whole.warfare(id));
    }
    let marrow = whole.figures(crate::common::id_of("Marrow"));
    assert_eq!(marrow, Figures { ship_kills: 15, pod_kills: 6, npc_kills: 3, ship_jumps: 60 });
    assert_eq!(whole.figures(1), Figures::default());
    assert!(whole.age_seconds(SystemTime::now()).unwrap() < 3_600);
}

#[test]
fn parts_of_a_dump_are_enough_and_the_api_may_add_members() {
    let jumps = json!([{"system_id": 7, "ship_jumps": 3, "new": {"x": []}}]);
    let read = read_json(&jumps).unwrap();
    assert_eq!(
        read.has(),
        Kinds { kills: false, ratting: false, jumps: true, faction_warfare: false }
    );
    assert_eq!(read.figures(7).ship_jumps, 3);
    assert!(read_json(&json!({"comment": "of today", "jumps": jumps, "kills": []})).is_ok());
}

#[test]
fn a_mark_before_the_text_is_passed_over() {
    let jumps = b"\xef\xbb\xbf[{\"system_id\": 7, \"ship_jumps\": 3}]";
    assert_eq!(read(jumps).unwrap().figures(7).ship_jumps, 3);
}

#[test]
fn what_is_no_dump_is_refused_in_words() {
    for (contents, told) in [
        (&b""[..], "not JSON"),
        (b"[", "not JSON"),
        (b"12", "no array"),
        (b"{}", "no array"),
        (b"[]", "nothing of a dump"),
        (b"[1]", "not those of a dump"),
        (br#"[{"name":"x"}]"#, "not those of a dump"),
        (br#"[{"system_id":1,"ship_jumps":-1}]"#, "1 of 1 entries of system_jumps"),
        (br#"[{"ship_kills":1}]"#, "1 of 1 entries of system_kills"),
        (br#"[{"solar_system_id":1,"occupier_faction_id":1}]"#, "1 of 1 entries of fw/systems"),
        (b"\xff\xfe[]", "not JSON"),
    ] {
        let error = read(contents).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
    // A bad entry costs itself, and is told.
    let one =
        read(br#"[{"system_id":1,"ship_jumps":1},{"system_id":"2","ship_jumps":1}]"#).unwrap();
    assert_eq!(one.figures(1).ship_jumps, 1);
    assert_has(one.left_out().unwrap(), &["1 of 2 entries of system_jumps"]);
    let nested = "[".repeat(100_000);
    assert!(read(nested.as_bytes()).is_err());
    let many: Vec<Value> =
        (0..100_001).map(|id| json!({"system_id": id, "ship_jumps": 1})).collect();
    assert_has(&read_json(&json!(many)).unwrap_err(), &["100000 entries"]);
    let mut large = vec![b' '; usize::try_from(activity::MAX_DUMP_BYTES).unwrap() + 1];
    large[0] = b'[';
    assert!(read(&large).unwrap_err().contains("larger than"));
    assert!(activity::load(Path::new("/no/such/dump")).is_err());
    // Of a device there is no end, of a pipe no beginning.
    let device = activity::load(Path::new("/dev/zero")).unwrap_err();
    assert!(device.to_string().contains("not a file"), "{device}");
    let crowded = TempDir::new().unwrap();
    for n in 0..=activity::MAX_DUMP_FILES {
        fs::write(crowded.path().join(format!("{n}.json")), "[]").unwrap();
    }
    assert_has(&activity::load(crowded.path()).unwrap_err().to_string(), &[".json files"]);
}

#[test]
fn levels_begin_where_they_should() {
    use Level::{Extreme, High, Low, Medium, None};
    let steps = |measure: Measure, counts: [u32; 8]| counts.map(|count| measure.level(count));
    let levels = [None, Low, Low, Medium, Medium, High, High, Extreme];
    assert_eq!(steps(Measure::Kills, [0, 1, 4, 5, 19, 20, 49, 50]), levels);
    assert_eq!(steps(Measure::Jumps, [0, 1, 49, 50, 199, 200, 499, 500]), levels);
    assert_eq!(steps(Measure::Ratting, [0, 1, 49, 50, 99, 100, 299, 300]), levels);
    let risk = |kills| Figures { ship_kills: kills, ..Figures::default() }.camp_risk();
    assert_eq!([0, 1, 4, 5, 9, 10, 19, 20].map(risk), levels);
    assert_eq!(
        Figures { ship_kills: u32::MAX, pod_kills: 1, ..Figures::default() }.kills(),
        u32::MAX
    );
}

#[test]
fn factions_have_names() {
    assert_eq!(faction_id(" CALDARI "), Some(500_001));
    assert_eq!(faction_id("Gallente Federation"), Some(500_004));
    assert_eq!(faction_id("Gallente F"), None);
    assert_eq!(faction_name(500_011), Some("Angel Cartel"));
    assert_eq!(faction_name(1), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }
}

/// What a dump says of each kind, of all systems of the test's map and some beside it.
fn kinds(read: &Activity) -> [Vec<String>; 3] {
    let ids = || (30_000_001..30_000_021).chain([39_999_999]);
    let figures = |id| read.figures(id);
    let kills = |id| {
        let figures = figures(id);
        format!("{} {} {}", figures.ship_kills, figures.pod_kills, figures.npc_kills)
    };
    [
        ids().map(kills).collect(),
        ids().map(|id| figures(id).ship_jumps.to_string()).collect(),
        ids().map(|id| format!("{:?}", read.warfare(id))).collect(),
    ]
}

#[test]
fn a_dump_that_was_cut_is_refused_and_a_changed_byte_costs_one_part_at_most() {
    let whole = dump().to_string().into_bytes();
    let intact = kinds(&read(&whole).unwrap());
    for at in 0..whole.len() {
        assert!(read(&whole[..at]).is_err(), "cut at {at}");
        for byte in [b' ', b'"', b'1', b',', b'-', b'[', b'}', b'_', b'x', 0xff] {
            let mut changed = whole.clone();
            changed[at] = byte;
            let Ok(read) = read(&changed) else { continue };
            let parts = kinds(&read);
            let other = parts.iter().zip(&intact).filter(|(part, intact)| part != intact);
            assert!(other.count() <= 1, "{byte:?} at {at}");
        }
    }
}
