//! Universes and their commands.

use http::header::{ETAG, HeaderValue, LINK, LOCATION};
use http::{Method, StatusCode, request};
use mcp_proto::budget::Client;
use mcp_proto::json::Meter;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use universe_core::{Command, Findings, Strictness};

use super::Rest;
use super::answer::{self, Answer, Failure, UniverseRecord};
use super::given::{UniverseBody, read_replacement};
use super::read::{self, Received};
use crate::access::Reach;
use crate::commands::{MAX_COMMANDS, Replacement, Request, ServiceError, Universe};
use crate::generate;
use crate::offload;
use crate::store::{Page, Position, Revision, UniverseId};
use crate::view::ResultForm;

/// The default number of universes on a page of the list.
pub(super) const DEFAULT_LIMIT: usize = 100;
/// The most universes on one page.
pub(super) const MAX_LIMIT: usize = 500;
/// The bytes after which a page ends, even with few universes. Its `Link` header leads to the next page.
const PAGE_BYTES: usize = 8 << 20;

impl Rest {
    /// `GET /universes`: an array, the newest first, with `limit`, `cursor` and `view=summary`.
    pub(super) async fn list(&self, head: &request::Parts, reach: Reach) -> Answer {
        let service = self.service.within(reach);
        let limit = match read::query(head, "limit") {
            None => DEFAULT_LIMIT,
            Some(limit) => limit
                .parse()
                .ok()
                .filter(|limit| (1..=MAX_LIMIT).contains(limit))
                .ok_or_else(|| {
                    Failure::bad_request(format!("limit must be a number from 1 to {MAX_LIMIT}"))
                })?,
        };
        let after = match read::query(head, "cursor") {
            None => None,
            Some(cursor) => Some(cursor.parse::<Position>().map_err(|_| {
                Failure::bad_request(
                    "cursor must be the one of a Link header that this server gave",
                )
            })?),
        };
        let summary = match read::query(head, "view").as_deref() {
            None | Some("full") => false,
            Some("summary") => true,
            Some(_) => return Err(Failure::bad_request("view must be full or summary")),
        };
        // One more than requested shows whether there is a next page.
        let page = Page { after, limit: limit + 1 };
        let mut records = service.list(page).await?;
        let mut more = records.len() > limit;
        records.truncate(limit);
        let mut body = Vec::from(*b"[");
        let mut last = None;
        for record in &records {
            if body.len() > PAGE_BYTES {
                more = true;
                break;
            }
            let written = if summary {
                serde_json::to_vec(&UniverseRecord::summary(record))
            } else {
                match self.service.peek(&record.meta.id).await {
                    Ok(universe) if is_unwritten(head, &universe) => {
                        // The end of the page is only known when it is written.
                        return Ok(answer::json_text(StatusCode::OK, Vec::new()));
                    }
                    Ok(universe) => answer::write(universe).await,
                    // Deleted after the page was read.
                    Err(ServiceError::NotFound(_)) => continue,
                    // A damaged universe does not prevent reading the others.
                    Err(error @ (ServiceError::Damaged { .. } | ServiceError::Unsound(_))) => {
                        answer::write_damaged(record, &error)
                    }
                    Err(error) => return Err(error.into()),
                }
            };
            if body.len() > 1 {
                body.push(b',');
            }
            body.extend(written.map_err(|error| Failure::internal(&error))?);
            last = Some(record);
        }
        body.push(b']');
        let mut response = answer::json_text(StatusCode::OK, body);
        if let Some(last) = last.filter(|_| more) {
            let cursor = last.position().to_string();
            let cursor = utf8_percent_encode(&cursor, NON_ALPHANUMERIC);
            let view = if summary { "&view=summary" } else { "" };
            let next = format!("</universes?limit={limit}&cursor={cursor}{view}>; rel=\"next\"");
            if let Ok(next) = HeaderValue::from_str(&next) {
                response.headers_mut().insert(LINK, next);
            }
        }
        Ok(response)
    }

    /// `POST /universes` with `{name, state}`, `{name, fork: {id, revision}}` for a copy, or `{name, generate: {seed,
    /// …}}`.
    pub(super) async fn create(
        &self,
        head: &request::Parts,
        body: Received,
        reach: Reach,
        client: &Client,
    ) -> Answer {
        let key = read::idempotency_key(head)?;
        let service = self.service.within(reach);
        let strictness = self.service.strictness();
        let read = move |body: &[u8], meter: &Meter| read_replacement(body, meter, strictness);
        let (given, warnings) = body.parse(read).await?;
        let missing = |what| Failure::bad_request(format!("{what} is missing"));
        if key.is_some() && matches!(given.fork, Some((_, None))) {
            // A retry must copy the same state as the first try.
            return Err(Failure::bad_request("fork needs a revision under an Idempotency-Key"));
        }
        let sources =
            [given.fork.is_some(), given.generate.is_some(), given.replacement.state.is_some()];
        if sources.into_iter().filter(|given| *given).count() > 1 {
            return Err(Failure::bad_request("give one of state, fork and generate"));
        }
        if key.is_some() && given.generate.as_ref().is_some_and(generate::is_without_seed) {
            return Err(Failure::bad_request("generate needs a seed under an Idempotency-Key"));
        }
        let recipe = given.generate.as_ref().map(generate::recipe).transpose();
        let recipe = recipe.map_err(|findings| Failure::findings("generate", &findings))?;
        let name = given.replacement.name.clone();
        let name = name.ok_or_else(|| missing("name, a string that is not blank,"))?;
        let given = match given {
            UniverseBody { fork: Some((id, revision)), replacement, .. } => {
                let state = Some(service.read(&id, revision).await?.state);
                Replacement { state, ..replacement }
            }
            UniverseBody { replacement, .. } => replacement,
        };
        let state = match recipe.clone() {
            Some(recipe) => {
                let made =
                    answer::worked_out(client, false, move || generate::universe(&recipe)).await?;
                Some(made.map_err(|error| Failure::internal(&error))?)
            }
            None => given.state,
        };
        let state = state.ok_or_else(|| {
            missing("state, an object ({} is an empty universe), fork, or generate,")
        })?;
        let universe = match key {
            Some(key) => self.service.create_once(key, name, state).await?,
            None => {
                let id = UniverseId::random();
                self.service.create(id, name, state).await?
            }
        };
        let location = HeaderValue::from_str(&format!("/universes/{}", universe.id));
        let recipe = recipe.map(|recipe| recipe.to_value());
        let mut response = answer::made(StatusCode::CREATED, universe, warnings, recipe).await?;
        if let Ok(location) = location {
            response.headers_mut().insert(LOCATION, location);
        }
        Ok(response)
    }

