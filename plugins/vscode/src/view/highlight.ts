import { common, createLowlight } from "lowlight";

import { el, shown } from "../../../../internal/web/page/dom.js";

const languages = createLowlight(common);

/** The longest code that gets colours, in characters: an answer is rendered anew while it grows. */
const longest = 20_000;

/** The page's classes of what highlight.js finds; all else is plain. */
const classes: Record<string, string> = {
  comment: "comment", quote: "comment",
  string: "string", regexp: "string",
  number: "number", literal: "number", symbol: "number",
  keyword: "keyword", "selector-tag": "keyword", "meta": "keyword", name: "keyword",
  title: "title", section: "title",
  type: "type", built_in: "type", "class_": "type", attr: "type", attribute: "type",
};

/** coloured is code in pieces; undefined if its language is not known. */
export function coloured(code: string, language: string): Node[] | undefined {
  const name = /^[\w+#.-]*/.exec(language)![0].toLowerCase();
  if (!languages.registered(name) || code.length > longest) return undefined;
  try {
    return nodes(languages.highlight(name, code).children);
  } catch {
    return undefined;
  }
}

/** Tree is a part of lowlight's tree. */
type Tree = ReturnType<typeof languages.highlight>["children"];

function nodes(tree: Tree): Node[] {
  return tree.flatMap((n): Node[] => {
    if (n.type === "text") return shown(n.value).map((piece) => (typeof piece === "string" ? document.createTextNode(piece) : piece));
    if (n.type !== "element") return [];
    const named = [n.properties["className"]].flat().map((c) => classes[String(c).replace(/^hljs-/, "")]);
    const found = named.filter((c) => c !== undefined).at(-1);
    return found ? [el("span", { class: `code-${found}` }, ...nodes(n.children))] : nodes(n.children);
  });
}
