//! Pieces that printouts share.

use crate::catalog::Catalog;
use crate::check::machine::reading::Device;
use crate::check::names::{Identity, identify};
use crate::check::number::first_number;

/// The cells of a table's line, without the outer bars; `None` where the line is none.
pub fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim_ascii().strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').map(str::trim_ascii).collect())
}

/// Whether `word` is a PCI address: `0000:07:00.0`, `00000000:07:00.0`, `07:00.0`.
pub fn is_bus_address(word: &str) -> bool {
    let Some((rest, function)) = word.rsplit_once('.') else {
        return false;
    };
    let hex = |s: &str| !s.is_empty() && s.len() <= 8 && s.bytes().all(|b| b.is_ascii_hexdigit());
    function.len() == 1
        && hex(function)
        && (2..=3).contains(&rest.split(':').count())
        && rest.split(':').all(hex)
}

/// `used / total` in MiB: the last two numbers of `cell` around its last slash.
pub fn used_and_total(cell: &str) -> Option<(f64, f64)> {
    let (before, after) = cell.rsplit_once('/')?;
    let used = before
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .rfind(|part| !part.is_empty())?
        .parse()
        .ok()?;
    Some((used, first_number(after)?))
}

/// The number before `unit` in `text`: 61 of `61w / 400w`.
pub fn number_before(text: &str, unit: char) -> Option<f64> {
    text.split(' ')
        .filter_map(|word| word.strip_suffix(unit))
        .find_map(|word| word.parse().ok())
}

/// The value of a `key : value` line, as a number.
pub fn value(text: &str) -> Option<f64> {
    let first = text.trim_start().chars().next()?;
    first.is_ascii_digit().then(|| first_number(text)).flatten()
}

/// Takes a driver's name for a card.
pub fn name_device(device: &mut Device, name: &str, catalog: &Catalog) {
    let name = name.trim();
    let print = fingerprint(name);
    if device.named == Some(print) {
        return;
    }
    device.named = Some(print);
    // "GRID A100D-20C", "NVIDIA A40-8Q", "NVIDIA L40S-24C": a virtual card, named after its host.
    let is_virtual = name.contains("grid ") || name.contains("vgpu") || has_profile(name);
    device.is_virtual |= is_virtual;
    let plain = if is_virtual {
        // NVIDIA's names of vGPU hosts: D has 80 GB, X is the form of HGX boards, L is the H100 NVL.
        name.replace("a100dx", "a100-sxm4-80gb")
            .replace("a100d", "a100-pcie-80gb")
            .replace("a100x", "a100-sxm4-40gb")
            .replace("h100xm", "h100 sxm")
            .replace("h100l", "h100 nvl")
    } else {
        name.to_owned()
    };
    if let Some(identity) = identify(&plain, catalog) {
        device.identity = Some(identity);
    } else if name.contains("geforce") && name.contains("...") {
        device.cut_geforce = true;
    }
}

/// Tells one name from another (FNV-1a, Fowler, Noll and Vo), without keeping it.
fn fingerprint(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A vGPU profile at a name's end: `-20c`, `-8q`, `-1-20c`.
fn has_profile(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, profile)| {
        let digits = profile.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0
            && matches!(
                profile.get(digits..),
                Some("c" | "q" | "b" | "a" | "cme" | "c me")
            )
    })
}

/// Names a device that is known by its PCI vendor and device id.
pub fn pci_device(vendor: &str, id: &str) -> Option<Identity> {
    let table = include_str!("../../../data/check/pci.txt");
    let wanted = format!("{vendor}:{id}");
    let line = table.lines().find(|line| {
        line.strip_prefix(wanted.as_str())
            .is_some_and(|r| r.starts_with(' '))
    })?;
    let mut cards = line.split(' ').skip(1).map(str::to_owned);
    let first = cards.next()?;
    let mut identity = Identity::of_card(&first);
    identity.cards = std::iter::once(first).chain(cards).collect();
    Some(identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_figures() {
        for yes in ["0000:07:00.0", "00000000:c1:00.0", "07:00.0"] {
            assert!(is_bus_address(yes), "{yes}");
        }
        for no in ["535.104.05", "12.2", "1:2", "gpu-1a:2b.0", "12:30:05.123"] {
            assert!(!is_bus_address(no), "{no}");
        }
    }

    #[test]
    fn pairs_are_read() {
        assert_eq!(used_and_total("4mib / 81920mib"), Some((4.0, 81920.0)));
        assert_eq!(used_and_total("858/65536 mib"), Some((858.0, 65536.0)));
        assert_eq!(
            used_and_total("0           0    / 0          3318 / 65536"),
            Some((3318.0, 65536.0))
        );
        assert_eq!(used_and_total("n/a"), None);
    }

    #[test]
    fn pci_ids_are_of_the_catalog() {
        let catalog = Catalog::embedded();
        let lines = include_str!("../../../data/check/pci.txt").lines();
        let mut seen = 0;
        for line in lines.filter(|line| !line.starts_with('#')) {
            for id in line.split(' ').skip(1) {
                assert!(catalog.cards.iter().any(|c| c.id == id), "{id}");
                seen += 1;
            }
        }
        assert!(seen > 80);
        let cards = |v, d| pci_device(v, d).map(|i| i.cards);
        assert_eq!(
            cards("10de", "20b2"),
            Some(vec!["a100-sxm4-80gb".to_owned()])
        );
        assert_eq!(cards("10de", "ffff"), None);
    }
}
