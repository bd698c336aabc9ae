// What the shop's own page does with the calculator: draws its market itself, and listens to the element.
import { estimate } from "../npm/index.js";

const lang = document.documentElement.lang;
const zh = lang === "zh-CN";
const say = (inChinese, inEnglish) => (zh ? inChinese : inEnglish);

/** Jobs of the market, as links. */
const JOBS = [
  ["lora", say("微调 Qwen2.5-7B", "Fine-tune Qwen2.5-7B"), "m=qwen2.5-7b&do=lora&samples=10000&epochs=3", say("LoRA，1 万条样本，3 轮", "LoRA, 10,000 samples, 3 epochs")],
  ["serve", say("部署 Qwen3-32B", "Serve Qwen3-32B"), "m=qwen3-32b&do=serve&users=20", say("20 路并发，全天在线，按月计", "20 users at once, all day, cost of a month")],
  ["image", say("SDXL 出图", "SDXL images"), "m=sdxl&do=image&amount=5000", say("5000 张 1024×1024", "5,000 images of 1024×1024")],
  ["vision", say("训练 ResNet-50", "Train ResNet-50"), "m=resnet-50&do=vision-train", say("ImageNet，常用轮数", "ImageNet, its usual epochs")],
];
/** Ways of billing: name in the feed, name in a link, label, unit. */
const MODES = [
  ["hourly", "on-demand", say("按量", "Hourly"), say("／卡时", " a card-hour")],
  ["daily", "daily", say("包日", "Daily"), say("／卡日", " a card-day")],
  ["monthly", "monthly", say("包月", "Monthly"), say("／卡月", " a card-month")],
  ["spot", "spot", say("抢占式", "Spot"), say("／卡时", " a card-hour")],
];

