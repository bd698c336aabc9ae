//! Tables: a header's words stand for every row.

use super::claims::dtype_of;
use super::tokens::{Break, Token};
use super::vocabulary::Word;

/// `tokens` with the header's words repeated in every cell of the rows below it, and each row's card in front.
pub fn spread(tokens: Vec<Token>) -> Vec<Token> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut header: Option<Header> = None;
    for line in tokens.split(|t| *t == Token::Break(Break::Clause)) {
        if line.iter().all(|t| matches!(t, Token::Break(_))) {
            // An empty line ends a table, its rule does not.
            if line.is_empty() {
                end(&mut header, &mut out);
            }
            continue;
        }
        if let Some(found) = Header::of(line) {
            end(&mut header, &mut out);
            header = Some(found);
        } else if let Some(known) = header.as_mut().filter(|known| known.fits(line)) {
            known.row(line, &mut out);
        } else {
            end(&mut header, &mut out);
            out.extend_from_slice(line);
            out.push(Token::Break(Break::Clause));
        }
    }
    end(&mut header, &mut out);
    out
}

fn end(header: &mut Option<Header>, out: &mut Vec<Token>) {
    if let Some(header) = header.take()
        && header.columns_are_cards()
    {
        header.finish(out);
    }
}

struct Header {
    separator: Break,
    cells: Vec<Vec<Token>>,
    /// Where the columns are cards: what the rows so far say of each.
    columns: Vec<Vec<Token>>,
    /// The column that the first row has its card in; rows below cells that reach over several rows are shifted.
    card_column: Option<usize>,
}

fn cells(line: &[Token], separator: Break) -> Vec<&[Token]> {
    line.split(|t| *t == Token::Break(separator)).collect()
}

fn is_label(token: &Token) -> bool {
    matches!(token, Token::Word(word) if !matches!(word, Word::Or | Word::No))
}

impl Header {
    /// A header: at least three cells, words or cards in two of them, and no figure with a unit.
    fn of(line: &[Token]) -> Option<Self> {
        if line
            .iter()
            .any(|t| matches!(t, Token::Figure(f) if f.unit.is_some() || f.high >= 10.0))
        {
            return None;
        }
        let separator = [Break::Cell, Break::Comma]
            .into_iter()
            .find(|s| line.iter().filter(|t| **t == Token::Break(*s)).count() >= 2)?;
        let cells = cells(line, separator);
        let labelled = cells
            .iter()
            .filter(|cell| cell.iter().any(is_label))
            .count();
        let cards = cells
            .iter()
            .filter(|cell| cell.iter().any(|t| matches!(t, Token::Card(_))))
            .count();
        if labelled + cards < 2 || (cards > 0 && cards < 2) {
            return None;
        }
        if cards > 0 && separator == Break::Comma {
            return None;
        }
        Some(Self {
            separator,
            columns: vec![Vec::new(); cells.len()],
            card_column: None,
            cells: cells.into_iter().map(<[Token]>::to_vec).collect(),
        })
    }

    fn columns_are_cards(&self) -> bool {
        self.cells
            .iter()
            .any(|cell| cell.iter().any(|t| matches!(t, Token::Card(_))))
    }

    fn fits(&self, line: &[Token]) -> bool {
        cells(line, self.separator).len() == self.cells.len()
    }

    /// What was gathered by column, each behind its card.
    fn finish(self, out: &mut Vec<Token>) {
        for (head, column) in self.cells.into_iter().zip(self.columns) {
            if head.iter().any(|t| matches!(t, Token::Card(_))) {
                out.extend(head);
                out.push(Token::Break(Break::Cell));
                out.extend(column);
                out.push(Token::Break(Break::Clause));
            }
        }
    }

    fn row(&mut self, line: &[Token], out: &mut Vec<Token>) {
        let cells = cells(line, self.separator);
        if self.columns_are_cards() {
            // The row's label is its first cell that has one.
            let label = cells
                .iter()
                .find(|cell| cell.iter().any(is_label))
                .copied()
                .unwrap_or_default();
            for (cell, column) in cells.iter().zip(&mut self.columns) {
                if cell.is_empty() {
                    continue;
                }
                column.extend(label.iter().filter(|t| is_label(t)).copied());
                column.extend_from_slice(cell);
                column.push(Token::Break(Break::Cell));
            }
            return;
        }
        let names_card = |cell: &&&[Token]| cell.iter().any(|t| matches!(t, Token::Card(_)));
        if let Some(cell) = cells.iter().find(names_card) {
            out.extend_from_slice(cell);
            out.push(Token::Break(Break::Cell));
        }
        let own = cells.iter().position(|cell| names_card(&cell));
        let shift = match (own, self.card_column) {
            (Some(own), Some(usual)) => usual.saturating_sub(own),
            _ => 0,
        };
        self.card_column = self.card_column.or(own);
        for (index, cell) in cells.iter().enumerate() {
            if Some(index) == own {
                continue;
            }
            let head = self.cells.get(index + shift).map_or(&[][..], Vec::as_slice);
            let formats = head
                .iter()
                .filter(|t| matches!(t, Token::Word(w) if dtype_of(*w).is_some()))
                .count();
            let labels = head.iter().filter(|t| match t {
                // "FP16/INT8": which of them a figure is, its own cell says.
                Token::Word(w) if dtype_of(*w).is_some() => formats == 1,
                other => is_label(other),
            });
            out.extend(labels.copied());
            out.extend_from_slice(cell);
            out.push(Token::Break(Break::Cell));
        }
        out.push(Token::Break(Break::Clause));
    }
}
