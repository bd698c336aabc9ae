//! Reads a feed entry by entry.

use serde_json::Value;

use super::fields::{Fields, brief, kept, whole_number};
use super::issue::{Effect, FeedIssue, IssueKind};
use super::order_link::{OrderLink, PLACEHOLDERS, is_web_link};
use super::terms;
use super::{
    FEED_BYTES, FEED_DAYS, FEED_OFFERS, FEED_SCHEMA, Feed, FeedOffer, FeedPrice, PRICE_MOST, Stock,
    StockState,
};
use crate::catalog::{Billing, Card, Catalog, Currency};
use crate::order;
use crate::rental::HOURS_PER_MONTH;
use crate::scenario::{Choice, nearest_card};

/// Ways of billing in a feed. `reserved` says its months in `term_months`.
const MODES: &str = "hourly, daily, weekly, monthly, yearly, reserved, spot";
/// Most cards of one machine, and most machines of one job.
const MOST_CARDS: u32 = 1024;
/// Issues after which no nearest name is looked for.
const HINTED_ISSUES: usize = 50;
/// Memory may differ this much from the catalog's for rounding and for GB in place of GiB.
const MEMORY_SLACK: f64 = 0.1;

/// Reads a feed. `today` (`YYYY-MM-DD`) tells an old one; `None` where no clock is at hand.
///
/// The feed holds every offer that could be used; the issues say what could not and why.
///
/// # Errors
/// Where nothing at all can be used: not JSON, too large, of another schema, without provider,
/// currency or a single usable offer. The last of the issues then refuses the feed.
pub fn read(
    json: &str,
    catalog: &Catalog,
    today: Option<&str>,
) -> Result<(Feed, Vec<FeedIssue>), Vec<FeedIssue>> {
    let mut issues = Vec::new();
    match feed(json, catalog, today, &mut issues) {
        Ok(feed) => Ok((feed, issues)),
        Err(last) => {
            issues.push(last);
            Err(issues)
        }
    }
}

fn feed(
    json: &str,
    catalog: &Catalog,
    today: Option<&str>,
    issues: &mut Vec<FeedIssue>,
) -> Result<Feed, FeedIssue> {
    let refused = |path, kind, given: &str| FeedIssue::new(path, kind, given, Effect::FeedRefused);
    if json.len() > FEED_BYTES {
        return Err(refused("", IssueKind::TooLarge, "").bound(FEED_BYTES.to_string()));
    }
    let root: Value = serde_json::from_str(json.trim_start_matches('\u{feff}'))
        .map_err(|e| refused("", IssueKind::NotJson, json).bound(e.to_string()))?;
    let Value::Object(map) = &root else {
        return Err(refused("", IssueKind::WrongType, &brief(&root)).bound("{…}"));
    };
    let fields = Fields {
        map,
        path: String::new(),
        needed: Effect::FeedRefused,
    };
    let schema = fields.need_name("schema")?;
    if schema != FEED_SCHEMA {
        return Err(refused("schema", IssueKind::UnknownSchema, &schema).bound(FEED_SCHEMA));
    }
    let (provider, provider_url) = provider(&fields, issues)?;
    let word = fields.need_name("currency")?;
    let currency = Currency::from_name(&word).ok_or_else(|| {
        refused("currency", IssueKind::UnknownCurrency, &word).bound(names::<Currency>())
    })?;
    let generated_at = fields.need_name("generated_at")?;
    let valid_until = fields.text("valid_until", issues).map(kept);
    age(&generated_at, valid_until.as_deref(), today, issues);
    let value = fields.need("offers")?;
    let Value::Array(entries) = value else {
        return Err(fields.wrong("offers", value, "[…]", Effect::FeedRefused));
    };
    if entries.len() > FEED_OFFERS {
        let count = entries.len().to_string();
        issues.push(
            FeedIssue::new(
                "offers",
                IssueKind::TooManyOffers,
                &count,
                Effect::PartDropped,
            )
            .bound(FEED_OFFERS.to_string()),
        );
    }
    let mut offers: Vec<FeedOffer> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (place, entry) in entries.iter().take(FEED_OFFERS).enumerate() {
        let path = format!("offers[{place}]");
        match offer(entry, &path, catalog, issues) {
            Ok(offer) if seen.insert(offer.id.clone()) => offers.push(offer),
            Ok(offer) => issues.push(FeedIssue::new(
                &format!("{path}.id"),
                IssueKind::DuplicateId,
                &offer.id,
                Effect::OfferDropped,
            )),
            Err(issue) => issues.push(issue),
        }
    }
    if offers.is_empty() {
        return Err(refused("offers", IssueKind::NothingLeft, ""));
    }
    Ok(Feed {
        provider,
        provider_url,
        generated_at,
        valid_until,
        currency,
        terms: terms::read(&fields, issues),
        offers,
    })
}

