import type { Answer, Feed, Range } from "./index.js";

/** Defines the element. `base` is the address of the folder that holds the widget's index.html, such as ".../embed/". */
export function define(base: string | URL, name?: string): void;

export interface CardFitElement extends HTMLElement {
  /** The last answer that the frame told. */
  readonly answer: Answer | undefined;
  /** Messages that claimed to be ours and were not from our frame. */
  readonly ignored: number;
  /** The query of a link, or a whole link. */
  setScenario(query: string): void;
  setFeed(feed: Feed | string): void;
  setTheme(theme: { theme?: "auto" | "light" | "dark"; accent?: string }): void;
  setLanguage(lang: "en" | "zh-CN"): void;
}

export interface CardFitOrder {
  offer_id: string;
  card: string;
  count: number;
  billing: string | null;
  hours: Range | null;
  cost_of_job: Range | null;
  cost_per_month: Range | null;
  currency: string;
  scenario: string;
  url: string | null;
  ref: string;
}

export interface CardFitEvents {
  "cardfit:ready": CustomEvent<{ version: 1; feed_schema: string; widget: string; takes: string[]; sends: string[]; lang: string }>;
  "cardfit:resize": CustomEvent<{ height: number }>;
  "cardfit:change": CustomEvent<Answer>;
  "cardfit:order": CustomEvent<CardFitOrder>;
  "cardfit:feed": CustomEvent<{
    outcome: "used" | "refused";
    offers: number;
    issues: { path: string; kind: string; effect: string; message: string }[];
  }>;
  "cardfit:error": CustomEvent<{ code: string; message: string }>;
}

declare global {
  interface HTMLElementTagNameMap {
    "card-fit": CardFitElement;
  }
}
