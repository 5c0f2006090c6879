//! The catalog: names, examples, and schemas that are plain and never stricter than the checker.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use universe_core::catalog::{Category, categories, command, command_schema, commands};
use universe_core::member::{Kind, Mode, Table};
use universe_core::{Command, State};

use crate::support::cases;

#[test]
fn ten_categories_of_twenty_five_commands() {
    let names: Vec<_> = categories().iter().map(|c| (c.name, c.slug, c.commands.len())).collect();
    let expected = [
        ("Simulation", "simulation", 1),
        ("Star CRUD", "star-crud", 3),
        ("Star hierarchy", "star-hierarchy", 2),
        ("Group CRUD", "group-crud", 3),
        ("Group hierarchy", "group-hierarchy", 3),
        ("Small body fields", "small-body-fields", 3),
        ("Protoplanetary disks", "protoplanetary-disks", 4),
        ("Nebulae", "nebulae", 3),
        ("Rings", "rings", 2),
        ("Snapshot", "snapshot", 1),
    ];
    assert_eq!(names, expected);
    let names: Vec<_> = commands().map(|spec| spec.kind.name()).collect();
    let expected = "tick addStar updateStar removeStar attachStar detachStar addGroup updateGroup \
        removeGroup addToGroup removeFromGroup moveToGroup setSmallBodyFields updateSmallBodyField \
        removeSmallBodyField setProtoplanetaryDisks addProtoplanetaryDisk updateProtoplanetaryDisk \
        removeProtoplanetaryDisk setNebulae updateNebula removeNebula updateRing removeRing \
        replaceSnapshot";
    assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
    for name in names {
        assert_eq!(command(name).unwrap().kind.name(), name);
    }
}

#[test]
fn categories_are_found_by_name_and_slug_in_any_case() {
    for name in
        ["Star hierarchy", "star hierarchy", "STAR HIERARCHY", "star-hierarchy", "Star-Hierarchy"]
    {
        assert_eq!(Category::find(name).unwrap().slug, "star-hierarchy");
    }
    for name in ["", "star", "starhierarchy", "star_hierarchy", " Star hierarchy"] {
        assert!(Category::find(name).is_none(), "{name:?}");
    }
}

/// A universe in which every example makes sense.
fn demo() -> State {
    let body = |id: &str, parent: Option<&str>, children: &[&str]| {
        json!({
            "id": id, "name": id, "mass": 1, "radius": 1, "color": "#FFFFFF", "parentId": parent,
            "children": children, "orbitalDistance": 1, "orbitalSpeed": 1, "orbitalPhase": 0,
        })
    };
    let mut saturn = body("saturn", Some("sol"), &[]);
    saturn["ring"] = json!({ "opacity": 0.1 });
    // The one record in an example.
    let record = |name: &str, map: &str| {
        let mut example = command(name).unwrap().example();
        let records = example[map].as_object_mut().unwrap();
        records.values_mut().next().unwrap().take()
    };
    let mut field = record("setSmallBodyFields", "fields");
    field["id"] = "main".into();
    let mut nebula = record("setNebulae", "nebulae");
    nebula["id"] = "veil".into();
    let mut disk = command("addProtoplanetaryDisk").unwrap().example()["disk"].take();
    disk["id"] = "old".into();
    State::from_partial(json!({
        "stars": {
            "sol": body("sol", None, &["earth", "saturn"]),
            "earth": body("earth", Some("sol"), &["luna"]),
            "luna": body("luna", Some("earth"), &[]),
            "mars": body("mars", None, &[]),
            "saturn": saturn,
        },
        "rootIds": ["sol", "mars"],
        "groups": {
            "home": { "id": "home", "name": "Home", "parentGroupId": null,
                "children": [{ "id": "inner", "type": "group" }] },
            "inner": { "id": "inner", "name": "Inner", "parentGroupId": "home", "children": [] },
        },
        "rootGroupIds": ["home"],
        "smallBodyFields": { "main": field },
        "protoplanetaryDisks": { "old": disk },
        "nebulae": { "veil": nebula },
    }))
    .unwrap()
}

