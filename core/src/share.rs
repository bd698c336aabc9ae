//! A shared link remembers what it answered, so that whoever opens it on a newer catalog is told what changed.
//!
//! The memory is one parameter, `was=EDITION~CARD~COUNT~HOURS~COST`: the edition of the data, then the best offer of that
//! day, empty where there was none. It says nothing about the scenario and is left out of it.

use serde::Serialize;

use crate::offers::{Fit, Offer, Ranking};
use crate::scenario::limits::Unit;
use crate::scenario::{edition, number};

/// The parameter's name.
pub const PARAM: &str = "was";
/// Relative change below which two figures are called the same: rounding of the stamp, and of browsers.
const SAME: f64 = 0.01;

/// What a link answered when it was shared.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamp {
    /// Edition of the data.
    pub edition: String,
    /// The best offer; `None`: nothing fitted.
    pub best: Option<Best>,
}

/// The best offer in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// Card id.
    pub card: String,
    /// Number of cards.
    pub count: u32,
    /// Middle of the job's time, hours; `None` for a service.
    pub hours: Option<f64>,
    /// Middle of the job's cost, or of the month's for a service, in the scenario's currency.
    pub cost: Option<f64>,
}

/// How today's answer differs from the one of the stamp.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum Change {
    /// The data is another; the answer is the same.
    Nothing,
    /// The same cards, at another time or cost.
    Figures {
        /// Then.
        then: Best,
        /// Now.
        now: Best,
    },
    /// Other cards are the best now.
    Cards {
        /// Then.
        then: Best,
        /// Now.
        now: Best,
    },
    /// Nothing fitted then; this does now.
    NowFits {
        /// Now.
        now: Best,
    },
    /// This fitted then; nothing does now.
    NoLongerFits {
        /// Then.
        then: Best,
    },
}

impl Best {
    /// The best offer of a ranking, where it fits.
    pub fn of(ranking: &Ranking) -> Option<Self> {
        ranking.offers.first().and_then(Self::of_offer)
    }

    /// An offer in short, where it fits.
    pub fn of_offer(offer: &Offer) -> Option<Self> {
        (offer.fit == Fit::Fits).then(|| Self {
            card: offer.card.clone(),
            count: offer.count,
            hours: offer.hours.map(|h| h.mid),
            cost: offer.cost_of_job.or(offer.cost_per_month).map(|c| c.mid),
        })
    }

    fn is_like(&self, other: &Self) -> bool {
        let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= SAME * a.abs().max(b.abs()),
            (a, b) => a.is_none() && b.is_none(),
        };
        near(self.hours, other.hours) && near(self.cost, other.cost)
    }
}

impl Stamp {
    /// What the present data answers.
    pub fn now(best: Option<Best>) -> Self {
        Self {
            edition: edition().to_owned(),
            best,
        }
    }

    /// As it stands in a link.
    pub fn write(&self) -> String {
        let short = |figure: Option<f64>| figure.map_or_else(String::new, three_digits);
        match &self.best {
            None => self.edition.clone(),
            Some(best) => [
                self.edition.clone(),
                best.card.clone(),
                best.count.to_string(),
                short(best.hours),
                short(best.cost),
            ]
            .join("~"),
        }
    }

    /// Reads what [`Stamp::write`] wrote; `None` for anything else.
    pub fn read(text: &str) -> Option<Self> {
        const LONGEST: usize = 160;
        let word = |text: &str| {
            let fits = (1..=60).contains(&text.len());
            let plain = text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'));
            (fits && plain).then(|| text.to_owned())
        };
        let figure = |text: &str| match text {
            "" => Some(None),
            text => {
                let value = number::read(text, Unit::One);
                value.filter(|v| v.is_finite() && *v >= 0.0).map(Some)
            }
        };
        if text.len() > LONGEST {
            return None;
        }
        let parts: Vec<&str> = text.split('~').collect();
        match parts.as_slice() {
            [edition] => Some(Self {
                edition: word(edition)?,
                best: None,
            }),
            [edition, card, count, hours, cost] => Some(Self {
                edition: word(edition)?,
                best: Some(Best {
                    card: word(card)?,
                    count: count.parse().ok().filter(|n| *n > 0)?,
                    hours: figure(hours)?,
                    cost: figure(cost)?,
                }),
            }),
            _ => None,
        }
    }

    /// What changed since; `None` where the data is the same, and so the answer.
    pub fn compare(&self, now: Option<Best>) -> Option<Change> {
        if self.edition == edition() {
            return None;
        }
        Some(match (self.best.clone(), now) {
            (None, None) => Change::Nothing,
            (None, Some(now)) => Change::NowFits { now },
            (Some(then), None) => Change::NoLongerFits { then },
            (Some(then), Some(now)) if (&then.card, then.count) != (&now.card, now.count) => {
                Change::Cards { then, now }
            }
            (Some(then), Some(now)) if then.is_like(&now) => Change::Nothing,
            (Some(then), Some(now)) => Change::Figures { then, now },
        })
    }
}

