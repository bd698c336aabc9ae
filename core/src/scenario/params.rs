//! Every link parameter, in the order in which a link is written.

use super::limits::Limit;

/// One link parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Name in a link.
    pub name: &'static str,
    /// Path of the same input in a JSON scenario; empty where there is none.
    pub path: &'static str,
    /// What it says something about.
    pub scope: Scope,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
}

/// What a parameter says something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every scenario.
    All,
    /// A model described by hand.
    Custom,
    /// Training.
    Train,
    /// Serving.
    Serve,
    /// Images, clips, networks, speech or science; a few are said of language models too.
    Work,
    /// How the page shows itself; not part of a scenario.
    Page,
}

impl Param {
    /// The parameter of that name or alias.
    pub fn of(name: &str) -> Option<&'static Self> {
        PARAMS
            .iter()
            .find(|p| p.name.eq_ignore_ascii_case(name))
            .or_else(|| {
                PARAMS
                    .iter()
                    .find(|p| p.aliases.iter().any(|a| a.eq_ignore_ascii_case(name)))
            })
    }

    /// Its range, where it is a number.
    pub fn limit(&self) -> Option<&'static Limit> {
        Limit::of(self.name)
    }

    /// Key of its label.
    pub fn label_key(&self) -> String {
        format!("field.{}", self.name)
    }
}

const fn param(
    name: &'static str,
    path: &'static str,
    scope: Scope,
    aliases: &'static [&'static str],
) -> Param {
    Param {
        name,
        path,
        scope,
        aliases,
    }
}

/// JSON fields that say what a parameter says whose own path is of another job.
pub(super) const OTHER_PATHS: &[(&str, &str)] = &[
    ("job.train.tensor_parallel", "tp"),
    ("job.train.base_weights", "w"),
    ("job.serve.tensor_parallel", "tp"),
    ("job.generate.batch", "batch"),
    ("job.generate.weights", "w"),
    ("job.generate.offload", "offload"),
    ("job.tune_diffusion.steps", "steps"),
    ("job.tune_diffusion.batch", "batch"),
    ("job.tune_diffusion.width", "width"),
    ("job.tune_diffusion.height", "height"),
    ("job.tune_diffusion.frames", "frames"),
    ("job.tune_diffusion.weights", "w"),
    ("job.tune_diffusion.precision", "prec"),
    ("job.tune_diffusion.optimizer", "opt"),
    ("job.tune_diffusion.lora_rank", "rank"),
    ("job.tune_diffusion.recompute", "recompute"),
    ("job.train_network.samples", "samples"),
    ("job.train_network.epochs", "epochs"),
    ("job.train_network.batch", "batch"),
    ("job.train_network.precision", "prec"),
    ("job.train_network.optimizer", "opt"),
    ("job.train_network.lora_rank", "rank"),
    ("job.train_network.runtime", "runtime"),
    ("job.run_network.amount", "amount"),
    ("job.run_network.size", "size"),
    ("job.run_network.batch", "batch"),
    ("job.run_network.weights", "w"),
    ("job.run_network.fused_attention", "flash"),
    ("job.run_network.runtime", "runtime"),
    ("job.run_network.cores", "cores"),
    ("job.transcribe.amount", "amount"),
    ("job.transcribe.batch", "batch"),
    ("job.transcribe.weights", "w"),
    ("job.transcribe.engine", "engine"),
    ("job.compute.precision", "prec"),
];

