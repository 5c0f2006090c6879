//! The contract of a server that runs.

use std::time::Duration;

use super::{Contract, ContractError, ItemKind};
use crate::probe::{Bench, Endpoint, Revision, newest};
use crate::shorten::shorten;
use crate::target::Target;

/// How much of a command is shown, in characters.
const SHOWN: usize = 60;

impl Contract {
    /// Reads what a server offers, in the newest of these revisions that it supports; an empty list stands for all.
    /// Each answer may take as long as `timeout`. A program is started once for each revision that is tried.
    ///
    /// # Errors
    /// [`ContractError::Target`], [`ContractError::Revision`].
    pub async fn of(
        target: Target,
        revisions: &[Revision],
        timeout: Duration,
    ) -> Result<Self, ContractError> {
        let endpoint = Endpoint::from(target);
        let mut bench = opened(&endpoint, revisions, timeout).await?;
        bench.look(&[]).await;
        let source = match &endpoint {
            Endpoint::Http(target) => target.to_string(),
            // Two releases of a server are often started by the same program.
            Endpoint::Command(program, arguments) => {
                let words = [program].into_iter().chain(arguments);
                let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
                shorten(&words.join(" "), SHOWN)
            }
        };
        let contract = Self::offered(&bench, source);
        bench.end().await;
        Ok(contract)
    }

    fn offered(bench: &Bench, source: String) -> Self {
        let mut contract =
            Self { source, revision: Some(bench.revision.to_string()), ..Self::default() };
        if let Some(result) = bench.greeting.result() {
            contract.greet(result);
        }
        for kind in ItemKind::ALL {
            let listed = bench.lists.iter().find(|(method, ..)| *method == kind.method());
            let Some((method, items, pages)) = listed else {
                // What is not declared is not there.
                contract.lists.insert(kind, Default::default());
                continue;
            };
            let refused = pages.iter().find(|page| page.result().is_none());
            match refused {
                Some(page) if kind != ItemKind::Template || page.code() != Some(-32601) => {
                    contract.notes.push(format!("{method} could not be read: {}", page.outcome()));
                }
                _ => contract.add(kind, items),
            }
            let last = pages.last().and_then(|page| page.result());
            if last.is_some_and(|it| it.get("nextCursor").is_some_and(|it| it.is_string())) {
                contract.notes.push(format!("{method} was read to its page {} only", pages.len()));
            }
        }
        contract
    }
}

/// A server in the newest of these revisions that it supports. An empty list stands for all.
pub(crate) async fn opened(
    endpoint: &Endpoint,
    revisions: &[Revision],
    timeout: Duration,
) -> Result<Bench, ContractError> {
    let revisions = if revisions.is_empty() { Revision::ALL.as_slice() } else { revisions };
    let opened = newest(endpoint, revisions, timeout).await?;
    opened.ok_or_else(|| ContractError::Revision(endpoint.to_string()))
}
