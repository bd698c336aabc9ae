//! Engines and formats in the words that sources use.

use crate::dtype::{KvFormat, WeightFormat};
use crate::estimate::serving::AnswerLengths;
use crate::scenario::{Choice, Engine};

/// The engine of a name such as `vllm 0.6.3` or `tensorrt/tensorrt-llm`; `None`: not one that is
/// modelled.
pub(super) fn engine(name: &str) -> Option<Engine> {
    let name = name.to_ascii_lowercase();
    let has = |part: &str| name.contains(part);
    Some(if has("vllm-ascend") || has("vllm_ascend") {
        Engine::VllmAscend
    } else if has("vllm") || has("text-generation-inference") || name == "tgi" {
        Engine::Vllm
    } else if has("sglang") || has("lmdeploy") {
        Engine::Sglang
    } else if has("tensorrt") || has("trt-llm") || has("trtllm") {
        Engine::TensorrtLlm
    } else if has("llama.cpp")
        || has("llama-cpp")
        || has("llamacpp")
        || has("ollama")
        || has("lm studio")
        || has("koboldcpp")
        || has("docker model runner")
    {
        Engine::LlamaCpp
    } else if has("fastertransformer") {
        Engine::Fastertransformer
    } else if has("transformers") || name == "hf" || name == "huggingface" {
        Engine::Transformers
    } else if has("exllamav2") || has("exllamav3") || has("tabbyapi") {
        Engine::Exllamav2
    } else if has("exllama") {
        Engine::Exllama
    } else if has("mlc") {
        Engine::MlcLlm
    } else if has("deepspeed") {
        Engine::DeepspeedMii
    } else if has("mindie") {
        Engine::Mindie
    } else {
        return None;
    })
}

/// How the lengths of answers differ, in the words of `notes` in small letters.
pub(super) fn answer_lengths(notes: &str, output_tokens: u32) -> AnswerLengths {
    let means_of_many = notes.contains("at once") && notes.contains("mean in/out");
    if notes.contains("spread evenly") {
        AnswerLengths::Even
    } else if notes.contains("sharegpt") || (means_of_many && output_tokens > 100) {
        AnswerLengths::People
    } else {
        AnswerLengths::Alike
    }
}

/// Mean length of an answer where the notes give it beside a limit: `mean 504 per request`,
/// `mean about 294 output tokens`.
pub(super) fn mean_output(notes: &str) -> Option<u32> {
    let rest = notes.split("mean ").nth(1)?;
    let rest = rest.strip_prefix("about ").unwrap_or(rest);
    let (digits, rest) = rest.split_once(' ')?;
    (rest.starts_with("per request") || rest.starts_with("output tokens"))
        .then(|| digits.parse().ok())
        .flatten()
}

/// Requests of notes such as `500 requests in 61.7 s, all requests sent at once`.
pub(super) fn sent_at_once(notes: &str) -> Option<u32> {
    let (before, _) = notes.split_once(" requests in ")?;
    notes
        .contains("at once")
        .then(|| before.rsplit(|c: char| !c.is_ascii_digit()).next())
        .flatten()
        .and_then(|digits| digits.parse().ok())
}

/// Share of the card that notes in small letters say the engine takes: `static share of memory 0.8`.
pub(super) fn static_share(notes: &str) -> Option<f64> {
    let (_, after) = notes.split_once("static share of memory ")?;
    let share: f64 = after
        .split(|c: char| c.is_whitespace() || c == ';' || c == ',')
        .next()?
        .parse()
        .ok()?;
    (0.1..=1.0).contains(&share).then_some(share)
}

/// Requests of a whole run whose number in flight is limited: `1024 requests, max concurrency 256`, `1000 requests,
/// concurrency at most 512`, `100 requests in 47.88 s, max concurrency 4`.
pub(super) fn requests_in_all(notes: &str) -> Option<u32> {
    let limited = notes.contains("max concurrency") || notes.contains("concurrency at most");
    let (before, _) = notes
        .split_once(" requests, ")
        .or_else(|| notes.split_once(" requests in "))?;
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    limited.then(|| digits.parse().ok()).flatten()
}

