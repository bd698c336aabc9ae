//! Shared links: the page shows the offers that the command line gives for the same scenario.

use std::io::Write as _;
use std::process::Stdio;

use browser_tests::{Outcome, Page, Problem, in_browser};
use serde_json::Value;

/// How far two computations of one figure may differ: the browser's logarithms are not the machine's.
const SAME: f64 = 1e-6;

/// What is compared of an offer: the best count of one card.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    card: String,
    count: u64,
    fit: String,
    hours: Option<f64>,
    cost: Option<f64>,
}

impl Row {
    fn is_like(&self, other: &Row) -> bool {
        let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= SAME * b.abs(),
            (a, b) => a == b,
        };
        (&self.card, self.count, &self.fit) == (&other.card, other.count, &other.fit)
            && near(self.hours, other.hours)
            && near(self.cost, other.cost)
    }
}

/// Scenarios to start from, and links as people write them: money and cards of their own, a brought model, a rate.
fn links() -> Outcome<Vec<String>> {
    let presets: Value = serde_json::from_slice(&std::fs::read(
        xtask::run::root().join("core/data/presets.json"),
    )?)?;
    let presets = presets
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|preset| preset["query"].as_str().map(str::to_owned));
    let by_hand = [
        "m=llama-3.1-8b&do=lora&cards=rtx-4090,l40s&price=rtx-4090:0.4&cur=usd&n=2",
        "m=qwen3-32b&do=serve&w=awq4&rps=2&ttft=0.8&hours=12&sort=fastest",
        "m=custom&layers=24&hidden=2048&heads=16&experts=32&top=4&eff=1024&do=pretrain&tokens=50B&max=64",
    ];
    Ok(presets.chain(by_hand.map(str::to_owned)).collect())
}

#[test]
fn a_shared_link_shows_the_offers_that_the_command_line_gives() -> Outcome {
    let links = links()?;
    assert!(links.len() >= 8, "{links:?}");
    let answers = command_line(&links)?;
    assert_eq!(answers.len(), links.len());
    in_browser(async |page| {
        for (link, answer) in links.iter().zip(&answers) {
            let expected = best_of_each_card(answer);
            assert!(expected.len() > 1, "{link}: {} cards", expected.len());
            page.open(&format!("?{link}&lang=en")).await?;
            // What stands over the button while the page scrolls is no matter here.
            page.script("document.querySelector('[data-testid=all-rows]')?.click()")
                .await?;
            let shown = page
                .wait_for("every card's row", async || {
                    let rows = rows(page).await?;
                    Ok((rows.len() >= expected.len()).then_some(rows))
                })
                .await?;
            assert_eq!(shown.len(), expected.len(), "{link}");
            for ((row, said), expected) in shown.iter().zip(&expected) {
                assert!(
                    row.is_like(expected),
                    "{link}:\nthe page      {row:?}\ncommand line  {expected:?}"
                );
                said.agrees_with(expected)
                    .map_err(|wrong| format!("{link}, {}: {wrong}", row.card))?;
            }
        }
        Ok(())
    })
}

/// Offers of every link, as `cargo cardfit estimate` gives them.
fn command_line(links: &[String]) -> Outcome<Vec<Value>> {
    let mut estimate = xtask::run::command(env!("CARGO"))
        .args(["cardfit", "estimate"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // Dropped at the end of the block, so that the command sees the end of its input.
    if let Some(mut input) = estimate.stdin.take() {
        input.write_all(links.join("\n").as_bytes())?;
    }
    let output = estimate.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("cardfit estimate: {}", output.status).into());
    }
    let lines = String::from_utf8(output.stdout)?;
    lines
        .lines()
        .map(|line| Ok(serde_json::from_str(line)?))
        .collect()
}

