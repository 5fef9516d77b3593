import { createHash } from "node:crypto";
import * as fs from "node:fs/promises";
import * as path from "node:path";

import type { Preview } from "./gen/podd/v1/entry";

/** Proposal is what a call that waits would make of a file, as the two sides of a diff. */
export interface Proposal {
  /** The file's absolute path now, and the one it moves to, which is the same if it stays. */
  from: string;
  to: string;
  /** The texts before and after: whole, or else the lines that podd shows. */
  before: string;
  after: string;
  /** What the call does with the file, if that is more than a change of its text. */
  does: string;
  /** What the sides do not show, in a few words; empty if they show the whole file. */
  lacks: string;
}

/** A file larger than this is not read to show it whole, in bytes. */
const most = 10 << 20;

/** proposals are the sides of a call's previews; dir is the pod's workspace. */
export function proposals(previews: Preview[], dir: string): Promise<Proposal[]> {
  return Promise.all(
    previews.map(async (p) => {
      const from = path.resolve(dir, p.path);
      const now = p.omitted ? undefined : await content(from);
      // A file without a byte is like none here: both have the same sides.
      const same = now && (p.base ? createHash("sha256").update(now).digest("hex") === p.base : now.length === 0);
      const text = now?.toString("utf8") ?? "";
      const after = same ? patched(text, p.diff) : undefined;
      const sides = after === undefined ? shownSides(p) : { before: text, after };
      const lacks = p.omitted || (after !== undefined ? "" : same === false ? "the file has changed since" : "only the changed lines");
      return { from, to: path.resolve(dir, p.movesTo || p.path), ...sides, does: does(p), lacks };
    }),
  );
}

function does(p: Preview): string {
  if (p.movesTo) return `to move it to ${p.movesTo}`;
  if (p.deletes) return "to delete it";
  return p.base ? "" : "to create it";
}

/** content is what a file has; empty if there is none, undefined if it cannot be shown. */
async function content(file: string): Promise<Buffer | undefined> {
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
function patched(before: string, diff: string): string | undefined {
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

/** shownSides are the lines of a preview's diff, and on both sides what it omits. */
function shownSides(p: Preview): { before: string; after: string } {
  const omitted = p.omitted && `… ${p.omitted}\n`;
  const side = (other: string) => {
    const parts = hunks(p.diff).map((h) => h.lines.filter((l) => l.op !== other).map((l) => l.text).join(""));
    return parts.join("…\n") + omitted;
  };
  return { before: side("+"), after: side("-") };
}
