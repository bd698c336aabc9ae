//! Units behind numbers.

use std::sync::OnceLock;

/// Unit written behind a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the unit's own name")]
pub enum Unit {
    Gb,
    Mib,
    Tb,
    GbPerS,
    TbPerS,
    /// A disk's or a network's rate.
    MbPerS,
    Tflops,
    Tops,
    Pflops,
    Watt,
    /// `w`: watts, or ten thousand in Chinese slang.
    W,
    Kilowatt,
    Percent,
    Nm,
    /// `b`: thousand millions of parameters.
    B,
    Billion,
    /// 亿.
    HundredMillion,
    /// 万.
    TenThousand,
    Thousand,
    /// 千亿, 万亿 and the like as a bare word are [`Word`]s.
    Days,
    /// 卡, 张, `gpus`, `x`.
    Cards,
    /// `flops/param` and the like.
    FlopsEach,
    Generation,
}

/// Spellings of units, longer ones first where one begins with another. The flag: a letter may not follow.
const UNITS: [(&str, Unit); 64] = [
    ("flops/param", Unit::FlopsEach),
    ("flops/参数", Unit::FlopsEach),
    ("gbyte/s", Unit::GbPerS),
    ("gib/s", Unit::GbPerS),
    ("gb/s", Unit::GbPerS),
    ("gb/秒", Unit::GbPerS),
    ("g/s", Unit::GbPerS),
    ("gb_s", Unit::GbPerS),
    ("tb/s", Unit::TbPerS),
    ("tb/秒", Unit::TbPerS),
    ("tbps", Unit::TbPerS),
    ("mib/s", Unit::MbPerS),
    ("mb/s", Unit::MbPerS),
    ("gib", Unit::Gb),
    ("gb", Unit::Gb),
    ("mib", Unit::Mib),
    ("mb", Unit::Mib),
    ("tib", Unit::Tb),
    ("tb", Unit::Tb),
    ("tflop/s", Unit::Tflops),
    ("tflops", Unit::Tflops),
    ("tflop", Unit::Tflops),
    ("teraflops", Unit::Tflops),
    ("tops", Unit::Tops),
    ("petaflops", Unit::Pflops),
    ("pflop/s", Unit::Pflops),
    ("pflops", Unit::Pflops),
    ("pops", Unit::Pflops),
    ("watts", Unit::Watt),
    ("watt", Unit::Watt),
    ("瓦", Unit::Watt),
    ("kw", Unit::Kilowatt),
    ("%", Unit::Percent),
    ("percent", Unit::Percent),
    ("nm", Unit::Nm),
    ("纳米", Unit::Nm),
    ("billion", Unit::Billion),
    ("万亿", Unit::B),
    ("千亿", Unit::B),
    ("亿", Unit::HundredMillion),
    ("万", Unit::TenThousand),
    ("千", Unit::Thousand),
    ("days", Unit::Days),
    ("day", Unit::Days),
    ("天", Unit::Days),
    ("years", Unit::Days),
    ("年", Unit::Days),
    ("卡", Unit::Cards),
    ("张", Unit::Cards),
    ("块gpu", Unit::Cards),
    ("gpus", Unit::Cards),
    ("gpu", Unit::Cards),
    ("cards", Unit::Cards),
    ("xgpu", Unit::Cards),
    ("代", Unit::Generation),
    ("th gen", Unit::Generation),
    ("rd gen", Unit::Generation),
    ("b", Unit::B),
    ("g", Unit::Gb),
    ("t", Unit::Tflops),
    ("p", Unit::Pflops),
    ("w", Unit::W),
    ("k", Unit::Thousand),
    ("gbps", Unit::GbPerS),
];

/// The units that begin with a byte, in the order of [`UNITS`].
pub(super) fn units_beginning_with(first: u8) -> &'static [(&'static str, Unit)] {
    static BY_BYTE: OnceLock<Vec<Vec<(&str, Unit)>>> = OnceLock::new();
    let by_byte = BY_BYTE.get_or_init(|| {
        let mut by_byte = vec![Vec::new(); 256];
        for (spelling, unit) in UNITS {
            let first = spelling.bytes().next().map(usize::from);
            if let Some(list) = first.and_then(|byte| by_byte.get_mut(byte)) {
                list.push((spelling, unit));
            }
        }
        by_byte
    });
    by_byte.get(usize::from(first)).map_or(&[], Vec::as_slice)
}

pub(super) fn unit_at(bytes: &[u8], at: usize) -> (Option<Unit>, usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    let blanks = if rest.starts_with(b"-day") || rest.starts_with(b"-gpu") {
        1
    } else {
        rest.iter()
            .take(2)
            .take_while(|b| matches!(**b, b' ' | b'+'))
            .count()
    };
    let rest = rest.get(blanks..).unwrap_or_default();
    let Some(first) = rest.first() else {
        return (None, at);
    };
    for &(spelling, unit) in units_beginning_with(*first) {
        if !rest.starts_with(spelling.as_bytes()) {
            continue;
        }
        let ends_in_letter = spelling
            .as_bytes()
            .last()
            .is_some_and(u8::is_ascii_alphabetic);
        let next = rest.get(spelling.len());
        if ends_in_letter && next.is_some_and(u8::is_ascii_alphanumeric) {
            continue;
        }
        // "t/s" counts tokens, "b/s" bits; a single letter after a blank is a word.
        if spelling.len() == 1
            && spelling != "%"
            && (blanks > 1 || next == Some(&b'/') && spelling != "w" && spelling != "k")
        {
            continue;
        }
        return (Some(unit), at + blanks + spelling.len());
    }
    (None, at)
}
