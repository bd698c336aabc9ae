// Runs before anything is painted: which language the waiting page speaks, and whether its example is what was asked for.
(() => {
  const asked = new URLSearchParams(location.search);
  const known = [asked.get("lang"), ...navigator.languages].find((tag) => /^(zh|en)/i.test(tag ?? ""));
  const root = document.documentElement;
  root.lang = /^zh/i.test(known ?? "") ? "zh-CN" : "en";
  root.dataset.waiting = root.lang;
  asked.delete("lang");
  if (asked.toString() || location.hash.length > 1) root.dataset.asked = "";
})();
