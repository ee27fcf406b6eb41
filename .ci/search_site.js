// Print the first page that the site's own search shows for each query: node .ci/search_site.js build/site QUERY…
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [site, ...queries] = process.argv.slice(2);
const nothing = () => {};
const page = {
  console,
  document: { addEventListener: nothing, getElementById: () => null, documentElement: { dataset: {} } },
  localStorage: { setItem: nothing, getItem: () => null },
  DOCUMENTATION_OPTIONS: {},
  SPHINX_HIGHLIGHT_ENABLED: false,
  Documentation: { ngettext: nothing },
  _: (text) => text,
  _ready: nothing,
};
page.window = page;
vm.createContext(page);
for (const file of ["_static/language_data.js", "_static/searchtools.js", "searchindex.js"]) {
  // A top-level `const` is not a property of the context, so that the search is made one here.
  const text = fs.readFileSync(path.join(site, file), "utf8").replace("const Search = {", "var Search = window.Search = {");
  vm.runInContext(text, page, { filename: file });
}
const first = {};
for (const query of queries) {
  const results = page.Search._performSearch(...page.Search._parseQuery(query));
  first[query] = results.length ? results[results.length - 1][0] : null;
}
console.log(JSON.stringify(first));
