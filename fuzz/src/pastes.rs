//! Pastes of a megabyte, as long as any that somebody makes: for measuring how long the check of a card takes.

use crate::Dice;

/// Bytes of a paste.
const MEGABYTE: usize = 1 << 20;

/// A paste: what it is, and its text.
pub type Paste = (&'static str, String);

/// Every kind of paste, each of a megabyte.
pub fn megabytes() -> Vec<Paste> {
    vec![
        ("printouts", repeated(PRINTOUTS)),
        ("listings", repeated(LISTINGS)),
        ("nvidia-smi -q of 8 cards", queries()),
        ("Chinese prose", prose()),
        ("table of offers", table()),
        ("JSON of offers", json()),
        ("log of a training job", log()),
        ("random signs", noise()),
        (
            "one line",
            "lorem ipsum dolor 12345 sit amet, 算力 ".repeat(MEGABYTE / 38),
        ),
    ]
}

const PRINTOUTS: &str = include_str!("../../core/tests/check/printouts.txt");
const LISTINGS: &str = include_str!("../../core/tests/check/listings.txt");

fn repeated(corpus: &str) -> String {
    filled(|text, _| text.push_str(corpus))
}

/// Text that `more` adds to until it is long enough.
fn filled(mut more: impl FnMut(&mut String, &mut Dice)) -> String {
    let mut dice = Dice::new(1, 0);
    let mut text = String::with_capacity(MEGABYTE + 65_536);
    while text.len() < MEGABYTE {
        more(&mut text, &mut dice);
    }
    text
}

fn number(dice: &mut Dice, from: usize, to: usize) -> String {
    (from + dice.below(to - from)).to_string()
}

/// Logs of eight cards, one below the other, with figures that change.
fn queries() -> String {
    let log = PRINTOUTS
        .split("##### ")
        .filter(|part| part.contains("NVSMI LOG") && part.contains("FB Memory Usage"))
        .max_by_key(|part| part.len())
        .and_then(|part| part.split_once("\nGPU "))
        .map_or("", |(_, card)| card);
    filled(|text, dice| {
        text.push_str("==============NVSMI LOG==============\n\nDriver Version : 550.54.15\nCUDA Version : 12.4\n\nAttached GPUs : 8\n");
        for _ in 0..8 {
            text.push_str("GPU ");
            let watts = format!(
                "Power Draw : {}.{} W\n",
                number(dice, 50, 400),
                number(dice, 10, 99)
            );
            text.push_str(log);
            text.push_str(&watts);
        }
    })
}

fn prose() -> String {
    const SENTENCES: [&str; 12] = [
        "大模型训练对显存和带宽的要求越来越高，很多团队在选择云服务器时往往只看价格。",
        "以 A100 80GB 为例，它的 FP16 算力为 312 TFLOPS，带宽约 2039GB/s，适合千亿参数模型。",
        "相比之下，消费级显卡虽然便宜，却没有 ECC，长时间运行的稳定性需要自己承担。",
        "我们在机房里放了八台机器，每台八张卡，网络用的是 400G 的 InfiniBand。",
        "如果只是推理 7B 模型，一张 24G 的卡就足够了，每小时不到两块钱。",
        "数据的准备、清洗和标注常常比训练本身花费更多时间，也更难外包。",
        "包年包月比按量付费便宜 30% 左右，但前提是利用率足够高。",
        "租用之前，请先确认是否独享、是否限制功耗，以及磁盘和网络怎样计费。",
        "随着上下文长度增加，KV 缓存会线性增长，很快就超过权重本身。",
        "这家平台的客服回复很快，退款也没有问题，总体体验不错。",
        "混合精度训练能把速度提高 2 到 3 倍，量化之后显存占用下降一半。",
        "写到这里，天已经黑了，窗外的雨还没有停，咖啡也凉了。",
    ];
    filled(|text, dice| {
        text.push_str(dice.one_of(&SENTENCES).copied().unwrap_or_default());
        if dice.below(5) == 0 {
            text.push_str("\n\n");
        }
    })
}

const CARDS: [&str; 8] = [
    "RTX 4090",
    "A100-PCIE-40GB",
    "H800",
    "V100",
    "L40S",
    "昇腾 910B",
    "RTX 3090",
    "MI300X",
];

fn table() -> String {
    let mut first = true;
    filled(|text, dice| {
        if first {
            text.push_str(
                "| 型号 | 显存 | FP16 | 带宽 | 价格 | 地区 |\n|---|---|---|---|---|---|\n",
            );
            first = false;
        }
        let card = dice.one_of(&CARDS).copied().unwrap_or_default();
        let row = format!(
            "| {card} | {}GB | {} TFLOPS | {} GB/s | {}.{}元/时 | 内蒙 B 区 |\n",
            number(dice, 16, 192),
            number(dice, 70, 2000),
            number(dice, 600, 5000),
            number(dice, 0, 20),
            number(dice, 10, 99),
        );
        text.push_str(&row);
    })
}

fn json() -> String {
    let mut out = filled(|text, dice| {
        text.push_str(if text.is_empty() { "[" } else { "," });
        let card = dice.one_of(&CARDS).copied().unwrap_or_default();
        let entry = format!(
            "{{\"id\":{},\"gpu_name\":\"{card}\",\"num_gpus\":{},\"gpu_ram\":{},\"cpu_ram\":{},\"dph_total\":{}.{},\"inet_down\":{},\"reliability\":0.99{},\"geolocation\":\"CN\"}}",
            number(dice, 100_000, 999_999),
            number(dice, 1, 9),
            number(dice, 16_000, 82_000),
            number(dice, 32_000, 512_000),
            number(dice, 0, 9),
            number(dice, 10, 99),
            number(dice, 100, 9000),
            number(dice, 10, 99),
        );
        text.push_str(&entry);
    });
    out.push(']');
    out
}

fn log() -> String {
    filled(|text, dice| {
        let line = format!(
            "[2026-11-{} 12:{}:{},{}] INFO trainer step {}: loss={}.{}, lr=3e-4, tokens/s={}, mem 71.2GB, mfu 0.4{}\n",
            number(dice, 10, 30),
            number(dice, 10, 59),
            number(dice, 10, 59),
            number(dice, 100, 999),
            number(dice, 1, 90_000),
            number(dice, 1, 9),
            number(dice, 1000, 9999),
            number(dice, 1000, 90_000),
            number(dice, 0, 9),
        );
        text.push_str(&line);
    })
}

fn noise() -> String {
    filled(|text, dice| {
        let sign = match dice.below(40) {
            0 => '\n',
            1..=3 => char::from_u32(0x4e00 + dice.below(0x5000) as u32).unwrap_or(' '),
            4 => char::from_u32(dice.below(0x1_1000) as u32).unwrap_or(' '),
            _ => char::from_u32(32 + dice.below(95) as u32).unwrap_or(' '),
        };
        text.push(sign);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_a_megabyte_and_the_same_every_time() {
        let pastes = megabytes();
        for ((name, text), (_, again)) in pastes.iter().zip(megabytes()) {
            assert!(
                (1_000_000..1_300_000).contains(&text.len()),
                "{name}: {}",
                text.len()
            );
            assert_eq!(*text, again, "{name}");
        }
    }
}
