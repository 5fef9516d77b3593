// Alerts: what podd wants a person to know.

import { device } from "../device.js";
import { el, icon, keyed, say } from "../dom.js";
import { clock, plural } from "../format.js";
import { live } from "../live.js";
import { enabled, turnOn } from "../notify.js";
import { call } from "../rpc.js";
import { toast } from "../tell.js";

/** @import { Alert } from "../types.d.ts" */

/** alerts shows those that nobody has acknowledged. @param {HTMLElement} main */
export function alerts(main) {
  const sum = el("p", { class: "sum", role: "status" });
  const all = el("button", { type: "button", onclick: () => acknowledge(live.news.map((a) => a.seq)) }, "Acknowledge all");
  const notify = el("button", { type: "button", class: "quiet", onclick: () => turnOn().then(draw) }, "Notify me while the page is open");
  const list = el("ol", { class: "alerts" });
  main.append(el("header", { class: "head" }, el("h1", {}, "Alerts"), sum, el("div", { class: "line" }, all, notify)), list);

  function draw() {
    const shown = live.news;
    say(sum, shown.length > 0 ? `${plural(shown.length, "alert")} not acknowledged` : live.complete ? "Nothing to acknowledge." : "Loading…");
    all.hidden = shown.length === 0 || !device.may("answer");
    all.disabled = Boolean(live.away);
    notify.hidden = enabled() || !("Notification" in globalThis) || Notification.permission === "denied";
    // An alert may come before its pod.
    keyed(list, shown, (a) => `${a.seq} ${named(a)}`, row);
  }
  draw();
  return live.watch(draw);
}

/** named is whom an alert is about. @param {Alert} a */
function named(a) {
  return a.pod ? (live.pods.get(a.pod)?.pod.name ?? "") : "podd";
}

/** @param {Alert} a */
function row(a) {
  const level = (a.level ?? "").replace("ALERT_LEVEL_", "").toLowerCase();
  const name = named(a);
  const times = Number(a.count ?? 1);
  return el(
    "li",
    { "data-level": level },
    el("div", { class: "who" }, icon(`level-${level}`), el("span", { class: "tag" }, level), a.pod && name ? el("a", { href: `#/pod/${name}`, "data-row": true }, name) : el("span", {}, name), el("time", { datetime: a.time, class: "when" }, `${clock(a.time)}${times > 1 ? `, ${times} times` : ""}`)),
    el("p", {}, a.text ?? ""),
    device.may("answer") && el("button", { type: "button", class: "small", onclick: () => acknowledge([a.seq]), "aria-label": `Acknowledge alert ${a.seq}` }, "Acknowledge"),
  );
}

/** @param {string[]} seqs */
async function acknowledge(seqs) {
  try {
    await call("AlertService/AckAlerts", { seqs });
    for (const seq of seqs) live.alerts.delete(seq);
    live.changed();
  } catch (e) {
    toast(e instanceof Error ? e.message : String(e), "bad");
  }
}
