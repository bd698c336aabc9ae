// Starts the page. A file of its own, so that a policy without inline scripts lets it run; the build puts the names in.

// What the document itself says is painted before the program takes the network and the processor. A frame that is out
// of sight is not painted at all, so nobody waits long.
const painted = () =>
  new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });

// The texts of the language that page/waiting.js found come together with the program, not after it.
const texts = TEXTS[document.documentElement.dataset.waiting];
if (texts) {
  const preload = Object.assign(document.createElement("link"), { rel: "preload", as: "fetch", crossOrigin: "anonymous" });
  preload.href = new URL(texts, import.meta.url).href;
  painted().then(() => document.head.append(preload));
}

try {
  await painted();
  const { default: init, ...bindings } = await import("MODULE");
  const wasm = await init({ module_or_path: new URL("WASM", import.meta.url) });
  window.wasmBindings = bindings;
  dispatchEvent(new CustomEvent("TrunkApplicationStarted", { detail: { wasm } }));
} catch (error) {
  console.error(error);
  document.getElementById("unstarted")?.removeAttribute("hidden");
  // A page that embeds this one is told, so that it can show a link instead. Nothing secret is in it.
  if (window.parent !== window) {
    const asked = new URLSearchParams(location.hash.slice(1));
    const id = asked.get("eid") ?? "";
    const message = { ns: "cardfit", v: 1, id, type: "error", payload: { code: "wasm_blocked", message: String(error) } };
    window.parent.postMessage(message, asked.get("po") ?? "*");
  }
}

// A trap that no panic announced, such as a stack that ran out, is told as well.
addEventListener("error", ({ error }) => {
  if (error instanceof WebAssembly.RuntimeError) document.getElementById("stopped")?.removeAttribute("hidden");
});
