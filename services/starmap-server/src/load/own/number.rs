//! Numbers with a fraction. Those of a map are decimals with few digits, which take fewer bytes than an `f64`.
//!
//! A number begins with a byte that says what follows. A byte from 0 to 44 is an exponent of ten plus 22, and the
//! digits follow as a whole number with the sign in the lowest bit. After 255 the eight bytes of the `f64` follow,
//! little-endian. This form is used when the decimal form would not restore the number exactly.

use super::reader::{Reader, whole};

/// The largest power of ten that an `f64` holds exactly.
const MOST: usize = 22;

/// The powers of ten up to `MOST`.
const POWERS: [f64; MOST + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Announces the eight bytes of an `f64`.
const RAW: u8 = 255;

pub(super) fn write(bytes: &mut Vec<u8>, number: f64) {
    // `decimal` should only return exact results; this check protects the map.
    let exact = decimal(number).filter(|(exponent, digits)| {
        value(*exponent, *digits).map(f64::to_bits) == Some(number.to_bits())
    });
    match exact {
        Some((exponent, digits)) => {
            bytes.push(exponent);
            whole(bytes, digits);
        }
        None => {
            bytes.push(RAW);
            bytes.extend(number.to_le_bytes());
        }
    }
}

pub(super) fn read(reader: &mut Reader<'_>) -> Option<f64> {
    match reader.array()? {
        [RAW] => reader.array().map(f64::from_le_bytes),
        [exponent] => value(exponent, reader.whole()?),
    }
}

/// The shortest decimal that gives this number, as it is written in the file.
fn decimal(number: f64) -> Option<(u8, u64)> {
    let text = format!("{:e}", number.abs());
    let (digits, exponent) = text.split_once('e')?;
    let (before, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent: i32 = exponent.parse().ok()?;
    let exponent = exponent.checked_sub(i32::try_from(behind.len()).ok()?)?;
    let exponent = exponent.checked_add(i32::try_from(MOST).ok()?)?;
    let digits: u64 = format!("{before}{behind}").parse().ok()?;
    let digits = digits.checked_mul(2)? | u64::from(number.is_sign_negative());
    Some((exponent.try_into().ok()?, digits))
}

/// Both operands are exact, so the result is the number nearest to the decimal, on every machine.
fn value(exponent: u8, digits: u64) -> Option<f64> {
    let negative = digits & 1 == 1;
    let digits = digits >> 1;
    if digits > 1 << f64::MANTISSA_DIGITS {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "just made sure of")]
    let number = digits as f64;
    let number = match usize::from(exponent).checked_sub(MOST) {
        Some(up) => number * POWERS.get(up)?,
        None => number / POWERS.get(MOST - usize::from(exponent))?,
    };
    Some(if negative { -number } else { number })
}
