// Elements. Text is always set as text: the page has no HTML strings.

import { pieces } from "./visible.js";

/** @typedef {Node | string | number | false | null | undefined} Child */
/** @typedef {Record<string, string | number | boolean | ((event: any) => void) | undefined>} Attributes */

/**
 * el makes an element. Attributes: on* are listeners, class is the class, true and false set
 * and leave out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") Object.assign(e, { [name]: value });
    else if (value === true) e.setAttribute(name, "");
    else if (value !== false && value !== undefined) e.setAttribute(name, String(value));
  }
  add(e, ...children);
  return e;
}

/** add appends what is there. @param {ParentNode} to @param {...Child} children */
export function add(to, ...children) {
  for (const c of children) {
    if (c instanceof Node) to.append(c);
    else if (c !== false && c !== null && c !== undefined && c !== "") to.append(...shown(String(c)));
  }
}

/** shown is a text whose hidden characters are code that can be seen. @param {string} text */
export const shown = (text) => marked(pieces(text, false));

/** exact is the same for a text that a person decides by: what only looks like a space is hidden too. @param {string} text */
export const exact = (text) => marked(pieces(text));

/** @param {string[]} parts @returns {(Node | string)[]} */
function marked(parts) {
  return parts.flatMap(/** @returns {(Node | string)[]} */ (piece, i) => {
    if (i % 2 === 0) return piece ? [piece] : [];
    const mark = document.createElement("code");
    mark.className = "hidden-char";
    mark.title = "a hidden character";
    mark.textContent = piece;
    return [mark];
  });
}

/** say replaces the content of an element, if it differs. @param {Element} e @param {string} text */
export function say(e, text) {
  if (e.textContent !== text) e.replaceChildren(...shown(text));
}

/** What el may listen to. */
const listeners = /** @type {const} */ (["onclick", "oninput", "onsubmit"]);

/**
 * become makes an element what a fresh one is, and keeps each part that both have: a click whose
 * press was before and whose release comes after is a click, and the focus and a selection stay.
 * Parts of another tag, class or act are others. It returns the element that is there now.
 * @param {HTMLElement} e
 * @param {HTMLElement} fresh
 */
export function become(e, fresh) {
  if (e.localName !== fresh.localName || e.className !== fresh.className || e.dataset["act"] !== fresh.dataset["act"]) {
    e.replaceWith(fresh);
    return fresh;
  }
  for (const { name } of [...e.attributes]) if (!fresh.hasAttribute(name)) e.removeAttribute(name);
  // The page's policy forbids styles as text.
  for (const { name, value } of fresh.attributes) if (name !== "style" && e.getAttribute(name) !== value) e.setAttribute(name, value);
  if (e.style.cssText !== fresh.style.cssText) e.style.cssText = fresh.style.cssText;
  for (const on of listeners) Object.assign(e, { [on]: fresh[on] });
  const before = [...e.childNodes];
  for (const [i, now] of [...fresh.childNodes].entries()) {
    const was = before[i];
    if (!was) e.append(now);
    else if (was instanceof HTMLElement && now instanceof HTMLElement) become(was, now);
    else if (!was.isEqualNode(now)) {
      if (was instanceof Text && now instanceof Text) was.data = now.data;
      else was.replaceWith(now);
    }
  }
  for (const was of before.slice(fresh.childNodes.length)) was.remove();
  return e;
}

/**
 * keyed makes the children of a list those of the items, in their order: an element is made
 * once a key, kept, and drawn again only when its item is another.
 * @template T
 * @param {Element} list
 * @param {T[]} items
 * @param {(item: T) => string} key
 * @param {(item: T) => HTMLElement} draw
 */
export function keyed(list, items, key, draw) {
  /** @type {Map<string, { e: HTMLElement, item: unknown }>} */
  const known = lists.get(list) ?? new Map();
  lists.set(list, known);
  const gone = new Set(known.keys());
  /** @type {ChildNode | null} */
  let at = list.firstChild;
  for (const item of items) {
    const k = key(item);
    gone.delete(k);
    let row = known.get(k);
    if (!row || row.item !== item) {
      const fresh = draw(item);
      const e = row ? become(row.e, fresh) : fresh;
      if (row && at === row.e) at = e;
      row = { e, item };
      known.set(k, row);
    }
    if (row.e === at) at = at.nextSibling;
    else list.insertBefore(row.e, at);
  }
  for (const k of gone) {
    known.get(k)?.e.remove();
    known.delete(k);
  }
}

/** @type {WeakMap<Element, Map<string, { e: HTMLElement, item: unknown }>>} */
const lists = new WeakMap();

/** icon is a small sign that says nothing to a screen reader: words stand beside it. @param {string} name */
export function icon(name) {
  return el("span", { class: `icon ${name}`, "aria-hidden": "true" });
}
