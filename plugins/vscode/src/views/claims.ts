import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";

/** claimsDir is the directory of the claims of a person's editors; Neovim's plugin uses the same. */
export function claimsDir(): string {
  return path.join(process.env["XDG_CACHE_HOME"] || path.join(os.homedir(), ".cache"), "podd", "notices");
}

/**
 * Claims decide which window of which editor gives a notice, so that one does. A claim is a
 * file that they share; it names the process of the window that has it, and counts as long
 * as that process runs. The claim after that of process 7 is a file with .7 behind the name,
 * so that of several successors one gets it. podd can't decide: it knows calls and connections,
 * and nothing of windows.
 */
export class Claims {
  private readonly mine = new Map<string, string>();

  /** @param dir a directory that all windows have in common. */
  constructor(
    private readonly dir: string,
    private readonly pid = process.pid,
  ) {}

  /** take says whether this window has the claim to a notice; it gets one that nobody has. */
  take(key: string): boolean {
    if (this.mine.has(key)) return true;
    let file = path.join(this.dir, key.replace(/[^\w-]/g, "_"));
    let last: number | undefined;
    while ((last = owner(file)) !== undefined && last !== this.pid) {
      if (runs(last)) return false;
      file += `.${last}`;
    }
    try {
      fs.mkdirSync(this.dir, { recursive: true, mode: 0o700 });
      if (last === undefined) fs.writeFileSync(file, String(this.pid), { flag: "wx" });
    } catch (err) {
      // Without a place for claims, two notices are better than none.
      if ((err as NodeJS.ErrnoException).code === "EEXIST") return false;
    }
    this.mine.set(key, file);
    return true;
  }

  /** keep gives up the claims to all notices but these. */
  keep(keys: Set<string>): void {
    for (const [key, file] of this.mine) {
      if (keys.has(key)) continue;
      this.mine.delete(key);
      fs.rmSync(file, { force: true });
    }
  }
}

/** owner is the process that a claim names, 0 while it is being written; undefined without a claim. */
function owner(file: string): number | undefined {
  try {
    return Number(fs.readFileSync(file, "utf8")) || 0;
  } catch {
    return undefined;
  }
}

/** runs says whether a process runs. A claim without a number is being written. */
function runs(pid: number): boolean {
  try {
    return pid === 0 || process.kill(pid, 0);
  } catch (err) {
    return (err as NodeJS.ErrnoException).code === "EPERM";
  }
}
