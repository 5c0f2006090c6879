//! Universes and their commands.

use bytes::Bytes;
use http::header::{ETAG, HeaderValue, LINK, LOCATION};
use http::{Response, StatusCode, request};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use universe_core::{Command, State};

use super::answer::{self, Failure, RestBody, UniverseRecord};
use super::{Rest, read};
use crate::commands::{CommandResult, Replacement, ServiceError};
use crate::store::{Page, Position, UniverseId};

/// How many universes a page of the list has, unless it is asked for otherwise.
const DEFAULT_LIMIT: usize = 100;
/// The most universes of one page.
const MAX_LIMIT: usize = 500;

impl Rest {
    /// `GET /universes`: an array, the newest first; `limit`, `cursor`, `view=summary`.
    pub(super) async fn list(&self, head: &request::Parts) -> Result<Response<RestBody>, Failure> {
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
        // One more than asked for tells whether there is a next page.
        let mut records = self
            .service
            .list(Page {
                after,
                limit: limit + 1,
            })
            .await?;
        let next = (records.len() > limit)
            .then(|| records.truncate(limit))
            .and(records.last());
        let next = next.map(|last| {
            let cursor = last.position().to_string();
            let cursor = utf8_percent_encode(&cursor, NON_ALPHANUMERIC);
            let view = if summary { "&view=summary" } else { "" };
            format!("</universes?limit={limit}&cursor={cursor}{view}>; rel=\"next\"")
        });
        let mut response = if summary {
            let summaries: Vec<_> = records.iter().map(UniverseRecord::summary).collect();
            answer::json_body(StatusCode::OK, &summaries)
        } else {
            let mut universes = Vec::with_capacity(records.len());
            for record in &records {
                match self.service.get(&record.meta.id).await {
                    Ok(universe) => universes.push(universe),
                    // Deleted since the page was read.
                    Err(ServiceError::NotFound(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let universes: Vec<_> = universes.iter().map(UniverseRecord::of).collect();
            answer::json_body(StatusCode::OK, &universes)
        };
        if let Some(Ok(next)) = next.map(|next| HeaderValue::from_str(&next)) {
            response.headers_mut().insert(LINK, next);
        }
        Ok(response)
    }

    /// `POST /universes` with `{name, state}`.
    pub(super) async fn create(&self, body: Bytes) -> Result<Response<RestBody>, Failure> {
        let mut members = object(&body)?;
        let name = match members.remove("name") {
            Some(Value::String(name)) if !name.trim().is_empty() => name.trim().to_owned(),
            _ => {
                return Err(Failure::bad_request(
                    "name must be a string that is not blank",
                ));
            }
        };
        let state = match members.remove("state") {
            Some(state @ Value::Object(_)) => read_state(state)?,
            _ => {
                return Err(Failure::bad_request(
                    "state must be an object; {} is an empty universe",
                ));
            }
        };
        let universe = self
            .service
            .create(UniverseId::random(), name, state)
            .await?;
        let mut response = answer::universe(StatusCode::CREATED, &universe);
        if let Ok(location) = HeaderValue::from_str(&format!("/universes/{}", universe.id)) {
            response.headers_mut().insert(LOCATION, location);
        }
        Ok(response)
    }

    /// `GET /universes/{id}`.
    pub(super) async fn get(
        &self,
        head: &request::Parts,
        id: &UniverseId,
    ) -> Result<Response<RestBody>, Failure> {
        let universe = self.service.get(id).await?;
        if read::if_none_match(head, universe.revision) {
            let mut response = answer::empty(StatusCode::NOT_MODIFIED);
            response
                .headers_mut()
                .insert(ETAG, answer::etag(universe.revision));
            return Ok(response);
        }
        Ok(answer::universe(StatusCode::OK, &universe))
    }

    /// `PUT /universes/{id}` with any of `{name, state}`.
    pub(super) async fn put(
        &self,
        head: &request::Parts,
        id: &UniverseId,
        body: Bytes,
    ) -> Result<Response<RestBody>, Failure> {
        let expected = read::if_match(head)?;
        let mut members = object(&body)?;
        let name = match members.remove("name") {
            None => None,
            Some(Value::String(name)) if !name.trim().is_empty() => Some(name.trim().to_owned()),
            Some(_) => {
                return Err(Failure::bad_request(
                    "name must be a string that is not blank",
                ));
            }
        };
        let state = match members.remove("state") {
            None => None,
            Some(state @ Value::Object(_)) => Some(read_state(state)?),
            Some(_) => return Err(Failure::bad_request("state must be an object")),
        };
        let universe = self
            .service
            .replace(id, Replacement { name, state }, expected)
            .await?;
        Ok(answer::universe(StatusCode::OK, &universe))
    }

    /// `DELETE /universes/{id}`.
    pub(super) async fn delete(
        &self,
        head: &request::Parts,
        id: &UniverseId,
    ) -> Result<Response<RestBody>, Failure> {
        let expected = read::if_match(head)?;
        self.service.delete(id, expected).await?;
        Ok(answer::empty(StatusCode::NO_CONTENT))
    }

    /// `POST /universes/{id}/commands`; `result=events` leaves the state out of the answer.
    pub(super) async fn command(
        &self,
        head: &request::Parts,
        id: &UniverseId,
        body: Bytes,
    ) -> Result<Response<RestBody>, Failure> {
        let expected = read::if_match(head)?;
        let events_only = match read::query(head, "result").as_deref() {
            None | Some("state") => false,
            Some("events") => true,
            Some(_) => return Err(Failure::bad_request("result must be state or events")),
        };
        let command = Command::from_value(read::json(&body)?)
            .map_err(|malformed| Failure::findings("malformed command", malformed.findings()))?;
        let processed = self.service.process(id, command, expected).await?;
        let result = if events_only {
            CommandResult::events_of(&processed)
        } else {
            CommandResult::of(&processed)
        };
        let mut response = answer::json_body(StatusCode::OK, &result);
        response
            .headers_mut()
            .insert(ETAG, answer::etag(processed.revision));
        Ok(response)
    }
}

fn object(body: &[u8]) -> Result<Map<String, Value>, Failure> {
    match read::json(body)? {
        Value::Object(members) => Ok(members),
        _ => Err(Failure::bad_request("the body must be a JSON object")),
    }
}

fn read_state(state: Value) -> Result<State, Failure> {
    State::from_value(state).map_err(|findings| Failure::findings("state", &findings))
}
