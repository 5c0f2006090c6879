//! Specs and changes as resources: whole files, as Markdown.

use mcp_proto::{
    Context, Page, PageRequest, ReadResourceResult, RequestError, Resource, ResourceContents,
    ResourceTemplate, ResourceUri, ServerBuilder,
};

use super::address::{self, Address};
use super::failure::Failure;
use super::state::ServerState;
use super::watch;
use crate::model::{Change, Source};
use crate::project::Project;
use crate::view::Budget;

const MARKDOWN: &str = "text/markdown";

/// The longest description of a spec or a change in the list.
const ABOUT: Budget = Budget(200);

/// The beginning of a page key of a spec and of a change. Specs come first.
const SPEC_KEY: char = '1';
const CHANGE_KEY: char = '2';

/// Adds the resources and their templates.
pub(super) fn add(builder: ServerBuilder<ServerState>) -> ServerBuilder<ServerState> {
    builder
        .resource_template(
            ResourceTemplate::new(address::SPEC, "spec")
                .with_title("A spec")
                .with_description("The whole file of a spec, as it is.")
                .with_mime_type(MARKDOWN),
            read,
        )
        .resource_template(
            ResourceTemplate::new(address::CHANGE, "change")
                .with_title("A change")
                .with_description(
                    "All files of a change one after the other: proposal, tasks, design, and the changed requirements; \
                     each after a comment with its path.",
                )
                .with_mime_type(MARKDOWN),
            read,
        )
        .list_resources(list)
        .resources_list_changed()
        .on_subscribe(check_subscription)
        .subscription_matcher(watch::concerns)
}

/// The specs by id, then the active changes. One that is added in the meantime belongs to an earlier page or to a later
/// one.
async fn list(
    state: ServerState,
    page: PageRequest,
    _: Context,
) -> Result<Page<Resource>, RequestError> {
    // A client that has the list is notified of all later changes to it.
    state.until_watched().await;
    let listed = state.read(move |state| {
        let read = || {
            let project = state.project()?;
            let (specs, changes) = (project.spec_ids()?, project.change_ids()?);
            Ok::<_, Failure>((project, specs, changes))
        };
        let read = read();
        // This must be the list that is returned: a list that is read again might differ.
        if page.after.is_none() {
            let uris =
                |(_, specs, changes): &(_, Vec<String>, Vec<String>)| watch::uris(specs, changes);
            state.gives(read.as_ref().map(uris).unwrap_or_default());
        }
        let (project, specs, changes) = read?;
        let keys = specs.into_iter().map(|id| (format!("{SPEC_KEY}{id}"), id));
        let keys = keys.chain(changes.into_iter().map(|id| (format!("{CHANGE_KEY}{id}"), id)));
        let listed = page.cut(keys, |(key, _)| key);
        Ok(listed.map(|(key, id)| resource(&project, &id, key.starts_with(SPEC_KEY))))
    });
    Ok(listed.await?)
}

/// A spec, or else a change, in the list.
fn resource(project: &Project, id: &str, is_spec: bool) -> Resource {
    let (uri, about) = if is_spec {
        let purpose = project.spec(id).ok().and_then(|spec| spec.purpose.clone());
        (address::spec(id), purpose.map(|purpose| first_paragraph(&purpose.text)))
    } else {
        (address::change(id), project.change(id).ok().map(|change| change.title.clone()))
    };
    let without = if is_spec { "A spec without a purpose." } else { "A proposed change." };
    let about = ABOUT.beginning(about.as_deref().unwrap_or(without)).0;
    Resource::new(uri, id).with_description(about).with_mime_type(MARKDOWN)
}

/// The first paragraph of a text, on one line.
fn first_paragraph(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

async fn read(
    state: ServerState,
    uri: ResourceUri,
    context: Context,
) -> Result<ReadResourceResult, RequestError> {
    let address = address_of(&uri.uri)?;
    let read = state.answer(&context, move |state| {
        let text = match address {
            Address::Spec(id) => state.spec(&id)?.source.text.to_string(),
            Address::Change(id) => text_of(&*state.change(&id)?),
        };
        Ok(markdown(uri.uri, text).into())
    });
    read.await
}

fn address_of(uri: &str) -> Result<Address, RequestError> {
    Address::read(uri).ok_or_else(|| {
        let known = "there are spec://ID and change://ID; resources/list has them all";
        RequestError::not_found(known)
    })
}

/// Only resources that can be read can be subscribed to.
async fn check_subscription(
    state: ServerState,
    uri: String,
    _: Context,
) -> Result<(), RequestError> {
    let address = address_of(&uri)?;
    let watching = state.clone();
    let checked = state.read(move |state| match address {
        Address::Spec(id) => state.spec(&id).map(drop),
        Address::Change(id) => state.change(&id).map(drop),
    });
    checked.await?;
    watching.until_watched().await;
    watch::remember(&watching).await;
    Ok(())
}

/// All files of a change, each after a comment with its path.
pub(super) fn text_of(change: &Change) -> String {
    let with_path = |file: &Source| {
        let text = file.text.trim_end();
        format!("<!-- {} -->\n\n{text}\n", file.path.display())
    };
    let files = change.sources().map(with_path);
    files.collect::<Vec<_>>().join("\n")
}

/// A text in Markdown.
pub(super) fn markdown(uri: String, text: impl Into<String>) -> ResourceContents {
    ResourceContents::text(uri, text).with_mime_type(MARKDOWN)
}
