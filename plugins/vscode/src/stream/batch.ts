import type { Block, Change } from "../../../../internal/web/page/types";

/** The shortest pause between two deliveries, in milliseconds. */
const shortest = 30;

/**
 * Batch delivers changes together, since each delivery renders a growing answer from its
 * beginning. It rests four times as long as the last delivery took.
 */
export class Batch {
  private drop = new Set<string>();
  private put = new Map<string, Block>();
  private timer?: NodeJS.Timeout;
  private pause = shortest;

  constructor(private readonly deliver: (c: Change) => void) {}

  add(c: Change): void {
    for (const id of c.drop) {
      this.put.delete(id);
      this.drop.add(id);
    }
    for (const b of c.put) this.put.set(b.id, b);
    if (this.drop.size + this.put.size > 0) this.timer ??= setTimeout(() => this.flush(), this.pause);
  }

  /** clear forgets what was not delivered. */
  clear(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.drop = new Set();
    this.put = new Map();
  }

  private flush(): void {
    const c = { drop: [...this.drop], put: [...this.put.values()] };
    this.clear();
    const began = performance.now();
    this.deliver(c);
    this.pause = Math.max(shortest, 4 * (performance.now() - began));
  }
}
