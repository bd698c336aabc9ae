//! The dots of time against cost, their front, and the drawing of them.

use std::sync::Arc;

use cardfit::catalog::Currency;
use cardfit::offers::{Fit, Offer, Run};
use cardfit::range::Range;
use cardfit::text::{Lang, text};

use crate::answer::{Answer, AnswerKind, cost};
use crate::chart::svg::text_width;
use crate::chart::{Anchor, Area, Drawing, Mark, Scale, Svg, Tick, axes};
use crate::{format, verdict_text, words};

/// What the left axis shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Seconds of a job: less is better.
    Time,
    /// Tokens a second of one user: more is better.
    Speed,
}

/// One offer on the chart.
#[derive(Debug, Clone)]
pub struct Dot {
    /// The offer.
    pub offer: Arc<Offer>,
    /// Cost of the job or of a month, in the scenario's currency.
    pub cost: Range,
    /// Seconds, or tokens a second.
    pub pace: Range,
    /// The best count of its card.
    pub best: bool,
    /// No offer that fits is both cheaper and faster.
    pub front: bool,
}

/// The same dot is the very same offer: its figures need no comparing.
impl PartialEq for Dot {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.offer, &other.offer)
            && (self.best, self.front) == (other.best, other.front)
    }
}

/// What the left axis shows for a scenario's answer.
pub fn paced(answer: &Answer) -> Left {
    let any_hours = answer
        .rows
        .iter()
        .any(|row| row.counts.iter().any(|offer| offer.hours.is_some()));
    if any_hours || answer.kind == AnswerKind::Once {
        Left::Time
    } else {
        Left::Speed
    }
}

fn pace_of(offer: &Offer, pace: Left) -> Option<Range> {
    match (pace, &offer.run) {
        (Left::Time, _) => offer.hours.map(|hours| hours.scale(3600.0)),
        (Left::Speed, Some(Run::Serve { speed, .. })) => Some(speed.tokens_per_s_user),
        _ => None,
    }
}

/// Every offer that has a cost and a time, cheapest first.
pub fn dots(answer: &Answer) -> Vec<Dot> {
    let pace = paced(answer);
    let positive = |range: &Range| range.low > 0.0 && range.high.is_finite();
    let mut dots: Vec<Dot> = answer
        .rows
        .iter()
        .flat_map(|row| {
            row.counts.iter().filter_map(move |offer| {
                Some(Dot {
                    cost: cost(offer, answer.kind).filter(positive)?,
                    pace: pace_of(offer, pace).filter(positive)?,
                    best: Arc::ptr_eq(offer, &row.best) || offer.count == row.best.count,
                    front: false,
                    offer: Arc::clone(offer),
                })
            })
        })
        .collect();
    dots.sort_by(|a, b| a.cost.mid.total_cmp(&b.cost.mid));
    mark_front(&mut dots, pace);
    dots
}

/// Marks the offers that no other beats on both. `dots` are sorted by cost.
fn mark_front(dots: &mut [Dot], pace: Left) {
    let mut best: Option<f64> = None;
    for dot in dots {
        if dot.offer.fit != Fit::Fits {
            continue;
        }
        let value = dot.pace.mid;
        let better = best.is_none_or(|best| match pace {
            Left::Time => value < best * 0.999,
            Left::Speed => value > best * 1.001,
        });
        if better {
            best = Some(value);
            dot.front = true;
        }
    }
}

/// Key of an offer's mark.
pub fn key(offer: &Offer) -> String {
    format!("{}:{}", offer.card, offer.count)
}

pub fn of_key(key: &str) -> Option<(String, u32)> {
    let (card, count) = key.rsplit_once(':')?;
    Some((card.to_owned(), count.parse().ok()?))
}

/// What costs more than this many times the least is beyond the edge of the chart: nobody takes it, and it would push
/// all the others into a corner.
const MOST_OVER_BEST: f64 = 40.0;

/// Ends of an axis: all middles and a little room, no further than `most` times the smallest, and a limit at any rate.
fn ends(ranges: impl Iterator<Item = Range>, limit: Option<f64>, most: Option<f64>) -> (f64, f64) {
    const ROOM: f64 = 1.5;
    let (low, high) = ranges
        .map(|range| range.mid)
        .fold((f64::INFINITY, 0.0), |(low, high), mid: f64| {
            (low.min(mid), f64::max(high, mid))
        });
    let high = most.map_or(high, |most| high.min(low * most));
    let limit = |end: f64, take: fn(f64, f64) -> f64| limit.map_or(end, |limit| take(end, limit));
    (limit(low / ROOM, f64::min), limit(high * ROOM, f64::max))
}

/// What the chart is told beside the dots.
pub struct Told {
    pub lang: Lang,
    pub currency: Currency,
    pub kind: AnswerKind,
    pub pace: Left,
}

