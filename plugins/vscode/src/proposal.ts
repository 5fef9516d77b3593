import * as fs from "node:fs/promises";
import * as path from "node:path";

import { type Change, patchChanges } from "./patch";

/** Proposal is what a call that waits would make of a file. */
export interface Proposal {
  /** The file's absolute path, and the one it moves to, which is the same if it stays. */
  path: string;
  to: string;
  exists: boolean;
  /** The file's text once the call has run. */
  text: string;
}

/** The arguments of the tools that change files, as far as they are needed. A model may write anything. */
interface Arguments {
  path?: unknown;
  content?: unknown;
  old?: unknown;
  new?: unknown;
  all?: unknown;
  input?: unknown;
}

/** changes are what the calls of a tool change, by its name. */
const changes: Record<string, (a: Arguments) => Change[]> = {
  write_file: (a) => one(a, () => (typeof a.content === "string" ? a.content : undefined)),
  edit_file: (a) => one(a, (before) => edited(before, a)),
  apply_patch: (a) => (typeof a.input === "string" ? patchChanges(a.input) : []),
};

function one(a: Arguments, after: Change["after"]): Change[] {
  return typeof a.path === "string" ? [{ path: a.path, to: a.path, after }] : [];
}

/** proposes says whether a call of a tool can be shown as proposals. */
export function proposes(tool: string): boolean {
  return Object.hasOwn(changes, tool);
}

/** proposals are what a call would make of its files; dir is the pod's workspace. */
export async function proposals(tool: string, raw: string, dir: string): Promise<Proposal[]> {
  const list = changes[tool]?.(JSON.parse(raw) as Arguments) ?? [];
  if (list.length === 0) throw new Error("the call names no file");
  return Promise.all(
    list.map(async (c) => {
      const file = path.resolve(dir, c.path);
      const before = await fs.readFile(file, "utf8").catch((err: NodeJS.ErrnoException) => {
        if (err.code === "ENOENT") return undefined;
        throw new Error(`cannot read ${c.path}: ${err.message}`);
      });
      const text = c.after(before ?? "");
      if (text === undefined) throw new Error(`the call does not fit ${c.path} exactly: read its arguments in the stream`);
      return { path: file, to: path.resolve(dir, c.to), exists: before !== undefined, text };
    }),
  );
}

/** edited is the text after edit_file; undefined if the text to replace is not there as the call wants it. */
function edited(before: string, a: Arguments): string | undefined {
  if (typeof a.old !== "string" || typeof a.new !== "string" || a.old === "") return undefined;
  const crlf = before.includes("\r\n") && !before.includes(a.old);
  const [old, to] = [a.old, a.new].map((s) => (crlf ? s.replace(/\r?\n/g, "\r\n") : s)) as [string, string];
  const parts = before.split(old);
  if (parts.length < 2 || (parts.length > 2 && a.all !== true)) return undefined;
  return parts.join(to);
}
