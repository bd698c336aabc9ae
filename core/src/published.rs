//! The data that ships with the product, as files for machines: each table as JSON and as CSV, a schema, a licence note.
//!
//! Addresses under the page stay (`data/v1/…`). A column may be added; one that changes its meaning or goes makes a `v2`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::catalog::PriceBook;
use crate::measured::{INFERENCE_CSV, TRAINING_CSV};
use crate::scenario::edition;

/// Version of the published form.
pub const VERSION: u32 = 1;

/// Name and content of one file.
pub type File = (String, String);

/// One table of the published data.
struct Table {
    name: &'static str,
    about: &'static str,
    rows: Vec<Map<String, Value>>,
}

/// Every file, by its name under `data/v1/`.
///
/// # Errors
/// When a data file is not of its form; the message names it. The tests read every one.
pub fn files() -> Result<Vec<File>, String> {
    let mut files = Vec::new();
    let mut listed = Vec::new();
    for table in tables()? {
        let (name, columns) = (table.name, table.columns());
        listed.push(json!({
            "name": name,
            "about": table.about,
            "rows": table.rows.len(),
            "json": format!("{name}.json"),
            "csv": format!("{name}.csv"),
            "schema": format!("{name}.schema.json"),
        }));
        files.push((format!("{name}.csv"), table.csv(&columns)?));
        files.push((
            format!("{name}.schema.json"),
            pretty(&table.schema(&columns)),
        ));
        let whole = json!({
            "form": format!("cardfit-data/{VERSION}"),
            "table": name,
            "about": table.about,
            "edition": edition(),
            "licence": "LICENCE.md",
            "rows": table.rows,
        });
        files.push((format!("{name}.json"), whole.to_string()));
    }
    files.push((
        "index.json".to_owned(),
        pretty(&json!({
            "form": format!("cardfit-data/{VERSION}"),
            "edition": edition(),
            "licence": "LICENCE.md",
            "tables": listed,
        })),
    ));
    files.push(("LICENCE.md".to_owned(), licence()));
    Ok(files)
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn tables() -> Result<Vec<Table>, String> {
    let table = |name, about, rows: Result<Vec<_>, String>| {
        rows.map(|rows| Table { name, about, rows })
            .map_err(|why| format!("{name}: {why}"))
    };
    Ok(vec![
        table(
            "cards",
            "Accelerators that can be rented: memory in GiB, bandwidth in GB/s, dense peak rates in TFLOPS (never with sparsity), links, with sources. null: no source gives the figure.",
            of_json(include_str!("../data/cards.json")),
        )?,
        table(
            "models",
            "Shapes of models: parameters, blocks, attention, experts, with the file that each was read from.",
            of_json(include_str!("../data/models.json")),
        )?,
        table(
            "image-models",
            "Image and video models: the networks of their pipelines, usual sizes and steps, with sources. Links name them as models.",
            of_json(include_str!("../data/diffusion.json")),
        )?,
        table(
            "networks",
            "Vision networks, encoders and speech models: parameters, operations, usual data, with sources. Links name them as models.",
            of_json(include_str!("../data/networks.json")),
        )?,
        table(
            "workloads",
            "Kinds of scientific computing by operations a byte, working set and precision, with sources. Links name them as models.",
            of_json(include_str!("../data/science.json")),
        )?,
        table(
            "prices",
            "Rental prices as one provider quoted them on one day: price of one card for one billing unit, in the row's currency, with source and cautions.",
            of_csv(include_str!("../data/prices.csv")),
        )?,
        table(
            "measured-training",
            "Published measurements of training, each with where it was read.",
            of_csv(TRAINING_CSV),
        )?,
        table(
            "measured-inference",
            "Published measurements of inference, each with where it was read.",
            of_csv(INFERENCE_CSV),
        )?,
    ])
}

/// Rows of a JSON array of objects.
fn of_json(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    serde_json::from_str(text).map_err(|e| e.to_string())
}

/// Rows of a CSV file: a column whose every cell is a number holds numbers, one of yes and no (or true and false) holds
/// truths, an empty cell is null.
fn of_csv(text: &str) -> Result<Vec<Map<String, Value>>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader
        .headers()
        .map_err(|e| e.to_string())?
        .iter()
        .map(str::to_owned)
        .collect();
    let records = reader
        .records()
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| e.to_string())?;
    let is = |column: usize, test: fn(&str) -> bool| {
        let mut cells = records
            .iter()
            .filter_map(|r| r.get(column))
            .filter(|c| !c.is_empty());
        cells.all(test)
    };
    let kinds: Vec<fn(&str) -> Value> = (0..names.len())
        .map(|column| -> fn(&str) -> Value {
            if is(column, |cell| number(cell).is_some()) {
                |cell| number(cell).unwrap_or_default()
            } else if is(column, |cell| matches!(cell, "true" | "false")) {
                |cell| Value::Bool(cell == "true")
            } else {
                |cell| Value::String(cell.to_owned())
            }
        })
        .collect();
    Ok(records
        .iter()
        .map(|record| {
            names
                .iter()
                .zip(&kinds)
                .zip(record)
                .map(|((name, kind), cell)| {
                    let value = if cell.is_empty() {
                        Value::Null
                    } else {
                        kind(cell)
                    };
                    (name.clone(), value)
                })
                .collect()
        })
        .collect())
}

/// A cell that is a plain number, as JSON writes it.
fn number(cell: &str) -> Option<Value> {
    serde_json::from_str::<Value>(cell)
        .ok()
        .filter(Value::is_number)
}

