//! A plan as what one would run: launch lines of servers, configurations of training software, with the plan's numbers
//! in the flags that carry them.
//!
//! Nothing is estimated here and nothing is searched: a file says what the offer says. Flags are those of the
//! software's own documentation; what a file cannot know (data, learning rate, addresses) is left as a name in capitals.

mod serve;
mod train;

use serde::Serialize;

use crate::catalog::Catalog;
use crate::offers::{Offer, Run};
use crate::scenario::{Job, ModelChoice, Scenario};

/// One file to run or to hand to a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LaunchFile {
    /// Software that it is for.
    pub tool: &'static str,
    /// Usual name of such a file.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// Everything that can be run for an offer, the software that the estimate is for first; empty where the offer does
/// not run or its kind of job has no launcher here.
pub fn files(scenario: &Scenario, offer: &Offer) -> Vec<LaunchFile> {
    let model = model_path(&scenario.model);
    match (&scenario.job, &offer.run) {
        (Job::Serve(serving), Some(Run::Serve { plan, .. })) => {
            serve::files(serving, plan, offer, &model)
        }
        (Job::Train(training), Some(Run::Train { plan, .. })) => {
            train::files(training, plan, offer, &model, &scenario.model)
        }
        _ => Vec::new(),
    }
}

/// Where the model's weights are published, as its catalog entry's source names it; a name in capitals where it names none.
fn model_path(choice: &ModelChoice) -> String {
    const UNKNOWN: &str = "MODEL_PATH";
    let ModelChoice::Catalog(id) = choice else {
        return UNKNOWN.to_owned();
    };
    Catalog::embedded()
        .model(id)
        .and_then(|model| repository(id, &model.source))
        .unwrap_or_else(|| UNKNOWN.to_owned())
}

/// The repository `owner/name` on Hugging Face that a source names, if it is the model's own: an entry may rest on the
/// configuration of a relative, of a tuned or of a quantised copy.
fn repository(id: &str, source: &str) -> Option<String> {
    const NAMED_AFTER: [&str; 5] = [
        "cli99/llm-analysis:",
        "hf.co/",
        "model_configs/",
        "configuration of ",
        "litgpt config.py ",
    ];
    let rest = NAMED_AFTER
        .iter()
        .find_map(|before| source.split_once(before))
        .map(|(_, rest)| rest)?;
    let word = rest.split([' ', ',', '(']).next()?;
    let (owner, name) = word
        .split_once("--")
        .or_else(|| word.split_once('/'))
        .or_else(|| word.strip_suffix(".json")?.split_once('_'))?;
    let single = !owner.is_empty() && !name.is_empty() && !name.contains('/');
    (single && is_of_model(name, id)).then(|| format!("{owner}/{name}"))
}

/// Whether a repository's name says what a model's id says, `Qwen2.5-7B-Instruct` of `qwen2.5-7b`: the same name in front of
/// the size, and no other size.
fn is_of_model(name: &str, id: &str) -> bool {
    /// Weights in a format of their own: they are no start for other formats.
    const QUANTISED: [&str; 4] = ["fp8", "nvfp4", "awq", "gptq"];
    let words = |text: &str| -> Vec<String> {
        let text = text.to_lowercase().replace('_', ".");
        text.split('-').map(str::to_owned).collect()
    };
    let (name, id) = (words(name), words(id));
    let called: Vec<&String> = id.iter().take_while(|word| !is_size(word)).collect();
    let size = id.iter().find(|word| is_size(word));
    let same_name = !called.is_empty()
        && name
            .windows(called.len())
            .any(|part| part.iter().zip(&called).all(|(a, b)| a == *b));
    let same_size = size.is_none_or(|size| {
        let mut sizes = name.iter().filter(|word| is_size(word)).peekable();
        sizes.peek().is_none() || sizes.any(|other| other == size)
    });
    let as_published = !name.iter().any(|word| QUANTISED.contains(&word.as_str()));
    same_name && same_size && as_published
}

