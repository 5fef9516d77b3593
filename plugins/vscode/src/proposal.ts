import * as fs from "node:fs/promises";
import * as path from "node:path";

/** Proposal is what a call that waits would make of a file. */
export interface Proposal {
  /** The file's absolute path. */
  path: string;
  /** The file exists. */
  exists: boolean;
  /** The file's text once the call has run. */
  text: string;
}

/** The arguments of the tools that change a file, as far as they are needed. A model may write anything. */
interface Arguments {
  path?: unknown;
  content?: unknown;
  old?: unknown;
  new?: unknown;
  all?: unknown;
}

/** proposes says whether a call of a tool can be shown as a proposal. */
export function proposes(tool: string): boolean {
  return tool === "write_file" || tool === "edit_file";
}

/** proposal is what a call would make of its file; dir is the pod's workspace. */
export async function proposal(tool: string, raw: string, dir: string): Promise<Proposal> {
  const a = JSON.parse(raw) as Arguments;
  if (typeof a.path !== "string") throw new Error("the call names no file");
  const file = path.resolve(dir, a.path);
  const before = await fs.readFile(file, "utf8").catch((err: NodeJS.ErrnoException) => {
    if (err.code === "ENOENT") return undefined;
    throw new Error(`cannot read ${a.path}: ${err.message}`);
  });
  const text = tool === "write_file" ? a.content : edited(before ?? "", a);
  if (typeof text !== "string") throw new Error(`the call does not fit ${a.path} as it is now: read its arguments in the stream`);
  return { path: file, exists: before !== undefined, text };
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
