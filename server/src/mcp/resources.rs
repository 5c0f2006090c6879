//! Universes as resources: the list of them, each as a whole, and its parts.

pub(super) mod read;

use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{
    Annotations, Context, Page, PageRequest, RequestError, Resource, ResourceTemplate, ResourceUri,
    ServerBuilder,
};
use universe_core::Family;

use super::address::{self, Address};
use super::{find, history, picture, scopes, updates};
use crate::commands::CommandService;
use crate::store::{self, Position, Record};
use read::{JSON, TEXT};

/// The most universes in the list resource. `resources/list` returns all of them.
const MAX_LISTED: usize = 500;

/// Adds the resources, their templates and subscriptions.
pub(super) fn add(builder: ServerBuilder<CommandService>) -> ServerBuilder<CommandService> {
    let mut builder = picture::add(builder)
        .resource(list_resource(), read::list)
        .resource_template(
            template(address::WHOLE, "universe", "A universe", JSON).with_description(
                "The whole state of a universe, as get_universe_state gives it. `universe://` lists the ids; of a \
                 large universe read the tree and single entities instead.",
            ),
            within(read::whole),
        )
        .resource_template(
            template(address::SUMMARY, "universe-summary", "A universe in brief", JSON)
                .with_description("Name, revision, time, and how many entities of each family a universe has."),
            within(read::summary),
        )
        .resource_template(
            template(address::TREE, "universe-tree", "A universe as an outline", TEXT).with_description(
                "What orbits what and what is in which group, as indented text with the ids, without the time. A page has \
                 at most 16 KiB, and `limit` entities if given; its last line has the URI of the next.",
            ),
            within(read::tree),
        )
        .resource_template(
            template(address::EVENTS, "universe-events", "The history of a universe", JSON).with_description(
                "The commands that made the universe and what each did, in order: the latest ones, or those after a \
                 revision (`after`), at most `limit` (20 unless given, up to 100). `next` is where to read on.",
            ),
            within(history::read),
        );
    for family in Family::ALL {
        let listed = template(
            &address::entity_template(family),
            &format!("universe-{}", family.name()),
            entity_title(family),
            JSON,
        );
        let listed = listed.with_description(format!(
            "One of the {} of a universe by its id: its members as they are in the state.",
            family.name()
        ));
        let read = within(move |service, uri| read::entity(family, service, uri));
        builder = builder.resource_template(listed, read);
    }
    builder
        .list_resources(list)
        .resources_list_changed()
        .on_subscribe(check_subscription)
        .subscription_matcher(updates::concerns)
}

/// A handler whose service has what its caller may read.
fn within<R>(
    read: impl Fn(CommandService, ResourceUri) -> R + Send + Sync + 'static,
) -> impl Fn(CommandService, ResourceUri, Context) -> R + Send + Sync + 'static {
    move |service, uri, context| read(scopes::within(&service, &context), uri)
}

fn list_resource() -> Resource {
    Resource::new(address::LIST, "universes")
        .with_title("Universes")
        .with_description(
            "The universes there are, the newest first: id, name, URI, revision, times. Reported as updated when one is \
             created, renamed or deleted.",
        )
        .with_mime_type(JSON)
}

fn template(uri: &str, name: &str, title: &str, mime_type: &str) -> ResourceTemplate {
    ResourceTemplate::new(uri, name).with_title(title).with_mime_type(mime_type)
}

fn entity_title(family: Family) -> &'static str {
    match family {
        Family::Stars => "A body: star, planet, moon, or of any other kind",
        Family::Groups => "A group",
        Family::Belts => "An asteroid belt",
        Family::SmallBodyFields => "A small body field",
        Family::ProtoplanetaryDisks => "A protoplanetary disk",
        Family::Nebulae => "A nebula",
    }
}

/// Every universe, the newest first. A universe created during the listing would be on an earlier page.
async fn list(
    service: CommandService,
    page: PageRequest,
    context: Context,
) -> Result<Page<Resource>, RequestError> {
    let service = scopes::within(&service, &context);
    let after = page.after.map(|after| after.parse::<Position>());
    let after =
        after.transpose().map_err(|problem| RequestError::invalid_params(problem.to_string()))?;
    // One more than requested shows whether there is a next page.
    let asked = store::Page { after, limit: page.limit.saturating_add(1).min(store::MAX_PAGE) };
    let mut records = listed(&service, asked).await?;
    let more = records.len() > page.limit;
    records.truncate(page.limit);
    let next = records.last().filter(|_| more);
    let next = next.map(|last| last.position().to_string());
    let items = records.iter().map(resource).collect();
    Ok(match next {
        Some(next) => Page::with_next(items, next),
        None => Page::last(items),
    })
}

fn resource(record: &Record) -> Resource {
    let id = record.meta.id.as_str();
    Resource::new(address::universe(id), id)
        .with_title(&record.meta.name)
        .with_description("A universe; its URI with /tree behind it is its outline.")
        .with_mime_type(JSON)
        .with_annotations(
            Annotations::default().with_last_modified(record.head.updated_at.to_string()),
        )
}

async fn listed(service: &CommandService, page: store::Page) -> Result<Vec<Record>, RequestError> {
    let records = service.list(page).await;
    records.map_err(|error| ErrorObject::new(ErrorObject::INTERNAL, error.to_string()).into())
}

/// Any readable resource can be subscribed to, and so can an entity that does not exist yet.
async fn check_subscription(
    service: CommandService,
    uri: String,
    context: Context,
) -> Result<(), RequestError> {
    let service = scopes::within(&service, &context);
    if uri == address::LIST {
        return Ok(());
    }
    let Some(address) = Address::read(&uri) else {
        let shown: String = uri.chars().take(200).collect();
        return Err(RequestError::not_found(format!(
            "there is no resource {shown:?}; resources/list and resources/templates/list give those that exist"
        )));
    };
    let id = find::known_id(&service, &address.universe).await?;
    match service.follow(&id).await {
        Ok(()) => Ok(()),
        Err(error) => Err(find::failure(&service, id.as_str(), error).await),
    }
}