/// The first offer of each card, in the ranking's order: what the page's table shows.
fn best_of_each_card(answer: &Value) -> Vec<Row> {
    let runs_on = answer["query"]
        .as_str()
        .is_some_and(|query| query.contains("do=serve") && !query.contains("requests="));
    let cost = if runs_on {
        "cost_per_month"
    } else {
        "cost_of_job"
    };
    let mut rows: Vec<Row> = Vec::new();
    for offer in answer["offers"].as_array().into_iter().flatten() {
        let card = offer["card"].as_str().unwrap_or_default();
        if !rows.iter().any(|row| row.card == card) {
            rows.push(Row {
                card: card.to_owned(),
                count: offer["count"].as_u64().unwrap_or_default(),
                fit: offer["fit"]["fit"].as_str().unwrap_or_default().to_owned(),
                hours: offer["hours"]["mid"].as_f64(),
                cost: offer[cost]["mid"].as_f64(),
            });
        }
    }
    rows
}

/// What a visitor reads in a row.
#[derive(Debug)]
struct Said {
    cards: String,
    time: String,
    cost: String,
}

impl Said {
    /// The words say the figures, as far as they are rounded.
    fn agrees_with(&self, row: &Row) -> Result<(), String> {
        if row.count > 1 && !self.cards.replace(',', "").contains(&row.count.to_string()) {
            return Err(format!("{} cards are shown as “{}”", row.count, self.cards));
        }
        if let Some(hours) = row.hours {
            let shown = hours_of(&self.time).ok_or_else(|| format!("no time: {self:?}"))?;
            // Two digits are shown.
            if (shown - hours).abs() > 0.051 * hours {
                return Err(format!("{hours} h are shown as “{}”", self.time));
            }
        }
        if let Some(cost) = row.cost {
            let shown = amount_of(&self.cost).ok_or_else(|| format!("no cost: {self:?}"))?;
            // Three digits are shown, two below one.
            let rounding = if cost < 1.0 { 0.051 } else { 0.0051 };
            if (shown - cost).abs() > rounding * cost {
                return Err(format!("{cost} are shown as “{}”", self.cost));
            }
        }
        Ok(())
    }
}

/// Hours of `35 min`, `3.1 h`, `2 d 4 h`.
fn hours_of(text: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .chunks(2)
        .map(|pair| {
            let [number, unit] = pair else { return None };
            let seconds = match *unit {
                "ms" => 0.001,
                "s" => 1.0,
                "min" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                "y" => 365.0 * 86_400.0,
                _ => return None,
            };
            Some(number.replace(',', "").parse::<f64>().ok()? * seconds / 3600.0)
        })
        .sum()
}

/// The amount of `¥1,234` or `$1.5 million`.
fn amount_of(text: &str) -> Option<f64> {
    let text = text.trim_start_matches(['¥', '$']);
    let (number, word) = text.split_once(' ').unwrap_or((text, ""));
    let factor = match word {
        "" => 1.0,
        "million" => 1e6,
        "billion" => 1e9,
        "trillion" => 1e12,
        _ => return None,
    };
    Some(number.replace(',', "").parse::<f64>().ok()? * factor)
}

/// The table's rows, as data and as words.
async fn rows(page: &Page) -> Outcome<Vec<(Row, Said)>> {
    let script = "
        return [...document.querySelectorAll('[data-testid=offer]')].map(row => {
            const words = cell => row.querySelector(cell)?.textContent.trim() ?? '';
            return {...row.dataset, cards: words('.cards'), time: words('.time b'), price: words('.cost b')};
        })";
    let found = page.script(script).await?;
    found
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let number = |name: &str| row[name].as_str().map(str::parse::<f64>).transpose();
            let row_data = Row {
                card: text("card"),
                count: text("count").parse().map_err(Problem::from)?,
                fit: text("fit"),
                hours: number("hoursMid")?,
                cost: number("costMid")?,
            };
            let said = Said {
                cards: text("cards"),
                time: text("time"),
                cost: text("price"),
            };
            Ok((row_data, said))
        })
        .collect()
}
