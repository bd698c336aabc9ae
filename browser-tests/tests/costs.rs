//! Bills, the price book and lists of prices, as a person uses them.

use browser_tests::{Outcome, Page, in_browser};
use serde_json::Value;

fn at_a_desk(test: impl AsyncFnOnce(&Page) -> Outcome) -> Outcome {
    in_browser(async |page| {
        page.resize(1280, 900).await?;
        test(page).await
    })
}

/// Opens a `details` element and brings it into view.
async fn unfold(page: &Page, testid: &str) -> Outcome {
    page.element(testid).await?;
    let script =
        format!("document.querySelector('[data-testid=\"{testid}\"]').open = true; return true");
    page.script(&script).await?;
    Ok(())
}

/// Puts text into an area as pasting does.
async fn paste(page: &Page, testid: &str, text: &str) -> Outcome {
    page.element(testid).await?;
    let text = Value::from(text);
    let script = format!(
        "const area = document.querySelector('[data-testid=\"{testid}\"]'); area.value = {text}; \
         area.dispatchEvent(new Event('input', {{bubbles: true}})); return true"
    );
    page.script(&script).await?;
    Ok(())
}

#[test]
fn the_lines_of_a_bill_add_up_to_its_total_to_the_cent() -> Outcome {
    at_a_desk(async |page| {
        page.open(
            "?lang=en&view=costs&m=qwen2.5-7b&do=lora&cards=l40s&n=2&cur=usd&setup=0.5&disk=300&diskprice=0.1&egress=7&egressprice=0.09&tax=6&failed=10",
        )
        .await?;
        page.element("bill-total").await?;
        let adds_up = page
            .script(
                "const cents = cell => Math.round(100 * Number(cell.textContent.replace(/[^0-9.]/g, '')));
                 const row = r => [...r.querySelectorAll('td')].map(cents);
                 const lines = [...document.querySelectorAll('[data-testid=\"bill-line\"]')].map(row);
                 const total = row(document.querySelector('[data-testid=\"bill-total\"]'));
                 return lines.length >= 5 && total.every((t, at) => lines.reduce((sum, l) => sum + l[at], 0) === t);",
            )
            .await?;
        assert_eq!(adds_up, Value::Bool(true), "{}", page.text("bill").await?);
        assert_eq!(page.console_errors().await?, Vec::<String>::new());
        Ok(())
    })
}

#[test]
fn another_currency_keeps_the_offer() -> Outcome {
    at_a_desk(async |page| {
        page.open("?lang=en&view=costs&m=qwen2.5-7b&do=lora&cards=l40s")
            .await?;
        let provider = |text: String| text.split(',').next().map(str::to_owned);
        let before = provider(page.text("price-origin").await?);
        page.click("currency-eur").await?;
        page.wait_until("euros", "return document.querySelector('[data-testid=\"bill-total\"]').textContent.includes('€')")
            .await?;
        assert_eq!(provider(page.text("price-origin").await?), before);
        assert!(page.query().await?.contains("cur=eur"));
        Ok(())
    })
}

#[test]
fn a_list_with_a_bad_row_is_taken_without_it_and_cleared_again() -> Outcome {
    const LIST: &str = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,provider\n\
        a,eu,0.011,8,32,1,RTX4090,24,False,Cheapest Of All\n\
        b,eu,free,8,32,1,RTX4090,24,False,Nobody\n";
    at_a_desk(async |page| {
        page.open("?lang=en&view=prices&cards=rtx-4090&n=1&market=intl")
            .await?;
        unfold(page, "import").await?;
        paste(page, "import-text", LIST).await?;
        page.click("import-button").await?;
        let refused = page.text("import-refused").await?;
        assert!(
            refused.contains("Line 3") && refused.contains("free"),
            "{refused}"
        );
        let outcome = page.text("import-outcome").await?;
        assert!(outcome.contains("1 rows taken, 1 refused"), "{outcome}");
        // With nothing but one's own rows the answer rests on the imported one.
        page.click("only-own").await?;
        page.click("view-costs").await?;
        page.wait_for_text("price-origin", |text| text.contains("Cheapest Of All"))
            .await?;
        page.click("view-prices").await?;
        page.click("prices-clear").await?;
        page.click("view-costs").await?;
        page.wait_until(
            "the shipped prices",
            "return !document.querySelector('[data-testid=\"price-origin\"]').textContent.includes('Cheapest')",
        )
        .await?;
        Ok(())
    })
}

#[test]
fn the_views_need_no_sideways_scrolling_on_a_small_screen() -> Outcome {
    in_browser(async |page| {
        page.resize(360, 740).await?;
        for (view, testid) in [("costs", "bill"), ("prices", "price-rows")] {
            page.open(&format!(
                "?lang=zh-CN&view={view}&m=qwen3-32b&do=serve&buy=16000"
            ))
            .await?;
            page.element(testid).await?;
            let fits = page
                .script("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
                .await?;
            assert_eq!(fits, Value::Bool(true), "{view}");
        }
        Ok(())
    })
}
