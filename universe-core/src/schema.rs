//! JSON Schema out of the member tables, in the plain form that clients of every kind accept.

use serde_json::{Map, Value, json};

use crate::entity::parts::{LAGRANGE_POINT, RING};
use crate::entity::regions::DISK;
use crate::entity::tables::STAR;
use crate::member::{Kind, Member, Mode, Table};

/// How detailed a schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// As [`Full`](Self::Full), and exact: with null and unions of types where they are accepted.
    Exact,
    /// Every known member with its meaning, those of objects inside entities, too.
    Full,
    /// The members of what is new, with their meaning; of bodies and what is inside them the types; of all other
    /// objects the names.
    Compact,
    /// The types alone.
    Types,
}

/// The schema of the command of this name, with these members.
pub(crate) fn command(name: &str, description: &str, fields: &Table, detail: Detail) -> Value {
    let mut schema = object(fields, Mode::New, detail, Inside::Command);
    schema.insert("description".to_owned(), description.into());
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("type".to_owned(), json!({ "const": name }));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.insert(0, "type".into());
    }
    Value::Object(schema)
}

impl Detail {
    fn is_full(self) -> bool {
        matches!(self, Self::Exact | Self::Full)
    }
}

/// What an object is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Command,
    Entity,
    /// An object in an entity whose types are described.
    Part,
}

fn object(table: &Table, mode: Mode, detail: Detail, inside: Inside) -> Map<String, Value> {
    // Of a body to change, what is seldom changed is left to the schema of a new one.
    let is_minor = |member: &Member| {
        detail == Detail::Types
            && ["orbitRot", "orbitOffset", "asteroidSubType", "parentBeltId"]
                .iter()
                .any(|it| member.name.starts_with(it))
    };
    let members = table.members.iter();
    let members = members.filter(|member| member.is_settable(mode) && !is_minor(member));
    let properties: Map<_, _> = members
        .clone()
        .map(|member| {
            let mut schema = property(member, detail, inside);
            if detail == Detail::Exact && member.may_be_null(mode) {
                allow_null(&mut schema);
            }
            (member.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<_> = members
        .filter(|member| member.is_required(mode))
        .map(|member| Value::from(member.name))
        .collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() || inside == Inside::Command {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

fn allow_null(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(choices)) = members.get_mut("enum") {
        choices.push(Value::Null);
    }
    if let Some(kind) = members.get_mut("type").filter(|kind| kind.is_string()) {
        *kind = json!([kind.take(), "null"]);
    } else if let Some(Value::Array(kinds)) = members.get_mut("type") {
        kinds.push("null".into());
    }
}

fn property(member: &Member, detail: Detail, inside: Inside) -> Value {
    let mut schema = match member.kind {
        Kind::Text | Kind::Color | Kind::Date => typed("string"),
        Kind::Number => typed("number"),
        Kind::Flag => typed("boolean"),
        Kind::Seed | Kind::Instant if detail == Detail::Exact => union(["string", "number"]),
        Kind::IdOrNull if detail == Detail::Exact => union(["string", "null"]),
        Kind::Seed | Kind::Instant => either(&[typed("string"), typed("number")]),
        // A union with null is not plain: clients reject it, and the description says where null is accepted.
        Kind::IdOrNull => typed("string"),
        Kind::Choice(choices) => {
            let mut schema = typed("string");
            schema.insert("enum".to_owned(), choices.into());
            schema
        }
        Kind::Ids => array(typed("string")),
        Kind::Pair => array(typed("number")),
        Kind::List(table) => array(object(table, Mode::Whole, detail, Inside::Entity)),
        Kind::Object(table, mode) if are_types_described(table, mode, detail, inside) => {
            object(table, mode, Detail::Types, Inside::Part)
        }
        Kind::Object(table, mode) if is_described(mode, detail, inside) => {
            object(table, mode, detail, Inside::Entity)
        }
        Kind::Map(table) if detail.is_full() => {
            let mut schema = typed("object");
            let entity = object(table, Mode::Whole, detail, Inside::Entity);
            schema.insert("additionalProperties".to_owned(), entity.into());
            schema
        }
        Kind::Object(..) | Kind::Map(_) => typed("object"),
    };
    // What an id in a command is of, its name says.
    let is_id = matches!(member.kind, Kind::Text) && inside == Inside::Command;
    if detail.is_full() || (detail == Detail::Compact && !is_id) {
        schema.insert("description".to_owned(), description(member, detail, inside).into());
    }
    Value::Object(schema)
}

/// Whether the members of an object are described, not only named.
fn is_described(mode: Mode, detail: Detail, inside: Inside) -> bool {
    detail.is_full() || (inside == Inside::Command && mode != Mode::Part)
}

/// Whether the types of an object's members are described: of a body or ring to change, of a new disk, and of the ring
/// and the Lagrange point of a new body.
fn are_types_described(table: &'static Table, mode: Mode, detail: Detail, inside: Inside) -> bool {
    let tables: &[&'static Table] = match (detail, inside, mode) {
        (Detail::Compact, Inside::Command, Mode::Part) => &[&STAR, &RING],
        (Detail::Compact, Inside::Command, _) => &[&DISK],
        (Detail::Compact, Inside::Entity, _) => &[&RING, &LAGRANGE_POINT],
        _ => &[],
    };
    tables.iter().any(|described| std::ptr::eq(*described, table))
}

fn description(member: &Member, detail: Detail, inside: Inside) -> String {
    let doc = member.doc;
    match member.kind {
        Kind::Object(table, mode) if are_types_described(table, mode, detail, inside) => {
            doc.to_owned()
        }
        // Of what is inside a body the names that it needs, and of a patch those that something new does not need: the
        // others stand there. All of them are in the full schema.
        Kind::Object(table, mode) if !is_described(mode, detail, inside) => {
            let is_shown = |member: &&Member| match (mode, inside) {
                (Mode::Part, Inside::Command) => !member.is_required(Mode::Whole),
                (Mode::Part, _) => member.is_required(Mode::Whole),
                _ => true,
            };
            let names = table.members.iter().filter(|member| member.is_settable(mode));
            let names = join(names.filter(is_shown));
            match (mode, inside) {
                (Mode::Part, Inside::Command) => format!("{doc}, also {names}"),
                _ if names.is_empty() => doc.to_owned(),
                _ => format!("{doc}: {names}"),
            }
        }
        Kind::Map(table) if detail == Detail::Compact && inside == Inside::Command => {
            let names = table.members.iter().filter(|member| member.is_required(Mode::Whole));
            format!("{doc}, each with: {}", join(names))
        }
        _ => doc.to_owned(),
    }
}

fn join<'a>(members: impl Iterator<Item = &'a Member>) -> String {
    let names: Vec<_> = members.map(|member| member.name).collect();
    names.join(", ")
}

fn union(kinds: [&str; 2]) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), json!(kinds))])
}

fn either(kinds: &[Map<String, Value>; 2]) -> Map<String, Value> {
    Map::from_iter([("anyOf".to_owned(), json!(kinds))])
}

fn typed(name: &str) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), name.into());
    schema
}

fn array(items: Map<String, Value>) -> Map<String, Value> {
    let mut schema = typed("array");
    schema.insert("items".to_owned(), items.into());
    schema
}