impl Told {
    fn pace_tick(&self, value: f64) -> String {
        match self.pace {
            Left::Time => format::seconds_given(self.lang, value),
            Left::Speed => format::number(self.lang, value, 2),
        }
    }

    fn money_tick(&self, value: f64) -> String {
        let figure = format::number(self.lang, value, 2);
        format!("{}{figure}", format::symbol(self.currency))
    }

    pub fn pace_title(&self) -> String {
        let key = match self.pace {
            Left::Time => "chart.time_cost.time",
            Left::Speed => "chart.time_cost.speed",
        };
        text(self.lang, key, &[])
    }

    pub fn cost_title(&self) -> String {
        let key = match self.kind {
            AnswerKind::Once => "chart.time_cost.cost",
            AnswerKind::Monthly => "chart.time_cost.cost_month",
        };
        text(self.lang, key, &[])
    }
}

/// Ends of both axes: of the cost and of the left one.
pub type Frame = ((f64, f64), (f64, f64));

/// The frame around what there is to show, with the limits in it.
pub fn frame(dots: &[Dot], limits: (Option<f64>, Option<f64>), pace: Left) -> Frame {
    let shown = || dots.iter().filter(|dot| dot.best || dot.front);
    let most = (pace == Left::Time).then_some(20.0 * MOST_OVER_BEST);
    (
        ends(shown().map(|d| d.cost), limits.0, Some(MOST_OVER_BEST)),
        ends(shown().map(|d| d.pace), limits.1, most),
    )
}

/// Draws the chart. Offers at other than their card's best count are small; the front is a line.
pub fn draw(
    dots: &[Dot],
    (costs, paces): Frame,
    told: &Told,
    (width, height): (f64, f64),
) -> Drawing {
    let shown = || dots.iter().filter(|dot| dot.best || dot.front);
    let blank = Area::of(width, height, 40.0);
    let y = Scale::log(paces, blank.bottom, blank.top);
    let values = match told.pace {
        Left::Time => y.time_ticks(blank.y_names()),
        Left::Speed => y.ticks(blank.y_names()),
    };
    let y_ticks: Vec<Tick> = values
        .into_iter()
        .map(|value| (value, told.pace_tick(value)))
        .collect();
    let area = Area::of(width, height, axes::y_room(&y_ticks));
    let x = Scale::log(costs, area.left, area.right);
    let x_ticks: Vec<Tick> = x
        .ticks(area.x_names(64.0))
        .into_iter()
        .map(|value| (value, told.money_tick(value)))
        .collect();
    let mut svg = Svg::default();
    axes::y_axis(&mut svg, &area, &y, &y_ticks, &told.pace_title());
    axes::x_axis(&mut svg, &area, &x, &x_ticks, &told.cost_title());
    let inside = |dot: &&Dot| {
        let ((c0, c1), (p0, p1)) = (x.domain(), y.domain());
        (c0..=c1).contains(&dot.cost.mid) && (p0..=p1).contains(&dot.pace.mid)
    };
    let at = |dot: &Dot| (x.place(dot.cost.mid), y.place(dot.pace.mid));
    svg.dots(
        "other",
        dots.iter()
            .filter(|d| !(d.best || d.front))
            .filter(inside)
            .map(at),
    );
    for dot in shown().filter(|dot| dot.best).filter(inside) {
        let (cx, cy) = at(dot);
        let class = if dot.front { "range front" } else { "range" };
        svg.path(
            class,
            &format!(
                "M{:.1} {cy:.1}H{:.1}M{cx:.1} {:.1}V{:.1}",
                x.place(dot.cost.low),
                x.place(dot.cost.high),
                y.place(dot.pace.low),
                y.place(dot.pace.high)
            ),
        );
    }
    let front: Vec<(f64, f64)> = dots
        .iter()
        .filter(|d| d.front)
        .filter(inside)
        .map(at)
        .collect();
    svg.path("front-line", &steps(&front));
    for dot in shown().filter(inside) {
        let class = match (&dot.offer.fit, dot.front) {
            (Fit::Fits, true) => "dot front",
            (Fit::Fits, false) if dot.offer.misses.is_empty() => "dot",
            (Fit::Fits, false) => "dot misses",
            _ => "dot tight",
        };
        svg.circle(class, at(dot), if dot.front { 5.0 } else { 4.0 });
    }
    names(&mut svg, &area, dots, &at, told);
    let marks = dots
        .iter()
        .filter(inside)
        .map(|dot| Mark {
            at: at(dot),
            key: key(&dot.offer),
            // Said when it is pointed at: hundreds of dots are drawn once a frame.
            title: String::new(),
            lines: Vec::new(),
        })
        .collect();
    Drawing {
        markup: svg.into_markup(),
        marks,
        area,
        x,
        y,
    }
}

