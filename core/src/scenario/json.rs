//! A scenario as JSON: the fields of [`Scenario`](super::Scenario) by their own names, each of
//! which may be left out. Defaults, limits and names are those of links, since both are read
//! by the same reader.

use serde_json::{Map, Value};

use super::choice::{Choice, JobKind};
use super::own_card;
use super::params::{OTHER_PATHS, PARAMS, Param};
use super::problem::{Outcome, Problem, ProblemKind};
use super::query::{Parsed, complete, parse};
use super::reader::Given;
use super::{DiffusionMethod, Job, Scenario, TrainingMethod};
use crate::catalog::Catalog;

/// Reads a scenario given as JSON (`{...}`) or as a link's query.
///
/// # Errors
/// When it begins as JSON and is not.
pub fn read(text: &str, catalog: &Catalog) -> Result<Parsed, Box<Problem>> {
    if text.trim_start().starts_with(['{', '[', '"']) {
        from_json(text, catalog)
    } else {
        Ok(parse(text, catalog))
    }
}

/// Reads a JSON scenario.
///
/// # Errors
/// When the text is not JSON, or not an object; the problem names line and column. A field
/// that cannot be used is not an error: its default is used and it is named.
pub fn from_json(text: &str, catalog: &Catalog) -> Result<Parsed, Box<Problem>> {
    let refuse =
        |kind, bound: &str| Box::new(Problem::new("", kind, text, Outcome::Refused).bound(bound));
    let value: Value =
        serde_json::from_str(text).map_err(|e| refuse(ProblemKind::NotJson, &e.to_string()))?;
    let Value::Object(fields) = value else {
        return Err(refuse(ProblemKind::NotJson, "{…}"));
    };
    let mut flat = Flat::default();
    flat.object(&fields, "");
    let (scenario, mut problems) = complete(catalog, flat.given, flat.problems);
    let lines = lines(text);
    for problem in &mut problems {
        place(problem, &scenario, &lines);
    }
    Ok(Parsed {
        scenario,
        problems,
        unknown: flat.unknown,
    })
}

/// Gives a problem the path of its field and the line where that stands.
fn place(problem: &mut Problem, scenario: &Scenario, lines: &[(String, usize)]) {
    let under = format!("job.{}.", field_of(&scenario.job));
    let of_job = |name: &str| {
        let mut others = OTHER_PATHS.iter();
        others.find(|(path, param)| *param == name && path.starts_with(&under))
    };
    let path = match (&problem.path, problem.param.as_str()) {
        (Some(path), _) => path.clone(),
        (None, name) => match (of_job(name), Param::of(name)) {
            (Some((path, _)), _) => (*path).to_owned(),
            (None, Some(param)) => param.path.to_owned(),
            (None, None) => return,
        },
    };
    problem.line = lines
        .iter()
        .find(|(known, _)| *known == path || known.starts_with(&format!("{path}.")))
        .map(|(_, line)| *line);
    problem.path = Some(path);
}

/// Name of a job's field.
fn field_of(job: &Job) -> &'static str {
    match job {
        Job::Train(_) => "train",
        Job::Serve(_) => "serve",
        Job::Generate(_) => "generate",
        Job::TuneDiffusion(_) => "tune_diffusion",
        Job::TrainNetwork(_) => "train_network",
        Job::RunNetwork(_) => "run_network",
        Job::Transcribe(_) => "transcribe",
        Job::Compute(_) => "compute",
    }
}

/// Jobs by the name of their field, without a method.
const JOB_FIELDS: [(&str, JobKind); 8] = [
    ("train", JobKind::Train(TrainingMethod::Lora)),
    ("serve", JobKind::Serve),
    ("generate", JobKind::Image),
    (
        "tune_diffusion",
        JobKind::TuneDiffusion(DiffusionMethod::Lora),
    ),
    ("train_network", JobKind::TrainNetwork),
    ("run_network", JobKind::RunNetwork),
    ("transcribe", JobKind::Transcribe),
    ("compute", JobKind::Compute),
];

/// JSON fields as link parameters.
#[derive(Default)]
struct Flat {
    given: Vec<Given>,
    problems: Vec<Problem>,
    unknown: Vec<(String, String)>,
}

