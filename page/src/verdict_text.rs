//! The verdict: one sentence that answers the scenario.

use cardfit::offers::{Fit, Offer, Run};
use cardfit::plan::Offload;
use cardfit::range::Range;
use cardfit::rental::name_in;
use cardfit::scenario::{Job, PipelineOffload, Scenario};
use cardfit::text::{Lang, text};

use crate::answer::{Answer, AnswerKind, cost};
use crate::{format, words};

/// The verdict in pieces that are set apart when shown; read one after the other they are a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// Which cards, or what is wrong.
    pub subject: String,
    /// How long and how much; empty where nothing fits.
    pub figures: Vec<String>,
    /// Which limits it misses or may miss, that it is tight, or what waits in host memory.
    pub caution: Vec<String>,
}

impl Verdict {
    /// The whole sentence.
    pub fn sentence(&self, lang: Lang) -> String {
        let comma = text(lang, "page.comma", &[]);
        let said = [
            std::slice::from_ref(&self.subject),
            &self.figures,
            &self.caution,
        ]
        .concat()
        .join(&comma);
        text(lang, "page.sentence", &[("said", &said)])
    }
}

/// The verdict on an answer.
pub fn verdict(lang: Lang, answer: &Answer, scenario: &Scenario) -> Verdict {
    let Some(offer) = answer.first() else {
        return Verdict {
            subject: text(lang, "page.verdict.no_cards", &[]),
            ..Verdict::default()
        };
    };
    let subject = words::cards(lang, offer);
    if let Fit::TooSmall { missing_bytes, .. } = offer.fit {
        let missing = format::gib(missing_bytes as f64);
        return Verdict {
            subject: text(lang, "page.verdict.none_fits", &[]),
            figures: vec![text(
                lang,
                "page.verdict.nearest",
                &[("cards", &subject), ("missing", &missing)],
            )],
            caution: Vec::new(),
        };
    }
    let mut caution = words::each(&offer.misses, |miss| words::miss(lang, miss));
    caution.extend(words::each(&offer.may_miss, |miss| {
        words::may_miss(lang, miss)
    }));
    if matches!(offer.fit, Fit::Tight { .. }) {
        caution.push(text(lang, "page.verdict.tight", &[]));
    }
    caution.extend(in_host_memory(offer).map(|key| text(lang, key, &[])));
    Verdict {
        subject,
        figures: figures(lang, answer, offer, scenario),
        caution,
    }
}

/// That an offer fits only because something waits in host memory, which costs speed and asks for a machine with enough
/// of it.
fn in_host_memory(offer: &Offer) -> Option<&'static str> {
    Some(match offer.run.as_ref()? {
        Run::Work { plan, .. } => match plan.offload {
            PipelineOffload::None => return None,
            PipelineOffload::Model => "page.verdict.offload.model",
            PipelineOffload::Sequential => "page.verdict.offload.sequential",
        },
        Run::Train { plan, .. } => match plan.offload {
            Offload::None => return None,
            Offload::Optimizer => "page.verdict.offload.optimizer",
            Offload::All => "page.verdict.offload.all",
        },
        Run::Serve { .. } => return None,
    })
}

/// What one may take instead who does not mind the worse end of its ranges: the offer, its cost, and what it may miss.
pub fn bolder(lang: Lang, answer: &Answer, offer: &Offer, scenario: &Scenario) -> String {
    let comma = text(lang, "page.comma", &[]);
    let time = offer
        .hours
        .map(|hours| format::seconds(lang, hours.mid * 3600.0));
    let paid = money_said(lang, answer, offer, |cost| {
        format::money(lang, scenario.money.currency, cost.mid)
    });
    let limits = words::each(&offer.may_miss, |miss| words::may_miss(lang, miss));
    let said: Vec<String> = time.into_iter().chain([paid]).chain(limits).collect();
    text(
        lang,
        "page.verdict.bolder",
        &[
            ("cards", &words::cards(lang, offer)),
            ("said", &said.join(&comma)),
        ],
    )
}

/// What an offer costs, of the job or a month.
fn money_said(
    lang: Lang,
    answer: &Answer,
    offer: &Offer,
    said: impl Fn(Range) -> String,
) -> String {
    let Some(cost) = cost(offer, answer.kind) else {
        return text(lang, "page.verdict.no_price", &[]);
    };
    let key = match answer.kind {
        AnswerKind::Once => "page.verdict.cost",
        AnswerKind::Monthly => "page.verdict.cost_month",
    };
    text(lang, key, &[("cost", &said(cost))])
}