/// Whether a word of a model's name is a number of parameters: `7b`, `0.5b`, `a3b`, `8x7b`, `1t`.
fn is_size(word: &str) -> bool {
    let number = word.strip_suffix(['b', 'm', 't']);
    let number = number.map(|n| n.trim_start_matches(['a', 'e']));
    number.is_some_and(|n| {
        n.starts_with(|c: char| c.is_ascii_digit())
            && n.chars()
                .all(|c| c.is_ascii_digit() || c == '.' || c == 'x')
    })
}

/// A command over several lines, one flag a line.
struct Command(Vec<String>);

impl Command {
    fn new(program: &str) -> Self {
        Self(vec![program.to_owned()])
    }

    /// A flag with a value.
    fn flag(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.0.push(format!("{name} {value}"));
        self
    }

    /// A flag with a value where it says something.
    fn flag_if(self, wanted: bool, name: &str, value: impl std::fmt::Display) -> Self {
        if wanted { self.flag(name, value) } else { self }
    }

    /// A flag without a value.
    fn switch_if(mut self, wanted: bool, name: &str) -> Self {
        if wanted {
            self.0.push(name.to_owned());
        }
        self
    }

    fn text(&self) -> String {
        self.0.join(" \\\n  ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_names_the_repository_of_its_model() {
        let found = |id, source| repository(id, source).unwrap_or_default();
        assert_eq!(
            found("qwen1.5-7b", "hf.co/Qwen/Qwen1.5-7B"),
            "Qwen/Qwen1.5-7B"
        );
        assert_eq!(
            found(
                "glm-4-32b-0414",
                "hf.co/THUDM/GLM-4-32B-0414 (printed by llama.cpp)"
            ),
            "THUDM/GLM-4-32B-0414"
        );
        assert_eq!(
            found("internlm2.5-1.8b", "hf.co/internlm/internlm2_5-1_8b"),
            "internlm/internlm2_5-1_8b"
        );
        assert_eq!(
            found(
                "qwen3.5-27b",
                "ai-dynamo/aiconfigurator model_configs/Qwen--Qwen3.5-27B"
            ),
            "Qwen/Qwen3.5-27B"
        );
        assert_eq!(
            found("opt-125m", "cli99/llm-analysis:facebook_opt-125m.json"),
            "facebook/opt-125m"
        );
        assert_eq!(
            found("cwm-32b", "Transformers 5.24 configuration of facebook/cwm"),
            "facebook/cwm"
        );
    }

    #[test]
    fn the_repository_of_another_model_is_not_named() {
        for (id, source) in [
            ("yi-34b", "hf.co/FreedomIntelligence/Apollo-34B (Yi-34B)"),
            ("minimax-m2-230b-a10b", "hf.co/QuixiAI/MiniMax-M2.1-bf16"),
            (
                "internlm2.5-7b",
                "hf.co/Tongjilibo/bert4torch_config internlm2_5-7b",
            ),
            (
                "qwen3.8-27b",
                "ai-dynamo/aiconfigurator model_configs/Qwen--Qwen3.5-27B (same class, blocks and widths)",
            ),
            (
                "qwen3.6-27b",
                "ai-dynamo/aiconfigurator model_configs/nvidia--Qwen3.6-27B-NVFP4",
            ),
            (
                "deepseek-r1-distill-qwen-7b",
                "litgpt config.py Qwen/Qwen2.5-7B",
            ),
            ("gpt2", "cli99/llm-analysis:gpt2.json"),
            ("mistral-7b-v0.3", "hf.co/mistralai/Mistral-8B-v0.3"),
        ] {
            assert_eq!(repository(id, source), None, "{id}");
        }
    }

    /// Few are left to be filled in by hand: those whose source is a paper, a table or a relative's configuration.
    #[test]
    fn most_models_of_the_catalog_name_their_repository() {
        let models = &Catalog::embedded().models;
        let named = models
            .iter()
            .filter(|model| repository(&model.id, &model.source).is_some());
        let named = named.count();
        assert!(named * 2 > models.len(), "{named} of {}", models.len());
    }
}
