//! The history of a universe as a resource.

use mcp_proto::{RequestError, ResourceContents, ResourceUri};

use super::results::Contents;
use super::{address, find};
use crate::commands::CommandService;
use crate::view::history::{DEFAULT_LIMIT, PageError, page};

/// The entries after a revision, or the latest entries.
pub(super) async fn read(service: CommandService, uri: ResourceUri) -> Contents {
    let (after, limit) = (number(&uri, "after")?, number(&uri, "limit")?);
    let id = find::known_id(&service, uri.get("id").unwrap_or_default()).await?;
    let page = match page(&service, &id, after, limit).await {
        Ok(page) => page,
        Err(PageError::Asked(problem)) => return Err(RequestError::invalid_params(problem)),
        Err(PageError::Service(error)) => {
            return Err(find::failure(&service, id.as_str(), error).await);
        }
    };
    let universe = address::universe(id.as_str());
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    let uri_after = |next| format!("{universe}/events?after={next}&limit={limit}");
    let text =
        page.write(&id, uri_after).ok_or_else(|| RequestError::internal("the page is not JSON"))?;
    Ok(ResourceContents::text(uri.uri, text.get()).with_mime_type("application/json"))
}

fn number(uri: &ResourceUri, name: &str) -> Result<Option<u64>, RequestError> {
    let given = uri.get(name).map(str::parse::<u64>);
    given
        .transpose()
        .map_err(|_| RequestError::invalid_params(format!("{name} must be a whole number")))
}
