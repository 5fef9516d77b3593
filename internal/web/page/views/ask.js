// A question: the whole call, and two answers; or its form.

import { device } from "../device.js";
import { el, exact, icon, say } from "../dom.js";
import { ago, plural, until } from "../format.js";
import { live, question } from "../live.js";
import { RpcError, call } from "../rpc.js";
import { announce, toast } from "../tell.js";
import { argumentsOf, fileDiff } from "../transcript/blocks.js";
import { pieces } from "../visible.js";
import { form } from "./form.js";

/** @import { Approval, ResolveApproval } from "../types.d.ts" */

/** How long all of a call must have been on the screen before it can be approved, in milliseconds. */
const look = 500;

/** ask shows the question about the call at a sequence of a pod's log. @param {HTMLElement} main @param {string} name @param {string} seq */
export function ask(main, name, seq) {
  /** @type {Approval | undefined} */
  let shown;
  /** What was shown last. */
  let was = "";
  let answering = false;
  let stopWatching = () => {};
  const box = el("div", { class: "ask" });
  main.append(box);

  function see() {
    const now = live.approvals.find((a) => (a.podName === name || a.pod === name) && a.callSeq === seq);
    if (now && (!shown || question(now) !== question(shown))) {
      const changed = was !== "" && was !== question(now);
      shown = now;
      was = question(now);
      answering = false;
      stopWatching();
      stopWatching = now.form
        ? form(box, now, changed, (r) => answer(now, r.dismiss ? { dismiss: true } : { approve: true, replies: r.replies }, r.dismiss ? "Left to the model" : "Answered"))
        : show(box, now, changed, (approve, reason) => answer(now, { approve, reason }, approve ? "Approved" : "Denied"));
      if (changed) announce(`The ${now.form ? "question" : "call"} has changed. Look at it again.`);
    } else if (!now && live.complete && !answering && box.dataset["over"] === undefined) {
      over("The question is no longer open.");
    }
    for (const b of box.querySelectorAll("button")) if (live.away) b.disabled = true;
  }

  /** @param {string} why */
  function over(why) {
    if (box.dataset["over"] === why) return;
    box.dataset["over"] = why;
    stopWatching();
    shown = undefined;
    const others = live.approvals.length;
    box.replaceChildren(
      el("h1", {}, why),
      el("p", {}, el("a", { href: `#/pod/${name}` }, `Open ${name}`), " · ", el("a", { href: "#/" }, others ? `${plural(others, "question")} left` : "Back to the fleet")),
    );
  }

  /** answer sends one; done says what it is. @param {Approval} a @param {ResolveApproval} how @param {string} done */
  async function answer(a, how, done) {
    answering = true;
    try {
      await call("ApprovalService/ResolveApproval", { pod: a.pod, callSeq: a.callSeq, ...how, digest: a.digest, client: "web" });
      toast(`${done}: ${a.tool} of ${a.podName ?? name}`);
      live.approvals = live.approvals.filter((other) => question(other) !== question(a));
      live.changed();
      const next = live.approvals[0];
      location.hash = next ? `#/ask/${next.podName || next.pod}/${next.callSeq}` : `#/pod/${name}`;
    } catch (e) {
      answering = false;
      const failure = e instanceof RpcError ? e : new RpcError("unknown", String(e), "");
      if (failure.reason === "APPROVAL_CHANGED") await live.ask();
      else if (["ALREADY_ANSWERED", "APPROVAL_RESOLVED", "APPROVAL_EXPIRED", "APPROVAL_WITHDRAWN", "APPROVAL_NOT_FOUND"].includes(failure.reason)) {
        // podd says who was first, which stays.
        live.approvals = live.approvals.filter((other) => question(other) !== question(a));
        live.changed();
        over(failure.message);
      } else {
        toast(failure.away ? "podd did not answer; the question may still be open" : failure.message, "bad");
        // The same call, seen anew. A form keeps what the person wrote.
        if (!a.form) shown = undefined;
      }
      see();
    }
  }
  see();
  const ends = live.watch(see);
  return () => {
    ends();
    stopWatching();
  };
}

