// From an entry page, which only carries a preview in one language, to the page itself with the same scenario.
const language = document.documentElement.lang;
const query = new URLSearchParams(location.search);
if (!query.has("lang")) query.set("lang", language);
location.replace(`../?${query}${location.hash}`);