#[test]
fn every_example_is_accepted_by_a_universe() {
    let demo = demo();
    for spec in commands() {
        let name = spec.kind.name();
        let example = spec.example();
        assert_eq!(example["type"], name);
        let read = Command::from_value(example).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read.kind(), spec.kind);
        let applied = demo.apply(&read).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        assert_eq!(applied.events.len(), usize::from(name != "tick"), "{name}");
        assert_ne!(applied.state.to_value(), demo.to_value(), "{name} shows its effect");
        applied.state.check().unwrap();
    }
}

#[test]
fn every_command_and_member_is_described() {
    for spec in commands() {
        let name = spec.kind.name();
        assert!(spec.description.ends_with('.') && !spec.description.contains("  "), "{name}");
        assert_eq!(spec.fields.name, name);
        described(spec.fields);
    }
}

/// Recurses along the tables, which are finite.
fn described(table: &Table) {
    for member in table.members {
        assert!(!member.doc.is_empty(), "{}.{}", table.name, member.name);
        if let Kind::Object(table, _) | Kind::Map(table) | Kind::List(table) = member.kind {
            described(table);
        }
    }
}

#[test]
fn the_published_schema_is_plain_and_small() {
    let schema = command_schema();
    let text = schema.to_string();
    assert!(text.len() < 16 * 1024, "{} bytes", text.len());
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], json!(["type"]));
    assert_eq!(schema["properties"]["type"]["type"], "string");
    assert_eq!(schema["properties"]["type"]["enum"].as_array().unwrap().len(), 25);
    let variants = schema["anyOf"].as_array().unwrap();
    let names: Vec<_> = variants.iter().map(|v| &v["properties"]["type"]["const"]).collect();
    assert_eq!(json!(names), schema["properties"]["type"]["enum"]);
    assert_plain(&schema);
    for spec in commands() {
        assert_plain(&spec.schema());
    }
}

/// Clients lose whole servers over less plain schemas, and `mcp-inspector --strict` warns of a member without a type.
fn assert_plain(schema: &Value) {
    let Value::Object(schema) = schema else { panic!("a schema is an object, not {schema}") };
    let is_typed = ["type", "anyOf", "const"].iter().any(|keyword| schema.contains_key(*keyword));
    assert!(is_typed, "{schema:?} accepts any value");
    for (keyword, value) in schema {
        match keyword.as_str() {
            "type" => assert!(
                ["object", "array", "string", "number", "boolean"]
                    .contains(&value.as_str().unwrap())
            ),
            "properties" => {
                assert_eq!(schema["type"], "object");
                value.as_object().unwrap().values().for_each(assert_plain);
            }
            "required" => assert_eq!(schema["type"], "object"),
            "items" => assert_eq!(schema["type"], "array"),
            "anyOf" => value.as_array().unwrap().iter().for_each(assert_plain),
            "additionalProperties" => assert_plain(value),
            "description" | "const" => assert!(value.is_string()),
            "enum" => assert!(value.as_array().unwrap().iter().all(Value::is_string)),
            other => panic!("{other} is not plain"),
        }
    }
}

/// Takes out the explicit nulls of optional members, and names an entity for an id that is null: the plain form cannot
/// say that null is accepted.
fn without_nulls(object: &mut Map<String, Value>, table: &Table, mode: Mode) {
    for member in table.members {
        match (object.get_mut(member.name), member.kind) {
            (Some(Value::Null), _) if member.may_be_null(mode) => {
                object.remove(member.name);
            }
            (Some(id @ Value::Null), Kind::IdOrNull) => *id = "entity".into(),
            (Some(Value::Object(inner)), Kind::Object(table, mode)) => {
                without_nulls(inner, table, mode);
            }
            (Some(Value::Object(entries)), Kind::Map(table)) => {
                for entry in entries.values_mut().filter_map(Value::as_object_mut) {
                    without_nulls(entry, table, Mode::Whole);
                }
            }
            _ => {}
        }
    }
}

