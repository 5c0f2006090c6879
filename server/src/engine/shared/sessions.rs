//! Sessions of the handshake revisions of MCP in a store that servers share. Any server can serve a session that
//! another one has started.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use mcp_proto::session::{Session, SessionChange, SessionId, SessionStore, SessionStoreError};

use crate::store::clients::sessions::{SessionError, Sessions};

/// Written in a record in place of the session's id, which the store must not know.
const NAMELESS: &str = "-";

type Answer<'a, T> = BoxFuture<'a, Result<T, SessionStoreError>>;

/// The sessions of all servers that use one store.
#[derive(Debug)]
pub(super) struct SharedSessions(pub(super) Sessions);

impl SessionStore for SharedSessions {
    fn insert(&self, session: Session) -> Answer<'_, ()> {
        Box::pin(async move {
            let (id, owner) = (session.id.clone(), session.client.clone());
            let body = write(session)?;
            let kept = self.0.insert(id.as_str(), owner.as_deref(), &body).await;
            kept.map_err(failed)
        })
    }

    fn load<'a>(&'a self, id: &'a SessionId) -> Answer<'a, Option<Arc<Session>>> {
        Box::pin(async move {
            let found = self.0.load(id.as_str()).await.map_err(failed)?;
            Ok(found.and_then(|body| read(id, &body)).map(Arc::new))
        })
    }

    fn change<'a>(
        &'a self,
        id: &'a SessionId,
        change: &'a SessionChange,
    ) -> Answer<'a, Option<Arc<Session>>> {
        Box::pin(async move {
            let change = |body: &[u8]| {
                let mut session = read(id, body)?;
                session.apply(change);
                write(session).ok()
            };
            let changed = self.0.change(id.as_str(), &change).await.map_err(failed)?;
            Ok(changed.and_then(|body| read(id, &body)).map(Arc::new))
        })
    }

    fn remove<'a>(&'a self, id: &'a SessionId) -> Answer<'a, bool> {
        Box::pin(async move { self.0.remove(id.as_str()).await.map_err(failed) })
    }

    fn hints(&self, id: &SessionId) -> BoxStream<'static, ()> {
        self.0.hints(id.as_str())
    }
}

fn write(mut session: Session) -> Result<Vec<u8>, SessionStoreError> {
    session.id = SessionId::from_header(NAMELESS);
    let written = serde_json::to_vec(&session);
    written.map_err(|problem| SessionStoreError::Unavailable(problem.to_string()))
}

/// The session in a record. A record that cannot be read, such as one of a newer server, counts as missing, so its
/// client begins another session.
fn read(id: &SessionId, body: &[u8]) -> Option<Session> {
    match serde_json::from_slice::<Session>(body) {
        Ok(mut session) => {
            session.id = id.clone();
            Some(session)
        }
        Err(problem) => {
            tracing::warn!(%problem, "a session in the store cannot be read");
            None
        }
    }
}

fn failed(error: SessionError) -> SessionStoreError {
    match error {
        SessionError::Full { is_share, max } => SessionStoreError::Full { is_share, max },
        error => SessionStoreError::Unavailable(error.to_string()),
    }
}
