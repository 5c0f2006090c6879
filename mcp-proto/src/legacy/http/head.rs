//! The judge of the headers of requests with sessions: which session, which version, after which event.

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::event_id::EventId;
use super::refusal::Refusal;
use crate::http::head::modern::names_modern;
use crate::http::head::{PROTOCOL_VERSION, SESSION_ID, given_twice};
use crate::http::rejection::Result;
use crate::legacy::session::SessionId;
use crate::version::{Era, ProtocolVersion};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Whether the headers name a session, and no revision without sessions.
pub(super) fn names_session(headers: &HeaderMap) -> bool {
    !names_modern(headers) && headers.contains_key(SESSION_ID)
}

/// The id of the session that the headers name. Whether that session exists is not checked yet.
///
/// A version header must name a revision with sessions, but not necessarily the negotiated one: the session's own
/// version applies. Some existing clients name another one, and refusing them would gain nothing.
pub(super) fn session_id(headers: &HeaderMap) -> Result<SessionId> {
    let (mut session, mut version) = (None, None);
    // One pass over the few headers costs less than two lookups by hash.
    for (name, value) in headers {
        if *name == SESSION_ID {
            if session.replace(value).is_some() {
                return Err(given_twice(&SESSION_ID));
            }
        } else if *name == PROTOCOL_VERSION
            && version.replace(value).is_some_and(|before| before != value)
        {
            return Err(given_twice(&PROTOCOL_VERSION));
        }
    }
    let id = session.ok_or(Refusal::MissingSession)?;
    let id = id.to_str().map_err(|_| Refusal::UnknownSession)?;
    match version {
        Some(version) if !has_sessions(version) => {
            let version = String::from_utf8_lossy(version.as_bytes());
            let shown = version.trim().chars().take(40).collect();
            Err(Refusal::UnsupportedVersionHeader(shown).into())
        }
        _ => Ok(SessionId::from_header(id)),
    }
}

/// Whether a version header names a revision with sessions. A header that is not text does not.
fn has_sessions(version: &HeaderValue) -> bool {
    let version = version.as_bytes().trim_ascii();
    let named = ProtocolVersion::ALL.into_iter();
    let mut named = named.filter(|named| named.as_str().as_bytes() == version);
    named.any(|version| version.era() == Era::Legacy)
}

/// The event after which the client wants to continue. An empty id counts as none: event streams use it to reset the
/// last id.
pub(super) fn last_event_id(headers: &HeaderMap) -> Result<Option<EventId>> {
    let mut ids = headers.get_all(LAST_EVENT_ID).iter();
    let Some(id) = ids.next().filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    if ids.next().is_some() {
        return Err(given_twice(&LAST_EVENT_ID));
    }
    let id = id.to_str().ok().and_then(|id| id.trim().parse().ok());
    Ok(Some(id.ok_or(Refusal::NoEventId)?))
}
