// The page of the stream view: a transcript, and a line to write. Elements of blocks are those of podd's page
// for browsers; all text is set as text.
import { el } from "../../../../internal/web/page/dom.js";
import { type Around, draw } from "../../../../internal/web/page/transcript/blocks.js";
import { Written } from "../../../../internal/web/page/transcript/written.js";
import type { Block } from "../../../../internal/web/page/types";
import type { FromPage, Kept, ToPage } from "../stream/messages";
import { coloured } from "./highlight";

declare function acquireVsCodeApi(): { postMessage(m: FromPage): void; setState(state: Kept): void };

const host = acquireVsCodeApi();
const find = (id: string) => document.getElementById(id)!;
const list = find("blocks");
const input = find("input") as HTMLTextAreaElement;
const written = new Written(input);
const paths = find("paths");
const plan = find("plan");
const shown = new Map<string, HTMLElement>();
let busy = false;

const around: Around = { ask, picture, colour: coloured };

/** ask is a call that waits, whole, and the answers to it. */
function ask(b: Block): HTMLElement {
  const { id: callId, arguments: args, question } = b.call!;
  const answers = el("div", { class: "answers" });
  if (question?.form) {
    for (const [label, dismiss] of [["Answer…", false], ["Let the model decide", true]] as const) {
      const send = () => {
        for (const other of answers.querySelectorAll("button")) other.disabled = true;
        host.postMessage({ type: "form", callId, digest: question.digest, dismiss });
      };
      answers.append(el("button", { type: "button", class: dismiss ? "no" : "yes", onclick: send }, label));
    }
    return el("div", { class: "ask" }, el("p", { class: "question" }, question.text), answers);
  }
  for (const [label, approve, always] of [["Allow once", true, false], ["Always", true, true], ["Deny", false, false]] as const) {
    const answer = () => {
      for (const other of answers.querySelectorAll("button")) other.disabled = true;
      host.postMessage({ type: "answer", callId, digest: question?.digest ?? "", approve, always });
    };
    answers.append(el("button", { type: "button", class: approve ? "yes" : "no", onclick: answer }, label));
  }
  for (const [count, what] of [[question?.files ?? 0, "diff"], [question?.runs ?? 0, "script"]] as const) {
    if (count === 0) continue;
    const show = () => host.postMessage({ type: "diff", callId });
    answers.append(el("button", { type: "button", class: "no", onclick: show }, count > 1 ? `Show ${count} ${what}s` : `Show ${what}`));
  }
  return el("div", { class: "ask" }, el("p", { class: "question" }, question?.text), el("pre", { class: "what" }, args), answers);
}

/** Data URIs of pictures, by digest. A picture is asked for when its line comes into view. */
const pictures = new Map<string, string>();
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    watch.unobserve(target);
    host.postMessage({ type: "picture", digest: (target as HTMLElement).dataset["digest"] ?? "" });
  }
});

function picture({ digest }: { digest: string }, line: string): HTMLElement {
  const e = el("figure", { class: "picture", "data-digest": digest }, el("figcaption", {}, line));
  if (pictures.has(digest)) reveal(e, line);
  else watch.observe(e);
  return e;
}

function reveal(e: Element, line: string): void {
  const uri = pictures.get((e as HTMLElement).dataset["digest"] ?? "");
  if (uri && !e.querySelector("img")) e.append(el("img", { alt: line, src: uri }));
}

function put(blocks: Block[]): void {
  for (const b of blocks) {
    const before = shown.get(b.id);
    const e = draw(b, around, before);
    if (before) before.replaceWith(e);
    else list.append(e);
    shown.set(b.id, e);
  }
}

function drop(ids: Iterable<string>): void {
  for (const id of ids) {
    shown.get(id)?.remove();
    shown.delete(id);
  }
}

/** keepingEnd keeps the end in view, unless the person has scrolled away from it. */
function keepingEnd(change: () => void): void {
  const follow = window.innerHeight + window.scrollY >= document.body.scrollHeight - 40;
  change();
  if (follow) window.scrollTo(0, document.body.scrollHeight);
}

