//! Every subschema of a document: names of properties and values of instances are not keywords.

use serde_json::Value;

/// Visits each schema object, with the names of the properties that lead to it if nothing but `properties` does. The
/// first error ends the walk, which does not recurse.
pub(super) fn walk<'s, E>(
    schema: &'s Value,
    mut visit: impl FnMut(&'s Value, Option<&[&'s str]>) -> Result<(), E>,
) -> Result<(), E> {
    let mut open: Vec<(&Value, Option<Vec<&str>>)> = vec![(schema, Some(Vec::new()))];
    while let Some((value, path)) = open.pop() {
        if value.is_object() {
            visit(value, path.as_deref())?;
        }
        for (property, below) in subschemas(value) {
            let path = match (&path, property) {
                (Some(path), Some(property)) => {
                    let mut path = path.clone();
                    path.push(property);
                    Some(path)
                }
                _ => None,
            };
            open.push((below, path));
        }
    }
    Ok(())
}

/// The values directly below a value that may be schemas, with the name of the property that each describes, if any.
pub(super) fn subschemas(value: &Value) -> impl Iterator<Item = (Option<&str>, &Value)> {
    let items = value.as_array().into_iter().flatten();
    let members = value.as_object().into_iter().flatten();
    let below = members.flat_map(|(keyword, below)| {
        let named = match (keyword.as_str(), below) {
            // Instances, not schemas.
            ("const" | "enum" | "default" | "examples", _) => return Below::Nothing,
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => named,
            _ => return Below::One(below),
        };
        Below::Named(keyword == "properties", named.iter())
    });
    items.map(|item| (None, item)).chain(below)
}

/// The content of a keyword.
enum Below<'s> {
    Nothing,
    One(&'s Value),
    Named(bool, serde_json::map::Iter<'s>),
}

impl<'s> Iterator for Below<'s> {
    type Item = (Option<&'s str>, &'s Value);

    fn next(&mut self) -> Option<Self::Item> {
        match std::mem::replace(self, Self::Nothing) {
            Self::Nothing => None,
            Self::One(schema) => Some((None, schema)),
            Self::Named(properties, mut named) => {
                let (name, schema) = named.next()?;
                *self = Self::Named(properties, named);
                Some((properties.then_some(name.as_str()), schema))
            }
        }
    }
}
