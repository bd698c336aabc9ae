//! Takes values out of a link or a JSON scenario, one parameter at a time, and notes what is
//! wrong with them.

use super::choice::Choice;
use super::limits::{Limit, OutOfLimit};
use super::number;
use super::params::{Param, Scope};
use super::problem::{Outcome, Problem, ProblemKind, names, shown};
use crate::catalog::Catalog;

/// What is given for one parameter.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// The parameter.
    pub param: &'static Param,
    /// Its value, decoded.
    pub value: String,
}

/// Values that are still to be read, and the problems so far.
pub(super) struct Reader<'a> {
    pub catalog: &'a Catalog,
    /// Names of cards that the scenario describes itself.
    pub own_cards: Vec<String>,
    given: Vec<Given>,
    pub problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    /// A reader of `given`; of a parameter given twice the first counts.
    pub fn new(catalog: &'a Catalog, given: Vec<Given>, mut problems: Vec<Problem>) -> Self {
        let mut kept: Vec<Given> = Vec::new();
        for one in given {
            match kept.iter().find(|k| k.param.name == one.param.name) {
                None => kept.push(one),
                // The same said twice harms nobody.
                Some(first) if first.value == one.value => {}
                Some(first) => problems.push(Problem::new(
                    one.param.name,
                    ProblemKind::Repeated,
                    &one.value,
                    Outcome::Used(shown(&first.value)),
                )),
            }
        }
        Self {
            catalog,
            own_cards: Vec::new(),
            given: kept,
            problems,
        }
    }

    /// Notes a problem.
    pub fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Whether the parameter is given.
    pub fn has(&self, name: &str) -> bool {
        self.given
            .iter()
            .any(|g| g.param.name == name && !silent(&g.value))
    }

    /// Takes a parameter's value; an empty one or `auto` is as good as none.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let at = self.given.iter().position(|g| g.param.name == name)?;
        let value = self.given.remove(at).value;
        (!silent(&value)).then_some(value)
    }

    /// Takes a value although it says nothing here, and notes that it was ignored.
    pub fn refuse(&mut self, name: &str, kind: ProblemKind, bound: &str) {
        if let Some(value) = self.take(name) {
            self.problem(Problem::new(name, kind, &value, Outcome::Ignored).bound(bound));
        }
    }

    /// A number, `None` where none that can be used is given.
    pub fn number_or_open(&mut self, limit: &Limit) -> Option<f64> {
        self.number(limit, Outcome::LeftOpen)
    }

    /// A number, `default` where none that can be used is given.
    pub fn number_or(&mut self, limit: &Limit, default: f64) -> f64 {
        self.number(limit, Outcome::Used(number::write(default)))
            .unwrap_or(default)
    }

    /// A whole number.
    pub fn whole_or_open(&mut self, limit: &Limit) -> Option<u32> {
        self.number_or_open(limit).map(|n| n as u32)
    }

    /// A whole number.
    pub fn whole_or(&mut self, limit: &Limit, default: u32) -> u32 {
        self.number_or(limit, f64::from(default)) as u32
    }

    fn number(&mut self, limit: &Limit, otherwise: Outcome) -> Option<f64> {
        let given = self.take(limit.name)?;
        match within(&given, limit) {
            Ok(value) => Some(value),
            Err((kind, bound)) => {
                self.problem(Problem::new(limit.name, kind, &given, otherwise).bound(bound));
                None
            }
        }
    }

    /// A name out of a list, `None` where none that can be used is given.
    pub fn choice_or_open<T: Choice>(&mut self, name: &str) -> Option<T> {
        self.choice(name, Outcome::LeftOpen)
    }

    /// A name out of a list, `default` where none that can be used is given.
    pub fn choice_or<T: Choice>(&mut self, name: &str, default: T) -> T {
        self.choice(name, Outcome::Used(default.name().to_owned()))
            .unwrap_or(default)
    }

    fn choice<T: Choice>(&mut self, name: &str, otherwise: Outcome) -> Option<T> {
        let given = self.take(name)?;
        let choice = T::from_name(&given);
        if choice.is_none() {
            self.problem(
                Problem::new(name, ProblemKind::NotAChoice, &given, otherwise).bound(names::<T>()),
            );
        }
        choice
    }

    /// Yes or no, `None` where neither is given.
    pub fn flag_or_open(&mut self, name: &str) -> Option<bool> {
        self.has(name).then(|| self.flag_or(name, false))
    }

    /// Yes or no.
    pub fn flag_or(&mut self, name: &str, default: bool) -> bool {
        let Some(given) = self.take(name) else {
            return default;
        };
        match given.trim().to_lowercase().as_str() {
            "yes" | "1" | "true" | "on" | "是" => true,
            "no" | "0" | "false" | "off" | "否" => false,
            _ => {
                let used = if default { "yes" } else { "no" };
                self.problem(
                    Problem::new(
                        name,
                        ProblemKind::NotAChoice,
                        &given,
                        Outcome::Used(used.to_owned()),
                    )
                    .bound("yes, no"),
                );
                default
            }
        }
    }

    /// Notes every value that nothing asked for: known parameters that say nothing about this
    /// job or model.
    pub fn finish(mut self) -> Vec<Problem> {
        for Given { param, value } in std::mem::take(&mut self.given) {
            if param.scope != Scope::Page && !silent(&value) {
                self.problem(Problem::new(
                    param.name,
                    ProblemKind::DoesNotApply,
                    &value,
                    Outcome::Ignored,
                ));
            }
        }
        self.problems
    }
}

/// Nothing is said.
fn silent(value: &str) -> bool {
    matches!(value.trim(), "" | "auto" | "自动")
}

/// A number that keeps to its limit, else what is wrong and the bound that decides.
pub(super) fn within(given: &str, limit: &Limit) -> Result<f64, (ProblemKind, String)> {
    let value = number::read(given, limit.unit).ok_or((ProblemKind::NotANumber, String::new()))?;
    limit.check(value).map_err(|why| match why {
        OutOfLimit::NotANumber => (ProblemKind::NotANumber, String::new()),
        OutOfLimit::TooSmall => (ProblemKind::TooSmall, number::write(limit.min)),
        OutOfLimit::TooLarge => (ProblemKind::TooLarge, number::write(limit.max)),
        OutOfLimit::NotWhole => (ProblemKind::NotWhole, String::new()),
    })
}
