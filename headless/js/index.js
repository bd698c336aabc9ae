// The estimator without a page: a scenario in, offers out. For browsers, workers and Node.
import init, { estimate_json } from "./cardfit_headless.js";

let loading;

/** Loads the WebAssembly once; estimate() does so by itself. Takes its bytes or address where they are elsewhere. */
export function load(source) {
  loading ??= start(source).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function start(source) {
  const address = new URL("./cardfit_headless_bg.wasm", import.meta.url);
  let module_or_path = source ?? address;
  if (source === undefined && address.protocol === "file:") {
    const { readFile } = await import("node:fs/promises");
    module_or_path = await readFile(address);
  }
  await init({ module_or_path });
}

/** Answers a scenario: the query of a link, its parameters as an object, or a scenario's JSON. */
export async function estimate(scenario, options = {}) {
  await load();
  const { feed, ...rest } = options;
  const asked = { ...rest };
  if (feed !== undefined && feed !== null) {
    asked.feed = typeof feed === "string" ? feed : JSON.stringify(feed);
    asked.today ??= new Date().toISOString().slice(0, 10);
  }
  const outcome = JSON.parse(estimate_json(asText(scenario), JSON.stringify(asked)));
  if (outcome.error !== undefined) throw new CardFitError(outcome.error, outcome.issues);
  return outcome;
}

/** Nothing could be answered; `issues` says why, entry by entry, where a feed was at fault. */
export class CardFitError extends Error {
  constructor(message, issues = []) {
    super(message);
    this.name = "CardFitError";
    this.issues = issues;
  }
}

function asText(scenario) {
  if (typeof scenario === "string") return scenario;
  if (scenario === null || typeof scenario !== "object") throw new TypeError("a scenario is a string or an object");
  const nested = Object.values(scenario).some((value) => value !== null && typeof value === "object" && !Array.isArray(value));
  if (nested) return JSON.stringify(scenario);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(scenario)) {
    if (value === undefined || value === null) continue;
    const text = typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
    query.set(name, text);
  }
  return query.toString();
}
