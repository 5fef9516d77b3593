// The search: index.js, which is loaded when somebody searches, calls found with the parts of all pages.
"use strict";

const root = document.currentScript.dataset.root;
const input = document.querySelector("input[type=search]");
const results = document.getElementById("results");
const article = document.querySelector("article");
let parts;

function load() {
  if (document.getElementById("index")) return;
  const script = document.createElement("script");
  script.id = "index";
  script.src = root + "index.js";
  document.head.append(script);
}

// eslint-disable-next-line no-unused-vars -- index.js calls it
function found(all) {
  parts = all.map((p) => ({ ...p, title: p.t.toLowerCase(), text: p.x.toLowerCase() }));
  search();
}

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  results.hidden = words.length === 0;
  article.hidden = words.length > 0;
  if (!parts || words.length === 0) return;
  const count = (p, w) => (p.title.includes(w) ? 10 : 0) + Math.min(p.text.split(w).length - 1, 5);
  // Files of code, such as pod.proto.html, come last.
  const score = (p) => words.reduce((sum, w) => sum + count(p, w), /\.\w+\.html/.test(p.a) ? -100 : 0);
  const hits = parts.filter((p) => words.every((w) => p.title.includes(w) || p.text.includes(w)));
  hits.sort((a, b) => score(b) - score(a));
  results.replaceChildren(...hits.slice(0, 30).map((p) => item(p, words)));
  if (hits.length === 0) results.append(Object.assign(document.createElement("li"), { textContent: "Nothing has all these words." }));
}

function item(p, words) {
  const at = Math.max(0, p.text.indexOf(words.find((w) => p.text.includes(w)) ?? "") - 60);
  const link = Object.assign(document.createElement("a"), { href: root + p.a, textContent: p.t });
  link.addEventListener("click", () => (input.value = "", search()));
  const where = Object.assign(document.createElement("small"), { textContent: p.a.replace(/\.html.*$/, "") });
  const excerpt = Object.assign(document.createElement("p"), { textContent: (at > 0 ? "…" : "") + p.x.slice(at, at + 200) });
  const li = document.createElement("li");
  li.append(link, " ", where, excerpt);
  return li;
}

input.addEventListener("focus", load);
input.addEventListener("input", search);
input.form.addEventListener("submit", (e) => {
  e.preventDefault();
  results.querySelector("a")?.click();
});
input.value = new URLSearchParams(location.search).get("q") ?? "";
if (input.value) load();
