// The triggers of a pod: when each is due, and what became of each time that it was.

import { device } from "../device.js";
import { become, el, say } from "../dom.js";
import { clock, plural, usd } from "../format.js";
import { live } from "../live.js";
import { call } from "../rpc.js";
import { toast } from "../tell.js";

/** @import { Receipt, Trigger } from "../types.d.ts" */

/** How many receipts of each are shown, the newest first. */
const most = 20;

/** list are the triggers of a pod. @param {string} pod @returns {Promise<Trigger[]>} */
export const list = async (pod) => (await call("TriggerService/ListTriggers", { pod })).triggers ?? [];

/** triggers shows them. @param {HTMLElement} main @param {string} name */
export function triggers(main, name) {
  const sum = el("p", { class: "sum", role: "status" }, "Loading…");
  const all = el("div", {});
  main.append(el("header", { class: "head" }, el("div", { class: "title" }, el("a", { class: "back", href: `#/pod/${name}`, "aria-label": `Back to ${name}` }, "‹"), el("h1", {}, `Triggers of ${name}`)), sum), all);
  let asking = 0;
  let seen = "";

  async function run() {
    const mine = ++asking;
    try {
      const found = await list(name);
      const receipts = await Promise.all(found.map(async (t) => /** @type {Receipt[]} */ ((await call("TriggerService/ListReceipts", { pod: t.pod, name: t.name, limit: most })).receipts ?? [])));
      if (mine !== asking) return;
      say(sum, found.length > 0 ? plural(found.length, "trigger") : "No triggers. Add one with podctl trigger add.");
      become(all, el("div", {}, ...found.map((t, i) => shown(t, receipts[i] ?? [], run))));
    } catch (e) {
      if (mine === asking) say(sum, e instanceof Error ? e.message : String(e));
    }
  }
  // What a trigger did is an entry of its pod.
  const look = () => {
    const now = JSON.stringify([live.named(name)?.pod.lastSeq, Boolean(live.away)]);
    if (now !== seen && !live.away) void run();
    seen = now;
  };
  look();
  const stop = live.watch(look);
  return () => {
    asking++;
    stop();
  };
}

/** @param {Trigger} t @param {Receipt[]} receipts @param {() => void} again */
function shown(t, receipts, again) {
  const state = t.paused ? `paused: ${t.paused}` : t.next ? `next due ${clock(t.next)}` : "on";
  const pause = async () => {
    try {
      await call("TriggerService/PauseTrigger", { pod: t.pod, name: t.name, resume: Boolean(t.paused) });
    } catch (e) {
      toast(e instanceof Error ? e.message : String(e), "bad");
    }
    again();
  };
  return el(
    "section",
    { class: "trigger" },
    el("h2", { class: "group" }, t.name),
    el("p", { class: "facts" }, ...[t.condition, state, `today ${t.firesToday ?? 0}, ${usd(t.spentTodayUsd)}`].map((fact) => el("span", {}, fact))),
    el("p", {}, t.spec?.prompt),
    device.may("control") && el("button", { type: "button", class: "small", "aria-label": `${t.paused ? "Resume" : "Pause"} trigger ${t.name}`, disabled: Boolean(live.away), onclick: pause }, t.paused ? "Resume" : "Pause"),
    receipts.length > 0 && el("ul", { class: "receipts" }, ...receipts.reverse().map(receipt)),
  );
}

/** @param {Receipt} r */
function receipt(r) {
  const what = (r.kind ?? "").replace("RECEIPT_KIND_", "").toLowerCase();
  const words = [Number(r.count ?? 1) > 1 && plural(Number(r.count), "time"), what, r.outcome, r.cause].filter(Boolean).join(", ");
  const turn = Number(r.submittedSeq ?? 0) > 0 && el("a", { href: `#/pod/${r.podName}/${r.submittedSeq}` }, Number(r.turn ?? 0) > 0 ? `turn ${r.turn}` : r.podName);
  return el("li", {}, el("time", { datetime: r.due }, clock(r.due)), " ", words, " ", turn);
}
