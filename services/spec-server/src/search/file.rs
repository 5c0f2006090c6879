//! The index as a file: the documents of every spec with the hash of their source.
//!
//! The file does not contain terms. Computing them when the file is read takes less time than checking stored ones, and
//! they change with every improvement of the tokenizer.

use super::bytes::{Format, Reader, put_number, put_text};
use super::document::{Document, DocumentPart, Field};
use super::index::{BATCH, Index, Terms, Weights};
use crate::parallel;

pub use super::bytes::FileError;

/// The most bytes of an index file.
pub const INDEX_BYTES: u64 = 512 * 1024 * 1024;

const FORMAT: Format = Format { magic: *b"SPECIDX\n", version: 2 };

/// The bytes of the file for an index.
pub fn encode(index: &Index) -> Vec<u8> {
    let mut body = Vec::new();
    put_number(&mut body, index.len());
    for (id, hash, documents) in index.specs() {
        put_text(&mut body, id);
        body.extend(hash);
        put_number(&mut body, documents.len());
        for document in documents {
            put_document(&mut body, document);
        }
    }
    FORMAT.seal(&body)
}

/// The index in a file, to be searched with these weights.
///
/// # Errors
/// [`FileError`] for any bytes that were not made by [`encode`].
pub fn decode(file: &[u8], weights: Weights) -> Result<Index, FileError> {
    let mut body = FORMAT.open(file)?;
    let mut index = Index::new(weights);
    let specs = body.list(spec).ok_or(FileError::Damaged)?;
    if !body.is_empty() {
        return Err(FileError::Damaged);
    }
    let mut specs = specs.into_iter();
    while specs.len() > 0 {
        let batch: Vec<Spec<'_>> = specs.by_ref().take(BATCH).collect();
        let terms = parallel::map(&batch, |(_, _, documents)| {
            documents.iter().map(Terms::of).collect::<Vec<_>>()
        });
        for ((id, hash, documents), terms) in batch.into_iter().zip(terms) {
            if index.holds(id) {
                return Err(FileError::Damaged);
            }
            index.insert(id, hash, terms.into_iter().zip(documents));
        }
    }
    Ok(index)
}

type Spec<'b> = (&'b str, [u8; 32], Vec<Document>);

fn spec<'b>(body: &mut Reader<'b>) -> Option<Spec<'b>> {
    let id = body.text()?;
    let hash = body.array()?;
    let documents = body.list(|body| document(body, id))?;
    Some((id, hash, documents))
}

fn document(body: &mut Reader<'_>, spec_id: &str) -> Option<Document> {
    let requirement = name(body)?;
    Some(Document {
        spec_id: spec_id.to_owned(),
        requirement,
        section: name(body)?,
        line: body.number()?,
        parts: body.list(part)?,
    })
}

/// An optional name.
fn name(body: &mut Reader<'_>) -> Option<Option<String>> {
    match body.array()? {
        [0] => Some(None),
        [1] => Some(Some(body.text()?.to_owned())),
        _ => None,
    }
}

fn part(body: &mut Reader<'_>) -> Option<DocumentPart> {
    let [field] = body.array()?;
    Some(DocumentPart { field: *FIELDS.get(usize::from(field))?, text: body.text()?.to_owned() })
}

/// The fields by their number in the file.
const FIELDS: [Field; Field::COUNT] =
    [Field::Name, Field::Description, Field::Scenario, Field::Context];

fn put_document(body: &mut Vec<u8>, document: &Document) {
    for name in [&document.requirement, &document.section] {
        body.push(u8::from(name.is_some()));
        if let Some(name) = name {
            put_text(body, name);
        }
    }
    body.extend(document.line.to_le_bytes());
    put_number(body, document.parts.len());
    for part in &document.parts {
        body.push(part.field as u8);
        put_text(body, &part.text);
    }
}
