//! The random numbers of generated universes: xoshiro128**, the same sequence for the same seed everywhere.

use super::Seed;

/// What steps the counter that the state is made from.
const STEP: u32 = 0x9E37_79B9;

/// A generator of random numbers, xoshiro128** on four words of 32 bits (Blackman and Vigna, 2018).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random([u32; 4]);

impl Random {
    /// The generator of a seed. A text counts by its UTF-16 code units (FNV-1a, 32 bits), a number modulo 2³² without
    /// its fraction.
    pub fn new(seed: &Seed) -> Self {
        let mut counter = match seed {
            Seed::Text(text) => hash(text),
            Seed::Number(number) => wrapped(*number),
        };
        let mut word = || {
            counter = counter.wrapping_add(STEP);
            finished(counter)
        };
        Self::of([word(), word(), word(), word()])
    }

    /// A state of zeros would stay so for ever.
    fn of(words: [u32; 4]) -> Self {
        match words {
            [0, 0, 0, 0] => Self([1, 0, 0, 0]),
            words => Self(words),
        }
    }

    /// The next 32 bits.
    pub fn bits(&mut self) -> u32 {
        let Self([a, b, c, d]) = self;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *b << 9;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(11);
        result
    }

    /// A number from 0 to below 1, with 53 random bits.
    pub fn float(&mut self) -> f64 {
        let high = f64::from(self.bits() >> 5);
        let low = f64::from(self.bits() >> 6);
        (high * f64::from(1_u32 << 26) + low) / (1_u64 << 53) as f64
    }

    /// A whole number from `min` to `max`, both included, each as likely as the others. Takes them in either order.
    pub fn int(&mut self, min: i32, max: i32) -> i32 {
        let (min, max) = (min.min(max), min.max(max));
        let range = u64::from(max.abs_diff(min)) + 1;
        // What is beyond the last whole range would make some numbers likelier. Less than half of all is.
        let limit = (1_u64 << 32) / range * range;
        loop {
            let bits = u64::from(self.bits());
            if bits < limit {
                let found = i64::from(min) + (bits % range) as i64;
                return i32::try_from(found).unwrap_or(max);
            }
        }
    }

    /// True with this probability.
    pub fn bool(&mut self, probability: f64) -> bool {
        self.float() < probability
    }

    /// A separate generator for a part, by the part's name. This one is not advanced.
    pub fn fork(&self, label: &str) -> Self {
        let (mut copy, hash) = (self.clone(), hash(label));
        let mut word = |bits| copy.bits() ^ hash.rotate_left(bits);
        Self::of([word(0), word(8), word(16), word(24)])
    }

    /// A number from `min` to below `max`.
    pub(super) fn between(&mut self, min: f64, max: f64) -> f64 {
        min + (max - min) * self.float()
    }

    /// How often something with this probability comes about before it first does not: floor(ln u / ln(1 − p)), at
    /// most `most`.
    pub(super) fn geometric(&mut self, p: f64, most: usize) -> usize {
        // From above 0, whose logarithm is not finite.
        let u = 1.0 - self.float();
        let count = libm::floor(libm::log(u) / libm::log(1.0 - p));
        (count as usize).min(most)
    }

    /// A number whose logarithm is normally distributed (Box and Muller).
    pub(super) fn log_normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let (u, v) = (1.0 - self.float(), self.float());
        let turn = std::f64::consts::TAU * v;
        let normal = (-2.0 * libm::log(u)).sqrt() * libm::cos(turn);
        libm::exp(mean + deviation * normal)
    }

    /// One of these. `None` of none.
    pub(super) fn pick<'t, T>(&mut self, from: &'t [T]) -> Option<&'t T> {
        let last = i32::try_from(from.len()).ok()?.checked_sub(1)?;
        let at = usize::try_from(self.int(0, last)).ok()?;
        from.get(at)
    }
}

fn hash(text: &str) -> u32 {
    text.encode_utf16()
        .fold(0x811C_9DC5, |hash, unit| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193))
}

/// A number modulo 2³², its fraction cut.
fn wrapped(number: f64) -> u32 {
    const MODULUS: f64 = 4_294_967_296.0;
    number.trunc().rem_euclid(MODULUS) as u32
}

/// The finaliser of MurmurHash3.
fn finished(mut word: u32) -> u32 {
    word ^= word >> 16;
    word = word.wrapping_mul(0x85EB_CA6B);
    word ^= word >> 13;
    word = word.wrapping_mul(0xC2B2_AE35);
    word ^ (word >> 16)
}