    /// `GET /universes/{id}`, with `revision` for an earlier state.
    pub(super) async fn get(&self, head: &request::Parts, id: &UniverseId) -> Answer {
        let revision = read::number(head, "revision")?.map(Revision);
        let universe = self.service.read(id, revision).await?;
        if let Some(unchanged) = read::unchanged(head, &universe.revision.to_string()) {
            return Ok(unchanged);
        }
        if is_unwritten(head, &universe) {
            let mut response = answer::json_text(StatusCode::OK, Vec::new());
            let etag = answer::etag(universe.revision);
            response.headers_mut().insert(ETAG, etag);
            return Ok(response);
        }
        answer::universe(StatusCode::OK, universe, Findings::default()).await
    }

    /// `PUT /universes/{id}` with any of `{name, state}`.
    pub(super) async fn put(
        &self,
        head: &request::Parts,
        id: &UniverseId,
        body: Received,
    ) -> Answer {
        let expected = read::if_match(head)?;
        let strictness = self.service.strictness();
        let read = move |body: &[u8], meter: &Meter| read_replacement(body, meter, strictness);
        let (given, warnings) = body.parse(read).await?;
        if given.fork.is_some() {
            return Err(Failure::bad_request("fork makes a new universe: POST it to /universes"));
        }
        let replacement = given.replacement;
        if given.generate.is_some() && replacement.state.is_none() {
            return Err(Failure::bad_request(
                "generate makes a new universe: POST it to /universes",
            ));
        }
        let universe = self.service.replace(id, replacement, expected).await?;
        answer::universe(StatusCode::OK, universe, warnings).await
    }

    /// `DELETE /universes/{id}`.
    pub(super) async fn delete(&self, head: &request::Parts, id: &UniverseId) -> Answer {
        let expected = read::if_match(head)?;
        self.service.delete(id, expected).await?;
        Ok(answer::empty(StatusCode::NO_CONTENT))
    }

    /// `POST /universes/{id}/commands` with a command or an array of commands. `result=events` or `result=changes`
    /// leaves the state out of the answer.
    pub(super) async fn command(
        &self,
        head: &request::Parts,
        id: &UniverseId,
        body: Received,
    ) -> Answer {
        let expected = read::if_match(head)?;
        let form = match read::query(head, "result") {
            None => ResultForm::State,
            Some(word) => ResultForm::read(&word).map_err(Failure::bad_request)?,
        };
        let key = read::idempotency_key(head)?;
        let strictness = self.service.strictness();
        let read = move |body: &[u8], meter: &Meter| read_commands(body, meter, strictness);
        let (commands, mut warnings) = body.parse(read).await?;
        let request = Request { commands, expected, key };
        let mut processed = self.service.process(id, request).await?;
        warnings.extend(None, std::mem::take(&mut processed.warnings));
        let etag = answer::etag(processed.revision);
        let mut response = answer::processed(processed, warnings, form).await?;
        response.headers_mut().insert(ETAG, etag);
        Ok(response)
    }
}

/// Whether only the headers are requested of a body that takes long to write. They then have no `Content-Length`.
fn is_unwritten(head: &request::Parts, universe: &Universe) -> bool {
    head.method == Method::HEAD && !offload::is_small(&universe.state)
}

fn read_commands(
    body: &[u8],
    meter: &Meter,
    strictness: Strictness,
) -> Result<(Vec<Command>, Findings), Failure> {
    let malformed = |findings: &Findings| Failure::findings("malformed command", findings);
    match read::json(body, meter)? {
        Value::Array(commands) if (1..=MAX_COMMANDS).contains(&commands.len()) => {
            Command::read_all(commands, strictness).map_err(|error| malformed(error.findings()))
        }
        Value::Array(commands) if commands.len() > MAX_COMMANDS => {
            Err(Failure::bad_request(format!("a list must have 1 to {MAX_COMMANDS} commands")))
        }
        command => Command::read(command, strictness)
            .map(|(command, warnings)| (vec![command], warnings))
            .map_err(|error| malformed(error.findings())),
    }
}
