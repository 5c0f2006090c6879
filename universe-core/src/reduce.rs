//! The reducer: applies a command to a universe and returns the next universe, or a refusal.

mod group_hierarchy;
mod groups;
mod records;
mod rings;
mod star_hierarchy;
mod stars;

use crate::command::{Action, Command, Snapshot};
use crate::event::Event;
use crate::refusal::Refusal;
use crate::state::State;

/// The result of an accepted command.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The universe afterwards.
    pub state: State,
    /// What happened: nothing for `tick`, one event for every other command.
    pub events: Vec<Event>,
}

/// The effect of a family of commands on a copy of the universe.
type Outcome = Result<Event, Refusal>;

impl State {
    /// Applies a command. This universe stays unchanged, and the next one shares with it all that the command does not
    /// touch.
    ///
    /// The cost depends on what the command touches (and on the logarithm of the universe's size),
    /// with two exceptions: putting a body or group that has children under another walks up from
    /// the new parent, and replacing all records or everything drops what was there.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] if the command names something that does not exist or would break an invariant.
    pub fn apply(&self, command: &Command) -> Result<Applied, Refusal> {
        let mut state = self.clone();
        let event = match &command.action {
            Action::Tick { dt } => {
                state.tick(*dt)?;
                return Ok(Applied { state, events: Vec::new() });
            }
            Action::TickUntil { until } => {
                let time = state
                    .time_of(*until)
                    .map_err(|problem| Refusal::no_epoch(&format!("until: {problem}")))?;
                state.time = time + 0.0;
                return Ok(Applied { state, events: Vec::new() });
            }
            Action::AddStar { id, payload } => state.add_star(id, payload),
            Action::UpdateStar { id, payload } => state.update_star(id, payload),
            Action::RemoveStar { id } => state.remove_star(id),
            Action::AttachStar { child, parent } => state.attach_star(child, parent),
            Action::DetachStar { child } => state.detach_star(child),
            Action::AddGroup { id, payload } => state.add_group(id, payload),
            Action::UpdateGroup { id, payload } => state.update_group(id, payload),
            Action::RemoveGroup { id } => state.remove_group(id),
            Action::AddToGroup { group, child } => state.add_to_group(group, child),
            Action::RemoveFromGroup { group, child } => state.remove_from_group(group, child),
            Action::MoveToGroup { child, kind, target } => {
                state.move_to_group(child, *kind, target.as_ref())
            }
            Action::SetRecords { kind, records } => Ok(state.set_records(*kind, records)),
            Action::AddRecord { kind, id, record } => Ok(state.add_record(*kind, id, record)),
            Action::UpdateRecord { kind, id, patch } => state.update_record(*kind, id, patch),
            Action::RemoveRecord { kind, id } => Ok(state.remove_record(*kind, id)),
            Action::UpdateRing { planet, patch } => state.update_ring(planet, patch),
            Action::RemoveRing { planet } => state.remove_ring(planet),
            Action::ReplaceSnapshot { snapshot } => Ok(state.replace_snapshot(snapshot)),
        }?;
        Ok(Applied { state, events: vec![event] })
    }

    /// Time passes; nothing else moves.
    fn tick(&mut self, dt: f64) -> Result<(), Refusal> {
        // Adding zero makes a negative zero positive, which JSON writers do not agree on.
        let time = self.time + dt + 0.0;
        if !time.is_finite() {
            return Err(Refusal::time_overflow(self.time, dt));
        }
        self.time = time;
        Ok(())
    }

    /// Everything is replaced but the time, also the epoch and the units; unknown top-level members go.
    fn replace_snapshot(&mut self, snapshot: &Snapshot) -> Event {
        let time = self.time;
        *self = Self { time, ..snapshot.state.clone() };
        self.derive_all();
        Event::SnapshotReplaced
    }
}
