//! The forward pass of BERT (Devlin et al., 2019): from the tokens of a text to a vector for each of them.

use ndarray::{Array1, Array2, ArrayView2, Axis, Zip};

/// The weights, with their names in the model's file. Their shapes are consistent.
#[derive(Debug)]
pub(super) struct Bert {
    pub(super) words: Array2<f32>,
    pub(super) positions: Array2<f32>,
    /// The embedding of the first segment. It is the only segment.
    pub(super) segment: Array1<f32>,
    pub(super) norm: Norm,
    pub(super) layers: Vec<Layer>,
    pub(super) heads: usize,
}

#[derive(Debug)]
pub(super) struct Layer {
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) attention: Linear,
    pub(super) attention_norm: Norm,
    pub(super) intermediate: Linear,
    pub(super) output: Linear,
    pub(super) output_norm: Norm,
}

/// `x · weightᵀ + bias`.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) weight: Array2<f32>,
    pub(super) bias: Array1<f32>,
}

/// Layer normalisation.
#[derive(Debug)]
pub(super) struct Norm {
    pub(super) weight: Array1<f32>,
    pub(super) bias: Array1<f32>,
    pub(super) epsilon: f32,
}

impl Bert {
    /// For each text, the mean of the vectors of its tokens, normalized to length one. Texts are processed in batches,
    /// because for a short text reading the weights takes longer than the arithmetic. Tokens outside the vocabulary or
    /// beyond the last position are left out.
    pub(super) fn embed(&self, texts: &[Vec<u32>]) -> Vec<Vec<f32>> {
        let mut rows = Vec::new();
        let mut ends = Vec::with_capacity(texts.len());
        for pieces in texts {
            let pieces = pieces.iter().filter_map(|piece| usize::try_from(*piece).ok());
            let words = pieces
                .filter(|piece| *piece < self.words.nrows())
                .map(|piece| self.words.row(piece));
            rows.extend(words.zip(self.positions.rows()));
            ends.push(rows.len());
        }
        let mut hidden = Array2::zeros((rows.len(), self.words.ncols()));
        for (mut row, (word, position)) in hidden.rows_mut().into_iter().zip(rows) {
            row += &word;
            row += &position;
            row += &self.segment;
        }
        self.norm.apply(&mut hidden);
        let texts = Texts { ends };
        for layer in &self.layers {
            layer.apply(&mut hidden, self.heads, &texts);
        }
        texts.of(&hidden).map(|rows| mean(&rows)).collect()
    }
}

/// The end of each text in the rows that the texts share.
struct Texts {
    ends: Vec<usize>,
}

impl Texts {
    /// The rows of each text.
    fn of<'r>(&self, rows: &'r Array2<f32>) -> impl Iterator<Item = ArrayView2<'r, f32>> {
        let mut start = 0;
        let mut rest = rows.view();
        self.ends.iter().map(move |end| {
            let (text, behind) = rest.split_at(Axis(0), end - start);
            (start, rest) = (*end, behind);
            text
        })
    }
}

impl Layer {
    fn apply(&self, hidden: &mut Array2<f32>, heads: usize, texts: &Texts) {
        let seen = self.attention.apply(&self.attend(hidden, heads, texts));
        *hidden += &seen;
        self.attention_norm.apply(hidden);
        let mut inner = self.intermediate.apply(hidden);
        inner.mapv_inplace(gelu);
        *hidden += &self.output.apply(&inner);
        self.output_norm.apply(hidden);
    }

    /// Scaled dot-product attention of each head, side by side. Each text only attends to itself.
    fn attend(&self, hidden: &Array2<f32>, heads: usize, texts: &Texts) -> Array2<f32> {
        let [query, key, value] =
            [&self.query, &self.key, &self.value].map(|linear| linear.apply(hidden));
        let width = query.ncols() / heads.max(1);
        let scale = 1.0 / (width as f32).sqrt();
        let mut seen = Array2::zeros(query.dim());
        let mut rest = seen.view_mut();
        let parts = texts.of(&query).zip(texts.of(&key)).zip(texts.of(&value));
        for ((query, key), value) in parts {
            let (mut place, behind) = rest.split_at(Axis(0), query.nrows());
            rest = behind;
            let queries = query.axis_chunks_iter(Axis(1), width);
            let keys = key.axis_chunks_iter(Axis(1), width);
            let values = value.axis_chunks_iter(Axis(1), width);
            let places = place.axis_chunks_iter_mut(Axis(1), width);
            for (((query, key), value), mut place) in queries.zip(keys).zip(values).zip(places) {
                let mut weights = query.dot(&key.t()) * scale;
                softmax(&mut weights);
                place.assign(&weights.dot(&value));
            }
        }
        seen
    }
}

fn mean(rows: &ArrayView2<'_, f32>) -> Vec<f32> {
    let mean = rows.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(rows.ncols()));
    let length = mean.dot(&mean).sqrt().max(f32::MIN_POSITIVE);
    mean.iter().map(|value| value / length).collect()
}

impl Linear {
    fn apply(&self, input: &Array2<f32>) -> Array2<f32> {
        let weight: ArrayView2<'_, f32> = self.weight.t();
        input.dot(&weight) + &self.bias
    }
}

impl Norm {
    fn apply(&self, rows: &mut Array2<f32>) {
        for mut row in rows.rows_mut() {
            let mean = row.mean().unwrap_or_default();
            row -= mean;
            let variance = row.dot(&row) / row.len() as f32;
            let scale = 1.0 / (variance + self.epsilon).sqrt();
            Zip::from(&mut row)
                .and(&self.weight)
                .and(&self.bias)
                .for_each(|value, weight, bias| *value = *value * scale * weight + bias);
        }
    }
}

fn softmax(rows: &mut Array2<f32>) {
    for mut row in rows.rows_mut() {
        let most = row.fold(f32::NEG_INFINITY, |most, value| most.max(*value));
        row.mapv_inplace(|value| (value - most).exp());
        let sum = row.sum();
        row /= sum;
    }
}

/// `x · Φ(x)`, exact except for the error function.
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Abramowitz and Stegun, formula 7.1.26: off by at most 1.5e-7.
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let series = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
    let series = series.iter().fold(0.0, |sum, term| sum * t + term) * t;
    (1.0 - series * (-x * x).exp()).copysign(x)
}
