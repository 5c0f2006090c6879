//! Reading a file of connections: its shape, its bounds, and files that are none.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use starmap_server::connections::{self, Connection, Connections, MAX_FILE_BYTES, MAX_OF_A_FILE};
use starmap_server::map::Ship;
use starmap_server::route::ConnectionKind;
use tempfile::TempDir;

fn read(contents: &[u8]) -> Result<Vec<Connection>, String> {
    whole(contents).map(|read| read.list)
}

fn whole(contents: &[u8]) -> Result<Connections, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bridges.json");
    fs::write(&path, contents).unwrap();
    connections::load(&path).map_err(|error| {
        let error = error.to_string();
        assert!(error.contains("bridges.json"), "{error}");
        error
    })
}

#[test]
fn connections_are_what_tools_take() {
    let text = br#"[{"from": "Jita", "to": "Pell"}, {"from": "30000001", "to": "x", "both_ways": false, "cost": 2.5}]"#;
    let plain = |from: &str, to: &str| Connection {
        from: from.to_owned(),
        to: to.to_owned(),
        ..Connection::default()
    };
    let wormhole = Connection { both_ways: Some(false), cost: Some(2.5), ..plain("30000001", "x") };
    assert_eq!(read(text).unwrap(), [plain("Jita", "Pell"), wormhole]);
    assert_eq!(
        read(&[b"\xef\xbb\xbf", &text[..]].concat()),
        read(text),
        "a mark before the text is passed over"
    );
    assert_eq!(read(b"[]").unwrap(), []);
}

#[test]
fn what_is_none_is_refused_in_words() {
    for (contents, told) in [
        (&b"{}"[..], "it takes an array such as"),
        (b"[5]", "it takes an array such as"),
        (b"nothing of this kind", "does not name two systems"),
        (br#"{"error": "Timeout"}"#, "its members are error"),
        (b"[ [30000142, 30002187], [300", "EOF while parsing"),
        (br#"[{"from": "Jita"}]"#, "it does not say from where to where; it has from"),
        (br#"[{"from": "Jita", "to": true}]"#, "an end of it is not a name or an id"),
        (br#"[{"from": "a", "to": "b", "cost": -1}]"#, "the cost is -1"),
        (br#"[{"from": "a", "to": "b", "cost": 1e400}]"#, "out of range"),
        (
            br#"[{"from": "a", "to": "b", "both_ways": "false"}]"#,
            "both_ways is \"false\"; it is true",
        ),
    ] {
        let error = read(contents).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
    assert!(read("[".repeat(100_000).as_bytes()).is_err());
    let many = |count| {
        let one = json!({"from": "a", "to": "b"});
        Value::from(vec![one; count]).to_string()
    };
    assert_eq!(read(many(MAX_OF_A_FILE).as_bytes()).unwrap().len(), 4_500);
    let error = read(many(MAX_OF_A_FILE + 1).as_bytes()).unwrap_err();
    assert!(error.contains("more than the 4500 connections"), "{error}");
    let large = vec![b' '; usize::try_from(MAX_FILE_BYTES).unwrap() + 1];
    assert!(read(&large).unwrap_err().contains("larger than"));
    for path in ["/no/such/file", "/dev/zero", "/"] {
        assert!(connections::load(Path::new(path)).is_err(), "{path}");
    }
}

// wanderer-industries/wanderer#550, pfh59/eve-whmapper#365: a bad entry costs itself, an unknown member nothing
#[test]
fn one_bad_entry_and_unknown_members_cost_no_others() {
    let read = whole(
        br#"[{"from": "Jita", "to": "Pell", "mass": 5, "colour": "red"}, {"from": "Jita"},
            {"from": "a", "to": "b", "max_ship": "huge"}, {"from": "c", "to": "d", "kind": "frobnicate"}]"#,
    );
    let read = read.unwrap();
    let ends: Vec<(&str, &str)> = read.list.iter().map(|it| (&*it.from, &*it.to)).collect();
    assert_eq!(ends, [("Jita", "Pell"), ("c", "d")]);
    let report = read.report.unwrap();
    crate::assert_has(
        &report,
        &["2 of 4 connections", "number 2", "it has from", "colour, kind \"frobnicate\", mass"],
    );
}

fn one(contents: &str) -> Connection {
    let read = whole(contents.as_bytes()).unwrap();
    assert_eq!(read.report, None, "{contents}");
    let [one] = read.list.as_slice() else { panic!("{contents}") };
    one.clone()
}

// wanderer-industries/wanderer#550, pfh59/eve-whmapper#365
#[test]
fn signatures_of_eve_scout_are_read() {
    let read = one(
        r#"[{"id": "46123", "created_at": "2026-11-27T20:00:00.000Z", "wh_type": "F135", "max_ship_size": "large",
            "expires_at": "2026-11-28T20:00:00.000Z", "remaining_hours": 9, "signature_type": "wormhole",
            "out_system_id": 31000005, "out_system_name": "Thera", "out_signature": "ABC-123",
            "in_system_id": 30000142, "in_system_class": "hs", "in_system_name": "Jita",
            "in_signature": "XYZ-789", "wh_exits_outward": true, "completed": true}]"#,
    );
    assert_eq!((&*read.from, &*read.to), ("31000005", "30000142"));
    assert_eq!((read.max_ship, read.kind), (Some(Ship::Large), Some(ConnectionKind::Wormhole)));
    assert_eq!(read.expires, Some(1_795_896_000));
}

// GQuantrill/eve-nexum#599 (Wanderer's export), exodus4d/pathfinder (its export)
#[test]
fn maps_of_wanderer_and_pathfinder_are_read() {
    let read = one(
        r#"{"data": [{"id": "c1", "map_id": "m", "solar_system_source": 31000005, "solar_system_target": 30000142,
            "type": 0, "mass_status": 0, "time_status": 1, "ship_size_type": 1, "locked": false}]}"#,
    );
    assert_eq!(
        (&*read.from, &*read.to, read.max_ship),
        ("31000005", "30000142", Some(Ship::Medium))
    );
    assert_eq!(read.kind, Some(ConnectionKind::Wormhole));
    let read = one(
        r#"{"data": {"systems": [{"id": 7, "systemId": 31000005, "name": "Thera"}, {"id": 8, "systemId": 30000142}],
            "connections": [{"source": 7, "target": 8, "scope": "wh", "type": ["wh_fresh", "wh_jump_mass_m"]}]}}"#,
    );
    assert_eq!(
        (&*read.from, &*read.to, read.max_ship),
        ("31000005", "30000142", Some(Ship::Medium))
    );
    assert_eq!(read.kind, Some(ConnectionKind::Wormhole));
}

