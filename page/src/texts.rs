//! The texts of the page, each language in a part of its own: only what somebody reads is loaded.

use cardfit::text::{Lang, load_en, load_zh_cn};

use crate::lazy::{PartMissing, lazy_part};

lazy_part! {
    part = texts_en;
    /// Makes English known.
    fn english() -> () {
        load_en()
    }
}

lazy_part! {
    part = texts_zh_cn;
    /// Makes Simplified Chinese known.
    fn chinese() -> () {
        load_zh_cn()
    }
}

/// Makes the texts of `lang` known, from the network where they are not there yet.
pub async fn load(lang: Lang) -> Result<(), PartMissing> {
    if lang.is_loaded() {
        return Ok(());
    }
    match lang {
        Lang::En => english().await,
        Lang::ZhCn => chinese().await,
    }
}
