import type { ChangedFile } from "podd";
import { content, patched, reversed, shown } from "./patch";

/** Change is what became of a file, as the two sides of a diff. */
export interface Change {
  /** Absolute. */
  file: string;
  before: string;
  after: string;
  /** Whether the file still is what the agent made of it; otherwise the sides are the changed lines. */
  stands: boolean;
}

/** changes are the sides of changed files. */
export function changes(list: ChangedFile[]): Promise<Change[]> {
  return Promise.all(
    list.map(async (f) => {
      if (!f.diff) return { file: f.path, before: "", after: said(f), stands: false };
      const now = (await content(f.path))?.toString("utf8");
      const before = now === undefined ? undefined : patched(now, reversed(f.diff));
      if (now === undefined || before === undefined) return { file: f.path, ...shown(f.diff), stands: false };
      return { file: f.path, before, after: now, stands: f.after === "file" };
    }),
  );
}

/** said is a change without text in words. */
function said(f: ChangedFile): string {
  const verb = !f.before ? "made" : !f.after ? "deleted" : "changed";
  return `${verb}: ${f.after || f.before}${f.mode && `, mode ${f.mode}`}, without a diff\n`;
}
