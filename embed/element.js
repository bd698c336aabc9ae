// <card-fit>: a thin shell around a frame of ours. It lays the frame out when it comes near the screen, fits its height,
// and turns the frame's messages into events. It computes nothing and touches nothing outside of itself.
// docs/embed.md describes attributes, properties, methods and events; element.d.ts states their types.

/** Attributes that are put into the frame's address as they are; any other link parameter goes into `scenario`. */
const PASSED = ["widget", "layout", "hide", "accent", "theme", "lang", "cards", "providers", "allow", "order", "ref"];
/** Attributes that a running frame takes by message, without loading anew. */
const LIVE = ["scenario", "theme", "accent", "lang", "feed-inline"];
const NS = "cardfit";
const VERSION = 1;
/** Heights in pixels: before the frame has told its own, and the most that it is given. */
const HEIGHT = 720;
const MAX_HEIGHT = 6000;
/** How near to the screen the frame is loaded, and how long it may take to speak, milliseconds. */
const NEAR = "200px";
const PATIENCE = 15000;
/** The largest feed that is fetched here, characters; the frame says of a larger one that it is too large. */
const FEED_CHARS = 1e6;
/** A frame that shrinks is followed once it has rested this long, milliseconds: recomputing must not make it flicker. */
const REST = 250;

const TEXTS = {
  en: { title: "GPU calculator", open: "Open the GPU calculator" },
  zh: { title: "显卡选型计算器", open: "打开显卡选型计算器" },
};

/**
 * Defines <card-fit>. `base` is the address of the folder that holds the widget's index.html.
 */