// GQuantrill/eve-nexum#597, wanderer-industries/wanderer#301
#[test]
fn dying_holes_are_marked_as_maps_have_it() {
    let wanderer = |status: &str| {
        format!(
            r#"[{{"solar_system_source": 31000005, "solar_system_target": 30000142, {status}}}]"#
        )
    };
    let pathfinder = |types: &str| {
        let connection =
            format!(r#"{{"source": 7, "target": 8, "scope": "wh", "type": [{types}]}}"#);
        format!(
            r#"{{"systems": [{{"id": 7, "systemId": 31000005}}], "connections": [{connection}]}}"#
        )
    };
    for (file, end_of_life, critical) in [
        (wanderer(r#""time_status": 0, "mass_status": 1"#), false, false),
        (wanderer(r#""time_status": 1, "mass_status": null"#), true, false),
        (wanderer(r#""time_status": 2, "mass_status": 2"#), true, true),
        (wanderer(r#""time_status": 3"#), false, false),
        (pathfinder(r#""wh_fresh", "wh_jump_mass_xl""#), false, false),
        (pathfinder(r#""wh_eol", "wh_reduced", "preserve_mass""#), true, false),
        (pathfinder(r#""wh_critical", "wh_eol_critical""#), true, true),
    ] {
        let read = one(&file);
        assert_eq!((read.end_of_life, read.critical), (end_of_life, critical), "{file}");
    }
    for (file, told) in [
        (
            wanderer(r#""time_status": 7, "mass_status": "low""#),
            "mass_status \"low\", time_status 7",
        ),
        (pathfinder(r#""wh_wobbly""#), "type wh_wobbly"),
    ] {
        let read = whole(file.as_bytes()).unwrap();
        assert!(!read.list[0].end_of_life && !read.list[0].critical, "{file}");
        crate::assert_has(&read.report.unwrap(), &["not known", told]);
    }
}

// Slazanger/SMT#30, Slazanger/SMT#161, Slazanger/SMT#98 (out of a chat of the game)
#[test]
fn lists_of_bridges_are_read() {
    for text in [
        "[ 2026.11.28 20:11:22 ] A Pilot > 1DQ1-A \u{bb} T5ZI-S - Keepstar road",
        "[20:11:22] A Pilot > <url=showinfo:35841//1034323745897>1DQ1-A \u{bb} T5ZI-S - road</url>",
        "# ours\nA Pilot > 1DQ1-A --> T5ZI-S",
        "1DQ1-A <-> T5ZI-S",
        "1DQ1-A \u{bb} T5ZI-S - north > south",
        "1034323745897 1DQ1-A --> T5ZI-S",
        "# ours\n1DQ1-A \u{bb} T5ZI-S - Keepstar road\n",
        "from,to\n1DQ1-A,T5ZI-S\n",
        "\"1DQ1-A\";\"T5ZI-S\"",
        "[\"1DQ1-A --> T5ZI-S\"]",
        "[[\"1DQ1-A\", \"T5ZI-S\"]]",
        r#"{"connections": [{"from": "1DQ1-A", "to": "T5ZI-S"}]}"#,
    ] {
        let read = one(text);
        assert_eq!((&*read.from, &*read.to), ("1DQ1-A", "T5ZI-S"), "{text}");
    }
}
