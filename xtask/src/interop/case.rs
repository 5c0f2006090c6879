//! The table of clients with their scenarios, and all cases that follow from it.

use xtask::install::Toolbox;

/// A test scenario for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    Universe,
    Specs,
    Everything,
    Starmap,
    Chat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Http,
    Stdio,
    /// HTTP, with requests that alternate between two servers.
    Twins,
}

/// A client script, and the cases that it supports.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) script: &'static str,
    pub(super) toolbox: Toolbox,
    eras: &'static [Era],
    scenarios: &'static [Scenario],
}

const BOTH_ERAS: &[Era] = &[Era::Legacy, Era::Modern];
const ALL_SCENARIOS: &[Scenario] =
    &[Scenario::Universe, Scenario::Specs, Scenario::Everything, Scenario::Starmap, Scenario::Chat];

const CLIENTS: [Client; 5] = [
    Client {
        script: "sdk-v1.mjs",
        toolbox: Toolbox::Node,
        eras: &[Era::Legacy],
        scenarios: ALL_SCENARIOS,
    },
    Client {
        script: "client-v2.mjs",
        toolbox: Toolbox::Node,
        eras: BOTH_ERAS,
        scenarios: ALL_SCENARIOS,
    },
    Client {
        script: "inspector.mjs",
        toolbox: Toolbox::Node,
        eras: BOTH_ERAS,
        scenarios: &[Scenario::Universe, Scenario::Everything],
    },
    Client {
        // From the same package as the client above, for scenarios that need a lasting connection.
        script: "mcpdo.mjs",
        toolbox: Toolbox::Node,
        eras: BOTH_ERAS,
        scenarios: &[Scenario::Everything],
    },
    Client {
        script: "python_client.py",
        toolbox: Toolbox::Python,
        eras: BOTH_ERAS,
        scenarios: ALL_SCENARIOS,
    },
];

/// One scenario for one client in one era over one transport.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) scenario: Scenario,
    pub(super) client: &'static Client,
    pub(super) era: Era,
    pub(super) transport: Transport,
}

/// All cases, in the order in which they run.
pub(super) fn cases() -> impl Iterator<Item = Case> {
    ALL_SCENARIOS.iter().flat_map(|&scenario| {
        [Transport::Http, Transport::Stdio, Transport::Twins]
            .into_iter()
            .filter(move |transport| {
                *transport != Transport::Twins || scenario == Scenario::Universe
            })
            .flat_map(move |transport| {
                CLIENTS.iter().filter(move |client| client.scenarios.contains(&scenario)).flat_map(
                    move |client| {
                        client.eras.iter().map(move |&era| Case {
                            scenario,
                            client,
                            era,
                            transport,
                        })
                    },
                )
            })
    })
}

impl Scenario {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Universe => "universe",
            Self::Specs => "specs",
            Self::Everything => "everything",
            Self::Starmap => "starmap",
            Self::Chat => "chat",
        }
    }
}

impl Era {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

impl Transport {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stdio => "stdio",
            Self::Twins => "twins",
        }
    }
}

impl Client {
    /// The name of the script without its extension.
    pub(super) fn name(&self) -> &'static str {
        self.script.split_once('.').map_or(self.script, |(stem, _)| stem)
    }
}

impl Case {
    /// A suffix that keeps the bodies of one case separate from those of other cases.
    pub(super) fn suffix(&self) -> String {
        let (client, era) = (self.client.name(), self.era.name());
        format!("{client}-{era}-{}", self.transport.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_client_runs_over_both_transports_with_bodies_of_its_own() {
        let of = |scenario: Scenario| cases().filter(move |case| case.scenario == scenario);
        let suffixes: BTreeSet<String> = of(Scenario::Universe).map(|case| case.suffix()).collect();
        assert_eq!(suffixes.len(), 21);
        assert_eq!(of(Scenario::Universe).count(), 21);
        assert_eq!(of(Scenario::Specs).count(), 10);
        assert_eq!(of(Scenario::Everything).count(), 18);
        assert_eq!(of(Scenario::Starmap).count(), 10);
        assert_eq!(of(Scenario::Chat).count(), 10);
        assert!(suffixes.contains("sdk-v1-legacy-http"));
        assert!(!suffixes.iter().any(|suffix| suffix.starts_with("sdk-v1-modern")));
        for client in &CLIENTS {
            assert!(
                xtask::root().join("xtask/interop").join(client.script).is_file(),
                "{}",
                client.script
            );
        }
    }
}
