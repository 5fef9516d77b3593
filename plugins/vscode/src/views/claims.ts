import * as fs from "node:fs";
import * as path from "node:path";

/**
 * Claims decide which window of an editor shows a question, so that one does. A claim is a
 * file that the windows share; it names the process of the window that has it, and counts
 * as long as that process runs.
 */
export class Claims {
  private readonly mine = new Set<string>();

  /** @param dir a directory that all windows have in common. */
  constructor(
    private readonly dir: string,
    private readonly pid = process.pid,
  ) {}

  /** take says whether this window has the claim to a question; it gets one that nobody has. */
  take(key: string): boolean {
    if (this.mine.has(key)) return true;
    const file = path.join(this.dir, key);
    try {
      fs.mkdirSync(this.dir, { recursive: true, mode: 0o700 });
      if (!runs(owner(file))) fs.rmSync(file, { force: true });
      fs.writeFileSync(file, String(this.pid), { flag: "wx" });
    } catch (err) {
      // Without a place for claims, two notices are better than none.
      if ((err as NodeJS.ErrnoException).code === "EEXIST") return false;
    }
    this.mine.add(key);
    return true;
  }

  /** keep gives up the claims to all questions but these. */
  keep(keys: Set<string>): void {
    for (const key of this.mine) {
      if (keys.has(key)) continue;
      this.mine.delete(key);
      fs.rmSync(path.join(this.dir, key), { force: true });
    }
  }
}

/** owner is the process that a claim names; undefined without a claim. */
function owner(file: string): number | undefined {
  try {
    return Number(fs.readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** runs says whether a process runs. A claim without a number is being written. */
function runs(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid || process.pid, 0);
    return true;
  } catch (err) {
    return (err as NodeJS.ErrnoException).code === "EPERM";
  }
}