export function define(base, name = "card-fit") {
  const folder = new URL(base, document.baseURI);

  class CardFit extends HTMLElement {
    static observedAttributes = [...PASSED, "scenario", "feed", "feed-inline", "height", "max-height"];

    /** Messages that claimed to be ours and were not from our frame. */
    ignored = 0;
    #id = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
    #frame;
    #ready = false;
    #feed;
    /** Address of a feed that this page could not fetch. */
    #unfetched;
    #answer;
    #waiting = [];
    #observer;
    #timers = {};
    #hear = (event) => this.#take(event);

    connectedCallback() {
      this.style.display ||= "block";
      this.#reserve();
      addEventListener("message", this.#hear);
      this.#observer = new IntersectionObserver(
        (seen) => seen.some((entry) => entry.isIntersecting) && this.#load(),
        { rootMargin: NEAR },
      );
      this.#observer.observe(this);
    }

    disconnectedCallback() {
      removeEventListener("message", this.#hear);
      this.#observer?.disconnect();
      Object.values(this.#timers).forEach(clearTimeout);
      this.#frame?.remove();
      this.#frame = undefined;
      this.#ready = false;
    }

    attributeChangedCallback(attribute, before, value) {
      if (!this.#frame || before === value) return;
      if (attribute === "max-height" || attribute === "height") return;
      if (attribute === "feed") this.#feed = this.#unfetched = undefined;
      if (!LIVE.includes(attribute) || value === null) return this.#reload();
      if (attribute === "scenario" || attribute === "feed-inline") this.#configure(attribute);
      if (attribute === "theme" || attribute === "accent") this.#post("set-theme", { [attribute]: value });
      if (attribute === "lang") this.#post("set-language", { lang: value });
    }

    /** The last answer that the frame told, or undefined. */
    get answer() {
      return this.#answer;
    }

    /** Gives the frame another scenario: the query of a link, or a whole link. */
    setScenario(query) {
      this.#post("set-scenario", { query: String(query) });
    }

    /** Gives the frame the operator's feed: an object, or its JSON. */
    setFeed(feed) {
      this.#feed = feed;
      if (this.#ready) this.#post("set-feed", { feed });
    }

    /** Sets theme (auto, light, dark) and accent colour (hex). */
    setTheme(theme) {
      this.#post("set-theme", theme);
    }

    /** Sets the language: en or zh-CN. */
    setLanguage(lang) {
      this.#post("set-language", { lang });
    }

    get #texts() {
      return this.#lang.startsWith("zh") ? TEXTS.zh : TEXTS.en;
    }

    get #lang() {
      const own = this.getAttribute("lang") || this.closest("[lang]")?.getAttribute("lang") || navigator.language;
      return own.toLowerCase();
    }

    #reserve() {
      if (!this.#frame) this.style.minHeight = `${Number(this.getAttribute("height")) || HEIGHT}px`;
    }

    #address() {
      const url = new URL("index.html", folder);
      const given = (this.getAttribute("scenario") ?? "").replace(/^[^?]*\?/, "").replace(/#.*$/, "");
      for (const [key, value] of new URLSearchParams(given)) url.searchParams.set(key, value);
      for (const key of PASSED) {
        const value = this.getAttribute(key);
        if (value !== null) url.searchParams.set(key, value);
      }
      if (!url.searchParams.has("lang")) url.searchParams.set("lang", this.#lang);
      const feed = this.#feedAddress;
      if (feed && !this.#fetchesItself(feed)) url.searchParams.set("feed", feed.href);
      else if (feed || this.#feed || this.hasAttribute("feed-inline")) url.searchParams.set("feed", "message");
      url.hash = new URLSearchParams({ eid: this.#id, po: location.origin }).toString();
      return url.href;
    }

    get #feedAddress() {
      const feed = this.getAttribute("feed");
      return feed ? new URL(feed, document.baseURI) : undefined;
    }

    /** A feed of this page's own origin is fetched here: its server need not allow other origins. */
    #fetchesItself(feed) {
      return feed.origin === location.origin && feed.href !== this.#unfetched;
    }

    async #fetchFeed() {
      const feed = this.#feedAddress;
      if (!feed || this.#feed !== undefined || !this.#fetchesItself(feed)) return;
      let text;
      try {
        const answer = await fetch(feed, { credentials: "omit" });
        text = answer.ok ? await answer.text() : undefined;
      } catch {
        // Out of reach, or this page's policy lets it connect nowhere.
      }
      if (this.#feedAddress?.href !== feed.href || this.#feed !== undefined) return;
      if (text !== undefined && text.length <= FEED_CHARS) return this.setFeed(text);
      // The frame tries for itself, and says what is wrong.
      this.#unfetched = feed.href;
      if (!this.#frame) return;
      // A frame of its own: another address may be ignored by one that has just begun to load.
      clearTimeout(this.#timers.patience);
      this.#frame = undefined;
      this.#ready = false;
      this.#load();
    }

    #load() {
      if (this.#frame) return;
      const frame = document.createElement("iframe");
      frame.title = this.getAttribute("title") || this.#texts.title;
      frame.src = this.#address();
      frame.setAttribute(
        "sandbox",
        "allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox",
      );
      frame.allow = "clipboard-write";
      frame.referrerPolicy = "strict-origin-when-cross-origin";
      Object.assign(frame.style, {
        display: "block",
        width: "100%",
        border: "0",
        height: this.style.minHeight,
        colorScheme: "normal",
      });
      this.#frame = frame;
      this.replaceChildren(frame);
      this.#fetchFeed();
      this.#timers.patience = setTimeout(() => this.#giveUp(), PATIENCE);
    }

    #reload() {
      this.#ready = false;
      this.#frame.src = this.#address();
      this.#fetchFeed();
    }

    /** The frame stayed silent: a plain link to it, in its place. */
    #giveUp() {
      if (this.#ready) return;
      const link = document.createElement("a");
      link.href = this.#address();
      link.target = "_blank";
      link.rel = "noopener";
      link.textContent = this.#texts.open;
      this.replaceChildren(link);
      this.#frame = undefined;
      this.style.minHeight = "";
      this.#tell("error", { code: "silent", message: "the frame did not answer" });
    }

    #post(type, payload) {
      if (!this.#ready) {
        this.#waiting.push([type, payload]);
        return;
      }
      const message = { ns: NS, v: VERSION, id: this.#id, type, payload };
      this.#frame?.contentWindow?.postMessage(message, folder.origin);
    }

    #configure(attribute) {
      if (attribute === "scenario") return this.setScenario(this.getAttribute("scenario"));
      const script = document.getElementById(this.getAttribute("feed-inline"));
      if (script) this.setFeed(script.textContent);
    }

    #take(event) {
      const { data } = event;
      if (data?.ns !== NS) return;
      const ours = this.#frame && event.source === this.#frame.contentWindow;
      // Another widget's message is no fault; one that claims our id from elsewhere is.
      if (!ours && data.id !== this.#id) return;
      if (!ours || event.origin !== folder.origin || data.v !== VERSION || data.id !== this.#id) {
        this.ignored += 1;
        return;
      }
      const payload = data.payload ?? {};
      if (data.type === "ready") this.#start();
      if (data.type === "resize") this.#fit(payload.height);
      if (data.type === "change") this.#answer = payload;
      const isFinal = data.type === "error" && ["wasm_blocked", "download_failed"].includes(payload.code);
      if (isFinal) clearTimeout(this.#timers.patience);
      if (["ready", "resize", "change", "order", "feed", "error"].includes(data.type)) this.#tell(data.type, payload);
    }

    #tell(type, detail) {
      this.dispatchEvent(new CustomEvent(`${NS}:${type}`, { detail, bubbles: true }));
    }

    #start() {
      clearTimeout(this.#timers.patience);
      this.#ready = true;
      if (this.#feed === undefined && this.hasAttribute("feed-inline")) this.#configure("feed-inline");
      else if (this.#feed !== undefined) this.#post("set-feed", { feed: this.#feed });
      this.#waiting.splice(0).forEach(([type, payload]) => this.#post(type, payload));
    }

    #fit(height) {
      if (!Number.isFinite(height) || height <= 0) return;
      const most = Number(this.getAttribute("max-height")) || MAX_HEIGHT;
      const wanted = Math.min(Math.ceil(height), most);
      const set = () => {
        this.#frame.style.height = `${wanted}px`;
        this.style.minHeight = "";
      };
      clearTimeout(this.#timers.shrink);
      if (wanted >= this.#frame.offsetHeight) set();
      else this.#timers.shrink = setTimeout(() => this.#frame && set(), REST);
    }
  }

  if (!customElements.get(name)) customElements.define(name, CardFit);
}
