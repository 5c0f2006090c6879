//! Pictures for models: `draw_universe`, and the resources `universe://{id}/picture.svg` and `picture.png`.

use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{
    CallToolResult, ContentBlock, Context, RequestError, ResourceContents, ResourceTemplate,
    ResourceUri, ServerBuilder, Tool,
};
use serde_json::{Map, Value, json};

use super::results::{
    Answer, Contents, META_REVISION, answered, arguments_schema, hints, universe_schema, written,
};
use super::{address, arguments, find, scopes};
use crate::commands::{CommandService, Universe};
use crate::picture::{self, Options, PictureError};

const SVG: &str = "image/svg+xml";
const PNG: &str = "image/png";
/// The size in pixels of images for models. Most clients scale larger images down.
const SIZE: (u32, u32) = (1_000, 800);

/// Adds the resources.
pub(super) fn add(builder: ServerBuilder<CommandService>) -> ServerBuilder<CommandService> {
    let described = "A chart of all systems, seen from above, distances on a logarithmic scale.";
    let svg = ResourceTemplate::new(address::SVG, "universe-picture-svg")
        .with_title("A universe as a drawing")
        .with_mime_type(SVG)
        .with_description(described);
    let png = ResourceTemplate::new(address::PNG, "universe-picture-png")
        .with_title("A universe as an image")
        .with_mime_type(PNG)
        .with_description(described);
    builder.resource_template(svg, read_svg).resource_template(png, read_png)
}

pub(super) fn tool() -> Tool {
    let properties = json!({
        "universeId": universe_schema(),
        "focus": { "type": "string", "description": "One body or group." },
        "time": { "anyOf": [{ "type": "string" }, { "type": "number" }] },
    });
    Tool::new("draw_universe", "An image of what orbits what, seen from above.")
        .with_title("Look at a universe")
        .with_annotations(hints(true, false))
        .with_input_schema(arguments_schema(&properties, &["universeId"]))
}

pub(super) async fn call(
    service: CommandService,
    given: Map<String, Value>,
    context: Context,
) -> Answer {
    let text = |name: &str| match given.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => number.as_f64().map(|number| number.to_string()),
        _ => None,
    };
    let id = arguments::universe_id(&text("universeId").unwrap_or_default())?;
    let options = Options::read(text);
    let options = options.map_err(|found| arguments::findings("INVALID_ARGUMENTS", "", &found))?;
    let options = sized(options);
    let universe = answered(&service, &id, service.get(&id).await).await?;
    written(&context, false, move || {
        let drawn = picture::png(&universe, &options);
        let drawn = drawn.map_err(|error| {
            let code = match error {
                PictureError::NoFocus { .. } => "ENTITY_NOT_FOUND",
                PictureError::NoEpoch(_) => "INVALID_ARGUMENTS",
                PictureError::NotDrawn => return error.into(),
            };
            arguments::invalid(Some(universe.id.as_str()), code, &error.to_string())
        })?;
        let mut result = CallToolResult::content([ContentBlock::image(drawn, PNG)]);
        let meta = result.meta.get_or_insert_default();
        meta.insert(META_REVISION.to_owned(), universe.revision.0.into());
        Ok(result)
    })
    .await
}

async fn read_svg(service: CommandService, uri: ResourceUri, context: Context) -> Contents {
    let draw = |universe: &Universe| picture::svg(universe, &Options::default());
    let (uri, drawn, revision) = drawn(service, uri, context, draw).await?;
    Ok(contents(ResourceContents::text(uri, drawn), SVG, revision))
}

async fn read_png(service: CommandService, uri: ResourceUri, context: Context) -> Contents {
    let draw = |universe: &Universe| picture::png(universe, &sized(Options::default()));
    let (uri, drawn, revision) = drawn(service, uri, context, draw).await?;
    Ok(contents(ResourceContents::blob(uri, drawn), PNG, revision))
}

/// The same options with the size for models.
fn sized(options: Options) -> Options {
    let (width, height) = SIZE;
    Options { width, height, ..options }
}

fn contents(contents: ResourceContents, mime_type: &str, revision: u64) -> ResourceContents {
    let meta = Map::from_iter([(META_REVISION.to_owned(), Value::from(revision))]);
    contents.with_mime_type(mime_type).with_meta(meta)
}

/// Draws the universe that a URI names. Returns the URI, the picture and the revision.
async fn drawn<T: Send + 'static>(
    service: CommandService,
    uri: ResourceUri,
    context: Context,
    draw: impl FnOnce(&Universe) -> Result<T, PictureError> + Send + 'static,
) -> Result<(String, T, u64), RequestError> {
    let service = scopes::within(&service, &context);
    let universe = find::universe(&service, uri.get("id").unwrap_or_default()).await?;
    let revision = universe.revision.0;
    let drawn = context.run_long(move || draw(&universe)).await?;
    let drawn =
        drawn.map_err(|error| ErrorObject::new(ErrorObject::INTERNAL, error.to_string()))?;
    Ok((uri.uri, drawn, revision))
}
