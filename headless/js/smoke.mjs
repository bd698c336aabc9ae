// The package as Node loads it: `node headless/js/smoke.mjs dist/npm`. Ends badly where anything is off.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { brotliCompressSync } from "node:zlib";

const folder = pathToFileURL(`${resolve(process.argv[2] ?? "dist/npm")}/`);
const at = (name) => new URL(name, folder);

const manifest = JSON.parse(await readFile(at("package.json"), "utf8"));
const entry = at(manifest.exports["."].default);
const { estimate, CardFitError } = await import(entry);
for (const part of Object.values(manifest.exports)) {
  for (const file of typeof part === "string" ? [part] : Object.values(part)) await readFile(at(file));
}

// The same scenario as a link, as parameters and as JSON is one answer.
const byLink = await estimate("m=qwen2.5-7b&do=lora&samples=10000");
const byParameters = await estimate({ m: "qwen2.5-7b", do: "lora", samples: 10000 });
const byJson = await estimate({ model: "qwen2.5-7b", job: { train: { method: "lora", amount: { samples: { count: 10000 } } } } });
assert.deepEqual(byParameters, byLink);
assert.deepEqual(byJson.offers, byLink.offers);
assert.ok(byLink.offers.length > 10 && byLink.offers[0].fit === "fits");
assert.ok(byLink.offers[0].hours.low <= byLink.offers[0].hours.high);

// A feed: only its cards, its prices, its links.
const feed = {
  schema: "cardfit-feed/1",
  provider: "shop",
  currency: "USD",
  generated_at: "2026-11-30",
  offers: [
    { id: "a", gpu: "RTX 4090", prices: [{ mode: "hourly", price: 0.4 }], order_url: "https://shop.example/{offer}?n={count}&r={ref}" },
    { id: "b", gpu: "no such card", prices: [{ mode: "hourly", price: 1 }] },
  ],
};
const ofShop = await estimate("m=qwen2.5-7b&do=lora", { feed, today: "2026-12-01", ref: "x y", lang: "zh-CN" });
assert.deepEqual([...new Set(ofShop.offers.map((offer) => offer.card))], ["rtx-4090"]);
assert.equal(ofShop.currency, "USD");
assert.match(ofShop.offers[0].shop.order_url, /^https:\/\/shop\.example\/a\?n=\d+&r=x%20y$/);
assert.equal(ofShop.feed_issues.length, 1);

// What cannot be used says why.
assert.deepEqual((await estimate("m=qwen2.5-7b&nonsense=1")).unknown, ["nonsense"]);
await assert.rejects(estimate("m=x", { feed: "<html>" }), (e) => e instanceof CardFitError && e.issues.length === 1);
await assert.rejects(estimate("{"), CardFitError);
await assert.rejects(estimate(7), TypeError);

// Every field of an offer is declared in the types.
const types = await readFile(at("index.d.ts"), "utf8");
for (const object of [ofShop, ofShop.offers[0], ofShop.offers[0].price, ofShop.offers[0].shop]) {
  for (const name of Object.keys(object)) assert.match(types, new RegExp(`\\b${name}\\??:`), name);
}

// In a worker.
const code = `import(${JSON.stringify(entry.href)}).then(({ estimate }) => estimate("do=serve")).then((answer) =>
  require("node:worker_threads").parentPort.postMessage(answer.offers.length))`;
const worker = new Worker(code, { eval: true });
const count = await new Promise((done, failed) => worker.once("message", done).once("error", failed));
assert.ok(count > 10);

// The element is small, for every page that carries it loads it.
const element = brotliCompressSync(await readFile(at("../embed/v1.js"))).length;
assert.ok(element <= 4000, `embed/v1.js is ${element} bytes in brotli`);

console.log(`npm package: ${byLink.offers.length} offers, worker ${count}; embed/v1.js ${element} bytes in brotli`);
