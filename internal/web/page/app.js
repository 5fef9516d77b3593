// The page: its frame, its addresses and its keys.

import { el, keyed, say } from "./dom.js";
import { sorted } from "./fleet.js";
import { clock, plural } from "./format.js";
import { live } from "./live.js";
import { device } from "./device.js";
import * as notify from "./notify.js";
import { said, toasts } from "./tell.js";
import { alerts } from "./views/alerts.js";
import { ask } from "./views/ask.js";
import { files } from "./views/files.js";
import { fleet, row } from "./views/fleet.js";
import { code, pair } from "./views/pair.js";
import { pod } from "./views/pod.js";
import { search } from "./views/search.js";
import { triggers } from "./views/triggers.js";
import { usage } from "./views/usage.js";

const places = /** @type {const} */ ([["#/", "Fleet"], ["#/search", "Search"], ["#/usage", "Usage"], ["#/alerts", "Alerts"]]);

const banner = el("p", { class: "banner", role: "status", hidden: true });
const side = el("aside", { class: "side", "aria-label": "Pods" });
const main = el("main", { id: "main", tabindex: "-1" });
const links = places.map(([href, name]) => el("a", { href, "data-place": name.toLowerCase() }, el("span", { class: `icon place-${name.toLowerCase()}`, "aria-hidden": "true" }), el("span", { class: "label" }, name), el("span", { class: "badge", hidden: true })));
const top = el("header", { class: "top" }, el("a", { class: "brand", href: "#/", "aria-label": "podd: the fleet" }, "podd"), el("nav", { "aria-label": "Places" }, ...links), banner);

/** Ends the view that is shown. */
let leave = () => {};
/** @type {string | undefined} */
let shownAt;

/** route shows the view of the address. */
function route() {
  const [path = "", query = ""] = location.hash.replace(/^#/, "").split("?");
  const [, place = "", name = "", seq = ""] = path.split("/").map(decodeURIComponent);
  const first = shownAt === undefined;
  shownAt = path;
  leave();
  main.replaceChildren();
  main.className = place || "fleet-view";
  document.body.dataset["view"] = place || "fleet";
  document.title = name ? `${name} · podd` : place ? `${place} · podd` : "podd";
  scrollTo(0, 0);
  leave = view(place, name, seq, new URLSearchParams(query));
  if (!first && document.activeElement !== main && !main.contains(document.activeElement)) main.focus({ preventScroll: true });
  frame();
}

/** @param {string} place @param {string} name @param {string} seq @param {URLSearchParams} query @returns {() => void} */
function view(place, name, seq, query) {
  switch (place) {
    case "pod":
      return pod(main, name, Number(seq) || 0);
    case "ask":
      return ask(main, name, seq);
    case "files":
      return files(main, name, query);
    case "triggers":
      return triggers(main, name);
    case "search":
      return search(main, query);
    case "usage":
      return usage(main, query);
    case "alerts":
      return alerts(main);
  }
  return fleet(main);
}

const wide = matchMedia("(min-width: 1080px)");

/** inPod says whether a view is of one pod. @param {string | undefined} view */
const inPod = (view) => view === "pod" || view === "ask" || view === "files" || view === "triggers";

/** frame draws what is around the view. */
function frame() {
  const view = document.body.dataset["view"];
  for (const link of links) {
    const place = link.dataset["place"];
    if (place === view || (place === "fleet" && inPod(view))) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    const n = place === "fleet" ? live.approvals.length : place === "alerts" ? live.news.length : 0;
    const badge = /** @type {HTMLElement} */ (link.querySelector(".badge"));
    say(badge, n > 99 ? "99+" : String(n));
    badge.hidden = n === 0;
    badge.title = n ? plural(n, place === "fleet" ? "question" : "alert") : "";
  }
  banner.hidden = !live.away && !live.ended;
  if (live.ended) say(banner, `${live.ended.message}; load the page again to pair this browser`);
  else if (live.away) say(banner, `podd is away since ${clock(live.away)}; the page goes on when it is back.`);
  document.body.classList.toggle("is-away", Boolean(live.away));
  const split = wide.matches && inPod(view);
  if (split) {
    const current = shownAt?.split("/")[2];
    keyed(side, sorted(live.pods.values()).slice(0, 300), (p) => p.pod.id, row);
    for (const e of side.children) e.toggleAttribute("aria-current", e.getAttribute("href") === `#/pod/${current}`);
  }
  const waits = live.approvals.length;
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = waits ? `(${waits}) ${title}` : title;
}

/** The keys and what they do. */
const keys = [["/", "search, or filter the fleet"], ["j, k", "next, previous row"], ["Enter", "open the row"], ["g", "the fleet"], ["i", "write to the pod"], ["?", "this list"], ["Esc", "leave a field or this list"]];

const help = el("dialog", { class: "help", "aria-label": "Keys" }, el("h2", {}, "Keys"), el("dl", {}, ...keys.flatMap(([key, does]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, does)])), el("form", { method: "dialog" }, el("button", {}, "Close")));

/** @param {KeyboardEvent} e */
function pressed(e) {
  const typing = e.target instanceof HTMLElement && e.target.matches("input:not([type=checkbox]), textarea, select");
  if (e.key === "Escape" && typing) return /** @type {HTMLElement} */ (e.target).blur();
  if (typing || e.ctrlKey || e.metaKey || e.altKey || help.open) return;
  switch (e.key) {
    case "/": {
      const field = /** @type {HTMLElement | null} */ (main.querySelector("[data-find]"));
      if (field) field.focus();
      else location.hash = "#/search";
      break;
    }
    case "j":
    case "k": {
      const rows = /** @type {HTMLElement[]} */ ([...main.querySelectorAll("[data-row]")]);
      const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
      const next = at < 0 ? (e.key === "j" ? 0 : rows.length - 1) : at + (e.key === "j" ? 1 : -1);
      rows[next]?.focus();
      if (rows.length === 0) scrollBy({ top: e.key === "j" ? 120 : -120 });
      break;
    }
    case "g":
      location.hash = "#/";
      break;
    case "i":
      /** @type {HTMLElement | null} */ (main.querySelector("[data-write]"))?.focus();
      break;
    case "?":
      help.showModal();
      break;
    default:
      return;
  }
  e.preventDefault();
}

async function start() {
  const app = document.getElementById("app");
  if (!app) return;
  app.replaceChildren(top, side, main, said, toasts, help);
  document.body.dataset["view"] = "pair";
  const given = code();
  if (given || !(await device.ready())) await pair(main, given);
  main.replaceChildren();
  live.watch(frame);
  live.start();
  notify.start();
  addEventListener("hashchange", route);
  addEventListener("keydown", pressed);
  wide.addEventListener("change", frame);
  // What stays at the top stands below the bar, which grows by what it says.
  new ResizeObserver(() => document.body.style.setProperty("--top", `${top.offsetHeight}px`)).observe(top);
  route();
}

void start();