impl Flat {
    fn object(&mut self, fields: &Map<String, Value>, under: &str) {
        if under == "job" {
            let given: Vec<&str> = JOB_FIELDS
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| fields.contains_key(*name))
                .collect();
            if given.len() > 1 {
                let one_of: Vec<String> = given
                    .iter()
                    .map(|name| format!("{{\"{name}\": …}}"))
                    .collect();
                let given = format!("{{{}}}", given.join(", "));
                self.wrong_type("job", "do", &given, &one_of.join(" | "));
            }
        }
        for (name, value) in fields {
            let path = if under.is_empty() {
                name.clone()
            } else {
                format!("{under}.{name}")
            };
            self.field(&path, value);
        }
    }

    fn field(&mut self, path: &str, value: &Value) {
        match (path, value) {
            (_, Value::Null) => {}
            ("model" | "model.catalog", Value::String(name)) => self.give("m", name.clone()),
            ("model.custom", Value::Object(shape)) => {
                self.give("m", "custom".to_owned());
                self.object(shape, path);
            }
            ("model.custom.attention", Value::Array(groups)) => {
                let groups: Vec<_> = groups.iter().map(group).collect();
                self.give("attn", groups.join(","));
            }
            ("job" | "job.train.method", Value::String(name)) => self.give("do", name.clone()),
            ("job.tune_diffusion.method", Value::String(name)) => {
                let name = match name.as_str() {
                    "lora" => DiffusionMethod::Lora.name().to_owned(),
                    _ => name.clone(),
                };
                self.give("do", name);
            }
            (_, Value::Object(job)) if job_field(path).is_some() => {
                if let (Some(kind), false) = (job_field(path), job.contains_key("method")) {
                    self.give("do", kind.name().to_owned());
                }
                self.object(job, path);
            }
            ("money.own_prices", Value::Object(prices)) => {
                let entries = prices.iter().map(|(card, price)| entry(card, price));
                self.give("price", entries.collect::<Vec<_>>().join(","));
            }
            ("money.own_prices", Value::Array(prices)) => {
                let entries = prices
                    .iter()
                    .map(|pair| match pair.as_array().map(Vec::as_slice) {
                        Some([Value::String(card), price]) => entry(card, price),
                        _ => plain(pair),
                    });
                self.give("price", entries.collect::<Vec<_>>().join(","));
            }
            ("shelf.own", Value::Array(cards)) => {
                let one = |card: &Value| {
                    let part = |name: &&str| match card.get(name) {
                        None | Some(Value::Null) => String::new(),
                        Some(given) => plain(given),
                    };
                    own_card::FIELDS
                        .iter()
                        .map(part)
                        .collect::<Vec<_>>()
                        .join(":")
                };
                self.give("own", cards.iter().map(one).collect::<Vec<_>>().join(","));
            }
            ("shelf.cards" | "money.billing", Value::Array(names)) => {
                let names: Vec<_> = names.iter().map(plain).collect();
                if let Some(param) = by_path(path) {
                    self.give(param.name, names.join(","));
                }
            }
            _ => match by_path(path) {
                // Booleans of the types are words of the links.
                Some(param) if param.name == "recompute" && value.is_boolean() => {
                    let word = if *value == Value::Bool(true) {
                        "full"
                    } else {
                        "none"
                    };
                    self.give(param.name, word.to_owned());
                }
                Some(param) => self.leaf(param.name, path, value),
                None => match value {
                    Value::Object(fields) if is_above_a_field(path) => self.object(fields, path),
                    _ if is_above_a_field(path) => {
                        self.wrong_type(path, path, &plain(value), "{…}");
                    }
                    _ => self.unknown.push((path.to_owned(), plain(value))),
                },
            },
        }
    }

    fn leaf(&mut self, name: &'static str, path: &str, value: &Value) {
        match value {
            Value::Object(fields) if is_above_a_field(path) => self.object(fields, path),
            Value::Object(_) | Value::Array(_) => {
                self.wrong_type(path, name, &plain(value), "1, \"…\", true");
            }
            _ => self.give(name, plain(value)),
        }
    }

    fn give(&mut self, name: &str, value: String) {
        if let Some(param) = Param::of(name) {
            self.given.push(Given { param, value });
        }
    }

    fn wrong_type(&mut self, path: &str, param: &str, given: &str, expected: &str) {
        let mut problem =
            Problem::new(param, ProblemKind::WrongType, given, Outcome::Ignored).bound(expected);
        problem.path = Some(path.to_owned());
        self.problems.push(problem);
    }
}

