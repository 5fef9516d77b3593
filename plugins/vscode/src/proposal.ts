import { createHash } from "node:crypto";
import * as path from "node:path";
import type { Preview } from "podd";

import { content, patched, shown } from "./patch";

/** Proposal is what a call that waits would make of a file, as the two sides of a diff. They are the same if it runs the file. */
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
  if (p.runs) return "to run it";
  if (p.movesTo) return `to move it to ${p.movesTo}`;
  if (p.deletes) return "to delete it";
  return p.base ? "" : "to create it";
}

/** shownSides are the lines of a preview's diff, and on both sides what it omits. */
function shownSides(p: Preview): { before: string; after: string } {
  const omitted = p.omitted && `… ${p.omitted}\n`;
  const { before, after } = shown(p.diff);
  return { before: before + omitted, after: after + omitted };
}