/** show draws a question. @param {HTMLElement} box @param {Approval} a @param {boolean} changed @param {(approve: boolean, reason: string) => void} answer @returns {() => void} ends it */
function show(box, a, changed, answer) {
  const hidden = hiddenIn(a);
  const previews = a.previews ?? [];
  const name = a.podName || a.pod;
  const content = el(
    "div",
    { class: "whole" },
    changed && el("p", { class: "warning", role: "alert" }, "The call has changed since you saw it. Look at it again."),
    el("h1", {}, `${name} asks: ${a.tool}`),
    el("p", { class: "facts" }, el("a", { href: `#/pod/${name}` }, "Open the pod"), el("span", {}, `asked ${ago(a.time)}`), a.expires && el("span", {}, `expires in ${until(a.expires)}`)),
    hidden > 0 && el("p", { class: "warning" }, `${plural(hidden, "hidden character")}, shown as code`),
    // What a file becomes says all that the arguments do.
    ...previews.filter((p) => !p.runs).map(preview),
    ...(previews.length && !previews.some((p) => p.omitted || p.runs) ? [] : argumentsOf(a.arguments ?? "")),
    ...previews.filter((p) => p.runs).map(preview),
    a.question && el("p", { class: "question" }, ...exact(a.question)),
  );
  const raw = el(
    "details",
    { class: "raw" },
    el("summary", {}, "As JSON"),
    el("pre", { tabindex: "0" }, ...exact(a.arguments ?? "")),
    el("p", { class: "digest" }, el("span", {}, "SHA-256 of the call, which your answer is bound to: "), el("code", {}, hex(a.digest ?? ""))),
  );
  const status = el("p", { class: "status", role: "status" });
  const yes = el("button", { type: "button", class: "primary yes", disabled: true }, icon("done"), "Approve");
  const no = el("button", { type: "button", class: "no" }, icon("failed"), "Deny");
  const reason = el("input", { type: "text", class: "reason", placeholder: "If you deny: why? The model reads it.", "aria-label": "Reason of a denial" });
  const foot = el("footer", { class: "answers" }, status, device.may("answer") ? el("div", { class: "line" }, no, yes) : el("p", {}, "This device may only view."));
  for (const [button, approve] of /** @type {const} */ ([[yes, true], [no, false]])) {
    button.addEventListener("click", () => {
      yes.disabled = no.disabled = true;
      say(status, "podd is asked…");
      answer(approve, approve ? "" : reason.value.trim());
    });
  }
  delete box.dataset["over"];
  box.replaceChildren(content, el("div", { class: "more" }, device.may("answer") && reason, raw), foot);
  scrollTo(0, 0);
  return whenSeen(content, foot, (ready, share) => {
    yes.disabled = !ready || Boolean(live.away);
    no.disabled = Boolean(live.away);
    say(status, ready ? "" : share < 1 ? `Read all of it to approve: ${Math.floor(share * 100)} % seen` : "");
  });
}

/** @param {import("../types.d.ts").Preview} p */
function preview(p) {
  const moves = p.deletes ? " is deleted" : p.movesTo ? ` moves to ${p.movesTo}` : "";
  const e = fileDiff({ path: `${p.runs ? "runs " : ""}${p.path ?? ""}${moves}`, diff: p.diff }, [], p.omitted ? "" : p.runs ? "The file is empty." : undefined);
  if (p.omitted) e.append(el("p", { class: "warning" }, p.omitted));
  return e;
}

/**
 * whenSeen tells when all of an element has been on the screen, piece by piece from its top,
 * and then for half a second. Another size begins anew.
 * @param {HTMLElement} content
 * @param {HTMLElement} foot what covers the lower end of the screen
 * @param {(ready: boolean, share: number) => void} tell
 */
export function whenSeen(content, foot, tell) {
  let seen = 0;
  let size = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let ready = false;
  function see() {
    const at = content.getBoundingClientRect();
    const now = `${Math.round(at.width)} ${Math.round(at.height)}`;
    if (now !== size) {
      [seen, size, ready] = [0, now, false];
      clearTimeout(timer);
      timer = undefined;
    }
    if (document.visibilityState !== "visible") return;
    const from = (document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0) - at.top;
    const to = Math.min(foot.getBoundingClientRect().top, innerHeight) - at.top;
    // A jump leaves a piece out: it has to be seen too.
    if (from <= seen + 1) seen = Math.max(seen, Math.min(to, at.height));
    const all = seen >= at.height - 1;
    content.dataset["seen"] = String(all ? 100 : Math.floor((100 * Math.max(0, seen)) / at.height));
    if (all && !ready) timer ??= setTimeout(() => tell((ready = true), 1), look);
    tell(ready, all ? 1 : Math.max(0, seen / at.height));
  }
  const observer = new ResizeObserver(see);
  observer.observe(content);
  observer.observe(foot);
  addEventListener("scroll", see, { passive: true });
  addEventListener("resize", see);
  document.addEventListener("visibilitychange", see);
  return () => {
    observer.disconnect();
    clearTimeout(timer);
    removeEventListener("scroll", see);
    removeEventListener("resize", see);
    document.removeEventListener("visibilitychange", see);
  };
}

/** hiddenIn counts the hidden characters of a call. @param {Approval} a */
function hiddenIn(a) {
  const count = (/** @type {unknown} */ v) => Math.floor(pieces(typeof v === "string" ? v : JSON.stringify(v) ?? "").length / 2);
  let n = 0;
  try {
    for (const [name, v] of Object.entries(JSON.parse(a.arguments ?? ""))) n += count(name) + count(v);
  } catch {
    n += count(a.arguments ?? "");
  }
  for (const p of a.previews ?? []) n += count(p.diff ?? "") + count(p.path ?? "");
  return n;
}

/** hex is base64 in hexadecimal, in groups. @param {string} base64 */
function hex(base64) {
  return Array.from(atob(base64), (c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join("").replace(/(.{8})(?=.)/g, "$1 ");
}
