//! Checking a listing and a machine on the page.

use browser_tests::{Outcome, Page, in_browser};
use serde_json::Value;

const PRINTOUT: &str = "\
| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05   CUDA Version: 12.2 |\n\
|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |\n\
| N/A   34C    P0              60W / 200W |      4MiB / 81920MiB |      0%      Default |\n\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-5a1b7c9e-1111-2222-3333-444455556666)\n";

/// Pastes as a visitor does: at once, not key by key.
async fn paste(page: &Page, text: &str) -> Outcome {
    page.element("check-paste").await?;
    let literal = Value::String(text.to_owned());
    page.script(&format!(
        "const field = document.querySelector('[data-testid=check-paste]');
         field.value = {literal};
         field.dispatchEvent(new Event('input', {{ bubbles: true }}));"
    ))
    .await?;
    Ok(())
}

#[test]
fn a_listing_is_judged_beside_the_datasheet() -> Outcome {
    in_browser(async |page| {
        page.open("?view=check&lang=en").await?;
        paste(page, "A100 80G PCIe, 312T FP16, 2039GB/s").await?;
        let found = page
            .wait_for_text("check-results", |text| text.contains("2039"))
            .await?;
        assert!(found.contains("Only for another variant"), "{found}");
        assert!(found.contains("A100 SXM4 80GB"), "{found}");
        assert!(!page.query().await?.contains("2039"));
        Ok(())
    })
}

#[test]
fn a_machine_is_judged_and_the_estimate_is_made_again() -> Outcome {
    in_browser(async |page| {
        page.open("?view=check&lang=en&m=llama-3.1-8b&do=lora")
            .await?;
        paste(page, PRINTOUT).await?;
        let found = page
            .wait_for_text("check-results", |text| text.contains("Power limit"))
            .await?;
        assert!(found.contains("200 W"), "{found}");
        let meaning = page.text("check-meaning").await?;
        assert!(meaning.contains("lowered power limit"), "{meaning}");
        for secret in ["07:00.0", "GPU-5a1b7c9e", "444455556666"] {
            assert!(!found.contains(secret), "{secret}");
            assert!(!page.address().await?.contains(secret));
        }
        let stored = page
            .script("return JSON.stringify(Object.entries(localStorage)) + JSON.stringify(Object.entries(sessionStorage))")
            .await?;
        assert!(!stored.to_string().contains("A100-SXM4"), "{stored}");
        Ok(())
    })
}

#[test]
fn what_is_not_recognised_offers_the_fields_by_hand() -> Outcome {
    in_browser(async |page| {
        page.open("?view=check&lang=zh-CN").await?;
        paste(page, "今天天气不错").await?;
        page.wait_for_text("check-read-as", |text| text.contains("没有认出"))
            .await?;
        page.select("check-hand-card", "rtx-4090").await?;
        page.type_into("check-hand-power", "225").await?;
        page.click("check-hand-go").await?;
        let found = page
            .wait_for_text("check-results", |text| text.contains("功耗上限"))
            .await?;
        assert!(found.contains("225 W"), "{found}");
        Ok(())
    })
}

#[test]
fn a_megabyte_is_answered_and_the_page_stays_small() -> Outcome {
    in_browser(async |page| {
        page.resize(360, 800).await?;
        page.open("?view=check&lang=en").await?;
        page.element("check-paste").await?;
        // Every line another offer, so that nothing is left out as said before.
        let megabyte: String = (0..)
            .map(|n| {
                format!(
                    "RTX 4090 {}GB {} TFLOPS {}元/时\n",
                    20 + n % 9,
                    300 + n % 97,
                    1 + n % 7
                )
            })
            .scan(0, |length, line| {
                *length += line.len();
                (*length < 1 << 20).then_some(line)
            })
            .collect();
        let literal = Value::String(megabyte);
        page.script(&format!(
            "const data = new DataTransfer();
             data.setData('text/plain', {literal});
             document.querySelector('[data-testid=check-paste]').dispatchEvent(
               new ClipboardEvent('paste', {{ clipboardData: data, bubbles: true, cancelable: true }}));"
        ))
        .await?;
        page.wait_for_text("check-read-as", |text| text.contains("listing"))
            .await?;
        let long = page.text("check-long").await?;
        assert!(long.contains("1 MB"), "{long}");
        let cut_off = page.text("check-cut-off").await?;
        assert!(cut_off.contains("beginning"), "{cut_off}");
        let small = page
            .script(
                "const shown = document.querySelector('[data-testid=check-paste]').value.length;
                 return [document.querySelectorAll('*').length, shown,
                   document.documentElement.scrollWidth - document.documentElement.clientWidth]",
            )
            .await?;
        let at = |index: usize| small.get(index).and_then(Value::as_u64).unwrap_or(u64::MAX);
        assert!(at(0) < 2000 && at(1) <= 20_000 && at(2) == 0, "{small}");
        page.click("check-clear").await?;
        page.wait_until(
            "a field that can be typed into again",
            "const field = document.querySelector('[data-testid=check-paste]');
             return field.value === '' && !field.readOnly",
        )
        .await?;
        // Without a clipboard's event, as when text is dropped.
        paste(page, &PRINTOUT.repeat((1 << 20) / PRINTOUT.len())).await?;
        page.wait_for_text("check-read-as", |text| text.contains("nvidia-smi"))
            .await?;
        page.wait_until(
            "only the beginning is shown",
            "return document.querySelector('[data-testid=check-paste]').value.length <= 20000",
        )
        .await
    })
}
