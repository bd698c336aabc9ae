//! What of the page is looked at by tests that look at all of it, and by `cargo xtask shots`.

/// A view of the page with something in it.
#[derive(Debug, Clone, Copy)]
pub struct Sight {
    /// Short name, for files and messages.
    pub name: &'static str,
    /// Its parameters in the link, each followed by `&`.
    pub query: &'static str,
    /// What is there once it can be looked at.
    pub testid: &'static str,
}

const fn sight(name: &'static str, query: &'static str, testid: &'static str) -> Sight {
    Sight {
        name,
        query,
        testid,
    }
}

/// Every view of the page.
pub const VIEWS: [Sight; 13] = [
    sight("choose", "", "verdict"),
    sight("compare", "view=compare&", "compare"),
    sight("ladder", "view=ladder&", "ladder"),
    sight("card", "view=card&show=rtx-4090&", "card-name"),
    sight("model", "view=model&show=llama-3.1-8b&", "model-name"),
    sight("method", "view=method&", "method-offer"),
    sight("accuracy", "view=accuracy&", "accuracy-stats"),
    sight("costs", "view=costs&", "bill-panel"),
    sight("prices", "view=prices&", "price-rows"),
    sight("can", "view=can&", "reach-card"),
    sight("check", "view=check&", "check-paste"),
    sight("embed", "view=embed&", "embed-code"),
    // Another kind of job than a language model's.
    sight(
        "method-sdxl",
        "view=method&m=sdxl&do=image&",
        "method-offer",
    ),
];

/// The chooser for every other kind of job.
pub const JOBS: [Sight; 9] = [
    sight(
        "pretrain",
        "m=llama-2-7b&do=pretrain&tokens=1T&deadline=2000&",
        "verdict",
    ),
    sight("serve", "m=qwen3-32b&do=serve&users=100&ttft=1&", "verdict"),
    sight("image", "m=sdxl&do=image&amount=5000&", "verdict"),
    sight("video", "m=wan-2.1-14b&do=video&amount=40&", "verdict"),
    sight("image-lora", "m=flux.1-dev&do=diffusion-lora&", "verdict"),
    sight("vision-train", "m=resnet-50&do=vision-train&", "verdict"),
    sight("vision-run", "m=resnet-50&do=vision-infer&", "verdict"),
    sight("speech", "m=whisper-large-v3&do=transcribe&", "verdict"),
    sight("science", "m=stencil&do=science&", "verdict"),
];

/// The page where nothing fits, and where a link could not be read.
pub const EDGES: [Sight; 2] = [
    sight(
        "nothing-fits",
        "m=llama-3.1-405b&do=full&cards=rtx-4090&n=1&",
        "verdict",
    ),
    sight("bad-link", "m=no-such-model&seq=-3&who=me&", "verdict"),
];
