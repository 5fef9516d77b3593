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
    if (typeof value === "function") e.addEventListener(name.slice(2), value);
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

/**
 * keyed makes the children of a list those of the items, in their order: an element is made
 * once a key, kept, and drawn again only when its item is another.
 * @template T
 * @param {Element} list
 * @param {T[]} items
 * @param {(item: T) => string} key
 * @param {(item: T, before: HTMLElement | undefined) => HTMLElement} draw
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
      const e = draw(item, row?.e);
      if (row && row.e !== e) {
        if (at === row.e) at = e;
        row.e.replaceWith(e);
      }
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
