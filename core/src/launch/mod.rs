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

/// The repository that the catalog read the model in, else its name in capitals' place.
fn model_path(choice: &ModelChoice) -> String {
    const UNKNOWN: &str = "MODEL_PATH";
    let ModelChoice::Catalog(id) = choice else {
        return UNKNOWN.to_owned();
    };
    Catalog::embedded()
        .model(id)
        .and_then(|model| model.source.strip_prefix("hf.co/"))
        .and_then(|rest| rest.split([' ', ',', '(']).next())
        .filter(|path| path.matches('/').count() == 1)
        .map_or_else(|| UNKNOWN.to_owned(), str::to_owned)
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