/// The parameter that carries a price book behind the `#` of a shared link, packed by [`pack`].
pub const BOOK_PARAM: &str = "book";

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A text of any characters as one that stands in a link as it is (base64url without padding, RFC 4648).
pub fn pack(text: &str) -> String {
    let mut packed = String::with_capacity(text.len() * 4 / 3 + 3);
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            let digit = (bits >> (18 - 6 * place)) & 63;
            packed.extend(DIGITS.get(digit as usize).map(|d| char::from(*d)));
        }
    }
    packed
}

/// Reads what [`pack`] wrote; `None` for anything else.
pub fn unpack(packed: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(packed.len() * 3 / 4);
    for chunk in packed.as_bytes().chunks(4) {
        if chunk.len() == 1 {
            return None;
        }
        let mut bits = 0_u32;
        for digit in chunk {
            let value = DIGITS.iter().position(|d| d == digit)?;
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        bits <<= 6 * (4 - chunk.len());
        bytes.extend(bits.to_be_bytes().get(1..chunk.len())?);
    }
    String::from_utf8(bytes).ok()
}

/// Three significant digits, as links write numbers.
fn three_digits(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let step = 10_f64.powi(value.log10().floor() as i32 - 2);
    let rounded = (value / step).round() * step;
    let shortest: f64 = format!("{rounded:.6}").parse().unwrap_or(value);
    number::write(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Catalog, PriceBook};
    use crate::offers::rank;
    use crate::scenario::parse;

    fn best(card: &str, count: u32, hours: f64, cost: f64) -> Best {
        Best {
            card: card.to_owned(),
            count,
            hours: Some(hours),
            cost: Some(cost),
        }
    }

    #[test]
    fn a_stamp_is_short_and_survives_the_link() {
        let stamp = Stamp::now(Some(best("rtx-4090", 2, 5.26419, 12_345.678)));
        let text = stamp.write();
        assert_eq!(text, format!("{}~rtx-4090~2~5.26~12300", edition()));
        let read = Stamp::read(&text).unwrap();
        assert_eq!(read.best, Some(best("rtx-4090", 2, 5.26, 12_300.0)));
        assert_eq!(
            Stamp::read(&Stamp::now(None).write()),
            Some(Stamp::now(None))
        );
    }

    #[test]
    fn any_text_survives_packing_and_rubbish_is_refused() {
        for text in ["", "f", "fo", "foo", "foob", "{\"a\": \"海南 ¥1.98\"}"] {
            assert_eq!(unpack(&pack(text)).as_deref(), Some(text));
        }
        // RFC 4648, section 10, without padding.
        assert_eq!(
            (pack("fo"), pack("foobar")),
            ("Zm8".into(), "Zm9vYmFy".into())
        );
        for bad in ["A", "Zm9vA", "Zm=", "Zm 9", "____", "海南"] {
            assert_eq!(unpack(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_no_stamp_is_none() {
        for bad in [
            "",
            "a~b",
            "a~b~c~1~1",
            "a~b~0~1~1",
            "a~b~1~NaN~1",
            "a~b~1~-1~1",
            "<script>",
            "a~<b>~1~1~1",
            "x y",
        ] {
            assert_eq!(Stamp::read(bad), None, "{bad}");
        }
        assert_eq!(Stamp::read(&"x".repeat(10_000)), None);
    }

    #[test]
    fn the_same_edition_has_nothing_to_say_and_another_says_what_changed() {
        let scenario = parse("m=llama-3.1-8b&do=lora", Catalog::embedded()).scenario;
        let now = Best::of(&rank(&scenario, Catalog::embedded(), PriceBook::embedded()));
        let today = now.clone().unwrap();
        assert_eq!(Stamp::now(now.clone()).compare(now.clone()), None);
        let old = |best| Stamp {
            edition: "older".to_owned(),
            best,
        };
        let rounded = Stamp::read(&old(now.clone()).write()).unwrap();
        assert_eq!(rounded.compare(now.clone()), Some(Change::Nothing));
        let dearer = Best {
            cost: today.cost.map(|c| c * 1.5),
            ..today.clone()
        };
        assert!(matches!(
            old(Some(dearer)).compare(now.clone()),
            Some(Change::Figures { .. })
        ));
        let other = best("no-longer-sold", 1, 1.0, 1.0);
        assert!(matches!(
            old(Some(other.clone())).compare(now.clone()),
            Some(Change::Cards { .. })
        ));
        assert!(matches!(
            old(None).compare(now),
            Some(Change::NowFits { .. })
        ));
        assert!(matches!(
            old(Some(other)).compare(None),
            Some(Change::NoLongerFits { .. })
        ));
        assert_eq!(old(None).compare(None), Some(Change::Nothing));
    }
}
