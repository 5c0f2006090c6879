//! Numbers that look random and are the same everywhere: SplitMix64.

/// A source of them.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
    /// Which text is to be taken where there is a choice; any if there is none.
    pub(crate) choice: Option<usize>,
    /// The most texts there were to choose from.
    pub(crate) widest: usize,
}

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { state: seed, choice: None, widest: 1 }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).expect("a small number");
        usize::try_from(self.next() % end).expect("a small number")
    }

    /// One of some texts.
    pub(crate) fn text(&mut self, choices: &[&'static str]) -> &'static str {
        self.widest = self.widest.max(choices.len());
        let index = match self.choice {
            Some(choice) => choice % choices.len(),
            None => self.below(choices.len()),
        };
        choices[index]
    }

    /// One of `choices`.
    pub(crate) fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }
}
