//! Lines of a paste, each with which signs stand in it, so that most searches end before they begin.

/// Which signs stand in a text: a bit each for letters and ASCII marks, one for digits, one for whatever is not ASCII.
/// Blanks have none.
type Signs = u64;

const SIGN_OF: [Signs; 256] = {
    let mut table = [0; 256];
    let mut next = 28;
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            letter @ b'a'..=b'z' => 1 << (letter - b'a'),
            b'0'..=b'9' => 1 << 26,
            0x80..=0xff => 1 << 27,
            b'A'..=b'Z' | 0..=b' ' | 0x7f => 0,
            _ => {
                next += 1;
                1 << (next - 1)
            }
        };
        byte += 1;
    }
    table
};

const fn signs_of(text: &[u8]) -> Signs {
    let mut signs = 0;
    let mut at = 0;
    while at < text.len() {
        signs |= SIGN_OF[text[at] as usize];
        at += 1;
    }
    signs
}

/// A text that is looked for in many lines.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    text: &'static str,
    signs: Signs,
}

/// The mark `text`.
pub const fn mark(text: &'static str) -> Mark {
    Mark {
        text,
        signs: signs_of(text.as_bytes()),
    }
}

impl Mark {
    /// Whether `text` begins with it.
    pub fn begins(&self, text: &str) -> bool {
        text.starts_with(self.text)
    }
}

/// A line.
#[derive(Debug, Clone, Copy)]
pub struct Line<'t> {
    /// Its text.
    pub text: &'t str,
    /// The signs in it, or in a longer line that it was cut from.
    signs: Signs,
}

impl<'t> Line<'t> {
    /// The line `text`.
    pub fn of(text: &'t str) -> Self {
        Self {
            text,
            signs: signs_of(text.as_bytes()),
        }
    }

    /// A part of it.
    pub fn part(self, text: &'t str) -> Self {
        Self { text, ..self }
    }

    /// Whether `mark` stands in it.
    pub fn has(&self, mark: &Mark) -> bool {
        self.signs & mark.signs == mark.signs && self.text.contains(mark.text)
    }

    /// What stands behind `mark`.
    pub fn after(&self, mark: &Mark) -> Option<&'t str> {
        if self.signs & mark.signs != mark.signs {
            return None;
        }
        self.text.split_once(mark.text).map(|(_, after)| after)
    }

    /// Whether each of `bytes` may stand in it; `false`: one does not.
    pub fn may_have(&self, bytes: &[u8]) -> bool {
        let wanted = signs_of(bytes);
        self.signs & wanted == wanted
    }
}

/// The lines of `text`.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut signs = 0;
        let end = rest.bytes().position(|byte| {
            signs |= SIGN_OF[usize::from(byte)];
            byte == b'\n'
        });
        let (text, after) = rest.split_at_checked(end.unwrap_or(rest.len()))?;
        rest = after.strip_prefix('\n').unwrap_or(after);
        Some(Line { text, signs })
    })
}

/// Hands `read` the lines of `text`, tables as they were printed: a narrow terminal breaks their lines, and some ways of
/// copying join them all.
pub fn unfolded(text: &str, mut read: impl FnMut(Line<'_>)) {
    /// No line of a table is this long.
    const WIDEST: usize = 160;
    const RULE: Mark = mark("+--");
    // A table's line whose end has not been seen.
    let mut open: Option<Line<'_>> = None;
    for line in lines(text) {
        if !line.may_have(b"|") {
            if let Some(begun) = open.take() {
                read(begun);
            }
            read(line);
            continue;
        }
        let plain = line.text.trim_ascii();
        let begins = plain.starts_with(['|', '+']);
        let ends = plain.ends_with('|');
        let joined = line.text.len() > WIDEST && line.has(&RULE);
        if let Some(begun) = open.take() {
            if !joined && !begins && ends && begun.text.len() + line.text.len() <= WIDEST {
                read(Line::of(&format!("{}{}", begun.text, line.text)));
                continue;
            }
            read(begun);
        }
        if joined {
            let parted = line
                .text
                .replace("| |", "|\n|")
                .replace("+ |", "+\n|")
                .replace("| +", "|\n+");
            lines(&parted).for_each(&mut read);
        } else if plain.starts_with('|') && !ends {
            open = Some(line);
        } else {
            read(line);
        }
    }
    if let Some(begun) = open {
        read(begun);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_where_they_stand() {
        const MARK: Mark = mark("vram%");
        assert!(Line::of("pwrcap  vram%  gpu%").has(&MARK));
        assert!(!Line::of("%vram").has(&MARK));
        assert!(!Line::of("").has(&MARK));
        assert_eq!(
            Line::of("cuda version: 12.4 |").after(&mark("version: ")),
            Some("12.4 |")
        );
        assert!(Line::of("未找到命令").has(&mark("未找到命令")));
        // Every ASCII mark has a bit of its own.
        let marks: Vec<u64> = (33u8..127)
            .filter(|b| !b.is_ascii_alphanumeric())
            .map(|b| signs_of(&[b]))
            .collect();
        assert!(marks.iter().all(|sign| sign.count_ones() == 1));
        assert_eq!(
            marks.iter().fold(0, |all, sign| all | sign).count_ones(),
            32
        );
    }

    #[test]
    fn broken_and_joined_tables_are_as_they_were_printed() {
        let read = |text: &str| {
            let mut out = Vec::new();
            unfolded(text, |line| out.push(line.text.to_owned()));
            out
        };
        assert_eq!(read("a\n\nb"), ["a", "", "b"]);
        assert_eq!(
            read("| 0  tesla\n off |\n| 1 |"),
            ["| 0  tesla off |", "| 1 |"]
        );
        assert_eq!(
            read("| 0  tesla\n| 1 |\n| 2"),
            ["| 0  tesla", "| 1 |", "| 2"]
        );
        let long = format!("+--{}+ | a | | b | +--+", "-".repeat(160));
        assert_eq!(read(&long).len(), 4);
    }
}
