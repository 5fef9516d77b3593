// What pods used: bars by day or by pod, and a table behind each.

import { el, say } from "../dom.js";
import { count, percent, short, usd } from "../format.js";
import { live } from "../live.js";
import { call } from "../rpc.js";
import { choice } from "./search.js";

/** @import { UsageSeries, UsageSum } from "../types.d.ts" */

const n = (/** @type {string | undefined} */ s) => Number(s ?? 0);

/**
 * Plot is one number of each day or pod.
 * @typedef {object} Plot
 * @property {string} name
 * @property {(s: UsageSum) => number} of
 * @property {(v: number) => string} text
 * @property {(all: UsageSum[]) => string} whole what all have together
 * @property {number} [top] where the scale ends; otherwise at the largest value
 * @property {[string, (s: UsageSum) => string][]} columns of its table
 */

const input = (/** @type {UsageSum} */ s) => n(s.usage?.inputTokens);
const cached = (/** @type {UsageSum} */ s) => n(s.usage?.cachedInputTokens);
const output = (/** @type {UsageSum} */ s) => n(s.usage?.outputTokens);
const total = (/** @type {UsageSum[]} */ all, /** @type {(s: UsageSum) => number} */ of) => all.reduce((sum, s) => sum + of(s), 0);

/** @type {Plot[]} */
const plots = [
  {
    name: "Cost",
    of: (s) => s.costUsd ?? 0,
    text: usd,
    whole: (all) => usd(total(all, (s) => s.costUsd ?? 0)),
    columns: [["cost", (s) => usd(s.costUsd)], ["requests", (s) => count(s.usage?.requests)], ["without a price", (s) => count(s.unpricedRequests)]],
  },
  {
    name: "Tokens",
    of: (s) => input(s) + output(s),
    text: short,
    whole: (all) => short(total(all, (s) => input(s) + output(s))),
    columns: [["in", (s) => count(input(s))], ["out", (s) => count(output(s))], ["reasoning", (s) => count(s.usage?.reasoningTokens)]],
  },
  {
    name: "Input from the cache",
    of: (s) => (input(s) ? cached(s) / input(s) : 0),
    text: (v) => percent(v, 1),
    whole: (all) => percent(total(all, cached), total(all, input)),
    top: 1,
    columns: [["cached", (s) => count(cached(s))], ["of", (s) => count(input(s))], ["share", (s) => percent(cached(s), input(s))]],
  },
  {
    name: "Largest context",
    of: (s) => n(s.largestInput),
    text: short,
    whole: (all) => short(Math.max(0, ...all.map((s) => n(s.largestInput)))),
    columns: [["tokens", (s) => count(s.largestInput)]],
  },
];

/** usage shows the plots. Its state is in the address. @param {HTMLElement} main @param {URLSearchParams} asked */
export function usage(main, asked) {
  const by = choice("By", [["by day", "DAY"], ["by pod", "POD"]], asked.get("by") ?? "DAY");
  const days = choice("Days", [["7 days", "7"], ["30 days", "30"], ["90 days", "90"], ["a year", "365"]], asked.get("days") ?? "30");
  const names = [...live.pods.values()].map((p) => p.pod.name).sort();
  const pod = choice("Pod", [["all pods", ""], ...names.map((x) => /** @type {[string, string]} */ ([x, x]))], asked.get("pod") ?? "");
  const status = el("p", { class: "sum", role: "status" }, "Loading…");
  const grid = el("div", { class: "plots" });
  main.append(el("header", { class: "head" }, el("h1", {}, "Usage"), status, el("div", { class: "filters line" }, by, days, pod)), grid);
  let asking = 0;

  async function run() {
    const mine = ++asking;
    const query = new URLSearchParams({ by: by.value, days: days.value, ...(pod.value && { pod: pod.value }) });
    history.replaceState(null, "", `#/usage?${query}`);
    try {
      /** @type {UsageSeries} */
      const series = await call("FleetService/GetUsageSeries", { pod: pod.value, days: Number(days.value), by: `USAGE_BY_${by.value}` });
      if (mine !== asking) return;
      const sums = series.sums ?? [];
      const missing = [...(series.damaged ?? []).map((p) => `${p} has a damaged log`), ...(series.purged ?? []).map((p) => `old entries of ${p} were removed`)];
      say(status, [`${series.firstDay} to ${series.lastDay}`, ...(missing.length > 0 ? [`not all is counted: ${missing.join(", ")}`] : [])].join("; "));
      grid.replaceChildren(...plots.map((p) => card(p, by.value === "DAY" ? everyDay(sums, series) : largest(sums, p), sums, by.value === "DAY")));
    } catch (e) {
      if (mine === asking) say(status, e instanceof Error ? e.message : String(e));
    }
  }
  for (const e of [by, days, pod]) e.addEventListener("change", run);
  void run();
  return () => void asking++;
}

