// A pod: its transcript, what it writes now, and a line to write to it.

import { device } from "../device.js";
import { become, el, icon, say } from "../dom.js";
import { doing, elapsed, fill, place, state, today } from "../fleet.js";
import { live } from "../live.js";
import { RpcError, call } from "../rpc.js";
import { announce, toast } from "../tell.js";
import { Offers } from "./offers.js";
import { list as triggersOf } from "./triggers.js";
import { Written, parts } from "../transcript/written.js";
import { draw, ending } from "../transcript/blocks.js";
import { Transcript } from "../transcript/fold.js";

/** @import { Block, StreamResponse, WatchedPod } from "../types.d.ts" */
/** @import { Around, FileDiff } from "../transcript/blocks.js" */

/** How many entries are read at first, and more at each look further back. */
const page = 400;
/** What was written and not sent, by pod. @type {Map<string, { text: string, pasted: number[] }>} */
const drafts = new Map();

/** pod shows one. @param {HTMLElement} main @param {string} name @param {number} at an entry to show, or 0 for the end */
export function pod(main, name, at) {
  const head = el("header", { class: "head pod-head" });
  let triggers = false;
  const more = el("button", { type: "button", class: "quiet earlier", hidden: true }, "Show earlier entries");
  const list = el("div", { class: "transcript", role: "log", "aria-live": "off", "aria-label": `Transcript of ${name}` });
  const note = el("p", { class: "empty" }, "Loading…");
  const down = el("button", { type: "button", class: "down", hidden: true, onclick: () => toEnd() }, "Latest");
  const foot = el("footer", { class: "composer" }, down);
  main.append(head, more, list, note, foot);
  const writing = composer(foot, name);
  const log = new Log(list, name);
  let ends = () => {};
  let id = "";

  /** @param {number} after */
  function follow(after) {
    log.begin(after, at);
    more.hidden = after === 0;
    ends();
    ends = live.follow(id, after, {
      take: (m) => log.take(m, () => say(note, log.empty() ? "Nothing yet. Write to the pod below." : "")),
      lost: () => log.lost(),
      again: (first) => log.begin(first, 0),
      failed: (e) => say(note, e.message),
    });
  }
  more.addEventListener("click", () => {
    at = log.first();
    follow(Math.max(0, log.after - page));
  });

  function look() {
    const p = live.named(name);
    if (!p) {
      if (!live.complete) return;
      head.replaceChildren(title(name));
      say(note, `No pod has the name ${name}: choose one in the fleet.`);
      return;
    }
    if (!id) {
      id = p.pod.id;
      triggersOf(name).then((all) => {
        triggers = all.length > 0;
        look();
      }, () => {});
      const last = Number(p.pod.lastSeq ?? 0);
      const from = at ? at - 40 : last - page;
      follow(from <= Number(p.pod.firstSeq ?? 0) ? 0 : from);
    }
    header(head, p, triggers);
    writing(p);
  }
  look();
  const stop = live.watch(look);
  let end = true;
  const scrolled = () => (end = down.hidden = atEnd());
  addEventListener("scroll", scrolled, { passive: true });
  // The end stays in view when the window changes its size.
  const resized = () => end && toEnd();
  addEventListener("resize", resized);
  return () => {
    stop();
    ends();
    log.end();
    removeEventListener("scroll", scrolled);
    removeEventListener("resize", resized);
  };
}

const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 60;
const toEnd = () => scrollTo({ top: document.documentElement.scrollHeight });

/** Log draws a pod's transcript, at most once a frame. */
class Log {
  after = 0;
  #transcript = new Transcript();
  /** @type {Map<string, HTMLElement>} */
  #shown = new Map();
  /** @type {Map<string, Block | undefined>} */
  #changed = new Map();
  /** What calls changed, by the ids of the calls. @type {Map<string, FileDiff[]>} */
  #diffs = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  #rest = 16;
  /** @type {Around} */
  #around = { ask: (b) => review(b, this.pod), diffs: (b) => this.#diffs.get(b.call?.id ?? "") };
  #at = 0;
  #caught = false;

  /** @param {HTMLElement} list @param {string} pod */
  constructor(list, pod) {
    this.list = list;
    this.pod = pod;
  }

  /** begin forgets all, and shows the entry at a sequence, or the end. @param {number} after @param {number} at */
  begin(after, at) {
    this.end();
    this.after = after;
    this.#at = at;
    this.#caught = false;
    this.#transcript = new Transcript();
    this.#shown.clear();
    this.#changed.clear();
    this.list.replaceChildren();
  }

  end() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  lost() {
    this.#transcript.lost();
  }

  empty() {
    return this.#transcript.all().length === 0;
  }

