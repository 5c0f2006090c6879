//! Why something cannot be held, as a sentence for the client.

use std::fmt;

use super::Kind;

/// Why something cannot be held. Its text names the bound, whose bound it is, and what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct Over {
    pub(crate) kind: Kind,
    /// Whether this client holds its full share; otherwise all clients together hold the total.
    pub(crate) is_share: bool,
    /// The bound that was met.
    pub(crate) max: usize,
}

impl Over {
    /// Whether it is this client's share that is full (HTTP 429); otherwise that of all clients together is (503).
    pub fn is_share(&self) -> bool {
        self.is_share
    }
}

impl fmt::Display for Over {
    /// A sentence for the client: which bound, whose, and what to do.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { max, .. } = self;
        let what = match self.kind {
            Kind::Calls => format!("{max} calls are running"),
            Kind::Listeners => format!("{max} listeners are open"),
            Kind::RequestBytes => format!("requests take {max} bytes of memory"),
            Kind::AnswerBytes => format!("answers of {max} bytes wait to be read"),
            Kind::Connections => format!("{max} connections are open"),
            Kind::Tasks => format!("{max} tasks are kept"),
            Kind::TaskBytes => format!("tasks of {max} bytes are kept"),
            Kind::DetachedCalls => format!("{max} calls run on without their client"),
            Kind::KeptBytes => format!("events of {max} bytes are kept"),
        };
        if self.is_share {
            write!(formatter, "{what} for this client, which is its share: wait for some to end")
        } else {
            write!(formatter, "{what} for all clients together: try again later")
        }
    }
}