/// The job of a path that is a job's own field.
fn job_field(path: &str) -> Option<JobKind> {
    let name = path.strip_prefix("job.")?;
    let mut jobs = JOB_FIELDS.iter();
    jobs.find(|(field, _)| *field == name)
        .map(|(_, kind)| *kind)
}

fn by_path(path: &str) -> Option<&'static Param> {
    let mut others = OTHER_PATHS.iter();
    match others.find(|(other, _)| *other == path) {
        Some((_, name)) => Param::of(name),
        None => PARAMS.iter().find(|p| p.path == path),
    }
}

fn is_above_a_field(path: &str) -> bool {
    let under = format!("{path}.");
    let others = OTHER_PATHS.iter().map(|(path, _)| *path);
    let mut paths = PARAMS.iter().map(|p| p.path).chain(others);
    paths.any(|path| path.starts_with(&under))
}

fn entry(card: &str, price: &Value) -> String {
    format!("{card}:{}", plain(price))
}

/// A value as it would stand in a link.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

/// An attention group as it would stand in a link.
fn group(value: &Value) -> String {
    let part = |name: &str| match value.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(given) => plain(given),
    };
    let fields: &[&str] = match part("kind").as_str() {
        "heads" if !part("window").is_empty() => &["heads", "kv_heads", "head_dim", "window"],
        "heads" => &["heads", "kv_heads", "head_dim"],
        "latent" => &[
            "heads",
            "q_rank",
            "kv_rank",
            "qk_nope_dim",
            "qk_rope_dim",
            "v_dim",
        ],
        "compressed" => &["heads", "entry_dim", "ratio", "window", "params"],
        "linear" => &["heads", "state_elements", "params"],
        _ => &[],
    };
    let kind = match part("kind").as_str() {
        "latent" => "mla".to_owned(),
        "compressed" => "csa".to_owned(),
        other => other.to_owned(),
    };
    let mut parts = vec![part("layers"), kind];
    parts.extend(fields.iter().map(|name| match (*name, part(name)) {
        ("q_rank", rank) if rank.is_empty() => "0".to_owned(),
        (_, given) => given,
    }));
    let kind = parts.join(":");
    match value.get("sparse") {
        None | Some(Value::Null) => kind,
        Some(sparse) => {
            let part = |name: &str| sparse.get(name).map(plain).unwrap_or_default();
            let (heads, dim) = (part("index_heads"), part("index_dim"));
            format!("{kind}~{}:{heads}:{dim}", part("top"))
        }
    }
}

/// Path and line of every field of a text that is known to be JSON.
fn lines(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    // Keys above the place where the scan stands; an array holds the place of its key.
    let mut above: Vec<String> = Vec::new();
    let mut key = String::new();
    let mut line = 1;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            '"' => {
                let mut word = String::new();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => {
                            chars.next();
                        }
                        other => word.push(other),
                    }
                }
                while let Some(space) = chars.next_if(|c| c.is_whitespace()) {
                    line += usize::from(space == '\n');
                }
                if chars.peek() == Some(&':') {
                    let path: Vec<&str> = above
                        .iter()
                        .map(String::as_str)
                        .chain([word.as_str()])
                        .filter(|part| !part.is_empty())
                        .collect();
                    found.push((path.join("."), line));
                    key = word;
                }
            }
            '{' | '[' => above.push(std::mem::take(&mut key)),
            '}' | ']' => {
                above.pop();
            }
            ',' => key.clear(),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found() {
        let text = "{\n \"model\": \"x\",\n \"job\": {\n  \"train\": {\"seq_len\"\n: 5}\n },\n \"rank\": \"{\"}";
        let found = lines(text);
        let line = |path: &str| found.iter().find(|(p, _)| p == path).map(|(_, line)| *line);
        assert_eq!(line("model"), Some(2));
        assert_eq!(line("job.train"), Some(4));
        assert_eq!(line("rank"), Some(7));
    }
}