/// The version in words such as `vllm 0.6.1`.
pub(super) fn version(engine: &str) -> Option<(u32, u32)> {
    engine.split_whitespace().skip(1).find_map(|word| {
        let mut parts = word.trim_start_matches('v').split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

/// A weight format as a row gives it, with the bits of one weight where they are not the format's
/// own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weights {
    pub format: WeightFormat,
    pub bits: Option<f64>,
}

/// The format of words such as `int4 gptq g128`, `exl2 4.0 bpw`, `f16`; `notes` tell the kinds of
/// `int4` and `int8` apart.
pub(super) fn weights(precision: &str, engine: Engine, notes: &str) -> Option<Weights> {
    let text = precision.trim().to_ascii_lowercase();
    let notes = notes.to_ascii_lowercase();
    let said = |word: &str| text.contains(word) || notes.contains(word);
    let plain = |format| Some(Weights { format, bits: None });
    if text.is_empty() {
        return plain(if engine == Engine::LlamaCpp {
            WeightFormat::Q4KM
        } else {
            WeightFormat::Bf16
        });
    }
    if text.starts_with("exl2") || text.ends_with("bpw") {
        let bits = text
            .split_whitespace()
            .find_map(|word| word.parse::<f64>().ok())
            .filter(|bits| (1.0..=16.0).contains(bits))?;
        return Some(Weights {
            format: WeightFormat::Gptq4,
            bits: Some(bits),
        });
    }
    let four = text.starts_with("int4") || text.starts_with("w4");
    let eight = text.starts_with("int8") || text.starts_with("w8");
    if four {
        let format = if said("awq") {
            WeightFormat::Awq4
        } else if said("nf4") || said("bitsandbytes") {
            WeightFormat::Nf4
        } else {
            WeightFormat::Gptq4
        };
        // An FP16 scale and a 4-bit zero point for each group.
        let bits = if text.contains("g32") {
            Some(4.0 + 20.0 / 32.0)
        } else if text.contains("g64") {
            Some(4.0 + 20.0 / 64.0)
        } else if text.ends_with("g-") {
            Some(4.0)
        } else {
            None
        };
        return Some(Weights { format, bits });
    }
    if eight {
        // Transformers runs 8-bit integers by GPTQ or bitsandbytes, servers by W8A8.
        return plain(if said("gptq") || engine == Engine::Transformers {
            WeightFormat::Gptq8
        } else {
            WeightFormat::Int8
        });
    }
    let first = text.split_whitespace().next()?;
    plain(WeightFormat::from_name(first)?)
}

/// The KV cache's format; 16 bit where nothing is said.
pub(super) fn cache(precision: &str) -> KvFormat {
    precision
        .split_whitespace()
        .next()
        .and_then(KvFormat::from_name)
        .unwrap_or(KvFormat::Bits16)
}

/// Whether notes in small letters name a date (`may 2024`, `10 jan 2024`, `2023`) before that month. A year by
/// itself stands for its last month; notes without a date are of today.
pub(super) fn is_before(notes: &str, year: u32, month: u32) -> bool {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let words: Vec<&str> = notes
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.iter().enumerate().any(|(i, word)| {
        let Ok(found) = word.parse::<u32>() else {
            return false;
        };
        if !(2020..2100).contains(&found) {
            return false;
        }
        let before = i.checked_sub(1).and_then(|j| words.get(j));
        let named = before.and_then(|word| MONTHS.iter().position(|name| word.starts_with(name)));
        let found_month = named.map_or(12, |index| index as u32 + 1);
        (found, found_month) < (year, month)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version("vllm 0.6.1"), Some((0, 6)));
        assert_eq!(version("vllm v0.10.0 rocm"), Some((0, 10)));
        assert_eq!(version("vllm"), None);
        assert_eq!(version("vllm (2023)"), None);
    }

    #[test]
    fn how_requests_enter_is_read() {
        assert_eq!(
            requests_in_all("vllm serve, 1024 requests, max concurrency 256"),
            Some(1024)
        );
        assert_eq!(
            requests_in_all("100 requests in 47.88 s, mean in/out 229/217, max concurrency 4"),
            Some(100)
        );
        // Without a limit they are all in flight.
        assert_eq!(
            requests_in_all("1000 requests in 133.23 s, all requests sent at once"),
            None
        );
        assert_eq!(static_share("x; static share of memory 0.8"), Some(0.8));
        assert_eq!(static_share("static share of memory 8"), None);
        assert_eq!(
            answer_lengths("random lengths spread evenly, 80 requests", 500),
            AnswerLengths::Even
        );
        assert_eq!(
            answer_lengths("sharegpt, 1000 requests", 200),
            AnswerLengths::People
        );
        assert_eq!(
            answer_lengths("random 1024/1024", 1024),
            AnswerLengths::Alike
        );
    }

    #[test]
    fn dates_in_notes_are_read() {
        assert!(is_before("table 'x' may 2024; row", 2024, 6));
        assert!(is_before("llama-bench, 10 jan 2024", 2024, 6));
        assert!(!is_before("june 2024", 2024, 6));
        assert!(is_before("build 3622 of aug 2024", 2025, 9));
        assert!(is_before("2023", 2024, 6));
        assert!(!is_before("2025", 2025, 9));
        assert!(!is_before("pp2048 of 2048 tokens", 2024, 6));
        assert!(!is_before("", 2024, 6));
    }
}
