//! Errors that a program seldom names. Each is returned by a method of the type that its name begins or ends with.

pub use crate::local::LocalError;
pub use crate::logging::UnknownLogLevel;
pub use crate::version::UnknownVersion;
