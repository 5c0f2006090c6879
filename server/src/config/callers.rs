//! The options that say who may call, as all servers have them, with the names of this one's environment.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use service_host::Asking;

/// Who may call: each option has a variable in the environment.
#[derive(Debug, Clone, Default)]
pub struct Callers(pub Asking);

impl Args for Callers {
    fn augment_args(command: Command) -> Command {
        let known: Vec<_> = command
            .get_arguments()
            .map(|arg| arg.get_id().clone())
            .collect();
        Asking::augment_args(command).mut_args(|arg| match known.contains(arg.get_id()) {
            true => arg,
            false => {
                let name = arg.get_id().as_str().to_uppercase();
                arg.env(format!("UNIVERSE_{name}"))
            }
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Callers {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Asking::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