/// The operator: `"Name"`, or `{"name": …, "url": …}`.
fn provider(
    fields: &Fields<'_>,
    issues: &mut Vec<FeedIssue>,
) -> Result<(String, Option<String>), FeedIssue> {
    match fields.need("provider")? {
        Value::Object(map) => {
            let provider = Fields {
                map,
                path: "provider".to_owned(),
                needed: Effect::FeedRefused,
            };
            let name = provider.need_name("name")?;
            let url = provider.text("url", issues).filter(|url| {
                let good = is_web_link(url) && !url.contains('{');
                if !good {
                    issues.push(FeedIssue::new(
                        "provider.url",
                        IssueKind::BadLink,
                        url,
                        Effect::PartDropped,
                    ));
                }
                good
            });
            Ok((name, url.map(str::to_owned)))
        }
        Value::String(_) => Ok((fields.need_name("provider")?, None)),
        other => Err(fields.wrong("provider", other, "{\"name\": …}", Effect::FeedRefused)),
    }
}

/// Notes dates that are none, and a feed whose prices no longer hold.
fn age(generated: &str, until: Option<&str>, today: Option<&str>, issues: &mut Vec<FeedIssue>) {
    let made = day_number(generated);
    let last = until.map(day_number);
    if made.is_none() {
        issues.push(FeedIssue::new(
            "generated_at",
            IssueKind::BadDate,
            generated,
            Effect::Kept,
        ));
    }
    if let (Some(text), Some(None)) = (until, last) {
        issues.push(FeedIssue::new(
            "valid_until",
            IssueKind::BadDate,
            text,
            Effect::PartDropped,
        ));
    }
    let Some(today) = today.and_then(day_number) else {
        return;
    };
    let by_until = last.flatten().filter(|last| *last < today).zip(until);
    let by_age = made.filter(|made| last.flatten().is_none() && made + FEED_DAYS < today);
    let stale = |path: &str, since: &str| {
        FeedIssue::new(path, IssueKind::Stale, since, Effect::Kept)
            .bound(since.chars().take(10).collect::<String>())
    };
    if let Some((_, until)) = by_until {
        issues.push(stale("valid_until", until));
    } else if by_age.is_some() {
        issues.push(stale("generated_at", generated));
    }
}

/// Days since 1 March of year 0 of the Gregorian calendar, from the `YYYY-MM-DD` that a text begins with.
fn day_number(text: &str) -> Option<i64> {
    let day = text.get(..10)?;
    let mut parts = day.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(1970..=9999).contains(&year) {
        return None;
    }
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leap_days + (month * 306 + 5) / 10 + day)
}

fn offer(
    entry: &Value,
    path: &str,
    catalog: &Catalog,
    issues: &mut Vec<FeedIssue>,
) -> Result<FeedOffer, FeedIssue> {
    let dropped =
        |at: &str, kind, given: &str| FeedIssue::new(at, kind, given, Effect::OfferDropped);
    let Value::Object(map) = entry else {
        return Err(dropped(path, IssueKind::WrongType, &brief(entry)).bound("{…}"));
    };
    let fields = Fields {
        map,
        path: path.to_owned(),
        needed: Effect::OfferDropped,
    };
    let id = fields.need_name("id")?;
    let word = fields.need_name("gpu")?;
    let card = card(&fields, &word, catalog, issues)?;
    let counts = counts(&fields, issues)?;
    let per_node = fields.flag("per_node", issues);
    let node = match (per_node, counts.last()) {
        (true, None) => {
            return Err(fields
                .need("gpu_counts")
                .err()
                .unwrap_or_else(|| dropped(&fields.at("gpu_counts"), IssueKind::Empty, "")));
        }
        (true, Some(node)) => *node,
        (false, _) => 1,
    };
    let prices = prices(&fields, f64::from(node), issues)?;
    Ok(FeedOffer {
        id,
        card: card.id.clone(),
        provider: fields
            .text("provider", issues)
            .map(kept)
            .filter(|name| !name.is_empty()),
        name: fields.local_text("name", issues),
        region: fields
            .local_text("region_name", issues)
            .or_else(|| fields.local_text("region", issues)),
        node_only: per_node || fields.flag("node_only", issues),
        max_nodes: fields
            .whole("max_nodes", 1, MOST_CARDS, issues)
            .unwrap_or(1),
        counts,
        stock: stock(&fields, issues),
        prices,
        order: order(&fields, issues),
    })
}

