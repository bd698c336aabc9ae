// Keeps the page for use without a network, and says when a newer one waits. Nothing of the scenario is kept.
const notice = document.getElementById("renewed");

function offer(registration) {
  if (!registration.waiting || !notice) return;
  notice.hidden = false;
  for (const button of notice.querySelectorAll("button")) {
    button.onclick = () => registration.waiting?.postMessage("replace");
  }
}

async function keep() {
  const registration = await navigator.serviceWorker.register("./sw.js", { updateViaCache: "none" });
  // The first worker ever takes over without replacing anything; later ones wait until they are asked for.
  let controlled = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (controlled) location.reload();
    controlled = true;
  });
  offer(registration);
  registration.addEventListener("updatefound", () => {
    registration.installing?.addEventListener("statechange", () => {
      if (controlled) offer(registration);
    });
  });
  // A page that stays open for days learns of a newer one when it is looked at again.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") registration.update().catch(() => {});
  });
}

if ("serviceWorker" in navigator && window.isSecureContext) {
  keep().catch((error) => console.info("not kept for offline use:", error.message));
}
