//! What stands in the place of semantic search where it is not built in: nothing that could exist.

use std::path::Path;

use super::document::Document;
use super::index::{Index, Match, Update};

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "this program is built without semantic search: build it with `--features semantic`, or leave out the model"
)]
pub struct ModelError;

/// There is none.
#[derive(Debug)]
pub(super) enum Semantic {}

/// There is none.
#[derive(Debug)]
pub(super) enum Sense {}

/// There is none.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) found: Match,
    nothing: Sense,
}

impl Semantic {
    pub(super) fn open(_model: &Path, _folder: &Path) -> Result<Self, ModelError> {
        Err(ModelError)
    }

    pub(super) fn apply(&self, _index: &Index, _update: &Update) {
        match *self {}
    }

    pub(super) fn sense(&self, _query: &str) -> Sense {
        match *self {}
    }

    pub(super) fn search(
        &self,
        _index: &Index,
        _sense: &Sense,
        _threshold: f64,
        _limit: usize,
    ) -> Vec<Near> {
        match *self {}
    }

    pub(super) fn waiting(&self) -> usize {
        match *self {}
    }

    pub(super) fn finish(&self) {
        match *self {}
    }
}

impl Near {
    pub(super) fn snippet(&self, _document: &Document) -> String {
        match self.nothing {}
    }
}
