//! How a rule was answered, and what shows it.

use crate::probe::Exchange;

/// How a rule is answered: it holds, or anything else.
pub(crate) type Outcome = Result<(), Verdict>;

/// How a rule was answered.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not hold.
    Finding(Box<Finding>),
    /// It is about something that this server does not have.
    Inapplicable(String),
    /// It could not be judged.
    Unclear(String),
}

/// Where a rule does not hold.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What was seen, in a sentence.
    pub seen: String,
    /// The exchange that shows it.
    pub exchange: Exchange,
}

/// The rule is about something that the server does not have.
pub(crate) fn inapplicable(why: impl Into<String>) -> Verdict {
    Verdict::Inapplicable(why.into())
}

pub(crate) fn unclear(why: impl Into<String>) -> Verdict {
    Verdict::Unclear(why.into())
}

pub(crate) fn verdict(outcome: Outcome) -> Verdict {
    outcome.err().unwrap_or(Verdict::Holds)
}
