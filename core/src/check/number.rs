//! Numbers as people and programs write them.

/// A number in text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// Its value.
    pub value: f64,
    /// What one step of its last written digit is worth: 0.1 of `2.5`.
    pub place: f64,
    /// Where it ends, a byte offset.
    pub end: usize,
}

/// Digits of a number that are looked at; longer ones are serial numbers.
const MOST_DIGITS: usize = 15;

/// The number that begins at byte `at`: digits, commas between groups of three, a point. `None` where no digit stands
/// or it is longer than any figure.
pub fn number_at(text: &[u8], at: usize) -> Option<Number> {
    let digit = |i: usize| text.get(i).filter(|b| b.is_ascii_digit()).map(|b| b - b'0');
    // In "24,71,936" commas part figures, not thousands.
    let listed = at > 0 && text.get(at - 1) == Some(&b',');
    let mut value = f64::from(digit(at)?);
    let mut digits = 1;
    let mut i = at + 1;
    loop {
        if let Some(d) = digit(i) {
            value = value * 10.0 + f64::from(d);
            digits += 1;
            i += 1;
        } else if text.get(i) == Some(&b',')
            && !listed
            && digits <= 12
            && (1..=3).all(|k| digit(i + k).is_some())
            && digit(i + 4).is_none()
            // Not in a list such as "16,384 MiB, 300" read from a table without spaces.
            && (digits <= 3 || text.get(i.wrapping_sub(4)) == Some(&b','))
        {
            i += 1;
        } else {
            break;
        }
        if digits > MOST_DIGITS {
            return None;
        }
    }
    let mut divisor = 1.0;
    if text.get(i) == Some(&b'.') && digit(i + 1).is_some() {
        i += 1;
        while let Some(d) = digit(i) {
            value = value * 10.0 + f64::from(d);
            divisor *= 10.0;
            digits += 1;
            i += 1;
            if digits > MOST_DIGITS {
                return None;
            }
        }
        // 24.1.0 is a version.
        if text.get(i) == Some(&b'.') && digit(i + 1).is_some() {
            return None;
        }
    }
    // One division of two exact numbers: 1.2 is the number that "1.2" means.
    let value = value / divisor;
    let place = 1.0 / divisor;
    Some(Number {
        value,
        place,
        end: i,
    })
}

/// The first number in `text`.
pub fn first_number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let at = bytes.iter().position(u8::is_ascii_digit)?;
    number_at(bytes, at).map(|n| n.value)
}

/// All numbers of `text` in their order.
pub fn numbers(text: &str) -> impl Iterator<Item = f64> + '_ {
    let bytes = text.as_bytes();
    let mut i = 0;
    std::iter::from_fn(move || {
        loop {
            i += bytes.get(i..)?.iter().position(u8::is_ascii_digit)?;
            if let Some(number) = number_at(bytes, i) {
                i = number.end;
                return Some(number.value);
            }
            i += bytes
                .get(i..)?
                .iter()
                .position(|b| !b.is_ascii_digit() && *b != b'.')
                .unwrap_or(bytes.len());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(f64, f64)> {
        number_at(text.as_bytes(), 0).map(|n| (n.value, n.place))
    }

    #[test]
    fn groups_and_points_are_read() {
        assert_eq!(read("1,555 gb/s"), Some((1555.0, 1.0)));
        assert_eq!(read("18,000-30,000"), Some((18_000.0, 1.0)));
        assert_eq!(read("2,39"), Some((2.0, 1.0)));
        assert_eq!(read("1.8 万"), Some((1.8, 0.1)));
        assert_eq!(read("6912,80"), Some((6912.0, 1.0)));
        assert_eq!(read("80."), Some((80.0, 1.0)));
    }

    #[test]
    fn commas_of_a_list_part_figures() {
        let found: Vec<f64> = numbers("x,24,71,936,1.2").collect();
        assert_eq!(found, [24.0, 71.0, 936.0, 1.2]);
    }

    #[test]
    fn versions_and_serial_numbers_are_no_figures() {
        assert_eq!(read("535.104.05"), None);
        assert_eq!(read("1320221089112345678"), None);
    }

    #[test]
    fn all_numbers_of_a_line_come_in_their_order() {
        let found: Vec<f64> = numbers("61w / 400w | 4mib / 81920mib 535.104.05").collect();
        assert_eq!(found, [61.0, 400.0, 4.0, 81920.0]);
    }
}
