// The fleet: all pods, who waits first.

import { el, icon, keyed, say } from "../dom.js";
import { doing, elapsed, fill, groups, need, place, sorted, state, today } from "../fleet.js";
import { ago, plural, usd } from "../format.js";
import { live } from "../live.js";

/** @import { Approval, WatchedPod } from "../types.d.ts" */

/** fleet shows all pods. @param {HTMLElement} main @returns {() => void} ends the view */
export function fleet(main) {
  const sum = el("p", { class: "sum" });
  const filter = el("input", { type: "search", class: "filter", placeholder: "Filter by name or directory", "aria-label": "Filter pods", "data-find": true, oninput: () => draw() });
  const questions = el("h2", { class: "group" }, groups[0]);
  const asks = el("div", { class: "asks" });
  const list = el("div", { class: "fleet" });
  const none = el("p", { class: "empty" });
  main.append(el("header", { class: "head" }, el("h1", {}, "Fleet"), sum, filter), questions, asks, list, none);
  filter.addEventListener("keydown", (e) => {
    const first = list.querySelector("a");
    if (e.key === "Enter" && first) location.hash = first.getAttribute("href") ?? "";
  });

  function draw() {
    const pods = [...live.pods.values()];
    const word = filter.value.trim().toLowerCase();
    const shown = word ? pods.filter((p) => `${p.pod.name} ${p.pod.spec?.dir ?? ""} ${place(p)}`.toLowerCase().includes(word)) : pods;
    const working = pods.filter((p) => need(p) === 3).length;
    const cost = pods.reduce((n, p) => n + (p.work?.dayCostUsd ?? 0), 0);
    say(sum, live.complete || pods.length > 0 ? `${plural(pods.length, "pod")} · ${working} working · ${usd(cost)} today` : "Loading…");
    const open = live.approvals.filter((a) => (a.podName ?? "").toLowerCase().includes(word));
    keyed(asks, open, (a) => `${a.pod} ${a.callSeq}`, ask);
    asks.hidden = questions.hidden = open.length === 0;
    // The questions above stand for their pods.
    const asking = new Set(open.map((a) => a.pod));
    keyed(list, rows(shown.filter((p) => !asking.has(p.pod.id))), (r) => (typeof r === "string" ? r : r.pod.id), (r) => (typeof r === "string" ? heading(r) : row(r)));
    say(none, empty(pods.length, shown.length, word));
    none.hidden = none.textContent === "";
  }
  draw();
  const ends = live.watch(draw);
  // Times grow old.
  const clock = setInterval(() => {
    for (const [id, p] of live.pods) live.pods.set(id, { ...p });
    draw();
  }, 30_000);
  return () => {
    ends();
    clearInterval(clock);
  };
}

/** @param {number} all @param {number} shown @param {string} word */
function empty(all, shown, word) {
  if (!live.complete) return "";
  if (all === 0) return "No pods yet. Create one on the machine of podd: podctl create NAME";
  return shown === 0 ? `No pod has “${word}” in its name or directory.` : "";
}

/** rows are pods below the headings of their groups. @param {Iterable<WatchedPod>} pods @returns {(WatchedPod | string)[]} */
export function rows(pods) {
  /** @type {(WatchedPod | string)[]} */
  const found = [];
  let group = -1;
  for (const p of sorted(pods)) {
    if (need(p) !== group) found.push(groups[(group = need(p))] ?? "");
    found.push(p);
  }
  return found;
}

/** @param {string} group */
function heading(group) {
  return el("h2", { class: "group" }, group);
}

/** ask is a waiting question; a tap opens it. @param {Approval} a */
function ask(a) {
  const name = a.podName || a.pod;
  return el(
    "a",
    { class: "ask-card", href: `#/ask/${name}/${a.callSeq}`, "data-row": true },
    el("span", { class: "who" }, icon("asks"), el("b", {}, name), el("span", { class: "when" }, `asked ${ago(a.time)}`)),
    el("span", { class: "question" }, a.question || `runs ${a.tool}`),
    el("span", { class: "go", "aria-hidden": "true" }, "Review"),
  );
}

/** row is a pod. @param {WatchedPod} p */
export function row(p) {
  const context = fill(p);
  const meter = el("span", { class: "meter" }, el("span", { class: "bar" }));
  if (context) /** @type {HTMLElement} */ (meter.firstChild).style.inlineSize = `${Math.max(3, context.share * 100)}%`;
  if (context && context.share > 0.8) meter.classList.add("full");
  return el(
    "a",
    { class: "row", href: `#/pod/${p.pod.name}`, "data-row": true, "data-state": state(p) },
    el("span", { class: "name" }, icon(state(p)), el("b", {}, p.pod.name)),
    // Of those that work, wait or do nothing, the heading says it.
    el("span", { class: "state" }, el("span", { class: need(p) === 1 ? "" : "unseen" }, state(p))),
    el("span", { class: "doing" }, doing(p)),
    el("span", { class: "dir", title: p.pod.spec?.dir ?? "" }, place(p)),
    el("span", { class: "elapsed", title: "how long the turn has run" }, elapsed(p)),
    el("span", { class: "context", title: context ? `context: ${context.text}` : "" }, context && meter, context && el("span", { class: "value" }, context.brief), context && el("span", { class: "unseen" }, " of the context")),
    el("span", { class: "cost", title: "cost today" }, today(p), today(p) && el("span", { class: "unseen" }, " today")),
  );
}