impl Table {
    /// Every column of the CSV in the order of first appearance; nested fields are joined by dots.
    fn columns(&self) -> Vec<String> {
        let mut columns: Vec<String> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for row in &self.rows {
            for (name, _) in flat(row) {
                if known.insert(name.clone()) {
                    columns.push(name);
                }
            }
        }
        columns
    }

    fn csv(&self, columns: &[String]) -> Result<String, String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(columns).map_err(|e| e.to_string())?;
        for row in &self.rows {
            let cells: BTreeMap<String, String> = flat(row).into_iter().collect();
            writer
                .write_record(
                    columns
                        .iter()
                        .map(|c| cells.get(c).map_or("", String::as_str)),
                )
                .map_err(|e| e.to_string())?;
        }
        let bytes = writer.into_inner().map_err(|e| e.to_string())?;
        String::from_utf8(bytes).map_err(|e| e.to_string())
    }

    /// A JSON Schema of the JSON file, with the types that its fields have.
    fn schema(&self, columns: &[String]) -> Value {
        let mut properties = Map::new();
        for row in &self.rows {
            for (name, value) in row {
                let entry = properties
                    .entry(name.clone())
                    .or_insert_with(|| json!({ "type": [] }));
                let kind = json!(kind_of(value));
                if let Some(kinds) = entry.get_mut("type").and_then(Value::as_array_mut)
                    && !kinds.contains(&kind)
                {
                    kinds.push(kind);
                }
            }
        }
        let always: Vec<&String> = properties
            .keys()
            .filter(|name| self.rows.iter().all(|row| row.contains_key(*name)))
            .collect();
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": format!("CardFit data: {}", self.name),
            "description": self.about,
            "type": "object",
            "required": ["form", "table", "edition", "rows"],
            "properties": {
                "form": { "const": format!("cardfit-data/{VERSION}") },
                "table": { "const": self.name },
                "about": { "type": "string" },
                "edition": { "type": "string" },
                "licence": { "type": "string" },
                "rows": {
                    "type": "array",
                    "items": { "type": "object", "required": always, "properties": properties },
                },
            },
            "csv_columns": columns,
        })
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A row's cells: nested fields by dotted names, lists joined by semicolons, lists of objects as JSON.
fn flat(row: &Map<String, Value>) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    for (name, value) in row {
        match value {
            Value::Object(inner) => {
                let nested = flat(inner).into_iter();
                cells.extend(nested.map(|(field, cell)| (format!("{name}.{field}"), cell)));
            }
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                cells.push((name.clone(), words.join("; ")));
            }
            Value::Null => cells.push((name.clone(), String::new())),
            Value::String(text) => cells.push((name.clone(), text.clone())),
            other => cells.push((name.clone(), other.to_string())),
        }
    }
    cells
}

fn licence() -> String {
    let mut text = "\
# Licence of the data

The files in this folder are compiled and checked by the CardFit project and given, like the program, under the MIT licence
or the Apache licence 2.0, at your choice. Keep the `source` of a row with it.

Each row names where its figures were read; a figure is its source's. Prices are what a provider quoted on the day of the
row, are no offer, and may have changed. Collections that ask to be named wherever their rows are shown:

"
    .to_owned();
    for credit in PriceBook::credits() {
        let _infallible = writeln!(
            text,
            "- {} ({}), {}",
            credit.name, credit.url, credit.licence
        );
    }
    text.push_str(
        "\nNames of makers, cards, models and providers belong to their owners. There is no warranty of any kind.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn all() -> BTreeMap<String, String> {
        files().unwrap().into_iter().collect()
    }

    #[test]
    fn every_table_comes_as_json_csv_and_schema_and_says_the_same() {
        let files = all();
        let file = |name: &str| &files[name];
        let index: Value = serde_json::from_str(file("index.json")).unwrap();
        let tables = index["tables"].as_array().unwrap();
        assert_eq!(tables.len(), 8);
        for table in tables {
            let name = table["name"].as_str().unwrap();
            let rows = usize::try_from(table["rows"].as_u64().unwrap()).unwrap();
            let json: Value = serde_json::from_str(file(&format!("{name}.json"))).unwrap();
            assert_eq!(json["rows"].as_array().unwrap().len(), rows, "{name}");
            let text = file(&format!("{name}.csv"));
            let mut csv = csv::Reader::from_reader(text.as_bytes());
            let schema: Value = serde_json::from_str(file(&format!("{name}.schema.json"))).unwrap();
            let columns: Vec<_> = csv.headers().unwrap().iter().map(str::to_owned).collect();
            assert_eq!(json!(columns), schema["csv_columns"], "{name}");
            assert_eq!(csv.records().filter(Result::is_ok).count(), rows, "{name}");
            assert!(rows >= 6, "{name}: {rows}");
        }
    }

    #[test]
    fn the_published_rows_are_the_ones_in_use() {
        let files = all();
        let cards: Value = serde_json::from_str(&files["cards.json"]).unwrap();
        let catalog = Catalog::embedded();
        assert_eq!(cards["rows"].as_array().unwrap().len(), catalog.cards.len());
        let card: crate::catalog::Card = serde_json::from_value(cards["rows"][0].clone()).unwrap();
        assert_eq!(Some(&card), catalog.cards.first());
        let prices: Value = serde_json::from_str(&files["prices.json"]).unwrap();
        let rows = prices["rows"].as_array().unwrap();
        assert_eq!(rows.len(), PriceBook::embedded().offers.len());
        assert!(rows[0]["price_per_card"].is_number() && rows[0]["low_confidence"].is_boolean());
    }

    #[test]
    fn the_licence_names_every_collection() {
        let text = licence();
        for credit in PriceBook::credits() {
            assert!(text.contains(credit.name) && text.contains(credit.licence));
        }
    }
}
