//! Search as one types: every word typed must be somewhere in the names.

/// How well `wanted` matches `names`, lower is better; `None`: a word of it is nowhere. Case, spaces and dashes do
/// not matter, and nothing typed matches everything.
pub fn score<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<u32> {
    let names: Vec<String> = names.into_iter().map(bare).collect();
    let whole = bare(wanted);
    if whole.is_empty() {
        return Some(0);
    }
    if names.contains(&whole) {
        return Some(0);
    }
    if names.iter().any(|name| name.starts_with(&whole)) {
        return Some(1);
    }
    if names.iter().any(|name| name.contains(&whole)) {
        return Some(2);
    }
    wanted
        .split_whitespace()
        .map(bare)
        .all(|word| names.iter().any(|name| name.contains(&word)))
        .then_some(3)
}

/// A name as it is compared.
fn bare(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric() || *c == '.')
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 2] = ["qwen2.5-7b", "Qwen2.5 7B"];

    #[test]
    fn the_nearest_name_scores_best() {
        assert_eq!(score("Qwen2.5-7B", NAMES), Some(0));
        assert_eq!(score("qwen", NAMES), Some(1));
        assert_eq!(score("7b", NAMES), Some(2));
        assert_eq!(score("7b qwen", NAMES), Some(3));
        assert_eq!(score("llama", NAMES), None);
        assert_eq!(score("", NAMES), Some(0));
        assert_eq!(score("通义", ["Qwen", "通义千问"]), Some(1));
    }
}
