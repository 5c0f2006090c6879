//! The files next to the weights of a model: its dimensions and its vocabulary.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::tokenizer::Tokenizer;
use crate::search::folder;

/// The most bytes of one of these files.
const TEXT_BYTES: u64 = 64 << 20;

/// The most layers and the most of any other size in `config.json`.
const LAYERS: usize = 64;
const SIZE: usize = 1 << 20;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The path is not a folder, or a file is missing.
    #[error(
        "{} has no {missing}: name a folder with `model.safetensors`, `config.json` and `tokenizer.json`, such as that of \
         all-MiniLM-L6-v2",
        folder.display()
    )]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The file.
        missing: &'static str,
    },
    /// One of its files cannot be used.
    #[error("{} {problem}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong, and how to fix it.
        problem: String,
    },
    /// The system could not start a thread for it.
    #[error("no thread for embedding: {0}")]
    Thread(std::io::Error),
}

/// The members of `config.json` that are read.
#[derive(Debug, Deserialize)]
pub(super) struct Config {
    pub(super) model_type: String,
    pub(super) hidden_act: String,
    #[serde(default)]
    pub(super) position_embedding_type: Option<String>,
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_attention_heads: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: usize,
    pub(super) vocab_size: usize,
    pub(super) layer_norm_eps: f32,
}

impl Config {
    pub(super) fn read(folder: &Path) -> Result<Self, ModelError> {
        let (path, bytes) = file(folder, "config.json", TEXT_BYTES)?;
        let unfit = |problem: String| ModelError::Unfit { path: path.clone(), problem };
        let config: Self = serde_json::from_slice(&bytes)
            .map_err(|error| unfit(format!("is not the configuration of a BERT: {error}")))?;
        let wants = |what: &str, found: &str, wanted: &str| {
            if found == wanted {
                Ok(())
            } else {
                Err(unfit(format!("has the {what} {found:?}; wanted is {wanted:?}")))
            }
        };
        wants("model_type", &config.model_type, "bert")?;
        wants("hidden_act", &config.hidden_act, "gelu")?;
        let positions = config.position_embedding_type.as_deref();
        wants("position_embedding_type", positions.unwrap_or("absolute"), "absolute")?;
        let sizes = [
            config.hidden_size,
            config.intermediate_size,
            config.num_attention_heads,
            config.max_position_embeddings,
            config.type_vocab_size,
            config.vocab_size,
        ];
        if sizes.iter().any(|size| !(1..=SIZE).contains(size)) || config.num_hidden_layers > LAYERS
        {
            return Err(unfit(format!(
                "has a size of 0, of more than {SIZE}, or more than {LAYERS} layers"
            )));
        }
        if !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            return Err(unfit("has a hidden_size that its heads do not divide".to_owned()));
        }
        Ok(config)
    }
}

/// The tokenizer from the `vocab` of `tokenizer.json`.
pub(super) fn read_tokenizer(folder: &Path, size: usize) -> Result<Tokenizer, ModelError> {
    #[derive(Deserialize)]
    struct File {
        model: Vocabulary,
    }
    #[derive(Deserialize)]
    struct Vocabulary {
        vocab: HashMap<String, u32>,
    }
    let (path, bytes) = file(folder, "tokenizer.json", TEXT_BYTES)?;
    let unfit = |problem: String| ModelError::Unfit { path, problem };
    let read: File = match serde_json::from_slice(&bytes) {
        Ok(read) => read,
        Err(error) => return Err(unfit(format!("has no WordPiece vocabulary: {error}"))),
    };
    let tokenizer = Tokenizer::new(read.model.vocab);
    let tokenizer = tokenizer.filter(|tokenizer| (tokenizer.highest() as usize) < size);
    tokenizer.ok_or_else(|| {
        unfit(format!(
            "is not the vocabulary of this model: wanted are [UNK], [CLS], [SEP] and at most {size} pieces"
        ))
    })
}

pub(super) fn file(
    folder: &Path,
    name: &'static str,
    most: u64,
) -> Result<(PathBuf, Vec<u8>), ModelError> {
    let path = folder.join(name);
    match folder::read(&path, most) {
        Ok(bytes) => Ok((path, bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(ModelError::Missing { folder: folder.to_owned(), missing: name })
        }
        Err(error) => Err(ModelError::Unfit { path, problem: format!("cannot be read: {error}") }),
    }
}
