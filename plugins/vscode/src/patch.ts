import * as fs from "node:fs/promises";

/** A file larger than this is not read to show it whole, in bytes. */
const most = 10 << 20;

/** content is what a file has; empty if there is none, undefined if it cannot be shown. */
export async function content(file: string): Promise<Buffer | undefined> {
  try {
    const info = await fs.stat(file);
    return info.isFile() && info.size <= most ? await fs.readFile(file) : undefined;
  } catch (err) {
    return (err as NodeJS.ErrnoException).code === "ENOENT" ? Buffer.alloc(0) : undefined;
  }
}

/** Hunk is a part of a diff: its lines, with their ends, from a line of the old text, from 0. */
interface Hunk {
  at: number;
  lines: { op: string; text: string }[];
}

function hunks(diff: string): Hunk[] {
  const list: Hunk[] = [];
  for (const line of split(diff)) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+/.exec(line);
    const lines = list.at(-1)?.lines;
    const last = lines?.at(-1);
    if (head) list.push({ at: Number(head[1]) - (head[2] === "0" ? 0 : 1), lines: [] });
    else if (line.startsWith("\\") && last) last.text = last.text.replace(/\n$/, "");
    else lines?.push({ op: line[0]!, text: line.slice(1) });
  }
  return list;
}

/** split are the lines of a text, with their ends. */
function split(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** patched is a text after a diff; undefined if the diff is not of this text. */
export function patched(before: string, diff: string): string | undefined {
  const old = split(before);
  const out: string[] = [];
  let at = 0;
  for (const h of hunks(diff)) {
    out.push(...old.slice(at, h.at));
    at = h.at;
    for (const { op, text } of h.lines) {
      if (op !== "+" && old[at++] !== text) return undefined;
      if (op !== "-") out.push(text);
    }
  }
  return [...out, ...old.slice(at)].join("");
}

/** shown are the lines that a diff has of its two sides. */
export function shown(diff: string): { before: string; after: string } {
  const side = (other: string) => hunks(diff).map((h) => h.lines.filter((l) => l.op !== other).map((l) => l.text).join("")).join("…\n");
  return { before: side("+"), after: side("-") };
}

/** reversed is the diff that takes a diff back. */
export function reversed(diff: string): string {
  const turned = (line: string) => {
    if (line.startsWith("@@")) return line.replace(/^@@ -(\S+) \+(\S+)/, "@@ -$2 +$1");
    return line.replace(/^[+-]/, (op) => (op === "+" ? "-" : "+"));
  };
  return split(diff).map(turned).join("");
}
