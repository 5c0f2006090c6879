//! The steps: what happens to a server, its client or the way between them.

use clap::ValueEnum;

use super::client::{Row, Transport};
use super::proxy::Kind;

/// What happens while a client is connected and subscribed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Step {
    /// The server is killed (SIGKILL) and started again on the same data directory and port.
    Kill,
    /// The server is asked to end (SIGTERM) and started again, with a stream open.
    Upgrade,
    /// The client is stopped (SIGSTOP) for two seconds, and a second connection of its session comes.
    FrozenClient,
    /// The server is stopped (SIGSTOP) for two seconds, in which the client calls.
    FrozenServer,
    /// Each event stream gets a line end behind its request; the first one is then cut.
    LateByte,
    /// A proxy compresses event streams unless they say `no-transform`.
    Compressing,
    /// A proxy holds back event streams unless they say `X-Accel-Buffering: no`.
    Buffering,
    /// A universe of 100,000 bodies is read whole over REST, and page by page over MCP.
    Pages,
    /// A universe of 100,000 bodies is asked for as a whole over MCP.
    Whole,
}

impl Step {
    /// The name on the command line and in the table.
    pub(super) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Why a row does not have this step.
    pub(super) fn not_applicable(self, row: Row) -> Option<&'static str> {
        match self {
            Self::LateByte | Self::Compressing | Self::Buffering
                if row.transport == Transport::Stdio =>
            {
                Some("nothing is between a client and its process")
            }
            _ => None,
        }
    }

    /// The proxy that the step needs between client and server.
    pub(super) fn proxy(self) -> Option<Kind> {
        match self {
            Self::FrozenClient => Some(Kind::Plain),
            Self::LateByte => Some(Kind::LateByte),
            Self::Compressing => Some(Kind::Compressing),
            Self::Buffering => Some(Kind::Buffering),
            _ => None,
        }
    }

    /// Whether the server has the large universe.
    pub(super) fn is_large(self) -> bool {
        matches!(self, Self::Pages | Self::Whole)
    }
}
