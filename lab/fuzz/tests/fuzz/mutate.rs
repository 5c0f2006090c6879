//! Inputs out of other inputs: the same seed always makes the same one.

/// Makes one input.
#[derive(Debug)]
pub(crate) struct Mutator<'i> {
    state: u64,
    corpus: &'i [&'i [u8]],
    tokens: &'i [Vec<u8>],
    max_bytes: usize,
}

impl<'i> Mutator<'i> {
    /// `corpus` and `tokens` are not empty.
    pub(crate) fn new(
        seed: u64,
        corpus: &'i [&'i [u8]],
        tokens: &'i [Vec<u8>],
        max_bytes: usize,
    ) -> Self {
        Self { state: seed, corpus, tokens, max_bytes }
    }

    /// An entry of the corpus with one to eight changes.
    pub(crate) fn input(mut self) -> Vec<u8> {
        let mut input = self.entry().to_vec();
        for _ in 0..=self.below(8) {
            self.change(&mut input);
        }
        input.truncate(self.max_bytes);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let (start, end) = self.range(input.len());
        match self.below(10) {
            0 | 1 if start < input.len() => input[start] ^= 1 << self.below(8),
            2 if start < input.len() => input[start] = self.byte(),
            3 => input.truncate(start),
            4 => drop(input.drain(start..end)),
            5 => {
                let again = input[start..end].repeat(1 + self.below(4));
                input.splice(start..start, again);
            }
            6 => {
                let other = self.entry();
                let (from, to) = self.range(other.len());
                input.splice(start..end, other[from..to].iter().copied());
            }
            7 => {
                let token = self.token();
                input.splice(start..end, token);
            }
            8 => {
                let token = self.token();
                input.splice(start..start, token);
            }
            _ => input.insert(start, self.byte()),
        }
    }

    fn entry(&mut self) -> &'i [u8] {
        self.corpus[self.below(self.corpus.len())]
    }

    fn token(&mut self) -> Vec<u8> {
        self.tokens[self.below(self.tokens.len())].clone()
    }

    /// Any byte, but mostly one of text.
    fn byte(&mut self) -> u8 {
        let all = self.below(256) as u8;
        if self.below(4) == 0 { all } else { b' ' + all % 95 }
    }

    /// A range of indices, mostly a short one.
    fn range(&mut self, length: usize) -> (usize, usize) {
        let start = self.below(length + 1);
        let most = if self.below(4) == 0 { length } else { 16 };
        let end = start + self.below(most + 1);
        (start, end.min(length))
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The tokens of a dictionary as libFuzzer reads it: each a line in double quotes, with `\\`, `\"` and `\xNN` in it.
pub(crate) fn dictionary(text: &str) -> Vec<Vec<u8>> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let quoted = line.strip_prefix('"').and_then(|line| line.strip_suffix('"'));
            unescaped(quoted.unwrap_or_else(|| panic!("no token: {line}")))
        })
        .collect()
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let length = if escape.starts_with('x') { 3 } else { 1 };
        let (escape, behind) = escape.split_at(length);
        bytes.push(match escape.strip_prefix('x') {
            Some(digits) => u8::from_str_radix(digits, 16).unwrap(),
            None => escape.as_bytes()[0],
        });
        rest = behind;
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
