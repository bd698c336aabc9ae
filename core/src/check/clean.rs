//! Pasted text made uniform: no colour codes, one form of every sign, ASCII letters in lower case.

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
    let text = text.get(..end).unwrap_or_default();
    let mut out = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\u{1b}' | '\u{9b}' => skip_escape(sign == '\u{9b}', &mut signs),
            '\n' | '\t' => out.push(sign),
            '[' if is_bare_colour(signs.clone()) => {
                while signs.next().is_some_and(|sign| sign != 'm') {}
            }
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9a}' | '\u{9c}'..='\u{9f}' => {}
            // Zero-width signs, directional marks, byte order mark, variation selectors, trade marks.
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' => {}
            '\u{feff}' | '\u{fe0f}' | '™' | '®' | '©' => {}
            _ if sign.is_ascii() => out.push(sign.to_ascii_lowercase()),
            '\u{ff01}'..='\u{ff5d}' => push_ascii(sign, 0xfee0, &mut out),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => out.push(' '),
            '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '〜' | '～' | '∼' => {
                out.push('-')
            }
            '─' | '━' | '═' | '┄' | '┈' => out.push('-'),
            '│' | '┃' | '║' | '┆' | '┊' => out.push('|'),
            '┌'..='╿' => out.push('+'),
            '×' | '✕' | '✖' => out.push('x'),
            '“' | '”' | '「' | '」' | '『' | '』' | '《' | '》' => out.push('"'),
            '‘' | '’' => out.push('\''),
            '、' => out.push(','),
            '。' | '…' => out.push(if sign == '。' { '\n' } else { '.' }),
            '【' | '〔' => out.push('['),
            '】' | '〕' => out.push(']'),
            '￥' => out.push('¥'),
            _ => out.push(sign),
        }
    }
    out
}

fn push_ascii(sign: char, offset: u32, out: &mut String) {
    if let Some(plain) = char::from_u32(sign as u32 - offset) {
        out.push(plain.to_ascii_lowercase());
    }
}

/// Whether a colour code stands behind a bracket whose escape sign was lost on the way, as in `[4mGPU0` or `[1;31m`.
fn is_bare_colour(mut signs: std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    const LONGEST: usize = 12;
    if !signs.peek().is_some_and(char::is_ascii_digit) {
        return false;
    }
    signs
        .take(LONGEST)
        .find(|sign| !sign.is_ascii_digit() && *sign != ';')
        == Some('m')
}

/// Passes over the rest of a terminal escape: a control sequence up to its final byte, an operating system command up
/// to its end. An escape that never ends takes no more than this many signs with it.
fn skip_escape(is_control: bool, signs: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    const LONGEST: usize = 64;
    let kind = if is_control { Some('[') } else { signs.next() };
    match kind {
        Some('[') => {
            for _ in 0..LONGEST {
                match signs.peek() {
                    Some('\n') | None => return,
                    Some('@'..='~') => {
                        signs.next();
                        return;
                    }
                    Some(_) => {
                        signs.next();
                    }
                }
            }
        }
        Some(']') => {
            for _ in 0..LONGEST {
                match signs.peek() {
                    Some('\n') | None => return,
                    Some('\u{7}') => {
                        signs.next();
                        return;
                    }
                    Some(_) => {
                        signs.next();
                    }
                }
            }
        }
        Some('(' | ')') => {
            signs.next();
        }
        _ => {}
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
