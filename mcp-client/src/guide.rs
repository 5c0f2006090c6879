//! The guide, with one page per topic.

#[cfg(feature = "oauth")]
#[doc = include_str!("../docs/authorizing.md")]
pub mod authorizing {}
#[doc = include_str!("../docs/client.md")]
pub mod client {}
#[doc = include_str!("../docs/peers.md")]
pub mod peers {}
