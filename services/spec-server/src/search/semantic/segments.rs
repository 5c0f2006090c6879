//! Vectors on disk, in segments. A segment is a file that is written once, completely, and named after its content, so
//! that several processes may write into one folder. New vectors become one segment, and many small segments are
//! merged. A damaged or foreign file is not used, and its vectors are made again.

use std::collections::{HashMap, HashSet};
use std::fmt::{Display, Write as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use service_host::replace;
use sha2::{Digest as _, Sha256};

use crate::search::bytes::{Format, put_number};
use crate::search::folder;

/// The most vectors of one segment.
const SEGMENT: usize = 1 << 12;

/// How many segments that are not full are worth merging.
const SMALL_SEGMENTS: usize = 16;

/// The most bytes of a segment.
const SEGMENT_BYTES: u64 = 1 << 28;

/// The most files in the folder that are read.
const FILES: usize = 1 << 12;

const FORMAT: Format = Format { magic: *b"SPECVEC\n", version: 1 };

/// SHA-256 of a model's weights and of a text.
pub(super) type Key = [u8; 32];

/// A vector of length 1.
pub(super) type Vector = Arc<[f32]>;

/// The segments of one model in a folder.
#[derive(Debug)]
pub(super) struct Segments {
    folder: PathBuf,
    identity: [u8; 32],
    dimensions: usize,
    segments: Vec<Segment>,
}

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    keys: Vec<Key>,
}

impl Segments {
    /// Opens the segments of a model in `folder`, and returns the vectors in them.
    pub(super) fn open(
        folder: &Path,
        identity: [u8; 32],
        dimensions: usize,
    ) -> (Self, HashMap<Key, Vector>) {
        let mut segments =
            Self { folder: folder.join("vectors"), identity, dimensions, segments: Vec::new() };
        let entries = fs::read_dir(&segments.folder).into_iter().flatten().take(FILES);
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort_unstable();
        let mut vectors = HashMap::new();
        for path in paths {
            let bytes = folder::read(&path, SEGMENT_BYTES).ok();
            let Some(entries) = bytes.and_then(|bytes| segments.decode(&bytes)) else {
                tracing::debug!(path = %path.display(), "no segment of this model's vectors");
                continue;
            };
            let keys = entries.iter().map(|(key, _)| *key).collect();
            segments.segments.push(Segment { path, keys });
            vectors.extend(entries);
        }
        (segments, vectors)
    }

    /// Writes the vectors of the keys in `fresh`. Older segments are written again if many of them are small, or if
    /// `all` is set. Vectors that `look_up` does not return are dropped.
    ///
    /// # Errors
    /// The problem, as a sentence. Vectors that were written before are not lost.
    pub(super) fn save(
        &mut self,
        fresh: Vec<Key>,
        all: bool,
        look_up: impl Fn(&[Key]) -> Vec<(Key, Vector)>,
    ) -> Result<(), String> {
        let is_small = |segment: &Segment| segment.keys.len() < SEGMENT;
        let many =
            self.segments.iter().filter(|segment| is_small(segment)).count() >= SMALL_SEGMENTS;
        let (old, kept): (Vec<_>, Vec<_>) =
            self.segments.iter().partition(|segment| all || many && is_small(segment));
        let mut seen: HashSet<Key> =
            kept.iter().flat_map(|segment| &segment.keys).copied().collect();
        let mut keys: Vec<Key> =
            old.iter().flat_map(|segment| &segment.keys).copied().chain(fresh).collect();
        keys.retain(|key| seen.insert(*key));
        let mut written = Vec::new();
        for keys in keys.chunks(SEGMENT) {
            written.extend(self.write(&look_up(keys))?);
        }
        let old: HashSet<PathBuf> = old.iter().map(|segment| segment.path.clone()).collect();
        self.segments.retain(|segment| !old.contains(&segment.path));
        for path in old.iter().filter(|old| written.iter().all(|new| new.path != **old)) {
            // A file that cannot be deleted is read again later and does no harm.
            let _ = fs::remove_file(path);
        }
        self.segments.append(&mut written);
        Ok(())
    }

    /// Writes one segment; `None` if there is nothing to write.
    fn write(&self, vectors: &[(Key, Vector)]) -> Result<Option<Segment>, String> {
        if vectors.is_empty() {
            return Ok(None);
        }
        let mut body = Vec::from(self.identity);
        put_number(&mut body, self.dimensions);
        put_number(&mut body, vectors.len());
        for (key, vector) in vectors {
            body.extend(key);
            body.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
        }
        let mut name = String::new();
        for byte in Sha256::digest(&body).iter().take(16) {
            let _ = write!(name, "{byte:02x}");
        }
        let path = self.folder.join(name);
        let failed = |error: &dyn Display| format!("{}: {error}", path.display());
        if let Some(folder) = self.folder.parent() {
            folder::prepare(folder).map_err(|error| failed(&error))?;
        }
        folder::make(&self.folder).map_err(|error| failed(&error))?;
        replace(&path, &FORMAT.seal(&body)).map_err(|error| failed(&error))?;
        let keys = vectors.iter().map(|(key, _)| *key).collect();
        Ok(Some(Segment { path, keys }))
    }

    /// The vectors in a file, if it is a segment of this model.
    fn decode(&self, bytes: &[u8]) -> Option<Vec<(Key, Vector)>> {
        let mut body = FORMAT.open(bytes).ok()?;
        let identity = body.array::<32>()?;
        let dimensions = usize::try_from(body.number()?).ok()?;
        if identity != self.identity || dimensions != self.dimensions {
            return None;
        }
        let entries = body.list(|body| {
            let key = body.array()?;
            let numbers = (0..dimensions).map(|_| body.array().map(f32::from_le_bytes));
            let vector: Vector = numbers.collect::<Option<Vec<f32>>>()?.into();
            vector.iter().all(|number| number.is_finite()).then_some((key, vector))
        })?;
        body.is_empty().then_some(entries)
    }
}
