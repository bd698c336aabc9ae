//! What a visitor brings: a model by its configuration or its file, a card by its figures. Both travel in the link.

use base64::Engine;
use browser_tests::{Outcome, Page, in_browser};

/// Opens a folded part of the form; the form may still move while the answer arrives, so nothing is aimed at.
async fn unfold(page: &Page, testid: &str) -> Outcome {
    page.element(testid).await?;
    let click = format!("document.querySelector('[data-testid=\"{testid}\"] > summary').click()");
    page.script(&click).await?;
    Ok(())
}

/// Presses what may still move, for the same reason, without aiming at it.
async fn press(page: &Page, testid: &str) -> Outcome {
    page.element(testid).await?;
    let click = format!("document.querySelector('[data-testid=\"{testid}\"]').click()");
    page.script(&click).await?;
    Ok(())
}

/// The link in the open sheet.
async fn shared_link(page: &Page) -> Outcome<String> {
    page.click("share").await?;
    let link = page.element("share-link").await?.prop("value").await?;
    page.click("share-close").await?;
    Ok(link.unwrap_or_default())
}

/// Goes away and comes back by `link`.
async fn reopen(page: &Page, link: &str) -> Outcome {
    page.client().goto("about:blank").await?;
    Ok(page.client().goto(link).await?)
}

/// A header of a small dense model in GGUF, third version.
fn gguf_header() -> Vec<u8> {
    const TEXT: u32 = 8;
    const WHOLE: u32 = 4;
    let word = |out: &mut Vec<u8>, word: &str| {
        out.extend((word.len() as u64).to_le_bytes());
        out.extend(word.as_bytes());
    };
    let numbers = [
        ("llama.block_count", 12_u32),
        ("llama.context_length", 8192),
        ("llama.embedding_length", 768),
        ("llama.feed_forward_length", 2048),
        ("llama.attention.head_count", 12),
        ("llama.attention.head_count_kv", 4),
    ];
    let tensors: [(&str, [u64; 2]); 2] = [
        ("token_embd.weight", [768, 32_000]),
        ("blk.0.attn_k.weight", [768, 256]),
    ];
    let mut out = b"GGUF".to_vec();
    out.extend(3_u32.to_le_bytes());
    out.extend((tensors.len() as u64).to_le_bytes());
    out.extend((numbers.len() as u64 + 1).to_le_bytes());
    word(&mut out, "general.architecture");
    out.extend(TEXT.to_le_bytes());
    word(&mut out, "llama");
    for (key, number) in numbers {
        word(&mut out, key);
        out.extend(WHOLE.to_le_bytes());
        out.extend(number.to_le_bytes());
    }
    for (name, dims) in tensors {
        word(&mut out, name);
        out.extend((dims.len() as u32).to_le_bytes());
        for dim in dims {
            out.extend(dim.to_le_bytes());
        }
        // 16-bit floats, from the start of the data.
        out.extend(1_u32.to_le_bytes());
        out.extend(0_u64.to_le_bytes());
    }
    out
}

#[test]
fn a_model_is_pasted_corrected_dropped_and_shared() -> Outcome {
    const CONFIG: &str = "{\"model_type\":\"llama\",\"num_hidden_layers\":16,\"hidden_size\":2048,\
        \"num_attention_heads\":32,\"num_key_value_heads\":8,\"intermediate_size\":8192,\
        \"vocab_size\":128256,\"tie_word_embeddings\":true}";
    in_browser(async |page| {
        page.open("?m=llama-3.1-8b&do=serve&lang=en").await?;
        page.element("verdict").await?;
        unfold(page, "bring").await?;
        // What is wrong is named by its field, and the answer stays.
        let verdict = page.text("verdict").await?;
        page.type_into(
            "bring-text",
            "{\"num_hidden_layers\":\"many\",\"hidden_size\":64}",
        )
        .await?;
        page.click("bring-read").await?;
        page.wait_for_text("bring-error", |text| text.contains("num_hidden_layers"))
            .await?;
        assert_eq!(page.text("verdict").await?, verdict);
        // Llama 3.2 1B.
        page.type_into("bring-text", CONFIG).await?;
        page.click("bring-read").await?;
        let read = page
            .wait_for_text("brought", |text| text.contains("1.2 B"))
            .await?;
        assert!(read.contains("num_key_value_heads"), "{read}");
        page.wait_until(
            "the shape is behind the hash",
            "return location.hash.includes('layers=16')",
        )
        .await?;
        // A field that was read is corrected in the form.
        page.type_into("field-layers", "20").await?;
        page.wait_until(
            "the correction is in the link",
            "return location.hash.includes('layers=20')",
        )
        .await?;
        // A file that is dropped takes its place; only its first bytes are read, here.
        let header = base64::engine::general_purpose::STANDARD.encode(gguf_header());
        page.script(&format!(
            "const bytes = Uint8Array.from(atob('{header}'), c => c.charCodeAt(0));
             const data = new DataTransfer();
             data.items.add(new File([bytes], 'small.gguf'));
             document.querySelector('.drop').dispatchEvent(
                 new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }}));"
        ))
        .await?;
        page.wait_for_text("brought", |text| text.contains("llama.block_count"))
            .await?;
        page.wait_until(
            "the file's shape is behind the hash",
            "return location.hash.includes('layers=12') && location.hash.includes('kvheads=4')",
        )
        .await?;
        // The link brings it back.
        let answer = page.text("verdict").await?;
        let link = shared_link(page).await?;
        let (sent, kept) = link.split_once('#').ok_or("nothing behind the hash")?;
        assert!(
            kept.contains("layers=12") && !sent.contains("layers="),
            "{link}"
        );
        reopen(page, &link).await?;
        page.wait_for_text("verdict", |text| text == answer).await?;
        let layers = page.element("field-layers").await?.prop("value").await?;
        assert_eq!(layers.as_deref(), Some("12"));
        Ok(())
    })
}

#[test]
fn a_card_of_ones_own_is_added_compared_and_carried() -> Outcome {
    in_browser(async |page| {
        page.open("?m=llama-3.1-8b&do=serve&cards=rtx-4090&lang=en")
            .await?;
        page.element("offer").await?;
        unfold(page, "card-filter").await?;
        page.element("own-cards").await?;
        unfold(page, "own-cards").await?;
        page.type_into("own-name", "Bench 48").await?;
        // Without its figures it is no card, and the page says which is missing.
        press(page, "own-add").await?;
        page.wait_for_text("problem-own", |text| !text.is_empty())
            .await?;
        for (field, figure) in [
            ("own-memory", "48"),
            ("own-bandwidth", "900"),
            ("own-half", "200"),
        ] {
            page.type_into(field, figure).await?;
        }
        press(page, "own-add").await?;
        page.wait_for_text("offers", |text| text.contains("Bench 48"))
            .await?;
        // Side by side with the other.
        page.script(
            "document.querySelectorAll('[data-testid=compare-box]').forEach(box => { if (!box.checked) box.click(); })",
        )
        .await?;
        press(page, "compare-go").await?;
        let table = page
            .wait_for_text("compare", |text| {
                text.contains("Bench 48") && text.contains("4090")
            })
            .await?;
        assert!(table.contains("48"), "{table}");
        let link = page.address().await?;
        reopen(page, &link).await?;
        page.wait_for_text("compare", |text| {
            text.contains("Bench 48") && text.contains("4090")
        })
        .await?;
        Ok(())
    })
}
