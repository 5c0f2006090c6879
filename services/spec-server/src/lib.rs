//! Specifications and changes for coding agents: the library of the program `spec-server`.
//!
//! A *spec* is one capability: requirements with scenarios, in one Markdown file. A *change* is a proposal to alter
//! specs. They are stored in two kinds of repository, Spec Oxide (`.spox/config.toml`) and OpenSpec (`openspec/`). Both
//! are read without conversion. Only the module `mcp` depends on MCP.

pub mod archive;
pub mod cli;
pub mod mcp;
pub mod model;
mod parallel;
pub mod parse;
mod plural;
pub mod project;
mod repository;
pub mod search;
pub mod validate;
pub mod view;
pub mod words;
