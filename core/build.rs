//! Where a build hands the data files over in their packed form (`CARDFIT_PACKED`, a folder that `cargo xtask build` fills), the
//! program carries those bytes; else it carries the files as they are edited and packs them when it first reads them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CARDFIT_PACKED");
    println!("cargo::rustc-check-cfg=cfg(packed)");
    if std::env::var_os("CARDFIT_PACKED").is_some() {
        println!("cargo::rustc-cfg=packed");
    }
}