  /** first is the sequence of the first block. */
  first() {
    return Number(/** @type {HTMLElement | null} */ (this.list.firstElementChild)?.dataset["seq"] ?? 0);
  }

  /** @param {StreamResponse} m @param {() => void} caught is called once all is there */
  take(m, caught) {
    const result = m.entry?.item?.toolResult;
    if (result?.diffs && result.callId) this.#diffs.set(result.callId, result.diffs);
    const change = this.#transcript.take(m);
    for (const id of change.drop) this.#changed.set(id, undefined);
    for (const b of change.put) {
      // A prompt stands where its turn took it, not where it began to wait.
      if (b.kind === "user") this.#changed.delete(b.id);
      this.#changed.set(b.id, b.state === "lost" ? undefined : b);
    }
    const ended = change.put.find((b) => b.kind === "end");
    if (ended && this.#caught) announce(`${this.pod}: ${ending(ended)}`);
    if (m.caughtUp) {
      this.#caught = true;
      this.#flush();
      caught();
    } else if (this.#caught) {
      this.#timer ??= setTimeout(() => this.#flush(), this.#rest);
    }
  }

  /** flush draws what has changed. It rests four times as long as that took: a growing answer is parsed from its beginning. */
  #flush() {
    this.end();
    const began = performance.now();
    const follow = atEnd() || this.#shown.size === 0;
    const rest = document.createDocumentFragment();
    for (const [id, b] of this.#changed) {
      const before = this.#shown.get(id);
      if (!b) {
        before?.remove();
        this.#shown.delete(id);
        continue;
      }
      const fresh = draw(b, this.#around, before);
      if (before && !waits(before)) {
        this.#shown.set(id, become(before, fresh));
      } else {
        before?.remove();
        rest.append(fresh);
        this.#shown.set(id, fresh);
      }
    }
    this.list.append(rest, ...[...this.#shown.values()].filter(waits));
    this.#changed.clear();
    if (this.#at) this.#show(this.#at);
    else if (follow) toEnd();
    this.#rest = Math.max(16, 4 * (performance.now() - began));
  }

  /** show brings the block of an entry to the screen. @param {number} seq */
  #show(seq) {
    this.#at = 0;
    let found;
    for (const e of this.#shown.values()) if (at(e) > 0 && at(e) <= seq && at(e) > (found ? at(found) : 0)) found = e;
    if (!found) return;
    found.classList.add("found");
    found.scrollIntoView({ block: "center" });
  }
}

/** @param {HTMLElement} e */
const at = (e) => Number(e.dataset["seq"]);
/** waits says whether a block is a prompt that no turn has taken. @param {HTMLElement} e */
const waits = (e) => e.dataset["state"] === "queued";

/** review leads to the question about a call. @param {Block} b @param {string} pod */
function review(b, pod) {
  const { text = "The call waits for an answer.", call_seq = b.seq } = b.call?.question ?? {};
  return el("a", { class: "ask-card", href: `#/ask/${pod}/${call_seq}` }, el("span", { class: "question" }, text), el("span", { class: "go" }, "Review"));
}

/** title is the first line of a pod's head. @param {string} name @param {...HTMLElement} more */
function title(name, ...more) {
  return el("div", { class: "title" }, el("a", { class: "back", href: "#/", "aria-label": "Back to the fleet" }, "‹"), el("h1", {}, name), ...more);
}

/** header is what is known of the pod. @param {HTMLElement} head @param {WatchedPod} p @param {boolean} triggers whether it has some */
function header(head, p, triggers) {
  const context = fill(p);
  // Each with what a narrow screen leaves out.
  const facts = [
    [place(p)],
    ["", p.pod.spec?.model],
    [p.pod.node && `on ${p.pod.node}`],
    [p.pod.queued && `${p.pod.queued} queued`],
    context ? [`context ${context.brief}`, context.text.slice(context.brief.length)] : [],
    [today(p) && `${today(p)} today`],
    [elapsed(p) && `turn ${p.pod.turn}, ${elapsed(p)}`],
  ].filter(([text, more]) => text || more);
  become(
    head,
    el(
      "header",
      { class: head.className },
      title(p.pod.name, el("span", { class: "chip", "data-state": state(p) }, icon(state(p)), state(p)), el("span", { class: "doing" }, doing(p))),
      el("p", { class: "facts" }, ...facts.map(([text, more]) => el("span", { class: text ? "" : "more" }, text, text && more && el("span", { class: "more" }, more), !text && more))),
      el("div", { class: "acts" }, el("a", { class: "button small", href: `#/files/${p.pod.name}`, "data-act": "files" }, "Changes"), triggers && el("a", { class: "button small", href: `#/triggers/${p.pod.name}`, "data-act": "triggers" }, "Triggers"), ...(device.may("control") ? acts(p) : [])),
    ),
  );
}

/** @param {WatchedPod} p */
function acts(p) {
  const busy = ["POD_STATE_RUNNING", "POD_STATE_WAITING", "POD_STATE_RESUMING"].includes(p.pod.state ?? "");
  const paused = p.pod.pause || p.pod.state === "POD_STATE_PAUSED" || p.pod.state === "POD_STATE_INTERRUPTED";
  const act = (/** @type {string} */ name, /** @type {string} */ method) =>
    el("button", { type: "button", class: "small", "data-act": method, disabled: Boolean(live.away), onclick: () => tell(method, { pod: p.pod.id }) }, name);
  return [paused ? act("Resume", "Resume") : act("Pause", "Pause"), busy && act("Cancel turn", "Cancel")];
}

/** @param {string} method @param {object} request */
async function tell(method, request) {
  try {
    await call(`PodService/${method}`, request);
  } catch (e) {
    toast(e instanceof Error ? e.message : String(e), "bad");
  }
}

/** composer is the line to write. @param {HTMLElement} foot @param {string} name @returns {(p: WatchedPod) => void} shows a pod's state */
function composer(foot, name) {
  const input = el("textarea", { rows: "1", "aria-label": `Write to ${name}`, placeholder: `Write to ${name}`, "data-write": true });
  const send = el("button", { type: "submit", class: "primary" }, "Send");
  const steer = el("input", { type: "checkbox", id: "steer" });
  const choice = el("label", { class: "steer", hidden: true, title: "The running turn reads it at its next step. Otherwise it waits for the end of the turn." }, steer, " Join the running turn");
  const form = el("form", { hidden: true, onsubmit: (/** @type {Event} */ e) => (e.preventDefault(), submit()) }, input, el("div", { class: "line" }, choice, send));
  const written = new Written(input);
  const offers = new Offers((text) => {
    written.put(text, []);
    input.focus();
    changed();
  });
  const changed = () => {
    grow();
    offers.typed(id, input.value);
  };
  offers.again = changed;
  foot.append(offers.element, form);
  const draft = drafts.get(name);
  if (draft) written.put(draft.text, draft.pasted);
  const grow = () => {
    input.style.blockSize = "auto";
    input.style.blockSize = `${Math.min(input.scrollHeight + 2, 200)}px`;
    drafts.set(name, { text: input.value, pasted: written.pasted() });
  };
  input.addEventListener("input", changed);
  input.addEventListener("keydown", (e) => {
    if (offers.key(e, input.value)) return e.preventDefault(), e.stopPropagation();
    // A phone's Enter begins a line.
    if (e.key !== "Enter" || e.isComposing || (matchMedia("(pointer: coarse)").matches && !e.ctrlKey) || e.shiftKey) return;
    e.preventDefault();
    submit();
  });
  let id = "";

  function submit() {
    const text = input.value;
    const pasted = written.pasted();
    if (!text.trim() || !id || live.away) return;
    input.value = "";
    changed();
    void submitted(id, parts(text, pasted), steer.checked && !choice.hidden).then((refused) => {
      if (refused && !input.value) written.put(text, pasted);
      if (refused) toast(refused, "bad");
      grow();
    });
    toEnd();
  }
  return (p) => {
    id = p.pod.id;
    form.hidden = !device.may("control");
    choice.hidden = !["POD_STATE_RUNNING", "POD_STATE_WAITING"].includes(p.pod.state ?? "");
    send.disabled = Boolean(live.away);
    const last = p.pod.state === "POD_STATE_QUARANTINED";
    send.disabled ||= last;
  };
}

/** submitted sends a prompt until podd has answered: the request id keeps it one. @param {string} pod @param {{ text: string, pasted: boolean }[]} prompt @param {boolean} steer @returns {Promise<string>} why podd refused it, or nothing */
async function submitted(pod, prompt, steer) {
  const request = { pod, segments: prompt.map(({ text, pasted }) => (pasted ? { paste: { text } } : { text: { text } })), requestId: crypto.randomUUID(), mode: steer ? "SUBMIT_MODE_STEER" : "SUBMIT_MODE_QUEUE", parseRefs: true };
  for (;;) {
    try {
      await call("PodService/Submit", request);
      return "";
    } catch (e) {
      if (!(e instanceof RpcError) || !e.away) return e instanceof Error ? e.message : String(e);
    }
    announce("podd is away; the message is sent again when it is back");
    await new Promise((go) => setTimeout(go, 1000));
  }
}