function take(m: ToPage): void {
  switch (m.type) {
    case "keep":
      host.setState(m.state);
      break;
    case "reset":
      keepingEnd(() => {
        drop([...shown.keys()]);
        put(m.blocks);
      });
      break;
    case "change":
      keepingEnd(() => {
        drop(m.drop);
        put(m.put);
      });
      break;
    case "state":
      find("state").textContent = m.text;
      busy = m.busy;
      find("cancel").hidden = !busy;
      plan.setAttribute("aria-pressed", String(m.plan));
      break;
    case "answered":
      for (const button of list.querySelectorAll<HTMLButtonElement>(".ask button")) button.disabled = false;
      break;
    case "sent":
      if (input.value === m.text) input.value = "";
      break;
    case "picture":
      pictures.set(m.digest, m.uri);
      keepingEnd(() => {
        for (const e of list.querySelectorAll<HTMLElement>("figure.picture")) {
          if (e.dataset["digest"] === m.digest) reveal(e, e.querySelector("figcaption")?.textContent ?? "");
        }
      });
      break;
    case "paths":
      if (m.prefix !== reference()) break;
      offered = m.prefix;
      offer(m.paths);
      if (early) accept(early);
  }
}
window.addEventListener("message", (event) => take(event.data as ToPage));

const typed = () => input.value.slice(0, input.selectionStart);

/** naming says that the name of a prompt is written, with its slash. */
const naming = () => /^\/\S*$/.test(typed());

/** reference is the text between an @ and the cursor, or the name of a prompt; or undefined. */
function reference(): string | undefined {
  return naming() ? typed() : /(?:^|\s)@([^\s@]*)$/.exec(typed())?.[1];
}

/** The reference that the offered paths are for. */
let offered = "";
let chosen = 0;
/** A key that was faster than the paths for what had been typed. */
let early = "";

function offer(found: string[]): void {
  paths.replaceChildren(
    ...found.map((p) => {
      const click = (event: Event) => {
        event.preventDefault();
        complete(p);
      };
      return el("li", { role: "option", onmousedown: click }, p);
    }),
  );
  paths.hidden = found.length === 0;
  choose(0);
}

function choose(n: number): void {
  const count = paths.children.length;
  if (count === 0) return;
  chosen = (n + count) % count;
  [...paths.children].forEach((e, i) => {
    e.setAttribute("aria-selected", String(i === chosen));
    if (i === chosen) e.scrollIntoView({ block: "nearest" });
  });
}

function complete(path: string): void {
  const end = input.selectionStart;
  const more = path.endsWith("/") ? "" : " ";
  input.setRangeText(path + more, end - (reference() ?? "").length, end, "end");
  paths.hidden = true;
  if (!more) look();
}

/** accept is Tab or Enter while paths are offered. Those for an earlier text are not meant: the key then counts when the right ones are there. */
function accept(key: string): void {
  early = offered === reference() ? "" : key;
  if (early) return;
  const path = paths.children[chosen]?.textContent;
  if (!paths.hidden && path) complete(path);
  else if (key === "Enter") send(false);
}

/** look asks for the paths that the text before the cursor may mean. */
function look(): void {
  early = "";
  const prefix = reference();
  if (prefix === undefined) paths.hidden = true;
  else host.postMessage({ type: naming() ? "names" : "complete", prefix });
}

/** pasted is where the text has pasted @. */
function pasted(): { pasted?: number[] } {
  const at = written.pasted();
  return at.length > 0 ? { pasted: [...at] } : {};
}

const planning = () => plan.getAttribute("aria-pressed") === "true";

function send(steer: boolean): void {
  const text = input.value;
  const at = pasted();
  if (!text.trim()) return;
  input.value = "";
  paths.hidden = true;
  // A prompt that steers an idle pod begins a turn, which would act.
  host.postMessage({ type: "submit", text, ...at, steer: steer && (busy || !planning()) });
}

input.addEventListener("input", look);
input.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const open = !paths.hidden;
  if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
  } else if (open && (event.key === "Tab" || event.key === "Enter")) {
    accept(event.key);
  } else if (open && event.key === "Escape") {
    early = "";
    paths.hidden = true;
  } else if (event.key === "Enter" && !event.shiftKey) {
    send(event.ctrlKey || event.metaKey);
  } else {
    return;
  }
  event.preventDefault();
});
find("form").addEventListener("submit", (event) => {
  event.preventDefault();
  send(false);
});
find("image").addEventListener("click", () => host.postMessage({ type: "image", text: input.value, ...pasted() }));
find("cancel").addEventListener("click", () => host.postMessage({ type: "cancel" }));
plan.addEventListener("click", () => {
  const on = !planning();
  plan.setAttribute("aria-pressed", String(on));
  host.postMessage({ type: "plan", on });
});
host.postMessage({ type: "ready" });
