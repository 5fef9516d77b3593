// What the page says outside of its views.

import { el, say } from "./dom.js";

/** What announce says, for those who listen. */
export const said = el("div", { class: "unseen", role: "status", "aria-live": "polite" });

/** What toast says. */
export const toasts = el("div", { class: "toasts", role: "status", "aria-live": "polite" });

/** announce tells those who listen to the page. @param {string} text */
export function announce(text) {
  say(said, text);
}

/** toast says something for a while. @param {string} text @param {"good" | "bad"} [kind] */
export function toast(text, kind = "good") {
  const e = el("p", { class: `toast ${kind}` }, text);
  toasts.append(e);
  setTimeout(() => e.remove(), 6000);
}
