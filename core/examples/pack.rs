//! Packs the data files for `cargo xtask build`: `pack FOLDER`. A file that is not of its form ends it.

use std::path::Path;

fn main() -> Result<(), String> {
    let folder = std::env::args().nth(1).ok_or("usage: pack FOLDER")?;
    let folder = Path::new(&folder);
    let failed = |why: std::io::Error| format!("{}: {why}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    for (name, bytes) in cardfit::packed::all_packed()? {
        let path = folder.join(name);
        // Left alone where it is the same: what is newer is compiled again.
        if std::fs::read(&path).is_ok_and(|there| there == bytes) {
            continue;
        }
        std::fs::write(&path, bytes).map_err(failed)?;
    }
    Ok(())
}
