//! Conversion of local times without a zone to timestamps.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The clock of the exporting device, one for each chat.
///
/// When clocks are put back, an hour occurs twice. A chat is written in order, so a time in that hour that would be
/// earlier than the previous message belongs to the second hour. The hour that is skipped when clocks are put forward
/// does not occur. A time in it (from a wrong clock) is read as if the clocks had not been put forward.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    zone: TimeZone,
    last: Option<Timestamp>,
}

impl Clock {
    pub(super) fn new(zone: &TimeZone) -> Self {
        Self { zone: zone.clone(), last: None }
    }

    /// The timestamp; `None` for a year out of range.
    pub(super) fn timestamp(&mut self, local: DateTime) -> Option<Timestamp> {
        let ambiguous = self.zone.to_ambiguous_timestamp(local);
        let fold = ambiguous.is_ambiguous();
        let first = ambiguous.compatible().ok()?;
        let second = ambiguous.later().ok().filter(|_| fold);
        let timestamp = match (self.last, second) {
            (Some(last), Some(second)) if first < last && last <= second => second,
            _ => first,
        };
        self.last = Some(timestamp);
        Some(timestamp)
    }
}
