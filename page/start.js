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

// A download that broke off, or that the server cannot give just now, is no fault of the browser.
class Lost extends Error {}
const lost = (cause) => {
  throw new Lost(`The program did not arrive: ${cause}`);
};
const download = async (url) => {
  const response = await fetch(url).catch(lost);
  return response.ok ? response : lost(response.status);
};
const compiled = async (url) => {
  try {
    return await WebAssembly.compileStreaming(download(url));
  } catch (error) {
    if (error instanceof Lost) throw error;
    // Half a file and a file that the browser cannot use fail alike here; fetched whole, they are told apart.
    const bytes = await (await download(url)).arrayBuffer().catch(lost);
    const isProgram = String(new Uint8Array(bytes.slice(0, 4))) === "0,97,115,109";
    return isProgram ? WebAssembly.compile(bytes) : lost("something else came in its place");
  }
};

try {
  await painted();
  const bound = import("MODULE").catch((error) => (error instanceof SyntaxError ? Promise.reject(error) : lost(error)));
  const [{ default: init, ...bindings }, module] = await Promise.all([bound, compiled(new URL("WASM", import.meta.url))]);
  const wasm = await init({ module_or_path: module });
  window.wasmBindings = bindings;
  dispatchEvent(new CustomEvent("TrunkApplicationStarted", { detail: { wasm } }));
} catch (error) {
  console.error(error);
  const isLost = error instanceof Lost;
  document.getElementById(isLost ? "lost" : "unstarted")?.removeAttribute("hidden");
  // A page that embeds this one is told, so that it can show a link instead. Nothing secret is in it.
  if (window.parent !== window) {
    const asked = new URLSearchParams(location.hash.slice(1));
    const id = asked.get("eid") ?? "";
    const code = isLost ? "download_failed" : "wasm_blocked";
    const message = { ns: "cardfit", v: 1, id, type: "error", payload: { code, message: String(error) } };
    window.parent.postMessage(message, asked.get("po") ?? "*");
  }
}

// A trap that no panic announced, such as a stack that ran out, is told as well.
addEventListener("error", ({ error }) => {
  if (error instanceof WebAssembly.RuntimeError) document.getElementById("stopped")?.removeAttribute("hidden");
});
