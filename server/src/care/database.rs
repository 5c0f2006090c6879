//! The care of universes in a database: the commands that do not depend on the kind of store. A database has its own
//! tools for the rest.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use futures_util::StreamExt as _;

use super::check::verdict;
use super::{CareError, Request, Result, Verb, counted, export, import, off, say};
use crate::commands::{CommandService, ServiceError, ServiceLimits};
use crate::config::store::StoreUrl;
use crate::engine;
use crate::store::{
    Finding, Page, ReadError, Record, Revision, TailError, UniverseId, UniverseLog,
};
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
    ) -> Result<ExitCode> {
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
            Self::Check { repair } => match check(open(url, authorities).await?, repair).await? {
                Some(code) => return Ok(code),
                None => ("check", engine::Care::Check),
            },
            Self::Compact => ("compact", engine::Care::Compact),
        };
        let instead = engine::instead(url, instead);
        Err(CareError::Database(format!(
            "`{verb}` is for the SQLite file of a data directory, and --store names a database: use {instead}"
        )))
    }
}

/// Looks for damage in what a database has of universes, and in every entry. `None` if the store has other ways to.
async fn check(store: Arc<dyn UniverseLog>, repair: bool) -> Result<Option<ExitCode>> {
    let failed = |error: ReadError| CareError::Database(error.to_string());
    if repair {
        for done in store.repair().await.map_err(failed)? {
            say(&format!("repaired: {done}"))?;
        }
    }
    let Some(findings) = store.findings().await.map_err(failed)? else {
        return Ok(None);
    };
    for Finding { universe, problem } in &findings {
        say(&format!("universe {universe}: {problem}"))?;
    }
    let (mut universes, mut entries, mut problems) = (0, 0, findings.len() as u64);
    let service = CommandService::new(Arc::clone(&store), ServiceLimits::default());
    let mut next = Some(Page::FIRST);
    while let Some(page) = next {
        let records = service.list(page).await?;
        for record in &records {
            universes += 1;
            let found = log(&*store, record, &mut entries).await?;
            problems += found;
            match service.peek(&record.meta.id).await {
                // It may have been deleted meanwhile, or what is wrong with it was said.
                Ok(_) | Err(ServiceError::NotFound(_) | ServiceError::Unsound(_)) => {}
                Err(ServiceError::Damaged { .. }) if found > 0 => {}
                Err(error @ ServiceError::Damaged { .. }) => {
                    problems += 1;
                    say(&error.to_string())?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        next = Page::following(&records);
    }
    let (verdict, code) = verdict(problems);
    if problems > 0 {
        say(
            "what to do: `universe-server check --repair`, with the same --store, puts right what the rest of the database \
             proves; pg_restore goes back to a backup",
        )?;
    }
    say(&format!("{}, {entries} entries: {verdict}", counted(universes)))?;
    Ok(Some(code))
}

/// Reads a whole log, and counts its entries. Gives how many stretches of it are damaged.
async fn log(store: &dyn UniverseLog, record: &Record, entries: &mut u64) -> Result<u64> {
    let (id, mut at, mut problems) = (&record.meta.id, record.oldest, 0);
    let mut tail = store.tail(id, at);
    while at < record.head.revision {
        match tail.next().await {
            Some(Ok(entry)) => {
                *entries += 1;
                at = entry.revision;
            }
            Some(Err(TailError::Damaged { first, last })) => {
                problems += 1;
                say(&format!(
                    "universe {id}: the entries of the revisions {first} to {last} are damaged"
                ))?;
                at = last;
                tail = store.tail(id, at);
            }
            Some(Err(TailError::Unavailable)) => {
                return Err(CareError::Database(ReadError::Unavailable.to_string()));
            }
            // It was deleted or trimmed meanwhile.
            Some(Err(_)) | None => break,
        }
    }
    Ok(problems)
}

/// The store of a URL.
pub(super) async fn open(
    url: &StoreUrl,
    authorities: Option<&Path>,
) -> Result<Arc<dyn UniverseLog>> {
    match engine::open(url, authorities).await {
        Ok(store) => Ok(store),
        Err(problem) => Err(CareError::Database(format!("{url}: {problem}"))),
    }
}

async fn service(url: &StoreUrl, authorities: Option<&Path>) -> Result<CommandService> {
    Ok(CommandService::new(open(url, authorities).await?, ServiceLimits::default()))
}

async fn add(request: Request, url: &StoreUrl, authorities: Option<&Path>) -> Result<ExitCode> {
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
) -> Result<crate::commands::Universe> {
    let found = match revision {
        Some(revision) => service.at(id, revision).await,
        None => service.peek(id).await,
    };
    match found {
        Err(ServiceError::NotFound(id)) => {
            let known = service.list(Page::FIRST).await?;
            let NearbyUniverses { hint, .. } = NearbyUniverses::among(&known, id.as_str());
            Err(CareError::NotFound { id, hint })
        }
        found => Ok(found?),
    }
}
