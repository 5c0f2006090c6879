//! Tasks wherever they run: those kept here, and those of other servers that share a store.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::Tasks;
use crate::jsonrpc::Result;
use crate::task::entry::{Entry, Home, Problem, Stage};
use crate::task::owner::Owner;
use crate::task::shared::Shared;
use crate::version::Era;

/// How long a request waits for a task that runs here to end, once its record has the end.
const PATIENCE: Duration = Duration::from_secs(5);

impl Tasks {
    /// The store in which other servers find the tasks, too.
    pub(crate) fn shared(&self) -> Option<&Shared> {
        self.shared.as_ref()
    }

    /// The task of that name, if it is kept and belongs to the owner and the era. Waits only for a task of
    /// another server, or for an end that is not confirmed.
    pub(crate) async fn find(
        &self,
        id: &str,
        owner: &Owner,
        era: Era,
    ) -> Result<Option<Arc<Entry>>> {
        let here = self.find_here(id, owner, era);
        // An end that is proposed may be in the store already, where other servers see it.
        let waits = here.as_ref().is_none_or(|entry| entry.state().is_ending());
        let (true, Some(shared)) = (waits, &self.shared) else {
            return Ok(here);
        };
        let found = match shared.find(id, owner, era).await {
            Ok(found) => found.map(|found| Arc::new(found.entry)),
            Err(error) => return here.map(Some).ok_or(error),
        };
        Ok(found.filter(|found| here.is_none() || found.state().stage.is_over()).or(here))
    }

    /// At most `max` tasks of an owner and an era after that number, each with its number, the oldest first, and
    /// whether there are more.
    pub(crate) async fn list(
        &self,
        owner: &Owner,
        era: Era,
        after: u64,
        max: usize,
    ) -> Result<(Vec<(u64, Arc<Entry>)>, bool)> {
        let Some(shared) = &self.shared else {
            let (listed, more) = self.list_here(owner, era, after, max);
            let listed = listed.into_iter().map(|entry| (entry.number, entry));
            return Ok((listed.collect(), more));
        };
        let mut listed = shared.list(owner, era, after, max.saturating_add(1)).await?;
        let more = listed.len() > max;
        listed.truncate(max);
        // For tasks that run here, the local state is newer.
        let listed = listed.into_iter().map(|entry| {
            let here = self.find_here(&entry.id, owner, era);
            (entry.number, here.unwrap_or_else(|| Arc::new(entry)))
        });
        Ok((listed.collect(), more))
    }

    /// Takes the answers to open questions of a task, or returns the bound that they exceed. Other answers are ignored,
    /// and so are all answers once the task has ended.
    pub(crate) async fn answer(&self, entry: &Entry, answers: Vec<(String, Value)>) -> Result<()> {
        match self.elsewhere(entry) {
            Some(shared) => shared.answer(entry, &answers).await,
            None => self.answer_here(entry, answers),
        }
    }

    /// An answer will not come: the task continues with that problem, if it still asks the questions of that round.
    pub(crate) async fn give_up(
        &self,
        entry: &Entry,
        round: usize,
        problem: Problem,
    ) -> Result<()> {
        let Some(shared) = self.elsewhere(entry) else {
            entry.give_up(round, problem);
            return Ok(());
        };
        let given_up =
            shared.change(entry, |found| Ok(found.entry.give_up(round, problem.clone())));
        given_up.await.map(drop)
    }

    /// Cancels a task, unless it has ended. Returns whether it was cancelled.
    pub(crate) async fn cancel(&self, entry: &Entry) -> Result<bool> {
        match &self.shared {
            // The store's record decides, wherever the task runs.
            Some(shared) if entry.home != Home::Here => {
                let cancelled = shared.change(entry, |found| Ok(found.entry.end(Stage::Cancelled)));
                let cancelled = cancelled.await?;
                if cancelled {
                    self.ended_elsewhere(entry);
                } else {
                    // The store has the end, and the task's keeper will notice it soon.
                    let mut state = entry.subscribe();
                    let over = state.wait_for(|state| state.stage.is_over());
                    drop(tokio::time::timeout(PATIENCE, over).await);
                }
                Ok(cancelled)
            }
            _ => Ok(self.end(entry, Stage::Cancelled)),
        }
    }

    /// The task with its result, if it has one: the result of another server's task is read only when it is needed.
    pub(crate) async fn with_result(&self, entry: &Arc<Entry>) -> Result<Arc<Entry>> {
        match self.elsewhere(entry) {
            Some(shared) if entry.state().stage.result().is_some() => {
                Ok(Arc::new(shared.with_result(entry).await?))
            }
            _ => Ok(Arc::clone(entry)),
        }
    }

    /// A future that keeps a task of another server up to date for requests that wait for it; `None` for a task that
    /// runs here.
    pub(crate) fn follow(&self, entry: &Arc<Entry>) -> Option<BoxFuture<'static, ()>> {
        let shared = self.elsewhere(entry)?;
        Some(shared.follow(Arc::clone(entry)))
    }

    fn elsewhere(&self, entry: &Entry) -> Option<&Shared> {
        let shared = self.shared.as_ref();
        shared.filter(|_| entry.home == Home::Elsewhere)
    }
}
