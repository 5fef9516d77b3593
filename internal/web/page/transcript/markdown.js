// Markdown as elements. markdown-it only parses; no HTML string exists.

import MarkdownIt from "../vendor/markdown-it.js";
import { add, el, exact } from "../dom.js";
import { visible } from "../visible.js";

// HTML stays text. An image would be loaded from an address that the model chose, so it stays text.
const parser = new MarkdownIt({ html: false, linkify: true }).disable("image");
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// Other links stay as they were written.
parser.validateLink = (/** @type {string} */ url) => /^https?:/i.test(url);

const tags = new Set("blockquote br code em h1 h2 h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul".split(" "));

/**
 * Colour gives code of a language in pieces; undefined leaves it plain.
 * @typedef {(code: string, language: string) => Node[] | undefined} Colour
 */

/** markdown is a text as elements. @param {string} text @param {Colour} [colour] */
export function markdown(text, colour) {
  const root = el("div", { class: "markdown" });
  build(root, parser.parse(text, {}), colour);
  for (const t of root.querySelectorAll("table")) {
    const box = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "table" });
    t.replaceWith(box);
    box.append(t);
  }
  return root;
}

/** @typedef {{ type: string, tag: string, nesting: number, hidden: boolean, content: string, info: string, children: Token[] | null, attrGet(name: string): string | null }} Token */

/** @param {HTMLElement} root @param {Token[]} tokens @param {Colour} [colour] */
function build(root, tokens, colour) {
  /** @type {HTMLElement[]} */
  const open = [root];
  let level = 1;
  for (const t of tokens) {
    const into = open[open.length - 1] ?? root;
    if (t.nesting > 0) {
      // Headings of an answer are below the page's, and none is left out between.
      if (t.type === "heading_open") level = Math.min(Number(t.tag[1]) + 1, level + 1, 6);
      const e = t.hidden ? into : element(t, level);
      if (e !== into) into.append(e);
      open.push(e);
    } else if (t.nesting < 0) {
      const closed = open.pop();
      if (t.type === "link_close" && closed) target(closed);
      // A heading that is not written yet is none, and a corner of a table without text is a cell.
      if (closed && /^H\d$/.test(closed.tagName) && !closed.textContent) closed.remove();
      if (closed?.tagName === "TH" && !closed.textContent) closed.replaceWith(el("td"));
    } else {
      leaf(into, t, colour);
    }
  }
}

/** @param {Token} t @param {number} level of a heading @returns {HTMLElement} */
function element(t, level) {
  if (t.tag === "a") {
    const href = t.attrGet("href") ?? "";
    if (!/^https?:/i.test(href)) return el("span");
    return el("a", { href, rel: "noopener noreferrer", target: "_blank", title: visible(href) });
  }
  const tag = t.type === "heading_open" ? `h${level}` : t.tag;
  const e = el(/** @type {"p"} */ (tags.has(tag) ? tag : "span"));
  const start = t.attrGet("start");
  if (start) e.setAttribute("start", String(Number(start)));
  const side = /text-align:(right|center)/.exec(t.attrGet("style") ?? "");
  if (side?.[1]) e.className = side[1];
  return e;
}

/** target shows where a link leads, if its text does not say it. @param {HTMLElement} link */
function target(link) {
  if (!(link instanceof HTMLAnchorElement)) return;
  const { host } = link;
  if (!(link.textContent ?? "").includes(host)) link.after(el("span", { class: "target" }, ` (${host})`));
}

/** @param {HTMLElement} into @param {Token} t @param {Colour} [colour] */
function leaf(into, t, colour) {
  switch (t.type) {
    case "inline":
      build(into, t.children ?? [], colour);
      break;
    case "fence":
    case "code_block":
      into.append(code(t.content.replace(/\n$/, ""), t.info.trim().split(/\s+/, 1)[0] ?? "", colour));
      break;
    case "code_inline":
      into.append(el("code", {}, t.content));
      break;
    case "softbreak":
      into.append("\n");
      break;
    case "hardbreak":
      into.append(el("br"));
      break;
    case "hr":
      into.append(el("hr"));
      break;
    default:
      add(into, t.content);
  }
}

/** code is a block of code; one of a diff has its colours. @param {string} text @param {string} language @param {Colour} [colour] */
function code(text, language, colour) {
  if (language === "diff") return diff(text);
  return el("pre", { tabindex: "0" }, el("code", {}, ...(colour?.(text, language) ?? [text])));
}

/** diff is a unified diff: each line has its sign and its colour. @param {string} text */
export function diff(text) {
  const box = el("pre", { class: "diff", tabindex: "0" });
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const kind = { "+": "plus", "-": "minus", "@": "hunk" }[line[0] ?? ""] ?? "same";
    box.append(el("span", { class: kind }, ...exact(line || " ")), "\n");
  }
  return box;
}
