//! Whole numbers, ids and texts from untrusted bytes. The reader never reads past the end.

/// Bytes that are read from the front.
#[derive(Debug)]
pub(super) struct Reader<'b> {
    rest: &'b [u8],
}

/// Writes a whole number in LEB128.
pub(super) fn whole(bytes: &mut Vec<u8>, mut number: u64) {
    while let high @ 1.. = number >> 7 {
        bytes.push(low_bits(number) | 0x80);
        number = high;
    }
    bytes.push(low_bits(number));
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes that have not been read yet.
    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*array)
    }

    pub(super) fn whole(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte can hold one bit only.
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A count that is at most `most`.
    pub(super) fn count(&mut self, most: usize) -> Option<usize> {
        let count = self.whole()?.try_into().ok()?;
        (count <= most).then_some(count)
    }

    pub(super) fn index(&mut self) -> Option<usize> {
        self.count(usize::MAX)
    }

    pub(super) fn id(&mut self, before: &mut u32) -> Option<u32> {
        *before = before.checked_add(self.whole()?.try_into().ok()?)?;
        Some(*before)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let length = self.count(self.rest.len())?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        str::from_utf8(text).ok().map(str::to_owned)
    }
}

fn low_bits(number: u64) -> u8 {
    u8::try_from(number & 0x7f).unwrap_or_default()
}