/// Every parameter, in writing order.
pub const PARAMS: &[Param] = &[
    param("v", "v", Scope::All, &[]),
    param("m", "model", Scope::All, &["model"]),
    param("do", "job", Scope::All, &["job", "task"]),
    // A model described by hand.
    param("layers", "model.custom.layers", Scope::Custom, &[]),
    param("hidden", "model.custom.hidden", Scope::Custom, &[]),
    param("heads", "model.custom.heads", Scope::Custom, &[]),
    param("kvheads", "model.custom.kv_heads", Scope::Custom, &[]),
    param("hd", "model.custom.head_dim", Scope::Custom, &[]),
    param("window", "model.custom.window", Scope::Custom, &[]),
    param("attn", "model.custom.attention", Scope::Custom, &[]),
    param("ffn", "model.custom.ffn", Scope::Custom, &[]),
    param("gated", "model.custom.ffn_gated", Scope::Custom, &[]),
    param("vocab", "model.custom.vocab", Scope::Custom, &[]),
    param("tie", "model.custom.tie_embeddings", Scope::Custom, &[]),
    param(
        "experts",
        "model.custom.experts.experts",
        Scope::Custom,
        &[],
    ),
    param("top", "model.custom.experts.per_token", Scope::Custom, &[]),
    param("eff", "model.custom.experts.ffn", Scope::Custom, &[]),
    param("sff", "model.custom.experts.shared_ffn", Scope::Custom, &[]),
    param("elayers", "model.custom.experts.layers", Scope::Custom, &[]),
    param("elat", "model.custom.experts.latent", Scope::Custom, &[]),
    param("extra", "model.custom.extra_params", Scope::Custom, &[]),
    param("aside", "model.custom.aside_params", Scope::Custom, &[]),
    // Training.
    param("tokens", "job.train.amount.tokens", Scope::Train, &[]),
    param(
        "samples",
        "job.train.amount.samples.count",
        Scope::Train,
        &[],
    ),
    param(
        "epochs",
        "job.train.amount.samples.epochs",
        Scope::Train,
        &[],
    ),
    param("seq", "job.train.seq_len", Scope::Train, &["seq_len"]),
    param("batch", "job.train.global_batch", Scope::Train, &[]),
    param("micro", "job.train.micro_batch", Scope::Train, &[]),
    param("prec", "job.train.precision", Scope::Train, &["precision"]),
    param("opt", "job.train.optimizer", Scope::Train, &["optimizer"]),
    param("rank", "job.train.lora_rank", Scope::Train, &[]),
    param("flash", "job.train.flash_attention", Scope::Train, &[]),
    param("recompute", "job.train.recompute", Scope::Train, &[]),
    param("shard", "job.train.sharding", Scope::Train, &["zero"]),
    param("pp", "job.train.pipeline_parallel", Scope::Train, &[]),
    param("ep", "job.train.expert_parallel", Scope::Train, &[]),
    param("offload", "job.train.offload", Scope::Train, &[]),
    // Serving.
    param("w", "job.serve.weights", Scope::Serve, &["weights"]),
    param("kv", "job.serve.kv", Scope::Serve, &[]),
    param("in", "job.serve.prompt_tokens", Scope::Serve, &["prompt"]),
    param("out", "job.serve.output_tokens", Scope::Serve, &["output"]),
    param("users", "job.serve.load.concurrency", Scope::Serve, &[]),
    param(
        "rps",
        "job.serve.load.requests_per_second",
        Scope::Serve,
        &[],
    ),
    param("ttft", "job.serve.ttft_target_s", Scope::Serve, &[]),
    param("tpot", "job.serve.tpot_target_s", Scope::Serve, &[]),
    param("engine", "job.serve.engine", Scope::Serve, &[]),
    param("hours", "job.serve.hours_per_day", Scope::Serve, &[]),
    param("requests", "job.serve.requests_total", Scope::Serve, &[]),
    param(
        "think",
        "job.serve.habits.thinking_tokens",
        Scope::Serve,
        &["thinking"],
    ),
    param(
        "hit",
        "job.serve.habits.prefix_hit_percent",
        Scope::Serve,
        &[],
    ),
    param("guess", "job.serve.habits.guesses", Scope::Serve, &[]),
    param(
        "accept",
        "job.serve.habits.accept_percent",
        Scope::Serve,
        &[],
    ),
    param("draft", "job.serve.habits.draft_params", Scope::Serve, &[]),
    param("offline", "job.serve.habits.offline", Scope::Serve, &[]),
    // Images, clips, networks, speech, science. Where a JSON job has a field of the same meaning
    // as a parameter above, `OTHER_PATHS` says so.
    param(
        "amount",
        "job.generate.amount",
        Scope::Work,
        &["images", "clips"],
    ),
    param("width", "job.generate.width", Scope::Work, &[]),
    param("height", "job.generate.height", Scope::Work, &[]),
    param("frames", "job.generate.frames", Scope::Work, &[]),
    param("steps", "job.generate.steps", Scope::Work, &[]),
    param("cfg", "job.generate.guidance", Scope::Work, &["guidance"]),
    param("tiling", "job.generate.tiling", Scope::Work, &[]),
    param("runtime", "job.generate.runtime", Scope::Work, &[]),
    param("cached", "job.tune_diffusion.cached", Scope::Work, &[]),
    param("size", "job.train_network.size", Scope::Work, &["side"]),
    param("cores", "job.train_network.cores", Scope::Work, &[]),
    param("beam", "job.transcribe.beam", Scope::Work, &[]),
    param("ops", "job.compute.operations", Scope::Work, &["flop"]),
    param("intensity", "job.compute.flops_per_byte", Scope::Work, &[]),
    param("ws", "job.compute.working_set_gb", Scope::Work, &[]),
    // Both jobs; its JSON path lies under the job's own name.
    param("tp", "job.tensor_parallel", Scope::All, &[]),
    // Cards.
    param("own", "shelf.own", Scope::All, &[]),
    param("cards", "shelf.cards", Scope::All, &["card"]),
    param("unpriced", "shelf.unpriced", Scope::All, &[]),
    param("n", "shelf.count", Scope::All, &["count"]),
    param("max", "shelf.max_count", Scope::All, &[]),
    param("busy", "shelf.busy_gib", Scope::All, &[]),
    // Money and order.
    param("cur", "money.currency", Scope::All, &["currency"]),
    param("fx", "money.cny_per_usd", Scope::All, &[]),
    param("bill", "money.billing", Scope::All, &["billing"]),
    param("price", "money.own_prices", Scope::All, &["prices"]),
    param("budget", "money.budget", Scope::All, &[]),
    param("deadline", "money.deadline_hours", Scope::All, &[]),
    param("fxeur", "money.usd_per_eur", Scope::All, &[]),
    param("market", "money.market", Scope::All, &[]),
    param("slice", "money.slice", Scope::All, &[]),
    param("grain", "money.grain", Scope::All, &[]),
    param("minimum", "money.minimum_hours", Scope::All, &[]),
    // Beside the price of the card.
    param("starts", "money.extras.starts", Scope::All, &[]),
    param("setup", "money.extras.setup_hours", Scope::All, &[]),
    param("fetch", "money.extras.fetch_mbit_s", Scope::All, &[]),
    param("upload", "money.extras.upload_gb", Scope::All, &[]),
    param("line", "money.extras.line_mbit_s", Scope::All, &[]),
    param("eval", "money.extras.evaluation_percent", Scope::All, &[]),
    param("failed", "money.extras.failed_percent", Scope::All, &[]),
    param("idle", "money.extras.idle_percent", Scope::All, &[]),
    param("disk", "money.extras.disk_gb", Scope::All, &[]),
    param("diskfree", "money.extras.disk_free_gb", Scope::All, &[]),
    param("diskprice", "money.extras.disk_price", Scope::All, &[]),
    param(
        "stoppedprice",
        "money.extras.stopped_price",
        Scope::All,
        &[],
    ),
    param("stopped", "money.extras.stopped_days", Scope::All, &[]),
    param("egress", "money.extras.egress_gb", Scope::All, &[]),
    param("egressprice", "money.extras.egress_price", Scope::All, &[]),
    param("tax", "money.extras.tax_percent", Scope::All, &[]),
    // Machines that may be taken away.
    param(
        "interrupt",
        "money.spot.interruptions_per_hour",
        Scope::All,
        &[],
    ),
    param("ckpt", "money.spot.checkpoint_s", Scope::All, &[]),
    param("every", "money.spot.interval_hours", Scope::All, &[]),
    param("restart", "money.spot.restart_hours", Scope::All, &[]),
    // Buying instead.
    param("buy", "money.purchase.card_price", Scope::All, &[]),
    param("buyserver", "money.purchase.server_price", Scope::All, &[]),
    param("hostw", "money.purchase.host_watts", Scope::All, &[]),
    param("kwh", "money.purchase.kwh_price", Scope::All, &[]),
    param("pue", "money.purchase.cooling_factor", Scope::All, &[]),
    param("hosting", "money.purchase.hosting_price", Scope::All, &[]),
    param("staff", "money.purchase.staff_price", Scope::All, &[]),
    param("resale", "money.purchase.resale_percent", Scope::All, &[]),
    param("months", "money.purchase.months", Scope::All, &[]),
    param(
        "buyhours",
        "money.purchase.hours_per_month",
        Scope::All,
        &[],
    ),
    param("sort", "rank", Scope::All, &[]),
    // The page's own.
    param("lang", "", Scope::Page, &[]),
    param("theme", "", Scope::Page, &[]),
    param("view", "", Scope::Page, &[]),
    param("show", "", Scope::Page, &[]),
    param("vs", "", Scope::Page, &[]),
    param("by", "", Scope::Page, &[]),
    param("tier", "", Scope::Page, &[]),
    param("vendor", "", Scope::Page, &[]),
    param("was", "", Scope::Page, &[]),
    param("book", "", Scope::Page, &[]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::limits;

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = std::collections::HashSet::new();
        for p in PARAMS {
            for name in std::iter::once(&p.name).chain(p.aliases) {
                assert!(seen.insert(*name), "{name} is used twice");
            }
        }
    }

    #[test]
    fn every_limit_belongs_to_a_parameter() {
        for limit in limits::ALL {
            assert!(Param::of(limit.name).is_some(), "{}", limit.name);
            assert!(limit.min <= limit.max);
            if let Some(default) = limit.default {
                assert_eq!(limit.check(default), Ok(default), "{}", limit.name);
            }
        }
    }
}