/// The card that `gpu` names, of the memory that `vram_gb` states: `RTX 4090` with 48 is another card.
fn card<'a>(
    fields: &Fields<'_>,
    word: &str,
    catalog: &'a Catalog,
    issues: &mut Vec<FeedIssue>,
) -> Result<&'a Card, FeedIssue> {
    let dropped = |name: &str, kind, given: &str| {
        FeedIssue::new(&fields.at(name), kind, given, Effect::OfferDropped)
    };
    let stated = fields.get("vram_gb");
    let gib = stated.and_then(Value::as_f64);
    if let (Some(value), None) = (stated, gib) {
        issues.push(fields.wrong("vram_gb", value, "24", Effect::PartDropped));
    }
    let named = catalog.card(word);
    let Some(gib) = gib else {
        return named.ok_or_else(|| {
            // A feed full of unknown cards is not searched for what each may have meant.
            let hinted = issues.len() < HINTED_ISSUES;
            let near = hinted.then(|| nearest_card(catalog, word)).flatten();
            dropped("gpu", IssueKind::UnknownCard, word).bound(near.unwrap_or_default())
        });
    };
    let same_memory =
        |card: &&Card| (gib - card.memory_gib).abs() <= MEMORY_SLACK * card.memory_gib;
    let by_both = || catalog.card(&format!("{word} {gib}GB"));
    match (named.filter(same_memory).or_else(by_both), named) {
        (Some(card), _) => Ok(card),
        (None, Some(other)) => Err(
            dropped("vram_gb", IssueKind::MemoryDiffers, &gib.to_string())
                .bound_number(other.memory_gib),
        ),
        (None, None) => Err(dropped("gpu", IssueKind::UnknownCard, word)),
    }
}

/// Numbers of cards that are sold together, ascending.
fn counts(fields: &Fields<'_>, issues: &mut Vec<FeedIssue>) -> Result<Vec<u32>, FeedIssue> {
    let Some(value) = fields.get("gpu_counts") else {
        return Ok(Vec::new());
    };
    let Value::Array(entries) = value else {
        return Err(fields.wrong("gpu_counts", value, "[1, 2, 4, 8]", Effect::OfferDropped));
    };
    let mut counts = Vec::new();
    for (place, entry) in entries.iter().take(MOST_CARDS as usize).enumerate() {
        match whole_number(entry).filter(|n| (1..=MOST_CARDS).contains(n)) {
            Some(count) => counts.push(count),
            None => issues.push(fields.wrong(
                &format!("gpu_counts[{place}]"),
                entry,
                &format!("1 … {MOST_CARDS}"),
                Effect::PartDropped,
            )),
        }
    }
    if counts.is_empty() {
        return Err(FeedIssue::new(
            &fields.at("gpu_counts"),
            IssueKind::Empty,
            "",
            Effect::OfferDropped,
        ));
    }
    order::sort_by(&mut counts, Ord::cmp);
    counts.dedup();
    Ok(counts)
}

fn prices(
    fields: &Fields<'_>,
    cards_per_price: f64,
    issues: &mut Vec<FeedIssue>,
) -> Result<Vec<FeedPrice>, FeedIssue> {
    let value = fields.need("prices")?;
    let Value::Array(entries) = value else {
        return Err(fields.wrong("prices", value, "[…]", Effect::OfferDropped));
    };
    let mut prices: Vec<FeedPrice> = Vec::new();
    for (place, entry) in entries.iter().take(64).enumerate() {
        let path = fields.at(&format!("prices[{place}]"));
        match price(entry, &path, cards_per_price) {
            Ok(price) if prices.iter().any(|p| p.billing == price.billing) => {
                issues.push(FeedIssue::new(
                    &path,
                    IssueKind::RepeatedMode,
                    price.billing.name(),
                    Effect::PartDropped,
                ));
            }
            Ok(price) => prices.push(price),
            Err(issue) => issues.push(issue),
        }
    }
    if prices.is_empty() {
        return Err(FeedIssue::new(
            &fields.at("prices"),
            IssueKind::Empty,
            "",
            Effect::OfferDropped,
        ));
    }
    Ok(prices)
}

