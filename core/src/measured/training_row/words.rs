//! The words of a row, in lower case, to look for software and options in.

use crate::measured::TrainingRow;

/// Everything a row says in words.
#[derive(Debug, Clone)]
pub struct Words {
    /// Source, sharding as the source says it, precision, optimizer and notes.
    all: String,
    /// Notes alone.
    notes: String,
}

impl Words {
    /// Of `row`.
    pub fn of(row: &TrainingRow) -> Self {
        let all = [
            row.source.as_str(),
            &row.zero_stage_or_fsdp,
            &row.precision,
            &row.optimizer,
            &row.notes,
        ]
        .join(" | ")
        .to_lowercase();
        Self {
            all,
            notes: row.notes.to_lowercase(),
        }
    }

    /// Whether any of `needles` stands anywhere.
    pub fn any(&self, needles: &[&str]) -> bool {
        needles.iter().any(|n| self.all.contains(n))
    }

    /// Whether any of `needles` stands in the notes.
    pub fn noted(&self, needles: &[&str]) -> bool {
        needles.iter().any(|n| self.notes.contains(n))
    }

    /// The whole number after `label` in the notes, where `label` starts a word: `cp 2`, `r=64`.
    pub fn number_after(&self, label: &str) -> Option<u32> {
        let mut from = 0;
        while let Some(at) = self.notes.get(from..)?.find(label) {
            let start = from + at;
            let word_start = self
                .notes
                .get(..start)?
                .chars()
                .next_back()
                .is_none_or(|c| !c.is_alphanumeric());
            let rest = self.notes.get(start + label.len()..)?;
            let digits: String = rest
                .trim_start_matches([' ', '='])
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            if word_start && let Ok(number) = digits.parse() {
                return Some(number);
            }
            from = start + label.len();
        }
        None
    }

    /// The number before `unit` in the notes: `500 W limit`, `2.4 TB/s`.
    pub fn number_before(&self, unit: &str) -> Option<f64> {
        let (before, _) = self.notes.split_once(unit)?;
        let number = before.trim_end().rsplit(' ').next()?;
        number.parse().ok().filter(|n| *n > 0.0)
    }

    /// The release that follows `name`, as year, month and patch: `nemo 26.02.01`.
    pub fn release_of(&self, name: &str) -> Option<(u32, u32, u32)> {
        self.all.split(name).skip(1).find_map(|rest| {
            let digits: String = rest
                .chars()
                .take_while(|c| c.is_ascii_digit() || *c == '.')
                .collect();
            let mut parts = digits.split('.').filter_map(|part| part.parse().ok());
            let (year, month) = (parts.next()?, parts.next()?);
            (20..100)
                .contains(&year)
                .then_some((year, month, parts.next().unwrap_or(0)))
        })
    }

    /// The network of a node in Gb/s, where the notes say `4x100Gb` or the whole row `1600 Gbps`.
    pub fn network_gbit(&self) -> Option<f64> {
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.'))
                .filter(|w| !w.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let list = words(&self.all);
        for (at, word) in list.iter().enumerate() {
            if let Some((count, each)) = word.split_once('x')
                && let Some(each) = each.strip_suffix("gb")
                && let (Ok(count), Ok(each)) = (count.parse::<f64>(), each.parse::<f64>())
            {
                return Some(count * each);
            }
            if word == "gbps"
                && let Some(number) = at.checked_sub(1).and_then(|i| list.get(i))
                && let Ok(rate) = number.parse::<f64>()
            {
                return Some(rate);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_follows_its_name() {
        let of = |notes: &str| {
            Words::of(&TrainingRow {
                notes: notes.to_owned(),
                ..TrainingRow::default()
            })
            .release_of("nemo ")
        };
        assert_eq!(of("NeMo 26.02.01 container; VP 4"), Some((26, 2, 1)));
        assert_eq!(of("NeMo perf table; NeMo 25.09"), Some((25, 9, 0)));
        assert_eq!(of("NeMo perf table"), None);
    }
}
