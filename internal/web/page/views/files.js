// What a pod changed in files, turn by turn.

import { el, say } from "../dom.js";
import { plural } from "../format.js";
import { live } from "../live.js";
import { RpcError, stream } from "../rpc.js";
import { fileDiff, stat } from "../transcript/blocks.js";
import { choice } from "./search.js";

/** @import { ChangedFile } from "../types.d.ts" */

/** How many turns the choice offers. */
const turns = 200;

/** files shows them. Its state is in the address. @param {HTMLElement} main @param {string} name @param {URLSearchParams} asked */
export function files(main, name, asked) {
  const last = Number(live.named(name)?.pod.turn ?? 0);
  const each = Array.from({ length: Math.min(last, turns) }, (_, i) => /** @type {[string, string]} */ ([`turn ${last - i}`, String(last - i)]));
  const turn = choice("Turn", [["the last change", "0"], ...each], asked.get("turn") ?? "0");
  const left = el("input", { type: "checkbox", id: "left-out", checked: asked.has("left") });
  const sum = el("p", { class: "sum", role: "status" });
  const list = el("div", { class: "changed" });
  main.append(
    el(
      "header",
      { class: "head" },
      el("div", { class: "title" }, el("a", { class: "back", href: `#/pod/${name}`, "aria-label": `Back to ${name}` }, "‹"), el("h1", {}, `Changes of ${name}`)),
      el("div", { class: "filters line" }, turn, el("label", { class: "tick", for: "left-out" }, left, " also paths whose changes podd does not record")),
      sum,
    ),
    list,
  );
  let abort = new AbortController();

  async function run() {
    abort.abort();
    const mine = (abort = new AbortController());
    history.replaceState(null, "", `#/files/${name}?turn=${turn.value}${left.checked ? "&left=1" : ""}`);
    say(sum, "Loading…");
    /** @type {ChangedFile[]} */
    const changed = [];
    /** @type {string[]} */
    const kept = [];
    try {
      for await (const m of stream("FileService/DiffFiles", { pod: name, turn: turn.value, leftOut: left.checked }, mine.signal)) {
        if (m.file) changed.push(m.file);
        if (m.leftOut) kept.push(m.leftOut);
      }
      if (mine.signal.aborted) return;
      draw(changed, kept);
    } catch (e) {
      if (mine.signal.aborted) return;
      list.replaceChildren();
      if (e instanceof RpcError && e.reason === "NO_CHANGES") say(sum, "No turn has changed files.");
      else say(sum, e instanceof Error ? e.message : String(e));
    }
  }

  /** @param {ChangedFile[]} changed @param {string[]} kept */
  function draw(changed, kept) {
    const dir = `${live.named(name)?.pod.spec?.dir ?? ""}/`;
    const short = (/** @type {string} */ path) => (path.startsWith(dir) ? path.slice(dir.length) : path);
    const own = changed.filter((f) => f.by !== "CHECKPOINT_BY_PERSON");
    const others = changed.filter((f) => f.by === "CHECKPOINT_BY_PERSON");
    say(sum, changed.length > 0 ? `${plural(changed.length, "file")} changed` : Number(turn.value) ? `Turn ${turn.value} changed no files.` : "No turn has changed files.");
    list.replaceChildren();
    for (const [title, some] of /** @type {const} */ ([[`By ${name}`, own], ["By others meanwhile", others]])) {
      if (some.length > 0) list.append(el("h2", { class: "group" }, title), ...some.map((f) => file(f, short(f.path ?? ""))));
    }
    if (!left.checked) return;
    list.append(el("h2", { class: "group" }, "Not kept: undo cannot bring these back"));
    list.append(kept.length > 0 ? el("ul", { class: "left-out" }, ...kept.map((p) => el("li", {}, short(p)))) : el("p", { class: "empty" }, "podd keeps all files here."));
  }
  turn.addEventListener("change", run);
  left.addEventListener("change", run);
  void run();
  return () => abort.abort();
}

/** @param {ChangedFile} f @param {string} path */
function file(f, path) {
  const became = !f.before ? "new" : !f.after ? "deleted" : f.before !== f.after ? `was a ${f.before}, is a ${f.after}` : "";
  return fileDiff({ path, diff: f.diff }, [became && el("span", { class: "tag" }, became), f.mode && el("span", { class: "tag" }, f.mode), stat(Number(f.added ?? 0), Number(f.removed ?? 0))], "Its content is not text, or too large to show.");
}
