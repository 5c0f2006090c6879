//! Bytes of files, up to the size that a map may have.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::error::Problem;

/// The largest file that is read into memory, packed and unpacked. The cache of New Eden has 1.6 MB.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;
/// The largest archive. The Static Data Export has about 100 MB.
pub const MAX_ARCHIVE_BYTES: u64 = 1 << 30;
/// How many bytes of one archive entry are read, unpacked. The solar systems of New Eden have about 10 MB.
pub const MAX_ENTRY_BYTES: u64 = 256 << 20;
/// The longest line of JSON Lines. The line of a solar system has about 1 kB.
pub const MAX_LINE_BYTES: u64 = 1 << 20;

/// How many bytes of a file are read to recognize its content.
const HEAD_BYTES: u64 = 8 << 10;

/// How gzip begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The first bytes of a file, unpacked if it is packed with gzip.
pub(super) fn head(path: &Path) -> Result<Vec<u8>, Problem> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    if !head.starts_with(&GZIP) {
        return Ok(head);
    }
    let mut unpacked = Vec::new();
    let packed = MultiGzDecoder::new(File::open(path)?);
    packed.take(HEAD_BYTES).read_to_end(&mut unpacked).map_err(packing)?;
    Ok(unpacked)
}

/// All bytes of a file, unpacked if it is packed with gzip.
pub(super) fn whole(path: &Path) -> Result<Vec<u8>, Problem> {
    let bytes = bounded(File::open(path)?, "the file")?;
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let packed = MultiGzDecoder::new(bytes.as_slice());
    bounded(packed, "what is packed in the file")
}

/// The folder that contains a file.
pub(super) fn parent(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

fn bounded(reader: impl io::Read, what: &str) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let mut reader = reader.take(MAX_TEXT_BYTES + 1);
    reader.read_to_end(&mut bytes).map_err(packing)?;
    if reader.limit() == 0 {
        return Err(Problem::TooLarge { what: what.to_owned(), most: MAX_TEXT_BYTES });
    }
    Ok(bytes)
}

/// An error in unpacking is a problem of the file, not of the disk.
fn packing(error: io::Error) -> Problem {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        InvalidData | InvalidInput | UnexpectedEof => Problem::damaged(error),
        _ => Problem::Io(error),
    }
}
