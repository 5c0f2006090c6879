//! Local times without a zone become moments.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The clock of the exporting device, one for each chat.
///
/// When clocks are put back, an hour comes twice. A chat is written in order, so a time in that hour that would lie
/// before the message before it is one of the second hour. The hour that is left out when they are put forward does
/// not come; a time in it (of a clock set wrong) is read as if they had not been put forward.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    zone: TimeZone,
    last: Option<Timestamp>,
}

impl Clock {
    pub(super) fn new(zone: &TimeZone) -> Self {
        Self {
            zone: zone.clone(),
            last: None,
        }
    }

    /// The moment; `None` for a year that cannot be.
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
