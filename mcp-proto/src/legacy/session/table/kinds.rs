//! Data that sessions have in common, kept once: most sessions of a server come from a few programs.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::legacy::session::Session;
use crate::lifecycle::{ClientCapabilities, Implementation};

/// The most kinds of clients that are remembered: those seen last.
const MAX_KINDS: usize = 16;

/// The kinds of clients that opened sessions recently.
#[derive(Debug, Default)]
pub(super) struct Kinds(VecDeque<(Arc<Implementation>, Arc<ClientCapabilities>)>);

impl Kinds {
    /// Lets a session share data with an earlier session of the same kind.
    pub(super) fn share(&mut self, session: &mut Session) {
        let is_same = |(info, can): &&(Arc<Implementation>, Arc<ClientCapabilities>)| {
            *info == session.client_info && *can == session.client_capabilities
        };
        if let Some((info, can)) = self.0.iter().find(is_same) {
            session.client_info = Arc::clone(info);
            session.client_capabilities = Arc::clone(can);
            return;
        }
        if self.0.len() >= MAX_KINDS {
            self.0.pop_front();
        }
        let kind = (&session.client_info, &session.client_capabilities);
        self.0.push_back((Arc::clone(kind.0), Arc::clone(kind.1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::ProtocolVersion;

    #[test]
    fn sessions_of_one_kind_share_what_they_say_of_themselves() {
        let session = |name: String| {
            let info = Implementation::new(name, "1");
            Session::new(ProtocolVersion::LATEST_LEGACY, info, Default::default())
        };
        let mut kinds = Kinds::default();
        let (mut first, mut second) = (session("a".to_owned()), session("a".to_owned()));
        kinds.share(&mut first);
        kinds.share(&mut second);
        assert!(Arc::ptr_eq(&first.client_info, &second.client_info));
        for other in 0..2 * MAX_KINDS {
            kinds.share(&mut session(other.to_string()));
        }
        assert_eq!(kinds.0.len(), MAX_KINDS);
    }
}
