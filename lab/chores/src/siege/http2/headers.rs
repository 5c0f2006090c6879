//! Header blocks (RFC 7541) without tables. Requests are encoded as literals; of responses, only the status is decoded.

/// Adds a literal header field without indexing (RFC 7541, 6.2.2).
pub(in crate::siege) fn header(block: &mut Vec<u8>, name: &str, value: &str) {
    block.push(0);
    for text in [name, value] {
        let length = text.len();
        match u8::try_from(length) {
            Ok(short @ ..=126) => block.push(short),
            _ => {
                block.push(127);
                let mut rest = length - 127;
                while rest >= 128 {
                    block.push(u8::try_from(rest % 128).unwrap_or(0) | 128);
                    rest /= 128;
                }
                block.push(u8::try_from(rest).unwrap_or(0));
            }
        }
        block.extend(text.as_bytes());
    }
}

/// The status of an answer, if it is the first header of its block.
pub(super) fn status(block: &[u8]) -> Option<u16> {
    // A dynamic table size update may come first.
    let start = block.iter().position(|byte| byte >> 5 != 1)?;
    let (first, rest) = block.get(start..)?.split_first()?;
    match first {
        0x88 => return Some(200),
        0x89 => return Some(204),
        0x8c => return Some(400),
        0x8d => return Some(404),
        0x8e => return Some(500),
        _ => {}
    }
    let (length, text) = rest.split_first()?;
    let text = text.get(..usize::from(length & 127))?;
    if length & 128 == 0 {
        return std::str::from_utf8(text).ok()?.parse().ok();
    }
    huffman_digits(text)
}

/// Three digits in the Huffman code of RFC 7541, appendix B: 0, 1 and 2 have five bits, the others six.
fn huffman_digits(text: &[u8]) -> Option<u16> {
    let bits = text.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let mut left = u32::try_from(text.len()).ok()? * 8;
    let mut number = 0;
    for _ in 0..3 {
        let five = (bits >> left.checked_sub(5)?) & 31;
        let digit = if five < 3 {
            left -= 5;
            five
        } else {
            left = left.checked_sub(6)?;
            ((bits >> left) & 63).checked_sub(0x19 - 3)?
        };
        number = number * 10 + u16::try_from(digit).ok().filter(|digit| *digit < 10)?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_in_each_of_its_forms() {
        assert_eq!(status(&[0x20, 0x88]), Some(200));
        assert_eq!(status(&[0x08, 3, b'4', b'2', b'9']), Some(429));
        // 4: 011010, 2: 00010, 9: 011111, and seven bits of padding.
        assert_eq!(status(&[0x48, 0x83, 0b0110_1000, 0b0100_1111, 0b1111_1111]), Some(429));
        // 5: 011011, 0: 00000, 3: 011001
        assert_eq!(status(&[0x48, 0x83, 0b0110_1100, 0b0000_1100, 0b1111_1111]), Some(503));
    }

    #[test]
    fn a_long_header_has_its_length_in_several_bytes() {
        let mut block = Vec::new();
        header(&mut block, "a", &"b".repeat(127 + 300));
        assert_eq!(block.get(..6), Some([0, 1, b'a', 127, 0b1010_1100, 2].as_slice()));
        assert_eq!(block.len(), 6 + 427);
    }
}
