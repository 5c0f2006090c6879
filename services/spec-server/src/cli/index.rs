//! `spec-server index`

use std::io::Write;

use clap::Args;

use super::output::Output;
use super::{CliError, Place};
use crate::search;

#[derive(Debug, Clone, Args)]
pub(super) struct Arguments {}

impl Arguments {
    #[expect(clippy::unused_self, reason = "as the other commands")]
    pub(super) fn run<W: Write>(
        &self,
        place: &Place,
        output: &mut Output<W>,
    ) -> Result<u8, CliError> {
        let project = place.project()?;
        let specs = project.specs()?;
        let path = search::build(project.root(), &specs.items)?;
        let count = specs.items.len();
        output.line(format_args!("{count} specs indexed in {}", path.display()))?;
        for unreadable in &specs.unreadable {
            output.line(format_args!("! {}", output.safe(&unreadable.problem)))?;
        }
        Ok(u8::from(!specs.unreadable.is_empty()))
    }
}
