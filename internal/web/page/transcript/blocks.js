// The blocks of a transcript as elements.

import { add, el, exact, icon } from "../dom.js";
import { count, lasts, picture, plural, short } from "../format.js";
import { diff, markdown } from "./markdown.js";

/** @import { Block, Image } from "../types.d.ts" */
/** @import { Colour } from "./markdown.js" */
/** @typedef {{ path?: string, diff?: string }} FileDiff */

/** How many characters of a call's output are shown at first. */
const head = 20_000;

/**
 * Around is what the client that shows a transcript adds to it.
 * @typedef {object} Around
 * @property {(b: Block) => HTMLElement} ask a call that waits for an answer
 * @property {(i: Image, line: string) => HTMLElement} [picture] a picture; otherwise it is its line
 * @property {(b: Block) => FileDiff[] | undefined} [diffs] what a call changed
 * @property {Colour} [colour] code in colours
 */

/**
 * draw makes the element of a block. What a person unfolded stays so.
 * @param {Block} b
 * @param {Around} around
 * @param {HTMLElement} [before]
 */
export function draw(b, around, before) {
  const open = before?.querySelector("details")?.open ?? false;
  const e = content(b, around, open);
  for (const i of b.images ?? []) add(e, around.picture?.(i, picture(i)) ?? el("p", { class: "picture" }, picture(i)));
  e.classList.add("block", b.kind);
  e.dataset["state"] = b.state;
  e.dataset["seq"] = b.seq;
  return e;
}

/** @param {Block} b @param {Around} around @param {boolean} open @returns {HTMLElement} */
function content(b, around, open) {
  switch (b.kind) {
    case "user":
      return el("article", { "aria-label": "You" }, el("p", { class: "text" }, b.text), b.state === "queued" && el("span", { class: "tag" }, "queued"));
    case "answer": {
      const e = el("article", { "aria-label": "Answer" }, markdown(b.text, around.colour));
      if (b.state === "live") e.setAttribute("aria-busy", "true");
      return e;
    }
    case "thought":
      return el("div", {}, fold(open, [icon("thought"), el("span", { class: "what" }, b.state === "live" ? "Thinking" : "Thought"), el("span", { class: "brief" }, oneLine(b.text))], el("p", { class: "text" }, b.text)));
    case "call":
      return call(b, around, open);
    case "notice": {
      const [first = "", ...rest] = b.text.split("\n");
      return rest.length === 0 ? el("p", {}, first) : el("div", {}, fold(open, [el("span", { class: "brief" }, first)], el("p", { class: "text" }, rest.join("\n"))));
    }
    case "alert":
      return el("p", { "data-level": b.alert?.level ?? "" }, el("span", { class: "tag" }, b.alert?.level ?? "alert"), " ", b.text);
    case "end":
      return el("p", { "data-outcome": b.end?.outcome ?? "" }, el("span", {}, ending(b)));
  }
}

/** @param {boolean} open @param {Node[]} summary @param {...Node} inside */
function fold(open, summary, ...inside) {
  return el("details", { open }, el("summary", {}, ...summary), el("div", { class: "inside" }, ...inside));
}

/** @type {Record<string, string>} */
const states = { writing: "is being written", to_run: "waits to run", asks: "asks", running: "runs", done: "done", failed: "failed" };

/** @param {Block} b @param {Around} around @param {boolean} open */
function call(b, around, open) {
  const diffs = around.diffs?.(b) ?? [];
  const args = b.state === "writing" ? b.detail : (b.call?.arguments ?? "");
  const tool = b.call?.tool || "a tool";
  // Most summaries begin with the tool's name.
  let said = b.text.replace(new RegExp(`^${tool.replace(/\W/g, "\\$&")}[: ]+`), "");
  // The sum beside it counts the lines.
  if (diffs.length > 0) said = said.replace(/, \+\d+ -\d+ lines$/, "");
  const summary = [
    icon(b.state),
    el("span", { class: "what" }, tool),
    el("span", { class: "brief" }, said || gist(args)),
    el("span", { class: "unseen" }, `, ${states[b.state] ?? b.state}`),
    ...(diffs.length > 0 ? [sum(diffs)] : []),
    el("span", { class: "took" }, b.call?.duration_ms ? lasts(b.call.duration_ms / 1000) : b.state === "running" ? "runs" : b.state === "failed" ? "failed" : ""),
  ];
  const inside = el("div", { class: "parts" }, ...argumentsOf(args));
  for (const d of diffs) inside.append(fileDiff(d));
  if (b.detail && b.state !== "writing") inside.append(output(b.detail));
  const box = el("div", {}, fold(open, summary, inside));
  if (b.state === "asks") box.append(around.ask(b));
  return box;
}

