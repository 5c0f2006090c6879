//! The bytes of files that belong to messages.

use std::io;
use std::path::{Path, PathBuf};

use super::{ChatService, Failure, failure};
use crate::import::{self, ImportError};
use crate::model::AttachmentPlace;
use crate::view;

/// The largest file that is returned, in bytes.
pub const MAX_ATTACHMENT_BYTES: u64 = 10 * 1024 * 1024;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Its media type, if it is known.
    pub media_type: Option<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl ChatService {
    /// The `n`th file of a message.
    ///
    /// # Errors
    /// [`Failure`]: the chat, message or file does not exist, was left out of the export, or is too large.
    pub async fn attachment(
        &self,
        source: &str,
        chat: &str,
        message: &str,
        n: usize,
    ) -> Result<Contents, Failure> {
        let entry = self.source(source)?;
        self.settled(Some(source)).await;
        let key = self.find(Some(source), chat).await?.key;
        let not_found = |problem: &str| Failure::not_found("ATTACHMENT_NOT_FOUND", problem);
        let id = self.message_id(&key, message).await?;
        let found = self.index().message(&key, &id).await?;
        let found = found.ok_or_else(|| failure::message_not_found(&key, message))?;
        let attachment = found.message.attachments.into_iter().nth(n);
        let attachment = attachment.ok_or_else(|| not_found("the message has no such file"))?;
        let media_type = view::media_type(&attachment).map(str::to_owned);
        let path = match (attachment.place, &entry.export) {
            (AttachmentPlace::Export(path), Some(export)) => (export.path().to_owned(), path),
            (AttachmentPlace::Missing(Some(why)), _) => {
                let problem = format!("the file is not in the export: {why}");
                return Err(not_found(&problem));
            }
            _ => return Err(not_found("the file is not in the export")),
        };
        let bytes = match read_file(&path.0, &path.1).await {
            Ok(bytes) => bytes,
            Err(ImportError::TooLarge { size, most, .. }) => {
                let problem = format!("the file has {size} bytes; at most {most} are given out");
                return Err(Failure::new("ATTACHMENT_TOO_LARGE", problem));
            }
            Err(_) => return Err(not_found("the file is no longer in the export")),
        };
        let bytes = self.0.redactor.bytes(bytes, media_type.as_deref());
        Ok(Contents { media_type, bytes })
    }
}

/// The bytes of a file of an export, at most [`MAX_ATTACHMENT_BYTES`].
pub(super) async fn read_file(export: &Path, path: &str) -> Result<Vec<u8>, ImportError> {
    let (export, path) = (export.to_owned(), path.to_owned());
    let read = move || import::attachment(&export, &path, MAX_ATTACHMENT_BYTES);
    let joined = tokio::task::spawn_blocking(read).await;
    joined.unwrap_or_else(|failed| {
        Err(ImportError::Io { path: PathBuf::new(), error: io::Error::other(failed) })
    })
}
