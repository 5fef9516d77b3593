/** Change is what a call makes of one file. */
export interface Change {
  path: string;
  /** Where the file moves; its path if it stays. */
  to: string;
  /** The text after the change; undefined if it does not fit the text before. */
  after(before: string): string | undefined;
}

/** Hunk is one change of a file in a patch: the lines that it expects and those that it leaves. */
interface Hunk {
  headers: string[];
  old: string[];
  new: string[];
  /** Empty lines that are kept if another line of the hunk follows. */
  gap: number;
  atEnd: boolean;
}

const fileLine = /^\*\*\* (Add|Update|Delete) File: *(.*?)\s*$/;

/** patchChanges reads the patch of apply_patch, only to show it: podd decides what it means. */
export function patchChanges(patch: string): Change[] {
  const changes: Change[] = [];
  let verb = "";
  let added: string[] = [];
  let hunks: Hunk[] = [];
  for (const line of patch.replace(/\r\n/g, "\n").split("\n")) {
    const file = fileLine.exec(line);
    const moved = /^\*\*\* Move to: *(.*?)\s*$/.exec(line);
    let hunk = hunks[hunks.length - 1];
    if (file) {
      const [own, lines, parts] = [file[1]!, (added = []) as string[], (hunks = []) as Hunk[]];
      verb = own;
      const after = (before: string) => (own === "Update" ? patched(before, parts) : lines.map((l) => `${l}\n`).join(""));
      changes.push({ path: file[2]!, to: file[2]!, after });
    } else if (moved && changes.length > 0) {
      changes[changes.length - 1]!.to = moved[1]!;
    } else if (verb === "Add" && line.startsWith("+")) {
      added.push(line.slice(1));
    } else if (verb === "Update" && !line.startsWith("*** End Patch")) {
      if (!hunk || (line.startsWith("@@") && hunk.old.length + hunk.new.length > 0)) hunks.push((hunk = { headers: [], old: [], new: [], gap: 0, atEnd: false }));
      const header = line.startsWith("@@") ? line.slice(2).replace(/^ -\d+(,\d+)? \+\d+(,\d+)? @@/, "").trim() : "";
      if (header) hunk.headers.push(header);
      if (line.startsWith("*** End of File")) hunk.atEnd = true;
      if (line === "") hunk.gap++;
      for (; /^[ +-]/.test(line) && hunk.gap > 0; hunk.gap--) {
        hunk.old.push("");
        hunk.new.push("");
      }
      if (/^[ -]/.test(line)) hunk.old.push(line.slice(1));
      if (/^[ +]/.test(line)) hunk.new.push(line.slice(1));
    }
  }
  return changes;
}

/** patched is a text after hunks that fit it exactly. */
function patched(before: string, hunks: Hunk[]): string | undefined {
  const crlf = before.includes("\r\n");
  const lines = before.replace(/\r\n/g, "\n").replace(/\n$/, "").split("\n");
  if (before === "") lines.pop();
  let from = 0;
  for (const h of hunks) {
    for (const header of h.headers) {
      const at = lines.findIndex((l, i) => i >= from && l.trim() === header);
      if (at < 0) return undefined;
      from = at + 1;
    }
    const at = place(lines, h, from);
    if (at < 0) return undefined;
    lines.splice(at, h.old.length, ...h.new);
    from = at + h.new.length;
  }
  return lines.map((l) => l + (crlf ? "\r\n" : "\n")).join("");
}

/** place is the line where a hunk applies; below 0 if it fits nowhere. */
function place(lines: string[], h: Hunk, from: number): number {
  if (h.old.length === 0) return h.atEnd || h.headers.length === 0 ? lines.length : from;
  const fits = (at: number) => h.old.every((l, i) => lines[at + i] === l);
  const last = lines.length - h.old.length;
  if (h.atEnd) return last >= from && fits(last) ? last : -1;
  for (let at = from; at <= last; at++) {
    if (fits(at)) return at;
  }
  return -1;
}
