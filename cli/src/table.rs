//! Plain text in columns.

use std::fmt::Write;

/// Side on which a column's cells stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// `rows` under `heads`, each column as wide as its widest cell.
pub fn table(heads: &[(&str, Side)], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = heads.iter().map(|(head, _)| head.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    let head: Vec<String> = heads.iter().map(|(head, _)| (*head).to_owned()).collect();
    for row in std::iter::once(&head).chain(rows) {
        let mut line = String::new();
        for ((cell, width), (_, side)) in row.iter().zip(&widths).zip(heads) {
            let _ = match side {
                Side::Left => write!(line, "{cell:<width$}  "),
                Side::Right => write!(line, "{cell:>width$}  "),
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let text = table(
            &[("name", Side::Left), ("rows", Side::Right)],
            &[
                vec!["a".to_owned(), "12".to_owned()],
                vec!["longer name".to_owned(), "1".to_owned()],
            ],
        );
        assert_eq!(
            text,
            "name         rows\n\
             a              12\n\
             longer name     1\n"
        );
    }
}
