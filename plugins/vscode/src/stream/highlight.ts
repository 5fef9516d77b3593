import { common, createLowlight } from "lowlight";

import type { Piece } from "./markdown";

const languages = createLowlight(common);

/** The longest code that gets colours, in characters: an answer is rendered anew while it grows. */
const longest = 20_000;

/** The page's classes of what highlight.js finds; all else is plain. */
const classes: Record<string, string> = {
  comment: "comment", quote: "comment",
  string: "string", regexp: "string", addition: "added", deletion: "removed",
  number: "number", literal: "number", symbol: "number",
  keyword: "keyword", "selector-tag": "keyword", "meta": "keyword", name: "keyword",
  title: "title", section: "title",
  type: "type", built_in: "type", "class_": "type", attr: "type", attribute: "type",
};

/** coloured is code in pieces; one piece if its language is not known. info is what follows the fence's marks. */
export function coloured(code: string, info: string): Piece[] {
  const language = /^[\w+#.-]*/.exec(info.trim())![0].toLowerCase();
  if (!languages.registered(language) || code.length > longest) return [code];
  try {
    return pieces(languages.highlight(language, code).children);
  } catch {
    return [code];
  }
}

/** Nodes are a part of lowlight's tree. */
type Nodes = ReturnType<typeof languages.highlight>["children"];

function pieces(nodes: Nodes): Piece[] {
  return nodes.flatMap((n): Piece[] => {
    if (n.type === "text") return [n.value];
    if (n.type !== "element") return [];
    const of = pieces(n.children);
    const named = [n.properties["className"]].flat().map((c) => classes[String(c).replace(/^hljs-/, "")]);
    const found = named.filter((c) => c !== undefined).at(-1);
    return found ? [{ tag: "span", of, code: found }] : of;
  });
}
