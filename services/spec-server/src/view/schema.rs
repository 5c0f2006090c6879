//! Output schemas without self-evident descriptions: clients pay for every word of a schema in each conversation.

use schemars::Schema;
use schemars::transform::transform_subschemas;

/// Members with self-explanatory names, the same in every answer: a line is counted from 1, `next_offset` is the
/// `offset` for the next call, and `note` says what is missing and how to get it.
const PLAIN: [&str; 15] = [
    "advice",
    "change_id",
    "completed",
    "description",
    "errors",
    "id",
    "line",
    "next_offset",
    "note",
    "problem",
    "rule",
    "summary",
    "title",
    "total",
    "unreadable",
];

/// Removes the descriptions of types, because the members that use them have descriptions, and of the members in
/// [`PLAIN`].
pub(super) fn terse(schema: &mut Schema) {
    schema.remove("description");
    if let Some(members) = schema.get_mut("properties").and_then(|it| it.as_object_mut()) {
        let plain = members.iter_mut().filter(|(name, _)| PLAIN.contains(&name.as_str()));
        for member in plain.filter_map(|(_, member)| member.as_object_mut()) {
            member.remove("description");
        }
    }
    transform_subschemas(&mut below, schema);
}

fn below(schema: &mut Schema) {
    if schema.get("type").is_some_and(|kind| kind == "object") {
        terse(schema);
    } else {
        transform_subschemas(&mut below, schema);
    }
}
