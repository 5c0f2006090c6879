//! Changes become part of the specs.
