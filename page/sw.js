// Serves one whole build of the page from the browser's own store. The build fills in the two constants.
const VERSION = "VERSION_OF_BUILD";
const FILES = ["FILES_OF_BUILD"];

const PREFIX = `cardfit ${self.registration.scope} `;
const STORE = PREFIX + VERSION;

self.addEventListener("install", (event) => {
  // All or nothing: a build of which one file is missing is never served.
  event.waitUntil(
    caches.open(STORE).then((store) => store.addAll(FILES.map((file) => new Request(file, { cache: "no-cache" })))),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) {
        if (name.startsWith(PREFIX) && name !== STORE) await caches.delete(name);
      }
      await self.clients.claim();
    })(),
  );
});

self.addEventListener("message", (event) => {
  if (event.data === "replace") self.skipWaiting();
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(self.registration.scope)) return;
  const path = request.url.slice(self.registration.scope.length).replace(/[?#].*$/, "");
  const file = path === "" || path === "index.html" ? "./" : `./${path}`;
  if (!FILES.includes(file)) return;
  event.respondWith(
    caches
      .open(STORE)
      .then((store) => store.match(file))
      .then((kept) => kept ?? fetch(request)),
  );
});
