//! Reading a file of connections: its shape, its bounds, and files that are none.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use starmap_server::connections::{self, Connection, MAX_FILE_BYTES, MAX_OF_A_FILE};
use tempfile::TempDir;

fn read(contents: &[u8]) -> Result<Vec<Connection>, String> {
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
        both_ways: None,
        cost: None,
        max_ship: None,
        expires: None,
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
        (&b""[..], "it takes an array such as"),
        (b"{}", "it takes an array such as"),
        (b"from,to", "it takes an array such as"),
        (br#"[{"from": "Jita"}]"#, "missing field `to`"),
        (br#"[{"from": "Jita", "to": true}]"#, "did not match"),
        (br#"[{"from": "Jita", "to": "Pell", "oneway": true}]"#, "unknown field `oneway`"),
        (
            br#"[{"from": "a", "to": "b"}, {"from": "a", "to": "b", "cost": -1}]"#,
            "the cost of connection 2 is -1",
        ),
        (br#"[{"from": "a", "to": "b", "cost": 1e400}]"#, "out of range"),
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
