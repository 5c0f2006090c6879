//! Systems, constellations, regions and pictures as resources.

use std::future::{Ready, ready};

use mcp_proto::{
    Context, Page, PageRequest, RequestError, Resource, ResourceContents, ResourceTemplate,
    ResourceUri, ServerBuilder,
};
use serde::Serialize;

use crate::errors::UniverseError;
use crate::map::Map;
use crate::picture;

use super::address;
use super::names::{UnknownArea, known_constellation, known_region, resolve_system_name};
use super::tools;
use super::universe::{Snapshot, Universe};
use super::views::{ConstellationView, RegionView, SystemView};

pub(crate) const JSON: &str = "application/json";
pub(crate) const SVG: &str = "image/svg+xml";

/// Adds the resources, and subscriptions to them.
pub(crate) fn add(builder: ServerBuilder<Universe>) -> ServerBuilder<Universe> {
    builder
        .resource_template(
            template(address::SYSTEM, "system", "A solar system", JSON).with_description(
                "All about a system, by its name or id: security, constellation, region, where its gates lead.",
            ),
            reader(system),
        )
        .resource_template(
            template(address::CONSTELLATION, "constellation", "A constellation", JSON)
                .with_description("The systems of a constellation and the gates that lead out of it."),
            reader(constellation),
        )
        .resource_template(
            template(address::REGION, "region", "A region", JSON).with_description(
                "The constellations of a region with their systems, and the gates that lead out of it.",
            ),
            reader(region),
        )
        .resource_template(
            template(address::PICTURE_ROUTE, "route-picture", "A picture of a route", SVG)
                .with_description(
                    "The way from one system to another, seen from above. `mode` as in the tool route; shortest by default.",
                ),
            route_picture,
        )
        .resource_template(
            template(address::PICTURE_REGION, "region-picture", "A picture of a region", SVG)
                .with_description("A region seen from above, with the systems that its gates lead to."),
            region_picture,
        )
        .list_resources(list)
        .resources_list_changed()
        // Every update notification is about the map as a whole.
        .subscription_matcher(|subscribed, _| subscribed.starts_with(address::SCHEME))
}

fn template(uri: &str, name: &str, title: &str, mime_type: &str) -> ResourceTemplate {
    ResourceTemplate::new(uri, name).with_title(title).with_mime_type(mime_type)
}

/// The regions, by name. All other resources have templates.
async fn list(
    universe: Universe,
    page: PageRequest,
    _context: Context,
) -> Result<Page<Resource>, RequestError> {
    let now = now(&universe)?;
    let mut names: Vec<&str> = now.map.regions().iter().map(|it| &*it.name).collect();
    names.sort_unstable();
    Ok(page.cut(names, |name| name).map(resource))
}

fn resource(region: &str) -> Resource {
    Resource::new(address::of("region", region), region)
        .with_description("A region: its constellations, systems and exits.")
        .with_mime_type(JSON)
}

/// A reader for the view that a URI names.
fn reader(
    read: fn(&Snapshot, &str) -> Result<String, RequestError>,
) -> impl Fn(Universe, ResourceUri, Context) -> Ready<Result<ResourceContents, RequestError>> {
    move |universe, uri, _context| {
        let now = now(&universe);
        let text = now.and_then(|now| read(&now, uri.get("name").unwrap_or_default()));
        ready(text.map(|text| ResourceContents::text(uri.uri, text).with_mime_type(JSON)))
    }
}

fn system(now: &Snapshot, name: &str) -> Result<String, RequestError> {
    json(now, &SystemView::of(now, known_system(&now.map, name)?))
}

fn constellation(now: &Snapshot, name: &str) -> Result<String, RequestError> {
    let index = known_constellation(&now.map, name).map_err(unknown)?;
    json(now, &ConstellationView::of(now, index))
}

fn region(now: &Snapshot, name: &str) -> Result<String, RequestError> {
    let index = known_region(&now.map, name).map_err(unknown)?;
    json(now, &RegionView::of(now, index))
}

async fn region_picture(
    universe: Universe,
    uri: ResourceUri,
    _context: Context,
) -> Result<ResourceContents, RequestError> {
    let now = now(&universe)?;
    let name = uri.get("name").unwrap_or_default();
    let index = known_region(&now.map, name).map_err(unknown)?;
    let drawn = drawn(move || picture::region(&now.map, index)).await?;
    Ok(ResourceContents::text(uri.uri, drawn).with_mime_type(SVG))
}

async fn route_picture(
    universe: Universe,
    uri: ResourceUri,
    _context: Context,
) -> Result<ResourceContents, RequestError> {
    let now = now(&universe)?;
    let origin = known_system(&now.map, uri.get("origin").unwrap_or_default())?;
    let destination = known_system(&now.map, uri.get("destination").unwrap_or_default())?;
    let mode = uri.get("mode");
    let found = tools::plain_route(&now, origin, destination, mode);
    let (route, notes) = found.map_err(|error| refused(&now.explained(error)))?;
    let title = tools::route_title(&now.map, &route, mode.unwrap_or("shortest"));
    let drawn = drawn(move || picture::route(&now.map, &route, &title, &notes)).await?;
    Ok(ResourceContents::text(uri.uri, drawn).with_mime_type(SVG))
}

/// Drawing takes some milliseconds, so it does not run on the connection's task.
async fn drawn(draw: impl FnOnce() -> String + Send + 'static) -> Result<String, RequestError> {
    Ok(tokio::task::spawn_blocking(draw).await?)
}

pub(crate) fn now(universe: &Universe) -> Result<Snapshot, RequestError> {
    Ok(universe.now()?)
}

/// What is read, and what could not be read of what it depends on.
#[derive(Serialize)]
struct Warned<'a, T> {
    #[serde(flatten)]
    view: &'a T,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn json(now: &Snapshot, view: &impl Serialize) -> Result<String, RequestError> {
    let warned = Warned { view, warnings: now.all_problems().collect() };
    Ok(serde_json::to_string(&warned)?)
}

pub(crate) fn known_system(map: &Map, name: &str) -> Result<crate::map::SystemIndex, RequestError> {
    resolve_system_name(map, name).map_err(|error| refused(&error.into()))
}

/// A query error as a request error. A missing item is reported with the contract's data.
pub(crate) fn refused(error: &UniverseError) -> RequestError {
    let message = error.sentence();
    let refused = match error {
        UniverseError::SystemNotFound(_) | UniverseError::RouteNotFound(_) => {
            RequestError::not_found(message)
        }
        _ => RequestError::invalid_params(message),
    };
    refused.with_data("code", error.code()).with_data("details", error.data())
}

fn unknown(area: UnknownArea) -> RequestError {
    RequestError::not_found(area.message).with_data("suggestions", area.suggestions)
}
