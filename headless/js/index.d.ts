/** Low, middle and high of one quantity, in the unit that the holding field names. */
export interface Range {
  low: number;
  mid: number;
  high: number;
}

/**
 * A scenario: the query of a link (`"m=qwen2.5-7b&do=lora"`) or a whole link, its parameters as an object
 * (`{ m: "qwen2.5-7b", do: "lora" }`), or the nested JSON of `cardfit estimate`.
 */
export type Scenario = string | ScenarioParameters | { [field: string]: unknown };

/** Parameters of a link; llms.txt and docs/links.md list them all. */
export interface ScenarioParameters {
  m?: string;
  do?: string;
  cards?: string | readonly string[];
  cur?: "cny" | "usd" | "eur";
  [parameter: string]: string | number | boolean | readonly string[] | null | undefined;
}

export interface Options {
  /** An operator's feed, as an object or its JSON: then only what it sells is offered. */
  feed?: Feed | string;
  /** Day that the feed's age is counted from, YYYY-MM-DD; the present day where it is silent. */
  today?: string;
  /** Language of names and messages. */
  lang?: "en" | "zh-CN";
  /** Most offers. */
  limit?: number;
  /** Every number of each card, rather than the best. */
  all_counts?: boolean;
  /** What comes back in order links. */
  ref?: string;
}

export interface Answer {
  /** Version of this shape. */
  version: 1;
  /** The scenario as the query of a link. */
  scenario: string;
  /** Currency of every cost. */
  currency: "CNY" | "USD" | "EUR";
  /** Cards whose best number fits, is tight, is too small. */
  cards: { fits: number; tight: number; too_small: number };
  /** Offers, best first. */
  offers: Offer[];
  /** What was taken for granted, for all offers. */
  assumptions: { assumption: string; value?: number }[];
}

/** What estimate() gives: an answer, with what there is to say about the inputs. */
export interface Outcome extends Answer {
  /** Inputs that were replaced or left out. */
  problems: Remark[];
  /** Parameters that nobody knows. */
  unknown: string[];
  /** What of the feed could not be used. */
  feed_issues: Remark[];
}

export interface Remark {
  /** Link parameter, or path in the feed. */
  at: string;
  message: string;
}

export interface Offer {
  /** Card id of the catalog. */
  card: string;
  card_name: string;
  /** Number of cards. */
  count: number;
  fit: "fits" | "tight" | "too_small";
  /** GiB missing on the fullest card, where it is too small. */
  missing_gib: number | null;
  /** Memory needed on the fullest card. */
  memory_gib: Range;
  /** Memory of one card that software can use. */
  usable_memory_gib: number;
  /** Time of the whole job; null for a service. */
  hours: Range | null;
  tokens_per_s_user: Range | null;
  tokens_per_s_total: Range | null;
  ttft_s: Range | null;
  /** Costs are in the answer's currency. */
  cost_of_job: Range | null;
  /** A month of 30 days. */
  cost_per_month: Range | null;
  cost_per_hour: Range | null;
  price: Price | null;
  /** Limits of the scenario that it misses by its middle values. */
  misses: string[];
  /** Limits that it keeps by its middle values and may miss at the worse ends of its ranges. */
  may_miss: string[];
  /** The smallest change that would make it fit. */
  remedy: { remedy: string; value?: unknown } | null;
  /** The operator's offer behind it, where a feed is in use. */
  shop: ShopOffer | null;
}

export interface Price {
  /** Who rents it out; null: the visitor's own price. */
  provider: string | null;
  billing: string;
  /** In the answer's currency. */
  per_card_hour: number;
  /** Cards that are paid for. */
  charged_cards: number;
  /** Day of the price. */
  as_of: string | null;
}

export interface ShopOffer {
  offer_id: string;
  region: string | null;
  stock: "in_stock" | "low" | "short" | "out";
  order_url: string | null;
}

/** A price feed; embed/feed.schema.json is its schema. */
export interface Feed {
  schema: "cardfit-feed/1";
  provider: string | { name: string; url?: string };
  currency: "CNY" | "USD" | "EUR";
  /** A day, or RFC 3339. */
  generated_at: string;
  valid_until?: string;
  /** What storage costs beside the cards, in the feed's currency. */
  storage?: { free_gb?: number; price_per_gb_month?: number; stopped_price_per_gb_month?: number };
  /** What data taken out costs, in the feed's currency. */
  traffic?: { out_price_per_gb?: number };
  /** What an invoice adds to all prices, per cent. */
  tax_percent?: number;
  offers: FeedOffer[];
}

export type LocalText = string | { en?: string; "zh-CN"?: string };

export interface FeedOffer {
  id: string;
  gpu: string;
  vram_gb?: number;
  /** Who rents it out, where that is not the feed's provider. */
  provider?: string;
  name?: LocalText;
  region?: LocalText;
  region_name?: LocalText;
  gpu_counts?: number[];
  node_only?: boolean;
  per_node?: boolean;
  max_nodes?: number;
  stock?: { state?: "in_stock" | "low" | "out"; free_gpus?: number; max_per_order?: number };
  prices: FeedPrice[];
  order_url?: string;
}

export type FeedPrice =
  | { mode: "hourly" | "daily" | "weekly" | "monthly" | "yearly" | "spot"; price: number }
  | { mode: "reserved"; term_months: 12 | 36; price_per_month: number };

/** Loads the WebAssembly once; estimate() does so by itself. Takes its bytes or address where they are elsewhere. */
export function load(source?: BufferSource | URL | string | WebAssembly.Module): Promise<void>;

/** Answers a scenario. Throws a CardFitError where nothing can be answered. */
export function estimate(scenario: Scenario, options?: Options): Promise<Outcome>;

export class CardFitError extends Error {
  issues: Remark[];
}
