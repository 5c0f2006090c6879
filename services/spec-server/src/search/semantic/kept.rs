//! Vectors on disk: one file for each model, always written as a whole. A file that is missing, damaged or foreign
//! costs time only, since its vectors are made again.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use service_host::replace;
use sha2::{Digest as _, Sha256};

use super::model::Model;
use crate::search::folder;

/// The most bytes of the file.
const BYTES: u64 = 1 << 30;

/// SHA-256 of a model's weights and of a text.
pub(super) type Key = [u8; 32];

/// A vector of length 1.
pub(super) type Vector = Arc<[f32]>;

/// The file with the vectors of one model: SHA-256 of what follows, then each key with the numbers of its vector.
#[derive(Debug)]
pub(super) struct Kept {
    path: PathBuf,
    dimensions: usize,
}

impl Kept {
    /// The file of a model in `folder`, which need not exist.
    pub(super) fn of(model: &Model, folder: &Path) -> Self {
        let mut name = String::new();
        for byte in model.identity() {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        Self { path: folder.join("vectors").join(name), dimensions: model.dimensions() }
    }

    /// The vectors in it; none if it cannot be used.
    pub(super) fn read(&self) -> HashMap<Key, Vector> {
        let bytes = folder::read(&self.path, BYTES).ok();
        bytes.and_then(|bytes| self.decode(&bytes)).unwrap_or_default()
    }

    fn decode(&self, bytes: &[u8]) -> Option<HashMap<Key, Vector>> {
        let (sum, body) = bytes.split_first_chunk::<32>()?;
        let entry = |bytes: &[u8]| {
            let (key, numbers) = bytes.split_first_chunk()?;
            let (numbers, _) = numbers.as_chunks();
            let vector: Vector = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
            vector.iter().all(|number| number.is_finite()).then_some((*key, vector))
        };
        let is_whole = *sum == <[u8; 32]>::from(Sha256::digest(body));
        is_whole.then(|| body.chunks_exact(32 + 4 * self.dimensions).map(entry).collect()).flatten()
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// The I/O error, as a sentence. The file is then as before.
    pub(super) fn write(&self, vectors: &[(Key, Vector)]) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", self.path.display());
        if let Some(vectors) = self.path.parent() {
            folder::prepare(vectors.parent().unwrap_or(vectors)).map_err(failed)?;
            folder::make(vectors).map_err(failed)?;
        }
        let mut bytes = vec![0; 32];
        for (key, vector) in vectors {
            bytes.extend(key);
            bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
        }
        if let Some((sum, body)) = bytes.split_first_chunk_mut() {
            *sum = Sha256::digest(body).into();
        }
        replace(&self.path, &bytes).map_err(|error| error.to_string())
    }
}