/// Stairs through points: what can be had for at most a cost.
fn steps(points: &[(f64, f64)]) -> String {
    let mut commands = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        commands += &if index == 0 {
            format!("M{x:.1} {y:.1}")
        } else {
            format!("H{x:.1}V{y:.1}")
        };
    }
    commands
}

/// Names beside the front's dots, where there is room.
fn names(svg: &mut Svg, area: &Area, dots: &[Dot], at: &impl Fn(&Dot) -> (f64, f64), told: &Told) {
    type Box4 = (f64, f64, f64, f64);
    let touch = |a: &Box4, b: &Box4| a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3;
    let mut taken: Vec<Box4> = dots
        .iter()
        .filter(|dot| dot.front)
        .map(at)
        .map(|(x, y)| (x - 5.0, y - 5.0, x + 5.0, y + 5.0))
        .collect();
    let mut named = std::collections::BTreeSet::new();
    for dot in dots.iter().filter(|dot| dot.front) {
        // Counts of one card lie close together; its first says which card it is.
        if !named.insert(&dot.offer.card) && !dot.best {
            continue;
        }
        let name = words::cards(told.lang, &dot.offer);
        let (x, y) = at(dot);
        let wide = text_width(&name);
        let places = [
            (x + 9.0, y - 6.0, Anchor::Start),
            (x + 9.0, y + 15.0, Anchor::Start),
            (x - 9.0, y + 15.0, Anchor::End),
            (x - 9.0, y - 6.0, Anchor::End),
        ];
        let free = places.into_iter().find_map(|(tx, ty, anchor)| {
            let left = if anchor == Anchor::End { tx - wide } else { tx };
            let around = (left - 2.0, ty - 11.0, left + wide + 2.0, ty + 3.0);
            let fits = around.0 >= area.left
                && around.2 <= area.right
                && around.1 >= area.top
                && around.3 <= area.bottom
                && !taken.iter().any(|other| touch(other, &around));
            fits.then_some((tx, ty, anchor, around))
        });
        if let Some((tx, ty, anchor, around)) = free {
            taken.push(around);
            svg.text("name", (tx, ty), anchor, &name);
        }
    }
}

pub fn lines(dot: &Dot, told: &Told) -> Vec<String> {
    let pace = match told.pace {
        Left::Time => format::seconds_range(told.lang, dot.pace),
        Left::Speed => text(
            told.lang,
            "offer.rate.user",
            &[("rate", &format::number_range(told.lang, dot.pace))],
        ),
    };
    let mut lines = vec![
        format::money_range(told.lang, told.currency, dot.cost),
        pace,
    ];
    if let Some(said) = verdict_text::rests_on(told.lang, &dot.offer) {
        lines.push(said);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardfit::catalog::{Catalog, PriceBook};
    use cardfit::offers::rank;
    use cardfit::scenario::parse;

    fn answer(link: &str) -> Answer {
        let catalog = Catalog::embedded();
        let scenario = parse(link, catalog).scenario;
        Answer::new(&rank(&scenario, catalog, PriceBook::embedded()), &scenario)
    }

    #[test]
    fn nothing_beats_the_front_on_both() {
        for link in ["m=qwen2.5-7b&do=lora", "m=qwen3-32b&do=serve&users=20"] {
            let answer = answer(link);
            let (pace, dots) = (paced(&answer), dots(&answer));
            assert!(dots.iter().filter(|d| d.front).count() >= 2, "{link}");
            for front in dots.iter().filter(|d| d.front) {
                let beaten = dots.iter().any(|other| {
                    let faster = match pace {
                        Left::Time => other.pace.mid < front.pace.mid * 0.99,
                        Left::Speed => other.pace.mid > front.pace.mid * 1.01,
                    };
                    other.offer.fit == Fit::Fits && faster && other.cost.mid < front.cost.mid * 0.99
                });
                assert!(!beaten, "{link}: {}", key(&front.offer));
            }
        }
    }

    #[test]
    fn every_mark_lies_inside_and_names_its_offer() {
        let answer = answer("m=qwen2.5-7b&do=lora");
        let dots = dots(&answer);
        let told = Told {
            lang: Lang::En,
            currency: Currency::Cny,
            kind: answer.kind,
            pace: paced(&answer),
        };
        for width in [320.0, 800.0, 1600.0] {
            let around = frame(&dots, (None, None), told.pace);
            let drawing = draw(&dots, around, &told, (width, 400.0));
            assert!(drawing.marks.len() > 50);
            for mark in &drawing.marks {
                let (x, y) = mark.at;
                assert!((drawing.area.left..=drawing.area.right).contains(&x));
                assert!((drawing.area.top..=drawing.area.bottom).contains(&y));
                let (card, count) = of_key(&mark.key).unwrap();
                assert!(
                    answer
                        .row(&card)
                        .unwrap()
                        .counts
                        .iter()
                        .any(|o| o.count == count)
                );
            }
        }
    }
}