/// Checks that a command is valid by all schemas if the checker takes it, by the exact one as it is. False if it does
/// not.
fn is_looser(schema: &jsonschema::Validator, mut given: Value) -> bool {
    let Ok(read) = Command::from_value(given.clone()) else {
        return false;
    };
    let spec = command(read.kind().name()).unwrap();
    let exact = jsonschema::validator_for(&spec.exact_schema()).unwrap();
    if let Err(error) = exact.validate(&given) {
        panic!("{given}: {error} at {}", error.instance_path());
    }
    without_nulls(given.as_object_mut().unwrap(), spec.fields, Mode::New);
    if let Err(error) = schema.validate(&given) {
        panic!("{given}: {error}");
    }
    let own = jsonschema::validator_for(&spec.schema()).unwrap();
    if let Err(error) = own.validate(&given) {
        panic!("{given}: {error} at {}", error.instance_path());
    }
    true
}

fn golden_commands() -> Vec<Value> {
    let all = ["conform", "quirk", "malformed"].map(cases);
    all.into_iter().flatten().flat_map(|case| case.commands).collect()
}

#[test]
fn what_the_checker_accepts_is_valid_by_the_published_schema() {
    let schema = jsonschema::validator_for(&command_schema()).unwrap();
    let accepted = golden_commands().into_iter().filter(|given| is_looser(&schema, given.clone()));
    let accepted = accepted.count();
    assert!(accepted > 400, "only {accepted}");
    for spec in commands() {
        assert!(is_looser(&schema, spec.example()));
    }
    for given in [json!({}), json!({ "type": "explode" }), json!({ "type": "addStar" }), json!([])]
    {
        assert!(!schema.is_valid(&given), "{given}");
    }
}

#[test]
fn the_exact_schema_refuses_what_the_checker_refuses_but_for_ids_and_keys() {
    let malformed = cases("malformed").into_iter().flat_map(|case| case.commands);
    let mut refused = 0;
    for given in malformed {
        let Err(error) = Command::from_value(given.clone()) else {
            continue;
        };
        let Some(spec) = given["type"].as_str().and_then(command) else {
            continue;
        };
        let exact = jsonschema::validator_for(&spec.exact_schema()).unwrap();
        let told = error.to_string();
        // What no schema says: a relation between two members, and what cannot be changed.
        let is_beyond = ["must equal", "cannot"].iter().any(|word| told.contains(word));
        assert!(is_beyond || !exact.is_valid(&given), "{given}: {told}");
        refused += 1;
    }
    assert!(refused > 20, "only {refused}");
}

fn any_scalar() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(true),
        json!(-1.5),
        json!(3),
        json!("text"),
        json!("planet"),
        json!([]),
        json!(["a"]),
        json!([1, 2]),
        json!({}),
        json!({ "x": 1 }),
        json!({ "id": "a", "type": "system" }),
    ])
}

/// The places of all members, one below the other, as deep as a command's own tables go.
fn places(value: &Value, path: &str, depth: usize, into: &mut Vec<String>) {
    if let (Value::Object(members), 0..4) = (value, depth) {
        for (name, member) in members {
            let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
            into.push(path.clone());
            places(member, &path, depth + 1, into);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Commands with one member changed to something else: where the checker goes along, so does
    /// the schema.
    #[test]
    fn the_published_schema_is_never_stricter(
        given in select(golden_commands()),
        place in any::<proptest::sample::Index>(),
        value in proptest::option::of(any_scalar()),
    ) {
        thread_local! {
            static SCHEMA: jsonschema::Validator =
                jsonschema::validator_for(&command_schema()).unwrap();
        }
        let mut given = given;
        let mut all = Vec::new();
        places(&given, "", 0, &mut all);
        prop_assume!(!all.is_empty());
        let place = place.get(&all);
        let (parent, name) = place.rsplit_once('/').unwrap();
        let name = name.replace("~1", "/").replace("~0", "~");
        let parent = given.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        match value {
            Some(value) => parent.insert(name, value),
            None => parent.remove(&name),
        };
        SCHEMA.with(|schema| is_looser(schema, given));
    }
}
