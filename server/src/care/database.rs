//! The care of universes in a database: the commands that do not depend on the kind of store. A database has its own
//! tools for the rest.

use std::path::Path;
use std::process::ExitCode;

use super::{CareError, Request, Verb, export, import, off, say};
use crate::commands::{CommandService, ServiceError, ServiceLimits};
use crate::config::store::StoreUrl;
use crate::engine;
use crate::store::{MAX_PAGE, Page, Revision, UniverseId};
use crate::view::NearbyUniverses;

impl Verb {
    /// Runs the command on the universes in a database, while servers use it.
    ///
    /// # Errors
    /// [`CareError`], as a sentence for the person who ran the command.
    pub(crate) async fn run_on(
        self,
        url: &StoreUrl,
        authorities: Option<&Path>,
    ) -> Result<ExitCode, CareError> {
        let (verb, instead) = match self {
            Self::Export { id, file, revision } => {
                let service = service(url, authorities).await?;
                let universe = find(&service, &id, revision.map(Revision)).await?;
                return off(move || export::write(&universe, file.as_deref())).await;
            }
            Self::Import { file, id } => {
                let request = off(move || import::read(&file, id)).await?;
                return add(request, url, authorities).await;
            }
            Self::Generate(given) => {
                return match off(move || given.request()).await? {
                    Some(request) => add(request, url, authorities).await,
                    None => Ok(ExitCode::SUCCESS),
                };
            }
            Self::Migrate(given) => return given.run(authorities).await,
            Self::Backup { .. } => ("backup", engine::Care::Backup),
            Self::Restore { .. } => ("restore", engine::Care::Restore),
            Self::Check => ("check", engine::Care::Check),
            Self::Compact => ("compact", engine::Care::Compact),
        };
        let instead = engine::instead(url, instead);
        Err(CareError::Database(format!(
            "`{verb}` is for the SQLite file of a data directory, and --store names a database: use {instead}"
        )))
    }
}

async fn service(url: &StoreUrl, authorities: Option<&Path>) -> Result<CommandService, CareError> {
    let store = engine::open(url, authorities).await;
    let store = store.map_err(|problem| CareError::Database(format!("{url}: {problem}")))?;
    Ok(CommandService::new(store, ServiceLimits::default()))
}

async fn add(
    request: Request,
    url: &StoreUrl,
    authorities: Option<&Path>,
) -> Result<ExitCode, CareError> {
    let Request::Import { id, name, state } = request else {
        return Ok(ExitCode::SUCCESS);
    };
    let id = id.unwrap_or_else(UniverseId::random);
    let service = service(url, authorities).await?;
    let made = service.create(id, name, *state).await?;
    say(made.id.as_str())
}

async fn find(
    service: &CommandService,
    id: &UniverseId,
    revision: Option<Revision>,
) -> Result<crate::commands::Universe, CareError> {
    let found = match revision {
        Some(revision) => service.at(id, revision).await,
        None => service.peek(id).await,
    };
    match found {
        Err(ServiceError::NotFound(id)) => {
            let (after, limit) = (None, MAX_PAGE);
            let known = service.list(Page { after, limit }).await?;
            let NearbyUniverses { hint, .. } = NearbyUniverses::among(&known, id.as_str());
            Err(CareError::NotFound { id, hint })
        }
        found => Ok(found?),
    }
}
