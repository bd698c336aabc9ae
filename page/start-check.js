// Says what to do where the program cannot start. A classic script in old words: it has to run where the program does not.
(function () {
  function show(id) {
    // The script stands before what it shows.
    if (document.readyState === "loading") {
      document.addEventListener("DOMContentLoaded", function () {
        show(id);
      });
      return;
    }
    var notice = document.getElementById(id);
    if (notice) notice.removeAttribute("hidden");
  }
  function again() {
    location.reload();
  }
  // What did not arrive is asked for again when somebody says so, or once the network is back.
  addEventListener("click", function (event) {
    if (event.target.closest && event.target.closest("#lost button")) again();
  });
  addEventListener("online", function () {
    var notice = document.getElementById("lost");
    if (notice && !notice.hasAttribute("hidden")) again();
  });
  // Browsers start no module and no WebAssembly from a file.
  if (location.protocol === "file:") return show("disk");
  if (typeof WebAssembly !== "object" || !("noModule" in HTMLScriptElement.prototype)) return show("unstarted");
  // A module that does not arrive, or that the browser cannot read, leaves the first text standing.
  addEventListener(
    "error",
    function (event) {
      var failed = event.target;
      var lost = failed && failed.tagName === "SCRIPT" && /start-/.test(failed.src);
      var unread = event.filename && /start-/.test(event.filename);
      if ((lost || unread) && document.getElementById("shell")) show(lost ? "lost" : "unstarted");
    },
    true,
  );
})();