/// What the verdict's cost and fit rest on: memory, price and its day.
pub fn basis(lang: Lang, offer: &Offer) -> String {
    let memory = text(
        lang,
        "page.basis.memory",
        &[
            ("needed", &format::gib_bare(offer.memory.needed_bytes.mid)),
            ("high", &format::gib_bare(offer.memory.needed_bytes.high)),
            ("usable", &format::gib(offer.usable_memory_bytes as f64)),
        ],
    );
    let price = offer.price.as_ref().map(|price| {
        let money = format::money(lang, price.currency, price.price_per_card_hour);
        match (&price.provider, &price.as_of) {
            (Some(provider), Some(day)) => text(
                lang,
                "page.basis.price",
                &[
                    ("price", &money),
                    ("provider", name_in(lang, provider)),
                    ("date", &format::date(lang, day)),
                ],
            ),
            _ => text(lang, "page.basis.own_price", &[("price", &money)]),
        }
    });
    let speed =
        rests_on(lang, offer).map(|basis| text(lang, "page.basis.speed", &[("basis", &basis)]));
    [Some(memory), price, speed]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(&text(lang, "page.semicolon", &[]))
}

/// What an offer's speed rests on: how many measurements of what, and how far off they were.
pub fn rests_on(lang: Lang, offer: &Offer) -> Option<String> {
    let basis = match offer.run.as_ref()? {
        Run::Train { speed, .. } => &speed.basis,
        Run::Serve { speed, .. } => &speed.basis,
        Run::Work { speed, .. } => &speed.basis,
    };
    Some(words::basis(lang, basis))
}

/// Time or speed, then cost.
pub fn figures(lang: Lang, answer: &Answer, offer: &Offer, scenario: &Scenario) -> Vec<String> {
    let mut figures = Vec::new();
    if let Some(hours) = offer.hours {
        let time = format::seconds_range(lang, hours.scale(3600.0));
        figures.push(text(lang, "page.verdict.time", &[("time", &time)]));
    } else if let Some(Run::Serve { speed, .. }) = &offer.run {
        figures.push(text(
            lang,
            "page.verdict.speed",
            &[
                ("load", &words::load(lang, scenario)),
                (
                    "speed",
                    &format::number_range(lang, speed.tokens_per_s_user),
                ),
            ],
        ));
        figures.push(text(
            lang,
            "page.verdict.ttft",
            &[("time", &format::seconds(lang, speed.ttft_s.mid))],
        ));
    }
    if let Some(Run::Work { plan, speed }) = &offer.run {
        figures.extend(crate::work_words::each(lang, plan, speed));
    }
    figures.push(money_said(lang, answer, offer, |cost| {
        format::money_range(lang, scenario.money.currency, cost)
    }));
    // A thousand samples of training are no answer to anything.
    let made = matches!(scenario.job, Job::Generate(_) | Job::Transcribe(_));
    if let (true, Some(Run::Work { speed, .. }), Some(cost)) =
        (made, &offer.run, offer.cost_per_thousand)
    {
        let cost = format::money(lang, scenario.money.currency, cost.mid);
        figures.push(crate::work_words::thousand_said(lang, speed.unit, &cost));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardfit::catalog::{Catalog, PriceBook};
    use cardfit::offers::rank;
    use cardfit::scenario::parse;

    fn caution(link: &str) -> String {
        let catalog = Catalog::embedded();
        let scenario = parse(link, catalog).scenario;
        let ranking = rank(&scenario, catalog, PriceBook::embedded());
        let answer = Answer::new(&ranking, &scenario);
        verdict(Lang::En, &answer, &scenario).caution.join(", ")
    }

    #[test]
    fn what_fits_by_offloading_says_so() {
        // FLUX.1 dev in 16 bits is 34 GB of weights: a card of 12 GB holds no two of its networks.
        let small = caution("m=flux.1-dev&do=image&cards=rtx-3060-12gb");
        assert!(small.contains("host memory"), "{small}");
        let large = caution("m=flux.1-dev&do=image&cards=h100-sxm-80gb");
        assert!(!large.contains("host memory"), "{large}");
        let states = caution("m=llama-3.1-8b&do=full&cards=a100-sxm4-80gb&n=1&offload=optimizer");
        assert!(states.contains("optimizer states"), "{states}");
    }
}
