//! Pasted text made uniform: no colour codes, one form of every sign, ASCII letters in lower case.

use std::str::Chars;

/// Bytes of a paste that are read; a screenful of printouts is a thousandth of it.
pub const LARGEST_PASTE_BYTES: usize = 4 << 20;

/// `text` as the readers want it: terminal escapes and invisible signs gone, full-width forms, dashes, quotes, box
/// lines and Chinese punctuation as their ASCII relatives, ASCII in lower case. What lies beyond
/// [`LARGEST_PASTE_BYTES`] is left out.
pub fn clean(text: &str) -> String {
    let mut end = text.len().min(LARGEST_PASTE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut rest = text.get(..end).unwrap_or_default();
    let mut out = String::with_capacity(rest.len());
    loop {
        // Most of a paste stays as it is, run by run.
        let plain = rest.bytes().position(|byte| !stays(byte));
        let (run, changed) = rest
            .split_at_checked(plain.unwrap_or(rest.len()))
            .unwrap_or((rest, ""));
        out.push_str(run);
        let mut signs = changed.chars();
        let Some(sign) = signs.next() else {
            break;
        };
        replace(sign, &mut signs, &mut out);
        rest = signs.as_str();
    }
    out.make_ascii_lowercase();
    out
}

/// Whether a byte is of a sign that is kept: printable ASCII but `[`, line ends, tabs, and the signs of the blocks that
/// [`replace`] knows nothing of, their following bytes among them.
const fn stays(byte: u8) -> bool {
    const STAYS: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = match byte as u8 {
                b'[' | 0x7f => false,
                b'\n' | b'\t' => true,
                0..=0x1f => false,
                // Latin letters beyond ASCII, punctuation, Chinese punctuation, forms and marks.
                0xc2 | 0xc3 | 0xe2 | 0xe3 | 0xef => false,
                _ => true,
            };
            byte += 1;
        }
        table
    };
    STAYS[byte as usize]
}

/// Writes what stands for `sign`, with as many of the signs behind it as belong to it.
fn replace(sign: char, signs: &mut Chars<'_>, out: &mut String) {
    let plain = match sign {
        '\u{1b}' | '\u{9b}' => {
            skip_escape(sign == '\u{9b}', signs);
            return;
        }
        '[' if is_bare_colour(signs.clone()) => {
            while signs.next().is_some_and(|sign| sign != 'm') {}
            return;
        }
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9a}' | '\u{9c}'..='\u{9f}' => return,
        // Zero-width signs, directional marks, byte order mark, variation selectors, trade marks.
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' => return,
        '\u{feff}' | '\u{fe0f}' | '™' | '®' | '©' => return,
        '\u{ff01}'..='\u{ff5d}' => char::from_u32(sign as u32 - 0xfee0).unwrap_or(sign),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => ' ',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '〜' | '～' | '∼' => '-',
        '─' | '━' | '═' | '┄' | '┈' => '-',
        '│' | '┃' | '║' | '┆' | '┊' => '|',
        '┌'..='╿' => '+',
        '×' | '✕' | '✖' => 'x',
        '“' | '”' | '「' | '」' | '『' | '』' | '《' | '》' => '"',
        '‘' | '’' => '\'',
        '、' => ',',
        '。' => '\n',
        '…' => '.',
        '【' | '〔' => '[',
        '】' | '〕' => ']',
        '￥' => '¥',
        _ => sign,
    };
    out.push(plain);
}

/// Whether a colour code stands behind a bracket whose escape sign was lost on the way, as in `[4mGPU0` or `[1;31m`.
fn is_bare_colour(signs: Chars<'_>) -> bool {
    const LONGEST: usize = 12;
    if !signs
        .as_str()
        .starts_with(|sign: char| sign.is_ascii_digit())
    {
        return false;
    }
    signs
        .take(LONGEST)
        .find(|sign| !sign.is_ascii_digit() && *sign != ';')
        == Some('m')
}

/// Passes over the rest of a terminal escape: a control sequence up to its final byte, an operating system command up
/// to its end. An escape that never ends takes no more than this many signs with it.
fn skip_escape(is_control: bool, signs: &mut Chars<'_>) {
    const LONGEST: usize = 64;
    let kind = if is_control { Some('[') } else { signs.next() };
    let ends: fn(char) -> bool = match kind {
        Some('[') => |sign| matches!(sign, '@'..='~'),
        Some(']') => |sign| sign == '\u{7}',
        Some('(' | ')') => {
            signs.next();
            return;
        }
        _ => return,
    };
    for _ in 0..LONGEST {
        let mut ahead = signs.clone();
        match ahead.next() {
            Some('\n') | None => return,
            Some(sign) => {
                *signs = ahead;
                if ends(sign) {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn colours_and_forms_are_gone() {
        assert_eq!(clean("\u{1b}[1;31mA100\u{1b}[0m"), "a100");
        assert_eq!(clean("[4mGPU0[0m [0;31m 8[16G]"), "gpu0  8[16g]");
        assert_eq!(clean("８０ＧＢ（ＰＣＩｅ）"), "80gb(pcie)");
        assert_eq!(clean("￥6.5～7／小时"), "¥6.5-7/小时");
        assert_eq!(clean("│ a │\r\n"), "| a |\n");
        assert_eq!(clean("RTX™\u{200b} 4090"), "rtx 4090");
    }

    #[test]
    fn an_escape_without_an_end_does_not_swallow_the_paste() {
        let text = format!("\u{1b}]{}", "a".repeat(500));
        assert_eq!(clean(&text).len(), 500 - 64);
    }
}
