//! The calls that the victim makes steadily, each kind at its own pace.

use std::time::Duration;

use super::super::target::{self, Kind};
use super::super::wire::Client;
use super::Own;
use xtask::Result;

/// One kind of call and its pace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    pub(super) name: &'static str,
    /// The time from one call to the next.
    pub(super) period: Duration,
    /// The time that the tool itself sleeps, which is not counted.
    pub(super) takes: Duration,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Modern calls on one persistent connection.
    Modern,
    /// Modern calls, each on a new connection.
    ModernFresh,
    /// Legacy calls in one session that lasts throughout.
    Session,
    /// Legacy calls, each in a new session on a new connection.
    SessionFresh,
    /// A slow modern call, if the server has such a tool.
    Slow,
}

/// Some 120 calls per second in total: the load of a busy person's agents, and a small part of the server's capacity.
pub(super) const LANES: [Lane; 5] = [
    Lane::new("modern", 20, What::Modern),
    Lane::new("modern on new connections", 50, What::ModernFresh),
    Lane::new("legacy in one session", 25, What::Session),
    Lane::new("legacy in new sessions", 200, What::SessionFresh),
    Lane::new("slow", 250, What::Slow),
];

const SLOW: Duration = Duration::from_millis(200);

/// The state of a lane between its calls.
#[derive(Debug)]
pub(super) struct State {
    client: Client,
    session: String,
    turn: u64,
}

/// The results of a lane's calls.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) calls: usize,
    /// The times of the successful calls, in microseconds from when they were due.
    pub(super) times: Vec<u64>,
    /// The error of the first failed call.
    pub(super) failure: Option<String>,
}

impl Lane {
    const fn new(name: &'static str, period: u64, what: What) -> Self {
        let takes = match what {
            What::Slow => SLOW,
            _ => Duration::ZERO,
        };
        Self { name, period: Duration::from_millis(period), takes, what }
    }

    /// Prepares the calls.
    pub(super) fn open(self, own: &Own) -> Result<State> {
        let mut client = own.target.client();
        let session = match self.what {
            What::Session => own.target.initialize(&mut client, "2025-11-25")?,
            _ => String::new(),
        };
        Ok(State { client, session, turn: 0 })
    }

    /// Makes one call.
    ///
    /// # Errors
    /// When the call does not succeed, with a description.
    pub(super) fn call(self, own: &Own, state: &mut State) -> Result<()> {
        state.turn += 1;
        let (tool, arguments) = own.quick(state.turn);
        let target = own.target;
        match self.what {
            What::Modern => {}
            What::ModernFresh => state.client.close(),
            What::Session => {
                let message = target::legacy_call(&state.session, tool, &arguments);
                return target.ask(&mut state.client, &message).map(drop);
            }
            What::SessionFresh => {
                state.client.close();
                let session = target.initialize(&mut state.client, "2025-11-25")?;
                let message = target::legacy_call(&session, tool, &arguments);
                target.ask(&mut state.client, &message)?;
                let mut end = target::get_stream(&session);
                end.method = "DELETE";
                return target.ask(&mut state.client, &end).map(drop);
            }
            What::Slow => {
                let message = own.slow(SLOW);
                return target.ask(&mut state.client, &message).map(drop);
            }
        }
        let message = target::modern_call(tool, &arguments);
        target.ask(&mut state.client, &message).map(drop)
    }
}

impl Own {
    /// A tool that answers at once, and its arguments.
    fn quick(&self, turn: u64) -> (&'static str, String) {
        let universe = &self.universe;
        match self.target.kind {
            Kind::Everything => ("test_simple_text", "{}".to_owned()),
            Kind::Universe if turn.is_multiple_of(2) => {
                ("get_universe_state", format!(r#"{{"universeId":"{universe}"}}"#))
            }
            Kind::Universe => (
                "send_universe_command",
                format!(r#"{{"universeId":"{universe}","command":{{"type":"tick","dt":1}}}}"#),
            ),
        }
    }

    /// A call that takes `time`. The universe server has no such tool: there, a call with one of the larger answers.
    fn slow(&self, time: Duration) -> target::Message {
        match self.target.kind {
            Kind::Everything => {
                let seconds = time.as_secs_f64();
                target::modern_call("slow_compute", &format!(r#"{{"seconds":{seconds}}}"#))
            }
            Kind::Universe => {
                let universe = &self.universe;
                target::modern_call(
                    "list_universe_commands",
                    &format!(r#"{{"universeId":"{universe}"}}"#),
                )
            }
        }
    }
}

impl Measured {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, calls: 0, times: Vec::new(), failure: None }
    }

    pub(super) fn note(&mut self, took: Duration, done: Result<()>) {
        self.calls += 1;
        match done {
            Ok(()) => self.times.push(u64::try_from(took.as_micros()).unwrap_or(u64::MAX)),
            Err(error) => {
                self.failure.get_or_insert_with(|| error.to_string());
            }
        }
    }
}
