//! Rules of the game for single systems, as data with their sources.

/// A system that ships may enter, but not pass: a way may begin or end there, and never leads through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnlyEnd {
    /// The id of the system.
    pub id: u32,
    /// The word that lifts the rule, see [`Travel::allowing`](crate::route::Travel::allowing).
    pub word: &'static str,
    /// Why, as a sentence with the date.
    pub why: &'static str,
    /// Who says so.
    pub source: &'static str,
}

/// All systems with this rule.
pub const ONLY_ENDS: [OnlyEnd; 1] = [OnlyEnd {
    id: 30_100_000,
    word: "zarzakh",
    why: "since September 2024 a ship that enters Zarzakh can for six hours leave only by the gate it came in by",
    source: "CCP, news \"Zarzakh is under siege\"; EVE University wiki, \"Zarzakh\"",
}];

impl OnlyEnd {
    /// The rule as a sentence, with the argument that lifts it.
    pub fn sentence(&self) -> String {
        format!("{}; allow {:?} leads through it all the same", self.why, self.word)
    }
}
