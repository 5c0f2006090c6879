//! Descriptions of the commands, for people and language models, and as JSON Schema.

mod bodies;
mod groups;
mod regions;
mod universe;

use serde_json::{Value, json};

use crate::command::kind::CommandKind;
use crate::member::Table;
use crate::schema::{self, Detail};

/// Commands that belong together.
#[derive(Debug)]
pub struct Category {
    /// The name, e.g. `Star hierarchy`.
    pub name: &'static str,
    /// The name in kebab case, e.g. `star-hierarchy`.
    pub slug: &'static str,
    /// The commands, in the order people meet them.
    pub commands: &'static [CommandSpec],
}

/// The description of one command.
#[derive(Debug)]
pub struct CommandSpec {
    /// Which command; [`CommandKind::name`] is the value of its `type`.
    pub kind: CommandKind,
    /// What it does, in one or two sentences.
    pub description: &'static str,
    /// Its members besides `type`, as in something new ([`Mode::New`](crate::member::Mode::New)).
    pub fields: &'static Table,
    example: &'static str,
}

const fn category(
    name: &'static str,
    slug: &'static str,
    commands: &'static [CommandSpec],
) -> Category {
    Category { name, slug, commands }
}

impl Category {
    /// The category of this name or slug, in any case.
    pub fn find(name: &str) -> Option<&'static Self> {
        let is_named = |category: &&Self| {
            category.name.eq_ignore_ascii_case(name) || category.slug.eq_ignore_ascii_case(name)
        };
        categories().iter().find(is_named)
    }
}

impl CommandSpec {
    /// A well-formed command of this kind.
    pub fn example(&self) -> Value {
        // A test reads them all.
        serde_json::from_str(self.example).unwrap_or_default()
    }

    /// The JSON Schema of this command alone, with the members of its objects and their meanings.
    pub fn schema(&self) -> Value {
        self.schema_in(Detail::Full)
    }

    /// The same, exact: with null and unions of types wherever [`Command::from_value`](crate::Command::from_value)
    /// takes them. Not every MCP client understands it.
    pub fn exact_schema(&self) -> Value {
        self.schema_in(Detail::Exact)
    }

    fn schema_in(&self, detail: Detail) -> Value {
        schema::command(self.kind.name(), self.description, self.fields, detail)
    }
}

/// The ten categories, in the order people meet them.
pub fn categories() -> &'static [Category] {
    static CATEGORIES: [Category; 10] = [
        category("Simulation", "simulation", &universe::SIMULATION),
        category("Star CRUD", "star-crud", &bodies::STARS),
        category("Star hierarchy", "star-hierarchy", &bodies::HIERARCHY),
        category("Group CRUD", "group-crud", &groups::GROUPS),
        category("Group hierarchy", "group-hierarchy", &groups::HIERARCHY),
        category("Small body fields", "small-body-fields", &regions::FIELDS),
        category("Protoplanetary disks", "protoplanetary-disks", &regions::DISKS),
        category("Nebulae", "nebulae", &regions::NEBULAE),
        category("Rings", "rings", &bodies::RINGS),
        category("Snapshot", "snapshot", &universe::SNAPSHOT),
    ];
    &CATEGORIES
}

/// The 25 commands, category by category.
pub fn commands() -> impl Iterator<Item = &'static CommandSpec> {
    categories().iter().flat_map(|category| category.commands)
}

/// The command whose `type` this is; case matters.
pub fn command(name: &str) -> Option<&'static CommandSpec> {
    commands().find(|spec| spec.kind.name() == name)
}

/// The JSON Schema of any command, to be published as the parameter of a tool.
///
/// An object with a required `type`, and a variant per command. Plain on purpose: inlined, each
/// object of `type: object`, no unions with null, no closed objects; and compact, with the objects
/// inside entities only named. Every member has a type. It is looser than [`Command::from_value`]:
/// what that accepts is valid here once an explicit null of an optional member is taken out, and an
/// id that may be null is given as text.
///
/// [`Command::from_value`]: crate::Command::from_value
pub fn command_schema() -> Value {
    let names: Vec<_> = commands().map(|spec| spec.kind.name()).collect();
    let variants: Vec<_> = commands().map(|spec| spec.schema_in(Detail::Compact)).collect();
    json!({
        "type": "object",
        "required": ["type"],
        "properties": { "type": { "type": "string", "enum": names } },
        "anyOf": variants,
    })
}
