//! The vocabulary of the member tables: the one description of what an object may hold.
//!
//! The checker, the JSON Schemas and the catalog all read these tables, so they cannot disagree.

use std::fmt;

/// An object type: an entity, a part of one, or the fields of a command.
#[derive(Debug)]
pub struct Table {
    /// The name of the type, for people.
    pub name: &'static str,
    /// The known members. Unknown members are always kept.
    pub members: &'static [Member],
}

/// One known member of an object.
#[derive(Debug)]
pub struct Member {
    /// The name in JSON.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// When it must be there.
    pub need: Need,
    /// Meaning, unit and usual range, as a fragment.
    pub doc: &'static str,
    /// The range in which a number makes sense. Outside it there is a warning, or in strict mode a finding.
    pub range: Range,
    /// Whether a number outside of the range is refused.
    pub is_strict: bool,
}

/// The range in which a number makes sense.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Any number does.
    Any,
    /// Not negative.
    NotNegative,
    /// From the first to the second.
    Within(f64, f64),
    /// From the first to below the second.
    Below(f64, f64),
    /// More than this.
    Above(f64),
}

/// When a member must be there, and whether it may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Always there and never null; in a patch it may be absent.
    Required,
    /// As [`Required`](Self::Required), unless the object has `elements`, from which it follows. Schemas do not
    /// require it.
    OrElements,
    /// May be absent or null. A null is kept.
    Optional,
    /// May be absent, never null.
    Omittable,
    /// Required where an entity is stored; a new one gets a default if it is absent or null.
    Defaulted,
    /// Always there, and not a patch's to set: it may repeat the present value.
    Fixed,
    /// Kept by the commands: required where an entity is stored, ignored in a new one, and not a
    /// patch's to set: it may repeat the present value.
    Managed,
}

/// The type of a member's value.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Text.
    Text,
    /// A CSS colour, as text.
    Color,
    /// A number (IEEE double).
    Number,
    /// True or false.
    Flag,
    /// The seed of a random number generator: text or a number.
    Seed,
    /// A date as text.
    Date,
    /// A date as text, or a number of seconds.
    Instant,
    /// An id or null.
    IdOrNull,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// An array of ids.
    Ids,
    /// An array of two numbers.
    Pair,
    /// An object of this type.
    Object(&'static Table, Mode),
    /// An array of complete objects of this type.
    List(&'static Table),
    /// An object from id to complete entity of this type; each `id` equals its key.
    Map(&'static Table),
}

/// How much of an object is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All of it, as stored.
    Whole,
    /// All of it, as given for a new entity.
    New,
    /// Any part of it.
    Part,
}

/// One line of a table.
pub(crate) const fn row(name: &'static str, kind: Kind, need: Need, doc: &'static str) -> Member {
    Member { name, kind, need, doc, range: Range::Any, is_strict: false }
}

impl Member {
    /// The same member; a number below zero gets a warning.
    pub(crate) const fn not_negative(mut self) -> Self {
        self.range = Range::NotNegative;
        self
    }

    /// The same member; a number below `min` or above `max` gets a warning.
    pub(crate) const fn within(mut self, min: f64, max: f64) -> Self {
        self.range = Range::Within(min, max);
        self
    }

    /// The same member; a number below `min` or above `max` is refused.
    pub(crate) const fn only_within(mut self, min: f64, max: f64) -> Self {
        self.range = Range::Within(min, max);
        self.is_strict = true;
        self
    }

    /// The same member; a number that is not more than `min` is refused.
    pub(crate) const fn only_above(mut self, min: f64) -> Self {
        self.range = Range::Above(min);
        self.is_strict = true;
        self
    }

    /// The same member; a number below `min`, or not below `max`, gets a warning.
    pub(crate) const fn below(mut self, min: f64, max: f64) -> Self {
        self.range = Range::Below(min, max);
        self
    }

    /// Whether the member must be there in this mode.
    pub fn is_required(&self, mode: Mode) -> bool {
        match (mode, self.need) {
            (Mode::Part, _) | (_, Need::Optional | Need::Omittable | Need::OrElements) => false,
            (_, Need::Required | Need::Fixed) => true,
            (Mode::Whole, Need::Defaulted | Need::Managed) => true,
            (Mode::New, Need::Defaulted | Need::Managed) => false,
        }
    }

    /// Whether the member's value does not matter in this mode.
    pub fn is_ignored(&self, mode: Mode) -> bool {
        mode == Mode::New && self.need == Need::Managed
    }

    /// Whether the member is there to be set in this mode.
    pub fn is_settable(&self, mode: Mode) -> bool {
        match mode {
            Mode::Whole => true,
            Mode::New => self.need != Need::Managed,
            Mode::Part => !matches!(self.need, Need::Fixed | Need::Managed),
        }
    }

    /// Whether null stands for "absent" in this mode. (A kind may also allow null.)
    pub fn may_be_null(&self, mode: Mode) -> bool {
        match self.need {
            Need::Optional => true,
            Need::Defaulted => mode == Mode::New,
            Need::Required | Need::OrElements | Need::Omittable | Need::Fixed | Need::Managed => {
                false
            }
        }
    }
}

impl Range {
    /// Whether a number makes sense.
    pub fn contains(self, number: f64) -> bool {
        match self {
            Self::Any => true,
            Self::NotNegative => number >= 0.0,
            Self::Within(min, max) => (min..=max).contains(&number),
            Self::Below(min, max) => (min..max).contains(&number),
            Self::Above(min) => number > min,
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any number"),
            Self::NotNegative => f.write_str("0 or more"),
            Self::Within(min, max) => write!(f, "{min} to {max}"),
            Self::Below(min, max) => write!(f, "{min} to below {max}"),
            Self::Above(min) => write!(f, "more than {min}"),
        }
    }
}

impl Table {
    /// The member of this name.
    pub fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }
}
