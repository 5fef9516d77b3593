import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";

import { coloured } from "./highlight";
import { visible } from "./visible";

/** Piece is a piece of rendered Markdown: text, or an element of one of the page's tags. */
export type Piece = string | Element;

export interface Element {
  tag: string;
  of: Piece[];
  /** For a link: an address of the web or of mail. */
  href?: string;
  /** For an ordered list: its first number. */
  start?: number;
  /** For a piece of code: what it is, such as a comment. */
  code?: string;
}

// HTML stays text. An image would be loaded from an address that the model chose, so it is a link.
const markdown = new MarkdownIt({ html: false, linkify: true }).disable("image");
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// Other links stay as they were written.
markdown.validateLink = (url) => /^(https?|mailto):/i.test(url);

/** rendered is Markdown as pieces. No text in it hides characters. */
export function rendered(text: string): Piece[] {
  return pieces(markdown.parse(text, {}));
}

function pieces(tokens: Token[]): Piece[] {
  const root: Element = { tag: "", of: [] };
  const open = [root];
  for (const t of tokens) {
    const into = open[open.length - 1]!.of;
    if (t.nesting > 0) {
      const e: Element = { tag: t.tag, of: [], ...attributes(t) };
      // The paragraphs of a tight list have no element.
      if (!t.hidden) into.push(e);
      open.push(t.hidden ? { ...e, of: into } : e);
    } else if (t.nesting < 0) {
      open.pop();
    } else {
      into.push(...leaf(t));
    }
  }
  return root.of;
}

function attributes(t: Token): Partial<Element> {
  const href = t.attrGet("href");
  const start = t.attrGet("start");
  return { ...(href && { href: visible(href) }), ...(start && { start: Number(start) }) };
}

function leaf(t: Token): Piece[] {
  switch (t.type) {
    case "inline":
      return pieces(t.children ?? []);
    case "fence":
    case "code_block":
      return [{ tag: "pre", of: [{ tag: "code", of: coloured(visible(t.content), t.info) }] }];
    case "code_inline":
      return [{ tag: "code", of: [visible(t.content)] }];
    case "softbreak":
      return ["\n"];
    case "hardbreak":
    case "hr":
      return [{ tag: t.tag, of: [] }];
    default:
      return t.content ? [visible(t.content)] : [];
  }
}
