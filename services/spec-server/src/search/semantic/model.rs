//! A sentence-embedding model in a local folder, in its publishers' file layout. Nothing is downloaded.

use std::path::Path;

use ndarray::{Array1, Array2};
use safetensors::{Dtype, SafeTensors};
use sha2::{Digest as _, Sha256};

use super::bert::{Bert, Layer, Linear, Norm};
use super::config::{Config, ModelError, file, read_tokenizer};
use super::tokenizer::Tokenizer;

/// The most tokens of a text that are used, including those at its ends. all-MiniLM-L6-v2 was trained with this number.
pub const PIECES: usize = 256;

/// The most bytes of the weights.
const WEIGHTS_BYTES: u64 = 1 << 30;

/// A model that turns texts into vectors. Texts with the same meaning have near vectors.
#[derive(Debug)]
pub struct Model {
    bert: Bert,
    tokenizer: Tokenizer,
    identity: [u8; 32],
    pieces: usize,
}

impl Model {
    /// Reads the model in `folder`: an uncased BERT with `gelu` and 32-bit weights. The vector of a text is the mean of
    /// its tokens' vectors, normalized to length one. An example is all-MiniLM-L6-v2.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let config = Config::read(folder)?;
        let tokenizer = read_tokenizer(folder, config.vocab_size)?;
        let (path, bytes) = file(folder, "model.safetensors", WEIGHTS_BYTES)?;
        let unfit = |problem: String| ModelError::Unfit { path: path.clone(), problem };
        let tensors = SafeTensors::deserialize(&bytes)
            .map_err(|error| unfit(format!("is not a file of tensors: {error}")))?;
        let bert = Tensors(&tensors).bert(&config).map_err(unfit)?;
        Ok(Self {
            bert,
            tokenizer,
            identity: Sha256::digest(&bytes).into(),
            pieces: PIECES.min(config.max_position_embeddings),
        })
    }

    /// The vectors of texts, each of length 1. Only the first [`PIECES`] tokens of a text are used.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let pieces = texts.iter().map(|text| self.tokenizer.encode(text, self.pieces));
        self.bert.embed(&pieces.collect::<Vec<_>>())
    }

    /// The dimension of a vector.
    pub fn dimensions(&self) -> usize {
        self.bert.words.ncols()
    }

    /// The tokenizer of the model.
    pub const fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The most tokens of a text, without those at its ends.
    pub(super) const fn room(&self) -> usize {
        self.pieces.saturating_sub(2)
    }

    /// SHA-256 of the weights, which distinguishes the vectors of different models.
    pub(super) const fn identity(&self) -> [u8; 32] {
        self.identity
    }
}

/// The file of weights. Its error messages are sentences without their subject.
struct Tensors<'t>(&'t SafeTensors<'t>);

impl Tensors<'_> {
    fn bert(&self, config: &Config) -> Result<Bert, String> {
        let width = config.hidden_size;
        let segments =
            self.matrix("embeddings.token_type_embeddings", config.type_vocab_size, width)?;
        let layers = (0..config.num_hidden_layers).map(|number| self.layer(number, config));
        Ok(Bert {
            words: self.matrix("embeddings.word_embeddings", config.vocab_size, width)?,
            positions: self.matrix(
                "embeddings.position_embeddings",
                config.max_position_embeddings,
                width,
            )?,
            segment: segments.row(0).to_owned(),
            norm: self.norm("embeddings.LayerNorm", config)?,
            layers: layers.collect::<Result<_, _>>()?,
            heads: config.num_attention_heads,
        })
    }

    fn layer(&self, number: usize, config: &Config) -> Result<Layer, String> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let linear = |name: &str, outputs, inputs| {
            self.linear(&format!("encoder.layer.{number}.{name}"), outputs, inputs)
        };
        let norm =
            |name: &str| self.norm(&format!("encoder.layer.{number}.{name}.LayerNorm"), config);
        Ok(Layer {
            query: linear("attention.self.query", width, width)?,
            key: linear("attention.self.key", width, width)?,
            value: linear("attention.self.value", width, width)?,
            attention: linear("attention.output.dense", width, width)?,
            attention_norm: norm("attention.output")?,
            intermediate: linear("intermediate.dense", inner, width)?,
            output: linear("output.dense", width, inner)?,
            output_norm: norm("output")?,
        })
    }

    fn linear(&self, name: &str, outputs: usize, inputs: usize) -> Result<Linear, String> {
        Ok(Linear {
            weight: self.matrix(name, outputs, inputs)?,
            bias: self.vector(&format!("{name}.bias"), outputs)?,
        })
    }

    fn norm(&self, name: &str, config: &Config) -> Result<Norm, String> {
        Ok(Norm {
            weight: self.vector(&format!("{name}.weight"), config.hidden_size)?,
            bias: self.vector(&format!("{name}.bias"), config.hidden_size)?,
            epsilon: config.layer_norm_eps,
        })
    }

    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, String> {
        let values = self.values(&format!("{name}.weight"), &[rows, columns])?;
        Array2::from_shape_vec((rows, columns), values)
            .map_err(|error| format!("has a broken {name}: {error}"))
    }

    fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, String> {
        Ok(Array1::from_vec(self.values(name, &[length])?))
    }

    fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let tensor =
            self.0.tensor(name).map_err(|error| format!("has no usable {name}: {error}"))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            let (kind, found) = (tensor.dtype(), tensor.shape());
            return Err(format!("has a {name} of {kind:?} {found:?}; wanted is F32 {shape:?}"));
        }
        let (numbers, _) = tensor.data().as_chunks();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}
