//! Skills of a server (SEP-2640): listed without reading their files, and each file checked when it is read.

use std::future::Future;

use data_encoding::{BASE64, HEXLOWER};
use mcp_proto::{Resource, ResourceContents};
use mcp_proto_client::{Client, ClientError};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::frontmatter::is_begin;
use crate::wire::{SkillEntry, SkillFiles};

/// Reads the skills of a server.
pub trait SkillsClient {
    /// `skills/list`, all its pages. No file is read.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for an answer that is not a list of skills.
    fn list_skills(&self) -> impl Future<Output = Result<Vec<SkillEntry>, ClientError>> + Send;

    /// `skills/get`.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for an answer that is not a skill.
    fn get_skill(&self, uri: &str) -> impl Future<Output = Result<SkillEntry, ClientError>> + Send;

    /// Reads one file of a skill: its size and digest, and the frontmatter of a `SKILL.md`, must be those that the
    /// skill was listed with.
    ///
    /// # Errors
    /// As for [`Client::read_resource`]; [`ClientError::Protocol`] for a file that is not what was listed, or not
    /// listed.
    fn read_skill_file(
        &self,
        skill: &SkillEntry,
        uri: &str,
    ) -> impl Future<Output = Result<ResourceContents, ClientError>> + Send;

    /// `resources/directory/read`, all its pages: the contents of a folder, with subfolders as `inode/directory`.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for an answer that is not a list of resources.
    fn read_directory(
        &self,
        uri: &str,
    ) -> impl Future<Output = Result<Vec<Resource>, ClientError>> + Send;
}

impl SkillsClient for Client {
    async fn list_skills(&self) -> Result<Vec<SkillEntry>, ClientError> {
        self.list("skills/list", "skills", json!({})).await
    }

    async fn get_skill(&self, uri: &str) -> Result<SkillEntry, ClientError> {
        let mut result = self.request("skills/get", json!({ "uri": uri })).await?;
        let skill = result.get_mut("skill").map(Value::take);
        serde_json::from_value(skill.unwrap_or_default()).map_err(|problem| {
            ClientError::Protocol(format!("the result of skills/get: {problem}"))
        })
    }

    async fn read_skill_file(
        &self,
        skill: &SkillEntry,
        uri: &str,
    ) -> Result<ResourceContents, ClientError> {
        let wrong = |problem: &str| {
            ClientError::Protocol(format!("the file {uri} of a skill {problem}: do not use it"))
        };
        let listed = match &skill.resources {
            SkillFiles::Listed(files) => {
                let listed = files.iter().find(|file| file.uri == uri);
                Some(listed.ok_or_else(|| wrong("is not listed"))?)
            }
            SkillFiles::Dynamic => None,
        };
        let read = self.read_resource(uri).await?;
        let mut contents = read.contents.into_iter();
        let found = contents.find(|contents| contents.uri == uri);
        let found = found.ok_or_else(|| wrong("was not given"))?;
        let bytes = match (&found.text, &found.blob) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, Some(blob)) => {
                BASE64.decode(blob.as_bytes()).map_err(|_| wrong("is not Base64"))?
            }
            (None, None) => return Err(wrong("is empty")),
        };
        if let Some(listed) = listed {
            if u64::try_from(bytes.len()) != Ok(listed.size) {
                return Err(wrong("has another size than listed"));
            }
            let digest = format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(&bytes)));
            if digest != listed.digest {
                return Err(wrong("has another digest than listed"));
            }
        }
        if uri == skill.uri && !is_begin(&skill.frontmatter, &bytes) {
            return Err(wrong("has another frontmatter than listed"));
        }
        Ok(found)
    }

    async fn read_directory(&self, uri: &str) -> Result<Vec<Resource>, ClientError> {
        let params = json!({ "uri": uri });
        self.list("resources/directory/read", "resources", params).await
    }
}