/** gist is what a call is about: the first argument that says it. @param {string} args */
function gist(args) {
  try {
    const a = JSON.parse(args);
    for (const key of ["command", "path", "pattern", "query", "url", "text", "task"]) if (typeof a[key] === "string") return oneLine(a[key]);
  } catch {
    // It is still being written.
  }
  return oneLine(args);
}

/**
 * argumentsOf shows all of a call's arguments, each value as it is.
 * @param {string} args
 */
export function argumentsOf(args) {
  /** @type {unknown} */
  let parsed;
  try {
    parsed = JSON.parse(args);
  } catch {
    return args ? [argument(args)] : [];
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return [argument(args)];
  return Object.entries(parsed).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    const brief = text.length < 60 && !text.includes("\n");
    return el("div", { class: brief ? "pair brief" : "pair" }, el("span", { class: "key" }, ...exact(name)), argument(text));
  });
}

/** argument is a text that a person decides by. @param {string} text */
const argument = (text) => el("pre", { class: "argument", tabindex: "0" }, ...exact(text));

/** fileDiff is what changed in a file. @param {FileDiff} d @param {import("../dom.js").Child[]} [more] stands beside its path @param {string} [none] stands for no diff */
export function fileDiff(d, more = [], none = "The content stays.") {
  return el("figure", { class: "file" }, el("figcaption", {}, el("span", { class: "path" }, ...exact(d.path ?? "")), ...more), d.diff ? diff(d.diff) : el("p", { class: "empty" }, none));
}

/** sum counts the lines of diffs. @param {FileDiff[]} diffs */
function sum(diffs) {
  const lines = diffs.flatMap((d) => (d.diff ?? "").split("\n"));
  return stat(lines.filter((l) => l.startsWith("+")).length, lines.filter((l) => l.startsWith("-")).length);
}

/** stat is how many lines came and went. @param {number} plus @param {number} minus */
export function stat(plus, minus) {
  return el("span", { class: "stat" }, el("span", { class: "plus" }, `+${plus}`), " ", el("span", { class: "minus" }, `−${minus}`));
}

/** @param {string} text */
function output(text) {
  const pre = el("pre", { class: "output", tabindex: "0" }, text.slice(0, head));
  if (text.length <= head) return pre;
  return el("div", {}, pre, el("button", { type: "button", class: "quiet", onclick: (/** @type {MouseEvent} */ e) => whole(/** @type {HTMLElement} */ (e.currentTarget), text) }, `Show all ${count(text.length)} characters`));
}

/** whole shows all of a text above its button. @param {HTMLElement} button @param {string} text */
function whole(button, text) {
  const pre = /** @type {HTMLElement} */ (button.previousElementSibling);
  pre.replaceChildren();
  add(pre, text);
  button.remove();
}

/** @param {string} text */
const oneLine = (text) => text.slice(0, 300).replace(/\s+/g, " ").trim();

/** @param {Block} b */
export function ending(b) {
  const { outcome = "", steps = 0, usage = {} } = b.end ?? {};
  const parts = [`Turn ${b.turn} ${outcome || "ended"}${b.text ? `: ${b.text}` : ""}`];
  if (steps) parts.push(plural(steps, "step"), `${short(usage["input_tokens"])} tokens in, ${short(usage["output_tokens"])} out`);
  return parts.join(" · ");
}
