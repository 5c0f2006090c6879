//! Scopes by what the offered things say of themselves.

use super::ServerBuilder;
use crate::scopes::{Guarded, Scopes, Wanted};

impl<S> ServerBuilder<S> {
    /// Asks callers over HTTP for `read` where something is only read: tools that say so
    /// ([`read_only_hint`](crate::ToolAnnotations::read_only_hint)), prompts, resources and completions. Other tools need
    /// `write`. It goes for what was added before, and leaves what already has scopes alone.
    pub fn scopes_by_annotation(mut self, read: &Scopes, write: &Scopes) -> Self {
        let tools = self.tools.list().map(|tool| {
            let needed = if tool.only_reads() { read } else { write };
            (Guarded::Tool(tool.name.clone()), needed)
        });
        let prompts = self
            .prompts
            .list()
            .map(|prompt| Guarded::Prompt(prompt.name.clone()));
        let others = [
            Guarded::Resources(String::new()),
            Guarded::Method("completion/complete".to_owned()),
        ];
        let read = prompts.chain(others).map(|it| (it, read));
        let needed: Vec<_> = tools.chain(read).collect();
        for (guarded, scopes) in needed {
            self.needs.insert_missing(guarded, scopes);
        }
        self
    }

    /// Asks callers over HTTP for scopes by what they want, besides the scopes of
    /// [`require_scopes`](ServerBuilder::require_scopes): where tenants have scopes of their own, say, by the arguments of a
    /// call. `judge` sees the scopes that the caller has, and gives all that it needs if they are not enough. Without
    /// arguments it says whether the caller sees the thing in a list. It must not block.
    pub fn scopes_by(
        mut self,
        judge: impl Fn(Wanted<'_>, &Scopes) -> Option<Scopes> + Send + Sync + 'static,
    ) -> Self {
        self.needs.judge_by(Box::new(judge));
        self
    }
}