const at = (id) => document.getElementById(id);
const make = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};
const local = (text) => (typeof text === "string" ? text : (text?.[lang] ?? text?.en ?? ""));
const money = (n) => {
  const digits = n < 10 ? 2 : 0;
  return `¥${n.toLocaleString(lang, { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
};
const span = (range, show) => (show(range.low) === show(range.high) ? show(range.low) : `${show(range.low)}–${show(range.high)}`);
const duration = (range) => {
  const [unit, factor] = range.high < 2 ? [say(" 分钟", " min"), 60] : [say(" 小时", " h"), 1];
  return span(range, (n) => (n * factor).toLocaleString(lang, { maximumSignificantDigits: 2 })) + unit;
};
/** What the shop calls a card. */
const title = (offer) => local(offer.name) || offer.gpu;

/** Radio buttons; `chosen` is called with the value. */
function choices(fieldset, name, entries, chosen) {
  entries.forEach(([value, label], place) => {
    const wrap = make("label", "choice");
    const input = make("input");
    Object.assign(input, { type: "radio", name, value, checked: place === 0 });
    input.addEventListener("change", () => chosen(value));
    wrap.append(input, make("span", "", label));
    fieldset.append(wrap);
  });
}

const STOCK = {
  in_stock: say("充足", "in stock"),
  low: say("紧张", "few left"),
  out: say("已售罄", "sold out"),
};

/** One thing on the shelf. */
function sku(offer, mode, answer) {
  const [name, , , unit] = mode;
  const price = offer.prices.find((p) => p.mode === name);
  const state = offer.stock?.state ?? "in_stock";
  const item = make("li", "sku");
  item.dataset.offer = offer.id;
  const head = make("div", "sku-head");
  head.append(make("h3", "", title(offer)), make("span", `stock ${state}`, STOCK[state]));
  const free = offer.stock?.free_gpus ? say(` · 余 ${offer.stock.free_gpus} 卡`, ` · ${offer.stock.free_gpus} free`) : "";
  const counts = offer.per_node
    ? say(`整机 ${offer.gpu_counts.at(-1)} 卡`, `machines of ${offer.gpu_counts.at(-1)}`)
    : say(`${offer.gpu_counts.join("／")} 卡可选`, `${offer.gpu_counts.join(", ")} cards`);
  const facts = [offer.vram_gb && `${offer.vram_gb} GB`, offer.vcpu_per_gpu && `${offer.vcpu_per_gpu} ${say("核", "cores")}`, offer.ram_gb_per_gpu && say(`${offer.ram_gb_per_gpu} GB 内存`, `${offer.ram_gb_per_gpu} GB RAM`)];
  item.append(head, make("p", "soft", facts.filter(Boolean).join(" · ")), make("p", "soft", `${local(offer.region_name)} · ${counts}${free}`));

  const told = make("p", "estimate");
  if (!answer) told.textContent = say("正在估算…", "Estimating…");
  else if (answer.fit !== "fits") told.textContent = answer.fit === "tight" ? say("勉强装得下", "only just fits") : say("装不下这个任务", "too small for this job");
  else {
    const cost = answer.cost_of_job ?? answer.cost_per_month;
    const count = say(`${answer.count} 卡`, answer.count === 1 ? "1 card" : `${answer.count} cards`);
    const time = answer.hours ? duration(answer.hours) : say("每月", "a month");
    told.append(make("b", "", cost ? span(cost, money) : ""), `${count} · ${time}`);
  }
  item.append(told);

  const foot = make("div", "sku-foot");
  const tag = make("p", "price");
  if (price) {
    // A machine is priced as a whole.
    const cards = offer.per_node ? offer.gpu_counts.at(-1) : 1;
    tag.append(make("b", "", money(price.price / cards)), unit);
  } else tag.append(say("不支持此计费方式", "not billed this way"));
  foot.append(tag);
  const url = answer?.shop?.order_url;
  if (state === "out") foot.append(make("span", "order gone", say("售罄", "Sold out")));
  else if (price && url && answer.fit === "fits") {
    const order = make("a", "order", say("立即租用", "Rent"));
    Object.assign(order, { href: url, target: "_blank", rel: "noopener" });
    order.setAttribute("aria-label", say(`租用 ${answer.count} × ${title(offer)}`, `Rent ${answer.count} × ${title(offer)}`));
    foot.append(order);
  }
  item.append(foot);
  return item;
}

const feed = await (await fetch("feed.json")).json();
const shown = { job: JOBS[0][0], mode: MODES[0][0], region: "" };
let turn = 0;

/** Draws the market, then puts each estimate in its place as it comes. */
async function draw() {
  const mine = ++turn;
  const [, , scenario, basis] = JOBS.find(([id]) => id === shown.job);
  const mode = MODES.find(([id]) => id === shown.mode);
  const offers = feed.offers.filter((offer) => !shown.region || local(offer.region_name) === shown.region);
  at("basis").textContent = basis;
  const items = offers.map((offer) => sku(offer, mode));
  at("skus").replaceChildren(...items);
  for (const [place, offer] of offers.entries()) {
    const asked = `${scenario}&bill=${mode[1]}`;
    const { offers: found } = await estimate(asked, { feed: { ...feed, offers: [offer] }, lang, limit: 1, ref: "market" });
    // Another choice was made meanwhile.
    if (mine !== turn) return;
    const drawn = sku(offer, mode, found[0] ?? { fit: "too_small" });
    items[place].replaceWith(drawn);
    await new Promise((done) => setTimeout(done));
  }
  at("skus").dataset.drawn = shown.job;
}

const regions = [...new Set(feed.offers.map((offer) => local(offer.region_name)))];
choices(at("jobs"), "job", JOBS, (job) => draw(Object.assign(shown, { job })));
choices(at("modes"), "mode", MODES.map(([id, , label]) => [id, label]), (mode) => draw(Object.assign(shown, { mode })));
choices(at("regions"), "region", [["", say("全部", "All")], ...regions.map((name) => [name, name])], (region) => draw(Object.assign(shown, { region })));

at("calculator").addEventListener("cardfit:order", ({ detail }) => {
  at("said").textContent = say(`已选择 ${detail.count} × ${detail.card}，下单页已在新标签页打开。`, `${detail.count} × ${detail.card}: the order page has opened in a new tab.`);
});

await draw();