fn price(entry: &Value, path: &str, cards_per_price: f64) -> Result<FeedPrice, FeedIssue> {
    let dropped =
        |at: &str, kind, given: &str| FeedIssue::new(at, kind, given, Effect::PartDropped);
    let Value::Object(map) = entry else {
        return Err(dropped(path, IssueKind::WrongType, &brief(entry)).bound("{…}"));
    };
    let fields = Fields {
        map,
        path: path.to_owned(),
        needed: Effect::PartDropped,
    };
    let mode = fields.need_name("mode")?;
    let (billing, field, units) = match mode.as_str() {
        "hourly" => (Billing::OnDemand, "price", 1.0),
        "spot" => (Billing::Spot, "price", 1.0),
        "daily" => (Billing::Daily, "price", 1.0),
        "weekly" => (Billing::Weekly, "price", 1.0),
        "monthly" => (Billing::Monthly, "price", 1.0),
        "yearly" => (Billing::Yearly, "price", 1.0),
        // Terms are quoted by the hour in the price book, and by the month in a feed.
        "reserved" => (reserved(&fields)?, "price_per_month", HOURS_PER_MONTH),
        _ => return Err(dropped(&fields.at("mode"), IssueKind::UnknownMode, &mode).bound(MODES)),
    };
    let value = fields.need(field)?;
    let amount = value
        .as_f64()
        .ok_or_else(|| fields.wrong(field, value, "1.98", Effect::PartDropped))?;
    let price_per_card = amount / cards_per_price / units;
    let at = fields.at(field);
    if amount <= 0.0 || price_per_card < 1e-6 {
        Err(dropped(&at, IssueKind::NotPositive, &brief(value)))
    } else if amount / cards_per_price > PRICE_MOST || !amount.is_finite() {
        Err(dropped(&at, IssueKind::TooHigh, &brief(value)).bound_number(PRICE_MOST))
    } else {
        Ok(FeedPrice {
            billing,
            price_per_card,
        })
    }
}

fn reserved(fields: &Fields<'_>) -> Result<Billing, FeedIssue> {
    let value = fields.need("term_months")?;
    match whole_number(value) {
        Some(12) => Ok(Billing::Reserved1y),
        Some(36) => Ok(Billing::Reserved3y),
        _ => Err(FeedIssue::new(
            &fields.at("term_months"),
            IssueKind::UnknownTerm,
            &brief(value),
            Effect::PartDropped,
        )
        .bound("12, 36")),
    }
}

fn stock(fields: &Fields<'_>, issues: &mut Vec<FeedIssue>) -> Stock {
    let map = match fields.get("stock") {
        None => return Stock::default(),
        Some(Value::Object(map)) => map,
        Some(other) => {
            issues.push(fields.wrong("stock", other, "{\"state\": …}", Effect::PartDropped));
            return Stock::default();
        }
    };
    let fields = Fields {
        map,
        path: fields.at("stock"),
        needed: Effect::PartDropped,
    };
    let state = match fields.text("state", issues) {
        None | Some("in_stock") => StockState::InStock,
        Some("low") => StockState::Low,
        Some("out") => StockState::Out,
        Some(other) => {
            issues.push(
                FeedIssue::new(
                    &fields.at("state"),
                    IssueKind::UnknownStock,
                    other,
                    Effect::PartDropped,
                )
                .bound("in_stock, low, out"),
            );
            StockState::InStock
        }
    };
    Stock {
        state,
        free_cards: fields.whole("free_gpus", 0, u32::MAX, issues),
        most_cards: fields.whole("max_per_order", 1, u32::MAX, issues),
    }
}

fn order(fields: &Fields<'_>, issues: &mut Vec<FeedIssue>) -> Option<OrderLink> {
    let text = fields.text("order_url", issues)?;
    let path = fields.at("order_url");
    let Some(link) = OrderLink::new(text) else {
        issues.push(FeedIssue::new(
            &path,
            IssueKind::BadLink,
            text,
            Effect::PartDropped,
        ));
        return None;
    };
    for place in link.unknown_places() {
        issues.push(
            FeedIssue::new(&path, IssueKind::UnknownPlaceholder, place, Effect::Kept)
                .bound(PLACEHOLDERS.join(", ")),
        );
    }
    Some(link)
}

fn names<T: Choice>() -> String {
    T::ALL
        .iter()
        .map(|value| value.name())
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_over_months_and_leap_years() {
        let days = |text| day_number(text).unwrap();
        assert_eq!(days("2026-12-01T08:00:00+08:00") - days("2026-11-30"), 1);
        assert_eq!(days("2028-03-01") - days("2028-02-28"), 2);
        assert_eq!(days("2027-03-01") - days("2027-02-28"), 1);
        assert_eq!(days("2027-01-01") - days("2026-01-01"), 365);
        for bad in [
            "",
            "2026",
            "yesterday..",
            "2026-13-01",
            "2026-00-10",
            "一二三四-01-01",
        ] {
            assert_eq!(day_number(bad), None, "{bad}");
        }
    }
}
