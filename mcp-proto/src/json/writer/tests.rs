//! Everything that serde can say is written as `serde_json` writes it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::*;

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Newtype(f32);

#[derive(Serialize)]
struct Tuple(u8, i128);

#[derive(Serialize)]
enum Kind {
    Unit,
    Newtype(Option<char>),
    Tuple(i8, u128),
    Struct { a: (), b: &'static str },
}

#[derive(Serialize)]
struct All<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<bool>,
    present: Option<bool>,
    numbers: (i8, i16, i32, i64, u16, u32, u64),
    floats: [f64; 6],
    unit: Unit,
    newtype: Newtype,
    tuple: Tuple,
    kinds: Vec<Kind>,
    raw: &'a RawValue,
    raws: BTreeMap<i64, Box<RawValue>>,
    #[serde(flatten)]
    others: BTreeMap<char, Value>,
    keyed: BTreeMap<bool, [u8; 0]>,
    empty: BTreeMap<String, ()>,
}

fn same(value: &impl Serialize) {
    let theirs = serde_json::to_string(value).unwrap();
    assert_eq!(to_json(value, 0).unwrap(), theirs);
}

#[test]
fn every_kind_of_value_is_written_alike() {
    let raw = RawValue::from_string(r#"{ "as": [1.50, "\u0041"] }"#.to_owned()).unwrap();
    same(&All {
        absent: None,
        present: Some(true),
        numbers: (-1, i16::MIN, i32::MAX, i64::MIN, 0, u32::MAX, u64::MAX),
        floats: [0.0, -0.0, 1e300, 0.1, f64::NAN, f64::INFINITY],
        unit: Unit,
        newtype: Newtype(0.1),
        tuple: Tuple(255, i128::MIN),
        kinds: vec![
            Kind::Unit,
            Kind::Newtype(Some('"')),
            Kind::Newtype(None),
            Kind::Tuple(-8, u128::MAX),
            Kind::Struct { a: (), b: "\\" },
        ],
        raw: &raw,
        raws: BTreeMap::from([(-3, raw.clone()), (4, raw.clone())]),
        others: BTreeMap::from([('\n', json!([{}, [], null])), ('x', json!("y"))]),
        keyed: BTreeMap::from([(false, []), (true, [])]),
        empty: BTreeMap::new(),
    });
    same(&raw);
    same(&format_args!("{}", "\"formatted\""));
}

#[test]
fn keys_that_are_no_texts_are_refused_alike() {
    let keyed = BTreeMap::from([(vec![1], 2)]);
    assert!(serde_json::to_string(&keyed).is_err());
    let error = to_json(&keyed, 0).unwrap_err();
    assert_eq!(error.to_string(), "key must be a string");
    to_json(&BTreeMap::from([(None::<u8>, 2)]), 0).unwrap_err();
    to_json(&BTreeMap::from([((), 2)]), 0).unwrap_err();
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(?s).{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("(?s).{0,9}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn trees_are_written_alike(value in tree()) {
        same(&value);
    }
}
