//! The guide, with one page per topic.

#[doc = include_str!("../docs/apps.md")]
pub mod apps {}
#[doc = include_str!("../docs/asking.md")]
pub mod asking {}
#[doc = include_str!("../docs/axum.md")]
pub mod axum {}
#[doc = include_str!("../docs/completion.md")]
pub mod completion {}
#[doc = include_str!("../docs/embedding.md")]
pub mod embedding {}
#[doc = include_str!("../docs/migrating.md")]
pub mod migrating {}
#[doc = include_str!("../docs/peers.md")]
pub mod peers {}
#[doc = include_str!("../docs/resources.md")]
pub mod resources {}
#[doc = include_str!("../docs/sampling.md")]
pub mod sampling {}
#[doc = include_str!("../docs/sessions.md")]
pub mod sessions {}
#[doc = include_str!("../docs/state.md")]
pub mod state {}
#[doc = include_str!("../docs/stdio.md")]
pub mod stdio {}
#[doc = include_str!("../docs/tasks.md")]
pub mod tasks {}
#[doc = include_str!("../docs/testing.md")]
pub mod testing {}
#[doc = include_str!("../docs/tools.md")]
pub mod tools {}
