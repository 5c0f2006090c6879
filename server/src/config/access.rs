//! The options that all servers have, with the names of this one's environment: who may call, by HTTPS or
//! not, and the keys that several share.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use service_host::{Asking, KeysFile, Tls};

/// Who may call, and how: each option has a variable in the environment.
#[derive(Debug, Clone, Default)]
pub struct AccessArgs {
    /// Who may call.
    pub asking: Asking,
    /// The options of HTTPS.
    pub tls: Tls,
    /// The keys that are shared with other servers.
    pub keys: KeysFile,
}

impl Args for AccessArgs {
    fn augment_args(command: Command) -> Command {
        let known: Vec<_> = command.get_arguments().map(|arg| arg.get_id().clone()).collect();
        let command = KeysFile::augment_args(Tls::augment_args(Asking::augment_args(command)));
        command.mut_args(|arg| {
            if known.contains(arg.get_id()) {
                arg
            } else {
                let name = arg.get_id().as_str().to_uppercase();
                arg.env(format!("UNIVERSE_{name}"))
            }
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AccessArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self {
            asking: Asking::from_arg_matches(matches)?,
            tls: Tls::from_arg_matches(matches)?,
            keys: KeysFile::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.asking.update_from_arg_matches(matches)?;
        self.tls.update_from_arg_matches(matches)?;
        self.keys.update_from_arg_matches(matches)
    }
}
