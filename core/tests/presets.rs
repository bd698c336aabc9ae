//! Every scenario to start from has an answer.

use cardfit::catalog::{Catalog, PriceBook};
use cardfit::offers::{Fit, rank};
use cardfit::scenario::{Preset, parse};

#[test]
fn every_preset_has_an_offer_that_fits_its_limits_and_has_a_price() {
    let catalog = Catalog::embedded();
    for preset in Preset::all() {
        let scenario = parse(&preset.query, catalog).scenario;
        let ranking = rank(&scenario, catalog, PriceBook::embedded());
        assert!(
            ranking
                .offers
                .iter()
                .any(|o| o.fit == Fit::Fits && o.misses.is_empty() && o.price.is_some()),
            "{}",
            preset.id
        );
    }
}
