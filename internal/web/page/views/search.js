// Search in the logs of all pods, newest first.

import { add, el, say } from "../dom.js";
import { clock, plural } from "../format.js";
import { live } from "../live.js";
import { stream } from "../rpc.js";

/** @import { SearchHit } from "../types.d.ts" */

/** The kinds that a person chooses from, and their names in the protocol. @type {[string, string[]][]} */
const kinds = [
  ["all kinds", []],
  ["prompts", ["PROMPT"]],
  ["answers", ["ANSWER", "SUMMARY"]],
  ["reasoning", ["REASONING"]],
  ["tool calls", ["CALL", "RESULT"]],
  ["notes and alerts", ["NOTE", "SYSTEM", "ALERT", "APPROVAL", "END"]],
];

const limit = 200;

/** search shows what was found. Its state is in the address. @param {HTMLElement} main @param {URLSearchParams} asked */
export function search(main, asked) {
  const text = el("input", { type: "search", "aria-label": "Search text", placeholder: "Search in all logs", value: asked.get("q") ?? "", autocomplete: "off", "data-find": true });
  const pods = [...live.pods.values()].map((p) => p.pod.name).sort();
  const pod = choice("Pod", [["all pods", ""], ...pods.map((n) => /** @type {[string, string]} */ ([n, n]))], asked.get("pod") ?? "");
  const kind = choice("Kind", kinds.map(([name]) => [name, name]), asked.get("kind") ?? "all kinds");
  const since = el("input", { type: "date", "aria-label": "Since", value: asked.get("since") ?? "" });
  const status = el("p", { class: "sum", role: "status" });
  const list = el("ol", { class: "hits" });
  const form = el("form", { class: "filters", role: "search", onsubmit: (/** @type {Event} */ e) => (e.preventDefault(), run()) }, text, el("div", { class: "line" }, pod, kind, el("label", { class: "since" }, "since ", since)));
  main.append(el("header", { class: "head" }, el("h1", {}, "Search"), form, status), list);

  let abort = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;

  async function run() {
    clearTimeout(typing);
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    const q = text.value;
    const query = new URLSearchParams();
    for (const [name, value, none] of /** @type {const} */ ([["q", q, ""], ["pod", pod.value, ""], ["kind", kind.value, "all kinds"], ["since", since.value, ""]])) if (value !== none) query.set(name, value);
    history.replaceState(null, "", `#/search?${query}`);
    list.replaceChildren();
    if (!q.trim()) return say(status, "");
    say(status, "Searching…");
    let found = 0;
    const warnings = [];
    try {
      const request = { text: q, pod: pod.value, limit, kinds: (kinds.find(([name]) => name === kind.value)?.[1] ?? []).map((k) => `SEARCH_KIND_${k}`), ...(since.value && { since: new Date(`${since.value}T00:00`).toISOString() }) };
      for await (const m of stream("FleetService/Search", request, signal)) {
        if (m.warning) warnings.push(m.warning);
        if (!m.hit) continue;
        found++;
        list.append(hit(m.hit));
      }
      const sum = found === 0 ? "Nothing found." : found >= limit ? `The newest ${limit} hits.` : plural(found, "hit");
      say(status, [sum, ...warnings].join(" "));
    } catch (e) {
      if (!signal.aborted) say(status, e instanceof Error ? e.message : String(e));
    }
  }
  text.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(run, 250);
  });
  for (const e of [pod, kind, since]) e.addEventListener("change", run);
  if (text.value) void run();
  else text.focus();
  return () => {
    clearTimeout(typing);
    abort.abort();
  };
}

/** @param {string} label @param {[string, string][]} options @param {string} chosen */
export function choice(label, options, chosen) {
  const e = el("select", { "aria-label": label }, ...options.map(([name, value]) => el("option", { value, selected: value === chosen }, name)));
  if (chosen && !options.some(([, value]) => value === chosen)) e.append(el("option", { value: chosen, selected: true }, chosen));
  return e;
}

/** @param {SearchHit} h */
function hit(h) {
  const name = h.podName || h.pod;
  const excerpt = el("span", { class: "excerpt" });
  // The match is given in bytes.
  const bytes = new TextEncoder().encode(h.excerpt ?? "");
  // Marks of Markdown say nothing in a line of text.
  const plain = (/** @type {string} */ text) => text.replace(/`|\*\*/g, "");
  const part = (/** @type {number} */ from, /** @type {number | undefined} */ to) => new TextDecoder().decode(bytes.slice(from, to));
  add(excerpt, plain(part(0, h.matchStart ?? 0)), el("mark", {}, part(h.matchStart ?? 0, h.matchEnd)), plain(part(h.matchEnd ?? 0, undefined)));
  return el(
    "li",
    {},
    el(
      "a",
      { href: `#/pod/${name}/${h.seq}`, "data-row": true },
      el("span", { class: "who" }, el("b", {}, name), el("span", { class: "kind" }, (h.kind ?? "").replace("SEARCH_KIND_", "").toLowerCase()), h.takenBack && el("span", { class: "kind" }, "taken back"), el("time", { datetime: h.time, class: "when" }, clock(h.time))),
      excerpt,
    ),
  );
}
