//! Parses Markdown as people and agents write it into the [model](crate::model). Parsing never fails and never accesses
//! the disk.
//!
//! Both kinds of repository are parsed the same way, line by line, in time linear in the length of the text. Headings
//! begin at the left margin and do not count inside code blocks between ``` or ~~~ (their rules are OpenSpec's:
//! [`Outline`]). The names of sections are case-insensitive. Text that is not understood is left out of the parts, but
//! is still in the texts.

mod block;
mod clauses;
mod delta;
mod heading;
mod metadata;
mod outline;
mod proposal;
mod schema;
mod spec;
mod tasks;
mod text;
mod yaml;

pub(crate) use block::description;
pub use block::{requirement_name, scenario_name};
pub use delta::delta;
pub(crate) use delta::operation;
pub(crate) use heading::{below, children, end_of_section, headings, named_requirement};
pub use metadata::metadata;
pub(crate) use metadata::{is_day, is_kebab};
pub use outline::{Heading, Outline};
pub use proposal::{proposal, title_of_change};
pub(crate) use schema::schema;
pub use spec::spec;
pub(crate) use tasks::box_of;
pub use tasks::{is_task, tasks};
pub use text::{NotUtf8, conflict, fold, normalise};
pub(crate) use text::{bullet, is_space, strip_prefix_any_case, trim};
pub(crate) use yaml::{Value, yaml};