/** everyDay has the days without requests too. @param {UsageSum[]} sums @param {UsageSeries} series */
function everyDay(sums, series) {
  const known = new Map(sums.map((s) => [s.day, s]));
  const all = [];
  const last = series.lastDay ?? "";
  for (const d = new Date(`${series.firstDay}T00:00Z`); all.length < 400; d.setUTCDate(d.getUTCDate() + 1)) {
    const day = d.toISOString().slice(0, 10);
    if (day > last) break;
    all.push(known.get(day) ?? { day });
  }
  return all;
}

/** largest are the pods with the most. @param {UsageSum[]} sums @param {Plot} p */
function largest(sums, p) {
  return sums.filter((s) => p.of(s) > 0).sort((a, b) => p.of(b) - p.of(a)).slice(0, 20);
}

/** @param {Plot} p @param {UsageSum[]} shown @param {UsageSum[]} all @param {boolean} byDay */
function card(p, shown, all, byDay) {
  const top = p.top ?? Math.max(...shown.map(p.of), 0);
  const name = (/** @type {UsageSum} */ s) => s.day || s.podName || s.pod || "";
  const label = `${p.name} ${byDay ? "by day" : "by pod"}: ${p.whole(all)}`;
  const plot = byDay ? columns(p, shown, top) : bars(p, shown, top, name);
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", `${label}. The table below has the numbers.`);
  const table = el(
    "table",
    {},
    el("caption", { class: "unseen" }, label),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, byDay ? "day" : "pod"), ...p.columns.map(([c]) => el("th", { scope: "col" }, c)))),
    el("tbody", {}, ...(byDay ? [...all].reverse() : [...all].sort((a, b) => p.of(b) - p.of(a))).map((s) => el("tr", {}, el("th", { scope: "row" }, name(s)), ...p.columns.map(([, f]) => el("td", {}, f(s)))))),
  );
  const box = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${p.name}, table` }, table);
  return el("section", { class: "plot" }, el("h2", {}, p.name), el("p", { class: "whole-sum" }, p.whole(all)), shown.length > 0 && top > 0 ? plot : el("p", { class: "empty" }, "Nothing in these days."), all.length > 0 && el("details", {}, el("summary", {}, "Table"), box));
}

/** columns are bars side by side, a day each. @param {Plot} p @param {UsageSum[]} shown @param {number} top */
function columns(p, shown, top) {
  const box = el("div", { class: "columns" });
  for (const s of shown) {
    const v = p.of(s);
    const bar = el("span", { class: "bar" });
    bar.style.blockSize = top > 0 && v > 0 ? `${Math.max(1.5, (v / top) * 100)}%` : "0";
    box.append(el("span", { class: "column", title: `${s.day}: ${p.text(v)}` }, bar));
  }
  const first = shown[0]?.day ?? "";
  const last = shown[shown.length - 1]?.day ?? "";
  return el("div", { class: "chart" }, el("span", { class: "top-value" }, p.text(top)), box, el("div", { class: "axis" }, el("span", {}, first), el("span", {}, last)));
}

/** bars are below each other, a pod each. @param {Plot} p @param {UsageSum[]} shown @param {number} top @param {(s: UsageSum) => string} name */
function bars(p, shown, top, name) {
  const box = el("div", { class: "bars" });
  for (const s of shown) {
    const bar = el("span", { class: "bar" });
    bar.style.inlineSize = `${Math.max(0.5, (p.of(s) / top) * 100)}%`;
    box.append(el("span", { class: "of" }, name(s)), el("span", { class: "lane" }, bar), el("span", { class: "value" }, p.text(p.of(s))));
  }
  return box;
}
